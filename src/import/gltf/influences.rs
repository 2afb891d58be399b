//! Reads the weights of the vertices of a skinned primitive: all sets of four.
//!
//! Source: glTF 2.0 specification, section 3.7.3.3.

use super::accessor_elements::Numbers;
use super::accessors::Accessors;
use super::mesh_context::attribute;
use crate::gltf_document::GltfError;
use crate::model::FurtherInfluence;
use ::gltf::json::accessor::Type;
use ::gltf::mesh::{Primitive, Semantic};

/// The weights of the vertices of a primitive.
#[derive(Debug, Default)]
pub(super) struct VertexInfluences {
    pub(super) joints: Vec<[u16; 4]>,
    pub(super) weights: Vec<[f32; 4]>,
    pub(super) further: Vec<FurtherInfluence>,
}

/// The four strongest influences of every vertex, their weights summing to one, and the others.
pub(super) fn influences(
    accessors: &Accessors,
    primitive: &Primitive,
    path: &str,
    n: usize,
    bindings: usize,
) -> Result<VertexInfluences, GltfError> {
    let mut sets = Vec::new();
    for set in 0.. {
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
    let mut found = VertexInfluences {
        joints: Vec::with_capacity(n),
        weights: Vec::with_capacity(n),
        further: Vec::new(),
    };
    for v in 0..n {
        let mut all: Vec<(u32, f32)> = Vec::with_capacity(4 * sets.len());
        for (j, w) in &sets {
            all.extend(j[4 * v..][..4].iter().copied().zip(w[4 * v..][..4].iter().copied()));
        }
        all.retain(|(_, w)| *w > 0.0);
        if let Some((joint, _)) = all.iter().find(|(j, _)| *j as usize >= bindings) {
            return Err(GltfError::value(path, format!("vertex {v} names joint {joint} of {bindings}")));
        }
        // A stable sort: equal weights stay in file order.
        all.sort_by(|a, b| b.1.total_cmp(&a.1));
        let (js, ws) = strongest(&all);
        found.joints.push(js);
        found.weights.push(ws);
        if let Some(rest) = all.get(4..).filter(|rest| !rest.is_empty()) {
            accessors.budget().reserve_list::<FurtherInfluence>(rest.len() as u64, || format!("`{path}`"))?;
            let sum: f64 = all.iter().map(|(_, w)| f64::from(*w)).sum();
            found.further.extend(rest.iter().map(|(joint, weight)| FurtherInfluence {
                vertex: v as u32,
                binding: u16::try_from(*joint).unwrap_or(0),
                weight: (f64::from(*weight) / sum) as f32,
            }));
        }
    }
    if bindings == 0 || bindings > usize::from(u16::MAX) {
        return Err(GltfError::value(path, format!("its skin has {bindings} joints")));
    }
    Ok(found)
}

/// The first four of some influences, their weights summing to one.
fn strongest(all: &[(u32, f32)]) -> ([u16; 4], [f32; 4]) {
    let all = &all[..all.len().min(4)];
    // In 32 bits the largest floats sum to infinity, and the smallest lose their digits in the division.
    let sum: f64 = all.iter().map(|(_, w)| f64::from(*w)).sum();
    let (mut joints, mut weights) = ([0u16; 4], [1.0, 0.0, 0.0, 0.0]);
    for (k, (joint, weight)) in all.iter().enumerate() {
        joints[k] = u16::try_from(*joint).unwrap_or(0);
        weights[k] = (f64::from(*weight) / sum) as f32;
    }
    (joints, weights)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_of_any_size_sum_to_one() {
        for weight in [f32::MAX, 1.0, f32::MIN_POSITIVE, 1e-45] {
            for count in 1..8 {
                let (joints, weights) = strongest(&(0..count).map(|j| (j, weight)).collect::<Vec<_>>());
                let sum: f32 = weights.iter().sum();
                assert!((sum - 1.0).abs() < 1e-6, "{count} times {weight:e}: {weights:?}");
                assert_eq!(joints[0], 0);
            }
        }
    }
}
