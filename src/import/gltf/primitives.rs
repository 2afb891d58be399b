//! Reads skinned and rigidly attached primitives of a document as meshes, for pictures, contacts and skin radii.
//!
//! Space: vertices stay in mesh space; `joint_from_mesh` maps to the rigid joint, with the scale of its node folded in, so
//! that the rigid rest pose puts every vertex where the file's own matrices put it. An invalid mesh is left out with a
//! warning. Source: glTF 2.0 specification, section 3.7.

use super::accessor_elements::Numbers;
use super::accessors::Accessors;
use super::node_joints::Joints;
use super::resources::Resources;
use super::skin_bind::GltfSkin;
use crate::gltf_document::{Affine, GltfError, Json, NodeTree, WorldTransform};
use crate::model::{Binding, JointId, Material, Mesh, Texture};
use crate::report::Warnings;
use ::gltf::json::accessor::Type;
use ::gltf::mesh::{Mode, Primitive, Semantic};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

const DRACO: &str = "KHR_draco_mesh_compression";

/// The parts of a document from which meshes are read.
pub(super) struct MeshContext<'a> {
    pub(super) json: &'a Json<'a>,
    pub(super) view: &'a ::gltf::Document,
    pub(super) tree: &'a NodeTree,
    pub(super) worlds: &'a [WorldTransform],
    pub(super) skins: &'a [GltfSkin],
    pub(super) joints: &'a Joints,
    pub(super) accessors: &'a Accessors<'a>,
    pub(super) images: &'a [Option<Arc<[u8]>>],
}

/// The encoded images of the document; `None` for missing ones.
pub(super) fn images(
    json: &Json,
    accessors: &Accessors,
    resources: &mut Resources,
    warnings: &mut Warnings,
) -> Result<Vec<Option<Arc<[u8]>>>, GltfError> {
    let items = json.items("images").unwrap_or_default();
    // Several images may name one view: its bytes are shared.
    let mut of_view: BTreeMap<usize, Arc<[u8]>> = BTreeMap::new();
    let mut view = |index: usize, path: &str| -> Result<Arc<[u8]>, GltfError> {
        if let Some(known) = of_view.get(&index) {
            return Ok(Arc::clone(known));
        }
        let bytes = accessors.view(index, path)?;
        accessors.budget().reserve(bytes.len() as u64, || format!("`{path}`"))?;
        let bytes: Arc<[u8]> = Arc::from(bytes);
        of_view.insert(index, Arc::clone(&bytes));
        Ok(bytes)
    };
    let mut load = |(i, raw): (usize, &str)| {
        let path = format!("images[{i}]");
        let image: Value = serde_json::from_str(raw).unwrap_or_default();
        let bytes = match (image.get("uri").and_then(Value::as_str), image.get("bufferView")) {
            (Some(uri), _) => resources.load(uri, &path),
            (None, Some(index)) => {
                let index = index.as_u64().and_then(|v| usize::try_from(v).ok()).unwrap_or(usize::MAX);
                view(index, &path)
            }
            (None, None) => Err(GltfError::value(path.clone(), "neither `uri` nor `bufferView`")),
        };
        match bytes {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) => {
                let error = error.unless_memory()?;
                warnings.add("gltf-missing-image", format!("an image is missing: {error}"), path);
                Ok(None)
            }
        }
    };
    items.into_iter().enumerate().map(&mut load).collect()
}

/// The meshes that joints move, in node order.
///
/// # Errors
/// The memory limit of the file is exceeded; after any other fault a mesh is left out.
pub(super) fn meshes(source: &MeshContext, warnings: &mut Warnings) -> Result<Vec<Mesh>, GltfError> {
    let materials = materials(source);
    let budget = source.accessors.budget();
    let rigid_from_node = rigid_from_node(source);
    let mut meshes = Vec::new();
    for (n, node) in source.tree.nodes().iter().enumerate() {
        let Some(index) = node.mesh else { continue };
        let here = format!("nodes[{n}].mesh");
        let Some(mesh) = source.view.meshes().nth(index) else {
            warnings.add("gltf-mesh-unreadable", "a node names a mesh that is not there", here);
            continue;
        };
        let Some(bindings) = bindings(source, n, &rigid_from_node)? else { continue };
        for primitive in mesh.primitives() {
            let path = format!("meshes[{index}].primitives[{}]", primitive.index());
            if primitive.extension_value(DRACO).is_some() {
                let said = "a Draco-compressed mesh was not read; it is kept in the file unchanged";
                warnings.add("gltf-draco-mesh", said, path);
                continue;
            }
            budget.reserve_list::<Mesh>(2, || format!("`{path}`"))?;
            match read(source.accessors, &primitive, &path, &bindings, node.skin.is_some()) {
                Ok(Some(mut read)) => {
                    read.name =
                        mesh.name().map(str::to_owned).or_else(|| node.name.clone()).unwrap_or_default();
                    let material = primitive.material().index().and_then(|m| materials.get(m));
                    let (material, set) = material.cloned().unwrap_or_default();
                    read.material = material;
                    read.texcoords =
                        texcoords(source.accessors, &primitive, &path, set, read.positions.len())?;
                    meshes.push(read);
                }
                Ok(None) => {}
                Err(error) => {
                    let said = format!("a mesh was not read: {}", error.unless_memory()?);
                    warnings.add("gltf-mesh-unreadable", said, path);
                }
            }
        }
    }
    Ok(meshes)
}

