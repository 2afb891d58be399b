//! Converts the meshes of a scene to glTF meshes: triangulated faces, welded identical corners, one primitive per material,
//! morph targets without normals, up to eight weights.
//!
//! Space: that in which a skin was bound, else that of the node. Units: metres. Texture coordinates start at the upper left.

use super::not_finite::{Repaired, is_usable};
use super::skin_weights::{FbxSkin, INFLUENCES, skin};
use crate::fbx_document::follows_blender;
use crate::gltf_document::{FLOAT, GlbBuilder, UNSIGNED_INT, UNSIGNED_SHORT, bounds, floats};
use crate::import::import_error::ImportError;
use crate::math::linear_of_srgb;
use crate::memory_budget::MemoryBudget;
use crate::report::{Warnings, one_line};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use ufbx::{Mesh, Node, SceneRoot, Vec3, matrix_for_normals, transform_direction, transform_position};

/// Memory of a corner until it is written: itself, its key in the map of known corners, its numbers and its bytes.
const CORNER: u64 = 256;
/// Memory of a corner for each set of texture coordinates: in the corner, in its key and as bytes, with the lists' own.
const TEXTURE_SET: u64 = 64;
/// Pairs of corners of one face that are compared in one step of work.
const CORNER_PAIRS_PER_STEP: u64 = 256;
/// Memory of a vertex of a skin: its list of weights.
const WEIGHTS: u64 = 96;
/// Buffer view target of vertex attributes: glTF's ARRAY_BUFFER.
const VERTICES: Option<u32> = Some(34962);
/// Buffer view target of indices: glTF's ELEMENT_ARRAY_BUFFER.
const CORNERS: Option<u32> = Some(34963);

/// One mesh of the GLB.
pub(super) struct GlbMesh {
    /// Index into `GlbMeshes::meshes`.
    pub(super) mesh: usize,
    /// Index into `GlbMeshes::skins`.
    pub(super) skin: Option<usize>,
    /// The number of its morph targets.
    pub(super) targets: usize,
}

/// The meshes and skins of the GLB, and their indices by mesh of the scene.
#[derive(Default)]
pub(super) struct GlbMeshes {
    pub(super) meshes: Vec<Value>,
    pub(super) skins: Vec<Value>,
    of_mesh: BTreeMap<u32, GlbMesh>,
}

impl GlbMeshes {
    /// The mesh and skin of the node.
    pub(super) fn of_node(&self, node: &Node) -> Option<&GlbMesh> {
        self.of_mesh.get(&node.mesh.as_ref()?.element.element_id)
    }
}

/// A position, a normal, texture coordinates of every set, and a colour.
#[derive(Clone)]
struct MeshCorner {
    position: [f32; 3],
    normal: [f32; 3],
    uvs: Vec<[f32; 2]>,
    color: [f32; 4],
}

/// The vertices of one primitive, and the vertex of the scene that each is made from.
#[derive(Default)]
struct WeldedPrimitive {
    corners: Vec<MeshCorner>,
    source: Vec<u32>,
    indices: Vec<u32>,
}

/// The name of a mesh: its own, else that of its node.
pub(super) fn name(mesh: &Mesh) -> &str {
    let node = mesh.element.instances.first().map_or("", |n| n.element.name.as_ref());
    let own: &str = mesh.element.name.as_ref();
    [own, node].into_iter().find(|n| !n.is_empty()).unwrap_or("mesh")
}

