//! Reads skinned and rigidly attached primitives of a document as meshes, for pictures, contacts and skin radii.
//!
//! Space: vertices stay in mesh space; `joint_from_mesh` maps to the rigid joint, with the scale of its node folded in, so
//! that the rigid rest pose puts every vertex where the file's own matrices put it. An invalid mesh is left out with a
//! warning. Source: glTF 2.0 specification, section 3.7.

use super::accessor_elements::Numbers;
use super::accessors::Accessors;
use super::draco::DRACO;
use super::influences::{VertexInfluences, influences};
use super::materials::{GltfMaterial, materials};
use super::mesh_context::{MeshContext, attribute};
use super::morph_targets::MorphSource;
use crate::gltf_document::{Affine, GltfError, WorldTransform, is_added};
use crate::model::{Binding, JointId, Mesh};
use crate::report::Warnings;
use ::gltf::json::accessor::Type;
use ::gltf::mesh::{Mode, Primitive, Semantic};
use serde_json::Value;

/// Which meshes are decoded.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum WantedMeshes {
    /// Those that joints move.
    Moved,
    /// Those that the file shows on nodes outside of the skeleton.
    Unmoved,
}

/// The meshes of a document, in node order, without the picture of a skeleton that this program adds where there is no mesh: it is
/// no skin that could rest on a floor.
#[derive(Default)]
pub(super) struct GltfMeshes {
    pub(super) read: Vec<Mesh>,
    /// Whether there are others, which are not decoded.
    pub(super) more: bool,
}