/// The rigid frame at rest from the node itself, for nodes that are joints.
fn rigid_from_node(source: &MeshContext) -> Vec<Affine> {
    let of = |(world, joint): (&WorldTransform, &Option<JointId>)| match joint {
        Some(_) => Affine::from(world.rigid().0.inverse()) * world.affine(),
        None => Affine::identity(),
    };
    source.worlds.iter().zip(&source.joints.of_node).map(of).collect()
}

/// The binding of the mesh of a node: its skin, or the joint it is attached to.
fn bindings(
    source: &MeshContext,
    node: usize,
    rigid_from_node: &[Affine],
) -> Result<Option<Vec<Binding>>, GltfError> {
    if let Some(skin) = source.tree.node(node).skin {
        let Some(skin) = source.skins.get(skin) else { return Ok(None) };
        let what = || format!("the bindings of `nodes[{node}]`");
        source.accessors.budget().reserve_list::<Binding>(skin.nodes.len() as u64, what)?;
        let bind = |(&n, ibm): (&usize, &Affine)| {
            let joint_from_mesh = rigid_from_node[n] * *ibm;
            let joint = source.joints.of_node[n]?;
            Some(Binding { joint, joint_from_mesh: joint_from_mesh.to_matrix() })
        };
        return Ok(skin.nodes.iter().zip(&skin.joint_from_skin).map(bind).collect());
    }
    let Some(holder) = source.joints.holder[node] else { return Ok(None) };
    let rigid = Affine::from(source.worlds[holder].rigid().0.inverse());
    let joint_from_mesh = (rigid * source.worlds[node].affine()).to_matrix();
    Ok(source.joints.of_node[holder].map(|joint| vec![Binding { joint, joint_from_mesh }]))
}

fn attribute(primitive: &Primitive, semantic: Semantic) -> Option<usize> {
    primitive.get(&semantic).map(|a| a.index())
}

/// One primitive without name, material and texture coordinates; `None` for points and lines.
fn read(
    accessors: &Accessors,
    primitive: &Primitive,
    path: &str,
    bindings: &[Binding],
    skinned: bool,
) -> Result<Option<Mesh>, GltfError> {
    let mode = match primitive.mode() {
        mode @ (Mode::Triangles | Mode::TriangleStrip | Mode::TriangleFan) => mode,
        _ => return Ok(None),
    };
    let missing = |what: &str| GltfError::value(path, format!("it has no {what}"));
    let positions = attribute(primitive, Semantic::Positions).ok_or_else(|| missing("POSITION"))?;
    let positions = triples(accessors.floats(positions, path, Type::Vec3, Numbers::Any)?);
    let n = positions.len();
    let what = || format!("`{path}`");
    accessors.budget().reserve_list::<Binding>(bindings.len() as u64, what)?;
    accessors.budget().reserve_list::<([u16; 4], [f32; 4])>(n as u64, what)?;
    if bindings.iter().any(|b| !b.joint_from_mesh.iter().all(|x| x.is_finite())) {
        return Err(GltfError::value(path, "a bind matrix is not finite"));
    }
    let normals = match attribute(primitive, Semantic::Normals) {
        Some(index) => triples(accessors.floats(index, path, Type::Vec3, Numbers::Unit)?),
        None => Vec::new(),
    };
    let corners = match primitive.indices() {
        Some(indices) => accessors.unsigned(indices.index(), path, Type::Scalar)?,
        None => (0..n as u32).collect(),
    };
    // In a strip every corner starts a triangle.
    accessors.budget().reserve_list::<[u32; 3]>(corners.len() as u64, what)?;
    if let Some(item) = corners.iter().position(|&c| c as usize >= n) {
        return Err(GltfError::value(path, format!("corner {item} names a vertex that is not there")));
    }
    let (joints, weights) = if skinned {
        influences(accessors, primitive, path, n, bindings.len())?
    } else {
        (vec![[0; 4]; n], vec![[1.0, 0.0, 0.0, 0.0]; n])
    };
    let mesh = Mesh {
        name: String::new(),
        normals: if normals.len() == n { normals } else { Vec::new() },
        texcoords: Vec::new(),
        colors: colors(accessors, primitive, path, n)?,
        positions,
        joints,
        weights,
        triangles: triangles(&corners, mode),
        bindings: bindings.to_vec(),
        material: Material::default(),
    };
    Ok(Some(mesh))
}