/// All meshes that have faces.
///
/// # Errors
/// [`ImportError::Fbx`] if the file exceeds a limit.
pub(super) fn meshes(
    scene: &SceneRoot,
    binary: &mut GlbBuilder,
    budget: &MemoryBudget,
    warnings: &mut Warnings,
) -> Result<GlbMeshes, ImportError> {
    let mut found = GlbMeshes::default();
    let encoded = follows_blender(scene);
    for mesh in &scene.meshes {
        let hidden = !mesh.element.instances.is_empty() && mesh.element.instances.iter().all(|n| !n.visible);
        if hidden {
            warnings.add("fbx-hidden", "a hidden mesh was left out", one_line(name(mesh)));
            continue;
        }
        let what = || format!("the mesh `{}`", one_line(name(mesh)));
        let corners = (mesh.num_triangles as u64).saturating_mul(3);
        let corner = CORNER + TEXTURE_SET * mesh.uv_sets.len() as u64;
        budget.reserve(corners.saturating_mul(corner), what)?;
        budget.reserve((mesh.num_vertices as u64).saturating_mul(WEIGHTS), what)?;
        budget.work(mesh.faces.iter().map(|face| triangulation(face.num_indices)).sum(), what)?;
        if mesh.color_sets.len() > 1 {
            let message = "sets of vertex colours beyond the first were left out";
            warnings.add("fbx-colours", message, one_line(name(mesh)));
        }
        let skin = skin(mesh, name(mesh), warnings);
        let mut repaired = Repaired::default();
        let morphs = morphs(mesh, skin.as_ref(), budget, &mut repaired, warnings)?;
        let mut primitives = Vec::new();
        for part in mesh.material_parts.iter().filter(|p| p.num_triangles > 0) {
            let made = primitive(mesh, &part.face_indices, skin.as_ref(), encoded, &mut repaired);
            if made.indices.is_empty() {
                continue;
            }
            let mut entry = written(&made, mesh, skin.as_ref(), &morphs, binary);
            let material = mesh.materials.get(part.index as usize).map(|m| m.element.typed_id);
            if let Some(material) = material {
                entry["material"] = material.into();
            }
            primitives.push(entry);
        }
        repaired.report(name(mesh), warnings);
        if primitives.is_empty() {
            continue;
        }
        let mut entry = json!({ "name": name(mesh), "primitives": primitives });
        if !morphs.is_empty() {
            entry["weights"] = morphs.iter().map(|m| m.weight).collect::<Vec<f64>>().into();
            entry["extras"] =
                json!({ "targetNames": morphs.iter().map(|m| m.name.as_str()).collect::<Vec<_>>() });
        }
        found.meshes.push(entry);
        let skin = skin.map(|skin| {
            let list = json!({ "componentType": FLOAT, "count": skin.joints.len(), "type": "MAT4" });
            let matrices = binary.push(&floats(&skin.inverse_bind), None, list);
            found.skins.push(json!({ "joints": skin.joints, "inverseBindMatrices": matrices }));
            found.skins.len() - 1
        });
        let body = GlbMesh { mesh: found.meshes.len() - 1, skin, targets: morphs.len() };
        found.of_mesh.insert(mesh.element.element_id, body);
    }
    Ok(found)
}

/// Steps of work for cutting a face into triangles, which takes time with the square of its corners.
fn triangulation(corners: u32) -> u64 {
    u64::from(corners).pow(2) / CORNER_PAIRS_PER_STEP
}

/// A morph target: the displacement of each vertex of the scene's mesh.
struct FbxMorph {
    name: String,
    weight: f64,
    moves: Vec<[f32; 3]>,
}

/// The coordinates of a vector of the file in single precision.
fn single(v: Vec3) -> [f32; 3] {
    [v.x as f32, v.y as f32, v.z as f32]
}

fn morphs(
    mesh: &Mesh,
    skin: Option<&FbxSkin>,
    budget: &MemoryBudget,
    repaired: &mut Repaired,
    warnings: &mut Warnings,
) -> Result<Vec<FbxMorph>, ImportError> {
    let place = || one_line(name(mesh));
    let mut morphs = Vec::new();
    for channel in mesh.blend_deformers.iter().flat_map(|d| d.channels.iter()) {
        let Some(shape) = channel.target_shape.as_ref() else { continue };
        if channel.keyframes.len() > 1 {
            warnings.add("fbx-inbetween", "in-between shapes of a morph target were left out", place());
        }
        // The displacements of vertices and of corners: as numbers and as bytes.
        let moved = (mesh.num_vertices + 6 * mesh.num_triangles) as u64;
        budget.reserve_list::<[f32; 3]>(moved, || format!("a morph target of the mesh `{}`", place()))?;
        let mut moves = vec![[0.0f32; 3]; mesh.num_vertices];
        for (vertex, by) in shape.offset_vertices.iter().zip(&shape.position_offsets) {
            let by = skin.and_then(|s| s.model_from_mesh).map_or(*by, |m| transform_direction(&m, *by));
            if let Some(slot) = moves.get_mut(*vertex as usize) {
                *slot = repaired.finite(single(by), 0.0);
            }
        }
        let weight = if (channel.weight as f32).is_finite() { channel.weight } else { 0.0 };
        morphs.push(FbxMorph { name: channel.element.name.to_string(), weight, moves });
    }
    Ok(morphs)
}

