//! Reads the morph targets of a primitive: the displacement of every vertex, mesh space, metres.
//!
//! Names are those in the mesh's `extras.targetNames`, which all programs write. Source: glTF 2.0 specification, section 3.7.2.2.

use super::accessor_elements::Numbers;
use super::accessors::Accessors;
use crate::gltf_document::{GltfError, Json};
use crate::model::MorphTarget;
use crate::report::Warnings;
use ::gltf::json::accessor::Type;
use ::gltf::mesh::Primitive;
use serde_json::Value;

/// A primitive with its mesh, and the weights without animation.
pub(super) struct MorphSource<'a> {
    pub(super) mesh: &'a ::gltf::Mesh<'a>,
    pub(super) primitive: &'a Primitive<'a>,
    /// The weights without animation; those that are missing are 0.
    pub(super) weights: Vec<f32>,
}

/// The weights of a mesh without animation: those of its node, else its own.
pub(super) fn usual_weights(json: &Json, node: usize, mesh: &::gltf::Mesh) -> Vec<f32> {
    if mesh.primitives().all(|primitive| primitive.morph_targets().next().is_none()) {
        return Vec::new();
    }
    let nodes = json.items("nodes").unwrap_or_default();
    let node: Option<Value> = nodes.get(node).and_then(|raw| serde_json::from_str(raw).ok());
    let own = node.as_ref().and_then(|node| node.get("weights")).and_then(Value::as_array);
    match own {
        Some(weights) => weights.iter().map(|w| w.as_f64().unwrap_or(0.0) as f32).collect(),
        None => mesh.weights().unwrap_or_default().to_vec(),
    }
}

impl MorphSource<'_> {
    /// The targets; one that cannot be read moves nothing, so that the others keep their weights.
    ///
    /// # Errors
    /// The memory limit of the file is exceeded.
    pub(super) fn read(
        &self,
        accessors: &Accessors,
        vertices: usize,
        path: &str,
        warnings: &mut Warnings,
    ) -> Result<Vec<MorphTarget>, GltfError> {
        let names = self.names();
        let mut found: Vec<MorphTarget> = Vec::new();
        for (k, target) in self.primitive.morph_targets().enumerate() {
            let here = || format!("{path}.targets[{k}]");
            accessors.budget().reserve_list::<[f32; 3]>(vertices as u64, here)?;
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
            let name = names.get(k).cloned().unwrap_or_else(|| format!("target_{k}"));
            let taken = |name: &String| found.iter().any(|m| m.name == *name);
            let numbered = (2..).map(|n| format!("{name}_{n}"));
            let name = std::iter::once(name.clone()).chain(numbered).find(|n| !taken(n)).unwrap_or_default();
            let weight = self.weights.get(k).copied().filter(|w| w.is_finite()).unwrap_or(0.0);
            let offsets = offsets.chunks_exact(3).map(|c| [c[0], c[1], c[2]]).collect();
            found.push(MorphTarget { name, weight, offsets });
        }
        Ok(found)
    }

    /// The names of the targets, in their order; fewer if the file does not tell them.
    fn names(&self) -> Vec<String> {
        let extras: Option<Value> =
            self.mesh.extras().as_ref().and_then(|raw| serde_json::from_str(raw.get()).ok());
        let names = extras.as_ref().and_then(|e| e.get("targetNames")).and_then(Value::as_array);
        let names = names.map(|names| names.iter().map(|n| n.as_str().unwrap_or_default().to_owned()));
        names.into_iter().flatten().take_while(|n| !n.is_empty()).collect()
    }
}