fn triples(flat: Vec<f32>) -> Vec<[f32; 3]> {
    flat.chunks_exact(3).map(|c| [c[0], c[1], c[2]]).collect()
}

fn triangles(corners: &[u32], mode: Mode) -> Vec<[u32; 3]> {
    match mode {
        // Every other triangle of a strip has reversed winding (specification 3.7.2.1).
        Mode::TriangleStrip => {
            let flipped =
                |(i, w): (usize, &[u32])| if i % 2 == 0 { [w[0], w[1], w[2]] } else { [w[0], w[2], w[1]] };
            corners.windows(3).enumerate().map(flipped).collect()
        }
        Mode::TriangleFan => corners.windows(2).skip(1).map(|w| [w[0], w[1], corners[0]]).collect(),
        _ => corners.chunks_exact(3).map(|c| [c[0], c[1], c[2]]).collect(),
    }
}

type Influences = (Vec<[u16; 4]>, Vec<[f32; 4]>);

/// The four strongest influences of every vertex, their weights summing to one.
fn influences(
    accessors: &Accessors,
    primitive: &Primitive,
    path: &str,
    n: usize,
    bindings: usize,
) -> Result<Influences, GltfError> {
    let mut sets = Vec::new();
    for set in 0..2 {
        let pair =
            (attribute(primitive, Semantic::Joints(set)), attribute(primitive, Semantic::Weights(set)));
        let (Some(joints), Some(weights)) = pair else { break };
        let joints = accessors.unsigned(joints, path, Type::Vec4)?;
        let weights = accessors.floats(weights, path, Type::Vec4, Numbers::Unit)?;
        if joints.len() != 4 * n || weights.len() != 4 * n {
            return Err(GltfError::value(path, "its vertex attributes differ in length"));
        }
        sets.push((joints, weights));
    }
    if sets.is_empty() {
        return Err(GltfError::value(path, "it is skinned but has no JOINTS_0 and WEIGHTS_0"));
    }
    let mut joints = Vec::with_capacity(n);
    let mut weights = Vec::with_capacity(n);
    for v in 0..n {
        let mut all: Vec<(u32, f32)> = Vec::with_capacity(8);
        for (j, w) in &sets {
            all.extend(j[4 * v..][..4].iter().copied().zip(w[4 * v..][..4].iter().copied()));
        }
        all.retain(|(_, w)| *w > 0.0);
        if let Some((joint, _)) = all.iter().find(|(j, _)| *j as usize >= bindings) {
            return Err(GltfError::value(path, format!("vertex {v} names joint {joint} of {bindings}")));
        }
        let (js, ws) = strongest(all);
        joints.push(js);
        weights.push(ws);
    }
    if bindings == 0 || bindings > usize::from(u16::MAX) {
        return Err(GltfError::value(path, format!("its skin has {bindings} joints")));
    }
    Ok((joints, weights))
}

/// The four strongest of some influences, their weights summing to one.
fn strongest(mut all: Vec<(u32, f32)>) -> ([u16; 4], [f32; 4]) {
    // A stable sort: equal weights stay in file order.
    all.sort_by(|a, b| b.1.total_cmp(&a.1));
    all.truncate(4);
    // In 32 bits the largest floats sum to infinity, and the smallest lose their digits in the division.
    let sum: f64 = all.iter().map(|(_, w)| f64::from(*w)).sum();
    let (mut joints, mut weights) = ([0u16; 4], [1.0, 0.0, 0.0, 0.0]);
    for (k, (joint, weight)) in all.iter().enumerate() {
        joints[k] = u16::try_from(*joint).unwrap_or(0);
        weights[k] = (f64::from(*weight) / sum) as f32;
    }
    (joints, weights)
}

