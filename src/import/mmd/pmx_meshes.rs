//! Meshes of a PMX file as glTF: one for each material, with the vertices that its triangles use and the morph targets that move them.
//!
//! Space: model space; the mirror image of the file's, in which triangles have the other order. Units: metres.

use super::pmx_model::PmxModel;
use super::pmx_morphs::MorphContent;
use super::pmx_vertices::PmxMaterial;
use crate::gltf_document::{GlbBuilder, UNSIGNED_INT, UNSIGNED_SHORT};
use crate::import::import_error::ImportError;
use crate::math::Vec3;
use crate::memory_budget::MemoryBudget;
use crate::mmd_document::point_from_mmd;
use serde_json::{Value, json};
use std::collections::HashMap;

/// Bytes of a vertex in a glTF document: position, normal, texture coordinates, four joints and weights.
const VERTEX: u64 = 56;

/// Bytes of a morph target's entries in the document while it is built and read.
const TARGET: u64 = 1024;
/// Displacements of morph targets that are looked up in a microsecond.
const LOOKUPS: usize = 16;

/// A mesh of a document.
pub(super) struct PmxMesh {
    pub(super) mesh: Value,
    /// The morph targets of the model that are targets of the mesh, in order.
    pub(super) targets: Vec<usize>,
}

/// The mesh of a material, whose triangles begin at corner `first`; `None` without triangles.
pub(super) fn mesh(
    model: &PmxModel,
    number: usize,
    first: usize,
    binary: &mut GlbBuilder,
    budget: &MemoryBudget,
) -> Result<Option<PmxMesh>, ImportError> {
    let material: &PmxMaterial = &model.materials[number];
    let end = first.saturating_add(material.corners).min(model.corners.len());
    let corners = model.corners.get(first..end).unwrap_or_default();
    // The vertices in the order of their first use.
    let mut of_vertex: HashMap<u32, u32> = HashMap::new();
    let mut used: Vec<u32> = Vec::new();
    let mut indices: Vec<u8> = Vec::new();
    for triangle in corners.chunks_exact(3) {
        if triangle.iter().any(|v| *v as usize >= model.vertices.len()) {
            continue;
        }
        for &vertex in triangle.iter().rev() {
            let index = *of_vertex.entry(vertex).or_insert_with(|| {
                used.push(vertex);
                used.len() as u32 - 1
            });
            indices.extend(index.to_le_bytes());
        }
    }
    if used.is_empty() {
        return Ok(None);
    }
    budget.reserve(VERTEX * used.len() as u64, || format!("{} vertices", used.len()))?;
    let of = |v: &u32| &model.vertices[*v as usize];
    let positions: Vec<[f32; 3]> = used.iter().map(|v| point(of(v).position)).collect();
    let attributes = json!({
        "POSITION": binary.positions(&positions, None),
        "NORMAL": binary.tuples(&used.iter().map(|v| normal(of(v).normal)).collect::<Vec<_>>(), None),
        "TEXCOORD_0": binary.tuples(&used.iter().map(|v| of(v).uv).collect::<Vec<_>>(), None),
    });
    let mut primitive = json!({"attributes": attributes, "material": number});
    skin(model, &used, &mut primitive, binary);
    let count = indices.len() / 4;
    let accessor = json!({"componentType": UNSIGNED_INT, "count": count, "type": "SCALAR"});
    primitive["indices"] = binary.push(&indices, None, accessor).into();
    let moved = model.morphs.iter().map(|morph| match &morph.content {
        MorphContent::Vertices(moved) => moved.len(),
        _ => 0,
    });
    let steps = (moved.sum::<usize>() + model.morphs.len()) / LOOKUPS;
    budget.work(steps as u64, || format!("morph targets of {} materials", model.materials.len()))?;
    let (mut targets, mut names) = (Vec::new(), Vec::new());
    let mut lists: Vec<Value> = Vec::new();
    for (k, morph) in model.morphs.iter().enumerate() {
        let MorphContent::Vertices(moved) = &morph.content else { continue };
        if !(model.is_figure || moved.iter().any(|(vertex, _)| of_vertex.contains_key(vertex))) {
            continue;
        }
        budget.reserve(TARGET + 3 * morph.name.len() as u64, || "a morph target".to_owned())?;
        budget.reserve_list::<[f32; 3]>(2 * used.len() as u64, || "a morph target".to_owned())?;
        let mut offsets = vec![[0.0; 3]; used.len()];
        for (vertex, offset) in moved {
            if let Some(at) = of_vertex.get(vertex) {
                offsets[*at as usize] = point(*offset);
            }
        }
        lists.push(json!({"POSITION": binary.positions(&offsets, None)}));
        targets.push(k);
        names.push(morph.name.clone());
    }
    let mut mesh = json!({"name": material.name});
    if !lists.is_empty() {
        primitive["targets"] = lists.into();
        mesh["weights"] = vec![0.0; names.len()].into();
        mesh["extras"] = json!({"targetNames": names});
    }
    mesh["primitives"] = json!([primitive]);
    Ok(Some(PmxMesh { mesh, targets }))
}

/// Adds joints and weights of the vertices.
fn skin(model: &PmxModel, used: &[u32], primitive: &mut Value, binary: &mut GlbBuilder) {
    let (mut joints, mut weights) = (Vec::with_capacity(8 * used.len()), Vec::with_capacity(used.len()));
    for vertex in used {
        let influences = model.vertices[*vertex as usize].influences(model.bones.len());
        let at = |k: usize| influences.get(k).copied().unwrap_or_default();
        joints.extend((0..4).flat_map(|k| at(k).0.to_le_bytes()));
        weights.push([0, 1, 2, 3].map(|k| at(k).1));
    }
    let accessor = json!({"componentType": UNSIGNED_SHORT, "count": used.len(), "type": "VEC4"});
    primitive["attributes"]["JOINTS_0"] = binary.push(&joints, None, accessor).into();
    primitive["attributes"]["WEIGHTS_0"] = binary.tuples(&weights, None).into();
}

fn point(p: [f32; 3]) -> [f32; 3] {
    <[f64; 3]>::from(point_from_mmd(p)).map(|x| x as f32)
}

/// A direction of length one; up where the file has none.
fn normal(n: [f32; 3]) -> [f32; 3] {
    let n = point_from_mmd(n).try_normalize(1e-9).unwrap_or_else(Vec3::y);
    <[f64; 3]>::from(n).map(|x| x as f32)
}
