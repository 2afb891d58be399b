//! What a clip carries beside joints becomes channels of the character's own nodes of the same names.
//!
//! Morph weights go to a node whose mesh has as many targets; translation, rotation and scale to a node that moves no joint.
//! Whatever finds no place is told. Space and units: those that it came with. Source: glTF 2.0 specification, section 3.11.

use super::gltf_nodes::{NodeTrack, Values};
use super::gltf_thin::KeyFrames;
use crate::gltf_document::{GltfError, Json, NodeTree};
use crate::model::{AnimatedProperty, Clip, PropertyTrack};
use crate::report::Warnings;
use std::collections::BTreeSet;

/// The code of the warning of what finds no place.
pub(super) const DROPPED: &str = "carried-dropped";

/// One channel of an animation with its keys.
pub(super) struct Channel<'a> {
    pub(super) node: usize,
    pub(super) path: &'static str,
    /// The kind of the elements that its values are made of, and how many of them a key has.
    pub(super) kind: &'static str,
    pub(super) elements: usize,
    /// Numbers of a key.
    pub(super) width: usize,
    pub(super) values: Values<'a>,
    /// The frames of the keys.
    pub(super) frames: KeyFrames,
}

impl<'a> Channel<'a> {
    /// The channel of a joint's node.
    pub(super) fn of_joint((track, frames): (NodeTrack<'a>, KeyFrames)) -> Self {
        let (width, kind, path) =
            if track.rotation { (4, "VEC4", "rotation") } else { (3, "VEC3", "translation") };
        Self { node: track.node, path, kind, elements: 1, width, values: track.values, frames }
    }
}

/// Where the nodes of a document take what clips carry.
pub(super) struct Places<'a> {
    tree: &'a NodeTree,
    /// Nodes that are joints or above one.
    bodily: BTreeSet<usize>,
    /// The number of morph targets of every mesh.
    targets: Vec<usize>,
}

impl<'a> Places<'a> {
    /// The places of a document whose joints are `joints`.
    ///
    /// # Errors
    /// A list of meshes that is none.
    pub(super) fn of(json: &Json, tree: &'a NodeTree, joints: &[Option<usize>]) -> Result<Self, GltfError> {
        let bodily = joints.iter().flatten().flat_map(|&n| tree.path_to_top(n)).collect();
        let targets = |raw: &str| -> usize {
            let mesh: serde_json::Value = serde_json::from_str(raw).unwrap_or_default();
            let first =
                mesh.get("primitives").and_then(|p| p.get(0)?.get("targets")?.as_array().map(Vec::len));
            first.unwrap_or(0)
        };
        let targets = json.items("meshes")?.into_iter().map(targets).collect();
        Ok(Self { tree, bodily, targets })
    }

    /// The channels of what `clip` carries.
    pub(super) fn channels(&self, clip: &Clip, warnings: &mut Warnings) -> Vec<Channel<'static>> {
        let mut found = Vec::new();
        for carried in &clip.property_tracks {
            match self.node(carried) {
                Some(node) => found.push(channel(node, carried, clip.frames())),
                None => {
                    let said = "morph weights and moved nodes have no counterpart of their name in the character and were left out";
                    warnings.add(DROPPED, said, format!("the node {}", carried.node));
                }
            }
        }
        found
    }

    fn node(&self, carried: &PropertyTrack) -> Option<usize> {
        let named = |node: &usize| self.tree.node(*node).name.as_deref() == Some(carried.node.as_str());
        let fits = |node: &usize| match carried.property {
            AnimatedProperty::Weights => {
                let mesh = self.tree.node(*node).mesh;
                mesh.and_then(|m| self.targets.get(m)) == Some(&carried.width)
            }
            _ => !self.bodily.contains(node) && self.tree.node(*node).local.matrix.is_none(),
        };
        (0..self.tree.nodes().len()).filter(named).find(fits)
    }
}

/// The channel of `node` with the keys between which the values change.
fn channel(node: usize, carried: &PropertyTrack, frames: usize) -> Channel<'static> {
    let same = |a: usize, b: usize| carried.frame(a) == carried.frame(b);
    let last = frames.saturating_sub(1);
    let needed = |f: &usize| *f == 0 || *f == last || !same(f - 1, *f) || !same(*f, f + 1);
    let keys: Vec<usize> = (0..frames).filter(needed).collect();
    let values = keys.iter().flat_map(|&f| carried.frame(f)).copied().collect();
    let frames = KeyFrames::of(keys, frames);
    let width = carried.width;
    let (path, kind, elements) = match carried.property {
        AnimatedProperty::Translation => ("translation", "VEC3", 1),
        AnimatedProperty::Rotation => ("rotation", "VEC4", 1),
        AnimatedProperty::Scale => ("scale", "VEC3", 1),
        AnimatedProperty::Weights => ("weights", "SCALAR", width),
    };
    Channel { node, path, kind, elements, width, values: Values::Ready(values), frames }
}
