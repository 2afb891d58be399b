//! Builds a [`::gltf::Document`] of the meshes and animations of a file that is safe to iterate with the `gltf` crate.
//!
//! The crate rejects whole files for one unknown extension or animation pointer, and its document panics on an index out of
//! range or an unknown word. So this one contains meshes and animations only, with as many empty nodes and materials as the
//! file has, and everything is checked here: callers need no further checks. Source: glTF 2.0 specification (Khronos, ISO/IEC
//! 12113:2022).

use crate::gltf_document::{GltfError, Json};
use crate::report::Warnings;
use ::gltf::json::animation::Animation;
use ::gltf::json::mesh::{Mesh, Mode};
use ::gltf::json::validation::Checked;
use ::gltf::json::{Accessor, Index, Material, Node, Root};
use serde_json::Value;

/// The meshes and animations of `json`, whose accessors are `accessors`.
///
/// Channels without a node are left out with a warning; a primitive with an invalid index is replaced by an empty one, with a
/// warning.
pub(super) fn view(
    json: &Json,
    nodes: usize,
    accessors: &[Accessor],
    warnings: &mut Warnings,
) -> Result<::gltf::Document, GltfError> {
    let root = Root {
        accessors: accessors.to_vec(),
        nodes: vec![Node::default(); nodes],
        materials: vec![Material::default(); json.items("materials").map_or(0, |m| m.len())],
        animations: animations(json, nodes, accessors.len(), warnings)?,
        ..Root::default()
    };
    let meshes = meshes(json, &root, warnings);
    Ok(::gltf::Document::from_json_without_validation(Root { meshes, ..root }))
}

fn range<T>(
    path: impl FnOnce() -> String,
    list: &'static str,
    index: Index<T>,
    count: usize,
) -> Result<(), GltfError> {
    if index.value() < count {
        return Ok(());
    }
    Err(GltfError::OutOfRange { path: path(), list, index: index.value() as u64, count })
}

fn animations(
    json: &Json,
    nodes: usize,
    accessors: usize,
    warnings: &mut Warnings,
) -> Result<Vec<Animation>, GltfError> {
    let mut ignored = Vec::new();
    let drop_foreign = |path: &str, value: &mut Value| {
        if let Some(channels) = value.get_mut("channels").and_then(|c| c.as_array_mut()) {
            channels.iter_mut().filter_map(|c| c.get_mut("target")).for_each(follow_pointer);
            let known = |c: &Value| {
                let target = c.get("target");
                let path = target.and_then(|t| t.get("path")).and_then(|p| p.as_str());
                target.is_some_and(|t| t.get("node").is_some())
                    && matches!(path, Some("translation" | "rotation" | "scale" | "weights"))
            };
            let before = channels.len();
            channels.retain(known);
            if channels.len() < before {
                ignored.push(path.to_owned());
            }
        }
    };
    let animations: Vec<Animation> = json.list_with("animations", drop_foreign)?;
    for path in ignored {
        let said = "channels that move no node (pointers) stay in the file and out of the clip";
        warnings.add("gltf-foreign-channel", said, path);
    }
    for (i, animation) in animations.iter().enumerate() {
        for (k, channel) in animation.channels.iter().enumerate() {
            let path = || format!("animations[{i}].channels[{k}]");
            range(path, "nodes", channel.target.node, nodes)?;
            range(path, "samplers", channel.sampler, animation.samplers.len())?;
        }
        for (k, sampler) in animation.samplers.iter().enumerate() {
            let path = |part: &str| format!("animations[{i}].samplers[{k}].{part}");
            range(|| path("input"), "accessors", sampler.input, accessors)?;
            range(|| path("output"), "accessors", sampler.output, accessors)?;
            if sampler.interpolation == Checked::Invalid {
                return Err(GltfError::value(path("interpolation"), "neither LINEAR, STEP nor CUBICSPLINE"));
            }
        }
    }
    Ok(animations)
}

/// Converts a target that points to a property of a node (`/nodes/3/rotation`) to one with node and path.
///
/// Source: the glTF extension KHR_animation_pointer.
fn follow_pointer(target: &mut Value) {
    let pointer = target.get("extensions").and_then(|e| e.get("KHR_animation_pointer")?.get("pointer"));
    let node = pointer.and_then(|p| p.as_str()).and_then(|p| p.strip_prefix("/nodes/")?.split_once('/'));
    let Some((node, path)) = node.and_then(|(n, path)| Some((n.parse::<u32>().ok()?, path.to_owned())))
    else {
        return;
    };
    if let Some(target) = target.as_object_mut().filter(|t| t.get("path").is_some_and(|p| p == "pointer")) {
        target.insert("node".into(), node.into());
        target.insert("path".into(), path.into());
    }
}