/// Reads the wanted meshes.
pub(super) fn meshes(
    source: &MeshContext,
    wanted: WantedMeshes,
    warnings: &mut Warnings,
) -> Result<GltfMeshes, GltfError> {
    let materials = materials(source);
    let budget = source.accessors.budget();
    let rigid_from_node = rigid_from_node(source);
    let raw_nodes = source.json.items("nodes").unwrap_or_default();
    let scene = nodes_of_scene(source);
    let is_shown = |n: usize| {
        let top = source.tree.path_to_top(n).last();
        scene.as_ref().is_none_or(|nodes| top.is_some_and(|top| nodes.contains(&top)))
    };
    let mut meshes = GltfMeshes::default();
    for (n, node) in source.tree.nodes().iter().enumerate() {
        let Some(index) = node.mesh else { continue };
        let here = format!("nodes[{n}].mesh");
        let Some(mesh) = source.view.meshes().nth(index) else {
            warnings.add("gltf-mesh-unreadable", "a node names a mesh that is not there", here);
            continue;
        };
        if is_added(mesh.extras()) {
            continue;
        }
        let (bindings, kind) = match bindings(source, n, &rigid_from_node)? {
            Some(bindings) => (bindings, WantedMeshes::Moved),
            None if node.skin.is_some() => continue,
            None if !is_shown(n) => {
                meshes.more = true;
                if wanted == WantedMeshes::Unmoved {
                    let said = "meshes on nodes outside of the scene are left out; GLB keeps all";
                    warnings.add("gltf-mesh-not-shown", said, here);
                }
                continue;
            }
            None => {
                let joint_from_mesh = source.worlds[n].affine().to_matrix();
                (vec![Binding { joint: JointId::new(0), joint_from_mesh }], WantedMeshes::Unmoved)
            }
        };
        if kind != wanted {
            meshes.more = true;
            continue;
        }
        let mut morph_source = None;
        for primitive in mesh.primitives() {
            let path = format!("meshes[{index}].primitives[{}]", primitive.index());
            let positions = attribute(&primitive, Semantic::Positions);
            let decoded = positions.is_some_and(|index| source.accessors.is_decoded(index));
            if primitive.extension_value(DRACO).is_some() && !decoded {
                continue;
            }
            budget.reserve_list::<Mesh>(2, || format!("`{path}`"))?;
            let texts = text_bytes([mesh.name(), node.name.as_deref()], &primitive, &materials);
            budget.reserve(texts, || format!("the names of `{path}`"))?;
            match read(source.accessors, &primitive, &path, &bindings, node.skin.is_some()) {
                Ok(Some(mut read)) => {
                    read.node = node.name.clone().unwrap_or_default();
                    read.name = mesh.name().or(node.name.as_deref()).unwrap_or_default().to_owned();
                    read.primitive_of = Some(n);
                    add_surface(&mut read, source.accessors, &primitive, &path, &materials)?;
                    if primitive.morph_targets().next().is_some() {
                        let node = raw_nodes.get(n).copied();
                        let target = morph_source.get_or_insert_with(|| MorphSource::new(&mesh, node));
                        let vertices = read.positions.len();
                        read.morphs = target.read(source.accessors, &primitive, vertices, &path, warnings)?;
                    }
                    meshes.read.push(read);
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

/// The bytes of the texts that a primitive takes over from its mesh, its node and its material.
fn text_bytes(names: [Option<&str>; 2], primitive: &Primitive, materials: &[GltfMaterial]) -> u64 {
    let [mesh, node] = names.map(|name| name.map_or(0, str::len) as u64);
    let material = primitive.material().index().and_then(|m| materials.get(m));
    mesh + 2 * node + material.map_or(0, GltfMaterial::text_bytes)
}

/// Adds the texture coordinates and the material of a primitive.
fn add_surface(
    read: &mut Mesh,
    accessors: &Accessors,
    primitive: &Primitive,
    path: &str,
    materials: &[GltfMaterial],
) -> Result<(), GltfError> {
    let material = primitive.material().index().and_then(|m| materials.get(m)).cloned().unwrap_or_default();
    let vertices = read.positions.len();
    (read.texcoords, read.further_texcoords) =
        all_texcoords(accessors, primitive, path, material.set, vertices)?;
    material.apply(read);
    if attribute(primitive, Semantic::Colors(1)).is_some() {
        read.omitted.push("a second set of vertex colours".to_owned());
    }
    Ok(())
}

/// The top nodes of the scene that the file shows; `None` for a file without scenes.
fn nodes_of_scene(source: &MeshContext) -> Option<Vec<usize>> {
    let index = source.json.value("scene").and_then(|scene| scene.as_u64()).unwrap_or(0);
    let scenes = source.json.items("scenes").unwrap_or_default();
    let scene: Value = serde_json::from_str(scenes.get(usize::try_from(index).ok()?)?).ok()?;
    let nodes = scene.get("nodes").and_then(Value::as_array);
    let nodes = nodes.into_iter().flatten().filter_map(|node| usize::try_from(node.as_u64()?).ok());
    Some(nodes.collect())
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

/// One primitive without name, material, texture coordinates and morph targets; `None` for points and lines.
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
    let found = if skinned {
        influences(accessors, primitive, path, n, bindings.len())?
    } else {
        let (joints, weights) = (vec![[0; 4]; n], vec![[1.0, 0.0, 0.0, 0.0]; n]);
        VertexInfluences { joints, weights, further: Vec::new() }
    };
    let mesh = Mesh {
        normals: if normals.len() == n { normals } else { Vec::new() },
        colors: colors(accessors, primitive, path, n)?,
        positions,
        joints: found.joints,
        weights: found.weights,
        further_influences: found.further,
        triangles: triangles(&corners, mode),
        bindings: bindings.to_vec(),
        ..Mesh::default()
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

/// One set of texture coordinates, an entry per vertex.
type TexCoords = Vec<[f32; 2]>;

/// The texture coordinates of set `base`, and the other sets in their order.
fn all_texcoords(
    accessors: &Accessors,
    primitive: &Primitive,
    path: &str,
    base: u32,
    n: usize,
) -> Result<(TexCoords, Vec<TexCoords>), GltfError> {
    let first = texcoords(accessors, primitive, path, base, n)?;
    let mut others = Vec::new();
    for set in (0..).filter(|set| *set != base) {
        if attribute(primitive, Semantic::TexCoords(set)).is_none() {
            break;
        }
        let found = texcoords(accessors, primitive, path, set, n)?;
        // An invalid set counts, so that those behind it keep their numbers.
        others.push(if found.is_empty() { vec![[0.0; 2]; n] } else { found });
    }
    Ok((first, others))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strips_and_fans_keep_their_front_side() {
        assert_eq!(triangles(&[0, 1, 2, 3], Mode::TriangleStrip), [[0, 1, 2], [1, 3, 2]]);
        assert_eq!(triangles(&[0, 1, 2, 3], Mode::TriangleFan), [[1, 2, 0], [2, 3, 0]]);
        assert_eq!(triangles(&[0, 1, 2, 3], Mode::Triangles), [[0, 1, 2]]);
    }
}