/// The value of a corner; `None` where the file has none, as in a damaged layer.
fn at_corner<T: Copy>(values: &[T], indices: &[u32], corner: usize) -> Option<T> {
    values.get(*indices.get(corner)? as usize).copied()
}

/// The faces of one material, except for those with a vertex that is not finite, which are counted. Colours are `encoded` as sRGB
/// or linear.
fn primitive(
    mesh: &Mesh,
    faces: &[u32],
    skin: Option<&FbxSkin>,
    encoded: bool,
    repaired: &mut Repaired,
) -> WeldedPrimitive {
    let model_from_mesh = skin.and_then(|s| s.model_from_mesh);
    let normal_matrix = model_from_mesh.map(|m| matrix_for_normals(&m));
    let mut corner_of = |corner: usize| -> Option<(u32, MeshCorner)> {
        let vertex = *mesh.vertex_indices.get(corner)?;
        let v = *mesh.vertices.get(vertex as usize)?;
        let at = single(model_from_mesh.map_or(v, |m| transform_position(&m, v)));
        if !is_usable(&at) {
            return None;
        }
        let normals = &mesh.vertex_normal;
        let normal = at_corner(&normals.values, &normals.indices, corner);
        let normal = normal.unwrap_or(Vec3 { x: 0.0, y: 1.0, z: 0.0 });
        let normal = normal_matrix.map_or(normal, |m| transform_direction(&m, normal));
        let uv = |set: &ufbx::UvSet| at_corner(&set.vertex_uv.values, &set.vertex_uv.indices, corner);
        let uvs = mesh.uv_sets.iter().map(|set| uv(set).unwrap_or_default());
        let color = at_corner(&mesh.vertex_color.values, &mesh.vertex_color.indices, corner);
        let color = color.unwrap_or_default();
        let channel = |c: f64| if encoded { linear_of_srgb(c.clamp(0.0, 1.0)) } else { c.clamp(0.0, 1.0) };
        let rgba = [channel(color.x), channel(color.y), channel(color.z), color.w.clamp(0.0, 1.0)];
        let made = MeshCorner {
            position: at,
            normal: unit(single(normal)),
            uvs: uvs.map(|uv| repaired.finite([uv.x as f32, 1.0 - uv.y as f32], 0.0)).collect(),
            color: repaired.finite(rgba.map(|c| c as f32), 1.0),
        };
        Some((vertex, made))
    };
    let mut made = WeldedPrimitive::default();
    let mut known: HashMap<([u32; 10], Vec<u32>, u32), u32> = HashMap::new();
    let mut triangles = Vec::new();
    let mut left_out = 0;
    for face in faces.iter().filter_map(|f| mesh.faces.get(*f as usize)) {
        let cut = ufbx::triangulate_face_vec(&mut triangles, mesh, *face) as usize;
        for triangle in triangles.chunks_exact(3).take(cut) {
            let corners = triangle.iter().map(|corner| corner_of(*corner as usize));
            let Some(corners) = corners.collect::<Option<Vec<(u32, MeshCorner)>>>() else {
                left_out += 1;
                continue;
            };
            for (vertex, corner) in corners {
                let MeshCorner { position, normal, uvs, color } = &corner;
                let mut bits = [0u32; 10];
                let numbers = position.iter().chain(normal).chain(color);
                bits.iter_mut().zip(numbers).for_each(|(bits, x)| *bits = x.to_bits());
                let uvs = uvs.as_flattened().iter().map(|x| x.to_bits()).collect();
                let next = made.corners.len() as u32;
                let id = *known.entry((bits, uvs, vertex)).or_insert(next);
                if id == next {
                    made.corners.push(corner);
                    made.source.push(vertex);
                }
                made.indices.push(id);
            }
        }
    }
    repaired.triangles += left_out;
    made
}