fn meshes(json: &Json, root: &Root, warnings: &mut Warnings) -> Vec<Mesh> {
    let mut meshes: Vec<Mesh> = match json.list("meshes") {
        Ok(meshes) => meshes,
        Err(error) => {
            warnings.add("gltf-mesh-unreadable", format!("no mesh was read: {error}"), "meshes");
            return Vec::new();
        }
    };
    for (m, mesh) in meshes.iter_mut().enumerate() {
        for (p, primitive) in mesh.primitives.iter_mut().enumerate() {
            let path = || format!("meshes[{m}].primitives[{p}]");
            // Application-specific attributes are not read, nor what morph targets do to normals and tangents.
            primitive.attributes.retain(|semantic, _| *semantic != Checked::Invalid);
            let known = |i: &Index<Accessor>| i.value() < root.accessors.len();
            for (t, target) in primitive.targets.iter_mut().flatten().enumerate() {
                (target.normals, target.tangents) = (None, None);
                if target.positions.is_some_and(|i| !known(&i)) {
                    let said = "a morph target names an accessor that is not there; it moves nothing";
                    warnings.add("gltf-morph", said, format!("{}.targets[{t}]", path()));
                    target.positions = None;
                }
            }
            primitive.material = primitive.material.filter(|m| m.value() < root.materials.len());
            let named = primitive.attributes.values().chain(&primitive.indices);
            let fault =
                named.map(|&i| range(path, "accessors", i, root.accessors.len())).find_map(Result::err);
            if let Some(error) = &fault {
                warnings.add("gltf-mesh-unreadable", format!("a mesh was not read: {error}"), path());
            }
            if fault.is_some() || primitive.mode == Checked::Invalid {
                primitive.attributes.clear();
                primitive.indices = None;
                primitive.mode = Checked::Valid(Mode::Points);
            }
        }
    }
    meshes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Result<::gltf::Document, GltfError>, Warnings) {
        let mut warnings = Warnings::new();
        let json = Json::parse(text, 0).unwrap();
        let accessors = json.list("accessors").unwrap();
        (view(&json, 2, &accessors, &mut warnings), warnings)
    }

    #[test]
    fn the_view_walks_without_a_panic() {
        let (document, warnings) = read(
            r#"{"accessors":[{"componentType":1,"count":0,"type":"ODD"}],
            "materials":[{"alphaMode":"ODD"}],
            "meshes":[{"primitives":[
                {"attributes":{"POSITION":0,"ODD":77},"material":9,"targets":[{"POSITION":9}]},
                {"attributes":{"POSITION":1}}, {"attributes":{},"indices":3}, {"attributes":{},"mode":77}]}],
            "animations":[{"samplers":[{"input":0,"output":0}],"channels":[
                {"sampler":0,"target":{"path":"rotation","node":1}},
                {"sampler":0,"target":{"path":"pointer"}}]}]}"#,
        );
        let document = document.unwrap();
        let mut modes = Vec::new();
        for primitive in document.meshes().flat_map(|m| m.primitives()) {
            let indices =
                (primitive.indices(), primitive.attributes().count(), primitive.morph_targets().count());
            modes.push((primitive.mode(), primitive.material().index(), indices.1, indices.2));
        }
        use ::gltf::mesh::Mode::{Points, Triangles};
        assert_eq!(modes[0], (Triangles, None, 1, 1));
        let target = document.meshes().next().unwrap().primitives().next().unwrap().morph_targets().next();
        assert!(target.unwrap().positions().is_none());
        assert!(modes[1..].iter().all(|m| m.0 == Points), "{modes:?}");
        for channel in document.animations().flat_map(|a| a.channels()) {
            assert_eq!(channel.target().node().index(), 1);
            assert_eq!((channel.sampler().input().index(), channel.sampler().output().index()), (0, 0));
        }
        let expected = ["gltf-mesh-unreadable", "gltf-foreign-channel", "gltf-morph"];
        assert!(expected.iter().all(|code| warnings.has(code)));
    }

    #[test]
    fn a_pointer_to_a_node_moves_it() {
        let target = |pointer: &str| {
            let text = format!(
                r#"{{"accessors":[{{"componentType":5126,"count":1,"type":"VEC4"}}],"animations":[{{
                "samplers":[{{"input":0,"output":0}}],"channels":[{{"sampler":0,"target":{{"path":"pointer",
                "extensions":{{"KHR_animation_pointer":{{"pointer":"{pointer}"}}}}}}}}]}}]}}"#
            );
            let document = read(&text).0;
            let found = |d: ::gltf::Document| {
                let channels = d.animations().flat_map(|a| {
                    a.channels()
                        .map(|c| (c.target().node().index(), c.target().property()))
                        .collect::<Vec<_>>()
                });
                channels.collect::<Vec<_>>()
            };
            document.map(found)
        };
        use ::gltf::animation::Property::{MorphTargetWeights, Rotation, Scale};
        assert_eq!(target("/nodes/1/rotation").unwrap(), [(1, Rotation)]);
        assert_eq!(target("/nodes/0/scale").unwrap(), [(0, Scale)]);
        assert_eq!(target("/nodes/0/weights").unwrap(), [(0, MorphTargetWeights)]);
        assert!(target("/nodes/7/scale").is_err());
        for other in ["/materials/0/alphaCutoff", "/nodes/x/scale", "/nodes/1", "nodes/1/scale"] {
            assert_eq!(target(other).unwrap(), [], "{other}");
        }
    }

    #[test]
    fn what_an_animation_names_and_is_not_there_is_an_error_by_path() {
        let with = |sampler: &str, channel: &str| {
            let text = format!(
                r#"{{"accessors":[],"animations":[{{"samplers":[{sampler}],"channels":[{channel}]}}]}}"#
            );
            read(&text).0.unwrap_err().to_string()
        };
        let channel = r#"{"sampler":0,"target":{"path":"scale","node":7}}"#;
        assert!(with("", channel).contains("animations[0].channels[0]"));
        let sampler = r#"{"input":4,"output":0}"#;
        assert!(with(sampler, "").contains("animations[0].samplers[0].input"));
    }
}
