//! Converts a scene to a GLB: its nodes in their order, its meshes and skins, every stack as an animation.
//!
//! Node n of the GLB is node n of the scene. A skinned mesh is drawn where its joints are: its node moves to the top of the
//! scene, or, if it has children, a node of its own is added after the others. Space: the scene's. Units: metres.

use super::joint_nodes::{JointNodes, RestPose, index};
use super::mesh::{self, GlbMesh};
use super::{material, stacks};
use crate::gltf_document::GlbBuilder;
use crate::import::import_error::ImportError;
use crate::memory_budget::MemoryBudget;
use crate::report::Warnings;
use serde_json::{Value, json};
use std::path::Path;
use ufbx::{Scene, SceneRoot, Transform};

/// The GLB of the scene at rest, with everything.
pub(super) fn build(
    scene: &SceneRoot,
    joints: &JointNodes,
    rest: &RestPose,
    folder: Option<&Path>,
    budget: &MemoryBudget,
    warnings: &mut Warnings,
) -> Result<Vec<u8>, ImportError> {
    let mut binary = GlbBuilder::default();
    let looks = material::looks(scene, folder, &mut binary, budget, warnings)?;
    let meshes = mesh::meshes(scene, &mut binary, budget, warnings)?;
    let animations = stacks::animations(scene, joints, rest, &meshes, &mut binary, budget, warnings)?;
    let mut json = skeleton(scene, joints, rest, &meshes);
    let extensions = looks.extensions();
    if !extensions.is_empty() {
        json["extensionsUsed"] = extensions.into();
    }
    for (name, list) in [
        ("samplers", looks.samplers),
        ("materials", looks.materials),
        ("textures", looks.textures),
        ("images", looks.images),
        ("meshes", meshes.meshes),
        ("animations", animations),
    ] {
        if !list.is_empty() {
            json[name] = list.into();
        }
    }
    let mut skins = meshes.skins;
    // All joints are listed by name, also those without weights.
    skins.push(json!({ "name": "joints", "joints": joints.list() }));
    json["skins"] = skins.into();
    Ok(binary.glb(json)?)
}

/// The GLB of the scene at rest with its nodes only.
pub(super) fn bare(scene: &Scene, joints: &JointNodes, rest: &RestPose) -> Result<Vec<u8>, ImportError> {
    let mut json = skeleton(scene, joints, rest, &mesh::GlbMeshes::default());
    json["skins"] = json!([{ "joints": joints.list() }]);
    Ok(GlbBuilder::default().glb(json)?)
}

fn skeleton(scene: &Scene, joints: &JointNodes, rest: &RestPose, meshes: &mesh::GlbMeshes) -> Value {
    let mut tops = vec![0];
    let mut nodes: Vec<Value> = Vec::with_capacity(scene.nodes.len());
    let mut added: Vec<Value> = Vec::new();
    let skinned = |n: usize| meshes.of_node(&scene.nodes[n]).filter(|b| b.skin.is_some());
    let moved = |n: usize| skinned(n).is_some() && scene.nodes[n].children.is_empty() && !joints.is[n];
    for (n, node) in scene.nodes.iter().enumerate() {
        let name = match node.element.name.as_ref() {
            "" if node.is_root => "RootNode",
            name => name,
        };
        let mut entry = json!({});
        if !name.is_empty() {
            entry["name"] = name.into();
        }
        if moved(n) {
            tops.push(n);
        } else {
            let Transform { translation: t, rotation: r, scale: s } = rest[n];
            entry["translation"] = json!([t.x, t.y, t.z]);
            // Rounding may put a component of a unit quaternion beyond 1, which the format forbids.
            entry["rotation"] = json!([r.x, r.y, r.z, r.w].map(|x| x.clamp(-1.0, 1.0)));
            if [s.x, s.y, s.z].iter().any(|x| (x - 1.0).abs() > 1e-9) {
                entry["scale"] = json!([s.x, s.y, s.z]);
            }
        }
        let children: Vec<usize> = node.children.iter().map(|c| index(c)).filter(|c| !moved(*c)).collect();
        if !children.is_empty() {
            entry["children"] = children.into();
        }
        if let Some(body) = meshes.of_node(node) {
            if body.skin.is_none() || moved(n) {
                attach_mesh(&mut entry, body);
            } else {
                let mut own = json!({ "name": name });
                attach_mesh(&mut own, body);
                tops.push(scene.nodes.len() + added.len());
                added.push(own);
            }
        }
        nodes.push(entry);
    }
    nodes.extend(added);
    json!({ "scene": 0, "scenes": [{ "nodes": tops }], "nodes": nodes })
}

fn attach_mesh(node: &mut Value, body: &GlbMesh) {
    node["mesh"] = body.mesh.into();
    if let Some(skin) = body.skin {
        node["skin"] = skin.into();
    }
}