/// The normal with length 1; up if its length is 0.
fn unit(n: [f32; 3]) -> [f32; 3] {
    let length = n.iter().map(|x| x * x).sum::<f32>().sqrt();
    if length > 1e-6 && length.is_finite() { n.map(|x| x / length) } else { [0.0, 1.0, 0.0] }
}

/// The primitive in the binary chunk.
fn written(
    made: &WeldedPrimitive,
    mesh: &Mesh,
    skin: Option<&FbxSkin>,
    morphs: &[FbxMorph],
    binary: &mut GlbBuilder,
) -> Value {
    let count = made.corners.len();
    let list = |kind: &str, number: u32| json!({ "componentType": number, "count": count, "type": kind });
    let positions: Vec<[f32; 3]> = made.corners.iter().map(|c| c.position).collect();
    let normals: Vec<[f32; 3]> = made.corners.iter().map(|c| c.normal).collect();
    let mut attributes = json!({
        "POSITION": binary.push(&floats(&positions), VERTICES, bounded(list("VEC3", FLOAT), &positions)),
        "NORMAL": binary.push(&floats(&normals), VERTICES, list("VEC3", FLOAT)),
    });
    for set in 0..mesh.uv_sets.len() {
        let uvs: Vec<[f32; 2]> = made.corners.iter().map(|c| c.uvs[set]).collect();
        attributes[format!("TEXCOORD_{set}")] =
            binary.push(&floats(&uvs), VERTICES, list("VEC2", FLOAT)).into();
    }
    if mesh.vertex_color.exists {
        let colors: Vec<[f32; 4]> = made.corners.iter().map(|c| c.color).collect();
        attributes["COLOR_0"] = binary.push(&floats(&colors), VERTICES, list("VEC4", FLOAT)).into();
    }
    if let Some(skin) = skin {
        let of = |v: &u32| skin.weights.get(*v as usize).map_or(&[][..], Vec::as_slice);
        let most = made.source.iter().map(|v| of(v).len()).max().unwrap_or(0);
        for set in 0..most.div_ceil(4).clamp(1, INFLUENCES / 4) {
            let four = |v: &u32| -> [(u16, f32); 4] {
                std::array::from_fn(|k| of(v).get(4 * set + k).copied().unwrap_or((0, 0.0)))
            };
            let joints: Vec<u8> =
                made.source.iter().flat_map(four).flat_map(|(joint, _)| joint.to_le_bytes()).collect();
            let weights: Vec<[f32; 4]> = made.source.iter().map(|v| four(v).map(|w| w.1)).collect();
            attributes[format!("JOINTS_{set}")] =
                binary.push(&joints, VERTICES, list("VEC4", UNSIGNED_SHORT)).into();
            attributes[format!("WEIGHTS_{set}")] =
                binary.push(&floats(&weights), VERTICES, list("VEC4", FLOAT)).into();
        }
    }
    let bytes: Vec<u8> = made.indices.iter().flat_map(|i| i.to_le_bytes()).collect();
    let corners = json!({ "componentType": UNSIGNED_INT, "count": made.indices.len(), "type": "SCALAR" });
    let mut primitive = json!({ "attributes": attributes, "indices": binary.push(&bytes, CORNERS, corners) });
    if !morphs.is_empty() {
        let target = |morph: &FbxMorph| {
            let moves: Vec<[f32; 3]> = made
                .source
                .iter()
                .map(|v| morph.moves.get(*v as usize).copied().unwrap_or_default())
                .collect();
            json!({ "POSITION": binary.push(&floats(&moves), VERTICES, bounded(list("VEC3", FLOAT), &moves)) })
        };
        primitive["targets"] = morphs.iter().map(target).collect::<Vec<Value>>().into();
    }
    primitive
}

/// The description of a list with its minimum and maximum.
fn bounded(mut list: Value, values: &[[f32; 3]]) -> Value {
    let [min, max] = bounds(values);
    list["min"] = min.to_vec().into();
    list["max"] = max.to_vec().into();
    list
}
