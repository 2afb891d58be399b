//! Reads the morph targets of a primitive: the displacement of every vertex, mesh space, metres.
//!
//! Names are those in the mesh's `extras.targetNames`, which all programs write. Source: glTF 2.0 specification, section 3.7.2.2.

use super::accessor_elements::Numbers;
use super::accessors::Accessors;
use crate::gltf_document::GltfError;
use crate::model::{MorphTarget, UNNAMED_TARGET};
use crate::report::Warnings;
use ::gltf::json::accessor::Type;
use ::gltf::mesh::Primitive;
use serde_json::Value;
use std::collections::BTreeMap;

/// The names and weights of the morph targets of a mesh on a node.
pub(super) struct MorphSource {
    /// The names in their order; fewer if the file does not name them.
    names: Vec<String>,
    /// The weights without animation; those that are missing are 0.
    weights: Vec<f32>,
}

impl MorphSource {
    /// The names of a mesh, and the weights of its node (as JSON), else its own.
    pub(super) fn new(mesh: &::gltf::Mesh, node: Option<&str>) -> Self {
        let node: Option<Value> = node.and_then(|raw| serde_json::from_str(raw).ok());
        let own = node.as_ref().and_then(|node| node.get("weights")).and_then(Value::as_array);
        let weights = match own {
            Some(weights) => weights.iter().map(|w| w.as_f64().unwrap_or(0.0) as f32).collect(),
            None => mesh.weights().unwrap_or_default().to_vec(),
        };
        let extras: Option<Value> =
            mesh.extras().as_ref().and_then(|raw| serde_json::from_str(raw.get()).ok());
        let names = extras.as_ref().and_then(|e| e.get("targetNames")).and_then(Value::as_array);
        let names = names.map(|names| names.iter().map(|n| n.as_str().unwrap_or_default().to_owned()));
        let names = names.into_iter().flatten().take_while(|n| !n.is_empty()).collect();
        Self { names, weights }
    }

    /// The targets; one that cannot be read moves nothing, so that the others keep their weights.
    pub(super) fn read(
        &self,
        accessors: &Accessors,
        primitive: &Primitive,
        vertices: usize,
        path: &str,
        warnings: &mut Warnings,
    ) -> Result<Vec<MorphTarget>, GltfError> {
        let mut found: Vec<MorphTarget> = Vec::new();
        let mut taken: BTreeMap<String, usize> = BTreeMap::new();
        for (k, target) in primitive.morph_targets().enumerate() {
            let here = || format!("{path}.targets[{k}]");
            accessors.budget().reserve_list::<[f32; 3]>(vertices as u64, here)?;
            // Itself, and its name twice.
            accessors.budget().reserve_list::<MorphTarget>(2, here)?;
            let offsets = match target.positions() {
                Some(positions) => accessors.floats(positions.index(), path, Type::Vec3, Numbers::Any),
                None => Ok(vec![0.0; 3 * vertices]),
            };
            let offsets = match offsets {
                Ok(flat) if flat.len() == 3 * vertices => flat,
                Ok(_) => {
                    warnings.add("gltf-morph", "a morph target has another number of vertices", here());
                    vec![0.0; 3 * vertices]
                }
                Err(error) => {
                    let error = error.unless_memory()?;
                    warnings.add("gltf-morph", format!("a morph target was not read: {error}"), here());
                    vec![0.0; 3 * vertices]
                }
            };
            let name = self.names.get(k).cloned().unwrap_or_else(|| format!("{UNNAMED_TARGET}{k}"));
            accessors.budget().reserve(3 * name.len() as u64, here)?;
            let name = unique(name, &mut taken);
            let weight = self.weights.get(k).copied().filter(|w| w.is_finite()).unwrap_or(0.0);
            let offsets = offsets.chunks_exact(3).map(|c| [c[0], c[1], c[2]]).collect();
            found.push(MorphTarget { name, weight, offsets });
        }
        Ok(found)
    }
}

/// The name, with the first free number if it is taken; `taken` holds the numbers tried for each name.
fn unique(name: String, taken: &mut BTreeMap<String, usize>) -> String {
    let mut unique = name.clone();
    while taken.contains_key(&unique) {
        let number = taken.entry(name.clone()).or_insert(1);
        *number += 1;
        unique = format!("{name}_{number}");
    }
    taken.insert(unique.clone(), 1);
    unique
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_targets_are_unique() {
        let mut taken = BTreeMap::new();
        let names = ["a", "a", "b", "a", "a_2", "a_2"].map(|n| unique(n.into(), &mut taken));
        assert_eq!(names, ["a", "a_2", "b", "a_3", "a_2_2", "a_2_3"]);
    }
}