fn colors(
    accessors: &Accessors,
    primitive: &Primitive,
    path: &str,
    n: usize,
) -> Result<Vec<[f32; 4]>, GltfError> {
    let Some(index) = attribute(primitive, Semantic::Colors(0)) else { return Ok(Vec::new()) };
    let four = optional(accessors.floats(index, path, Type::Vec4, Numbers::Unit))?;
    let colors: Vec<[f32; 4]> = match four {
        Some(flat) => flat.chunks_exact(4).map(|c| [c[0], c[1], c[2], c[3]]).collect(),
        None => {
            let flat =
                optional(accessors.floats(index, path, Type::Vec3, Numbers::Unit))?.unwrap_or_default();
            flat.chunks_exact(3).map(|c| [c[0], c[1], c[2], 1.0]).collect()
        }
    };
    Ok(if colors.len() == n { colors } else { Vec::new() })
}

fn texcoords(
    accessors: &Accessors,
    primitive: &Primitive,
    path: &str,
    set: u32,
    n: usize,
) -> Result<Vec<[f32; 2]>, GltfError> {
    let Some(index) = attribute(primitive, Semantic::TexCoords(set)) else { return Ok(Vec::new()) };
    let flat = optional(accessors.floats(index, path, Type::Vec2, Numbers::Any))?.unwrap_or_default();
    let found: Vec<[f32; 2]> = flat.chunks_exact(2).map(|c| [c[0], c[1]]).collect();
    Ok(if found.len() == n { found } else { Vec::new() })
}

/// Optional vertex attributes.
fn optional(read: Result<Vec<f32>, GltfError>) -> Result<Option<Vec<f32>>, GltfError> {
    match read {
        Ok(flat) => Ok(Some(flat)),
        Err(error) => error.unless_memory().map(|_| None),
    }
}

/// The properties of materials that previews draw, with the texture coordinate set of the base colour.
fn materials(source: &MeshContext) -> Vec<(Material, u32)> {
    let raw = source.json.items("materials").unwrap_or_default();
    let textures: BTreeMap<usize, usize> = source
        .json
        .items("textures")
        .unwrap_or_default()
        .iter()
        .enumerate()
        .filter_map(|(i, raw)| Some((i, image_of(&serde_json::from_str(raw).ok()?)?)))
        .collect();
    let index = |v: Option<&Value>| v.and_then(Value::as_u64).and_then(|v| usize::try_from(v).ok());
    let material = |raw: &str| {
        let value: Value = serde_json::from_str(raw).unwrap_or_default();
        let pbr = value.get("pbrMetallicRoughness").cloned().unwrap_or_default();
        let mut base_color = [1.0f32; 4];
        if let Some(factor) = pbr.get("baseColorFactor").and_then(Value::as_array) {
            for (c, v) in base_color.iter_mut().zip(factor) {
                *c = v.as_f64().unwrap_or(1.0) as f32;
            }
        }
        // Alpha is used only if the material is blended.
        if value.get("alphaMode").and_then(Value::as_str) != Some("BLEND") {
            base_color[3] = 1.0;
        }
        let info = pbr.get("baseColorTexture");
        let image = index(info.and_then(|t| t.get("index"))).and_then(|t| textures.get(&t));
        let bytes = image.and_then(|i| source.images.get(*i)?.clone());
        let set = info.and_then(|t| t.get("texCoord")).and_then(Value::as_u64).unwrap_or(0);
        let double_sided = value.get("doubleSided").and_then(Value::as_bool).unwrap_or(false);
        let texture = bytes.map(|bytes| Texture { bytes });
        (Material { base_color, texture, double_sided }, u32::try_from(set).unwrap_or(0))
    };
    raw.into_iter().map(material).collect()
}

/// The image of a texture: its own, or the WebP one of `EXT_texture_webp`.
fn image_of(texture: &Value) -> Option<usize> {
    let webp =
        texture.get("extensions").and_then(|e| e.get("EXT_texture_webp")).and_then(|w| w.get("source"));
    let index = texture.get("source").or(webp)?.as_u64()?;
    usize::try_from(index).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_of_any_size_sum_to_one() {
        for weight in [f32::MAX, 1.0, f32::MIN_POSITIVE, 1e-45] {
            for count in 1..8 {
                let (joints, weights) = strongest((0..count).map(|j| (j, weight)).collect());
                let sum: f32 = weights.iter().sum();
                assert!((sum - 1.0).abs() < 1e-6, "{count} times {weight:e}: {weights:?}");
                assert_eq!(joints[0], 0);
            }
        }
    }

    #[test]
    fn strips_and_fans_keep_their_front_side() {
        assert_eq!(triangles(&[0, 1, 2, 3], Mode::TriangleStrip), [[0, 1, 2], [1, 3, 2]]);
        assert_eq!(triangles(&[0, 1, 2, 3], Mode::TriangleFan), [[1, 2, 0], [2, 3, 0]]);
        assert_eq!(triangles(&[0, 1, 2, 3], Mode::Triangles), [[0, 1, 2]]);
    }
}
