//! Writes the property tracks of a clip (morph weights, nodes that are not joints) to nodes of the same name.
//!
//! Morph weights go to a node whose mesh has the same number of targets; translation, rotation and scale to a node that is not
//! above a joint. Tracks without such a node are reported. Space and units: those of the source file. Source: glTF 2.0
//! specification, section 3.11.

use super::node_tracks::{NodeTrack, TrackValues};
use super::thin_tracks::KeyFrames;
use crate::gltf_document::{GltfError, Json, NodeTree};
use crate::model::{AnimatedProperty, Clip, PropertyTrack};
use crate::report::Warnings;
use std::collections::HashMap;

/// Warning code for property tracks that are not written.
pub(crate) const DROPPED: &str = "carried-dropped";

/// A channel of an animation with its keys.
pub(super) struct AnimationChannel<'a> {
    pub(super) node: usize,
    /// The animated property.
    pub(super) path: &'static str,
    /// The accessor type of its values, and how many elements a key has.
    pub(super) kind: &'static str,
    pub(super) elements: usize,
    /// Numbers per key.
    pub(super) width: usize,
    pub(super) values: TrackValues<'a>,
    /// The frames of the keys.
    pub(super) frames: KeyFrames,
}

impl<'a> AnimationChannel<'a> {
    /// The channel of the node of a joint.
    pub(super) fn of_joint((track, frames): (NodeTrack<'a>, KeyFrames)) -> Self {
        let (width, kind, path) =
            if track.rotation { (4, "VEC4", "rotation") } else { (3, "VEC3", "translation") };
        Self { node: track.node, path, kind, elements: 1, width, values: track.values, frames }
    }
}

/// The nodes of a document that can play property tracks.
pub(super) struct PropertyTargets<'a> {
    tree: &'a NodeTree,
    /// Whether a node is a joint or above a joint.
    body: Vec<bool>,
    /// The nodes of each name, ascending.
    named: HashMap<&'a str, Vec<usize>>,
    /// The number of morph targets of every mesh.
    targets: Vec<usize>,
}

impl<'a> PropertyTargets<'a> {
    /// The nodes of a document whose joints are the nodes `joints`.
    ///
    /// # Errors
    /// If `meshes` is not a list.
    pub(super) fn of(json: &Json, tree: &'a NodeTree, joints: &[Option<usize>]) -> Result<Self, GltfError> {
        let mut body = vec![false; tree.nodes().len()];
        for joint in joints.iter().flatten() {
            // Stops where another path has been, so that a deep tree takes linear time.
            tree.path_to_top(*joint).take_while(|n| !std::mem::replace(&mut body[*n], true)).for_each(drop);
        }
        let mut named: HashMap<&str, Vec<usize>> = HashMap::new();
        for (index, node) in tree.nodes().iter().enumerate() {
            let Some(name) = node.name.as_deref() else { continue };
            named.entry(name).or_default().push(index);
        }
        let targets = |raw: &str| -> usize {
            let mesh: serde_json::Value = serde_json::from_str(raw).unwrap_or_default();
            let first =
                mesh.get("primitives").and_then(|p| p.get(0)?.get("targets")?.as_array().map(Vec::len));
            first.unwrap_or(0)
        };
        let targets = json.items("meshes")?.into_iter().map(targets).collect();
        Ok(Self { tree, body, named, targets })
    }

    /// The channels of the property tracks of `clip`.
    pub(super) fn channels(&self, clip: &Clip, warnings: &mut Warnings) -> Vec<AnimationChannel<'static>> {
        let mut found = Vec::new();
        for track in &clip.property_tracks {
            match self.node(track) {
                Some(node) => found.push(channel(node, track, clip.frames())),
                None => {
                    let message = "the character has no nodes of these names for morph weights and moved nodes; they were omitted";
                    warnings.add(DROPPED, message, format!("the node {}", track.node));
                }
            }
        }
        found
    }

    fn node(&self, track: &PropertyTrack) -> Option<usize> {
        let fits = |node: &usize| match track.property {
            AnimatedProperty::Weights => {
                let mesh = self.tree.node(*node).mesh;
                mesh.and_then(|m| self.targets.get(m)) == Some(&track.width)
            }
            _ => !self.body[*node] && self.tree.node(*node).local.matrix.is_none(),
        };
        self.named.get(track.node.as_str())?.iter().copied().find(fits)
    }
}

/// The channel of `node`, with keys where the values change.
fn channel(node: usize, track: &PropertyTrack, frames: usize) -> AnimationChannel<'static> {
    let equal = |a: usize, b: usize| track.frame(a) == track.frame(b);
    let last = frames.saturating_sub(1);
    let needed = |f: &usize| *f == 0 || *f == last || !equal(f - 1, *f) || !equal(*f, f + 1);
    let keys: Vec<usize> = (0..frames).filter(needed).collect();
    let values = keys.iter().flat_map(|&f| track.frame(f)).copied().collect();
    let frames = KeyFrames::of(keys, frames);
    let width = track.width;
    let (path, kind, elements) = match track.property {
        AnimatedProperty::Translation => ("translation", "VEC3", 1),
        AnimatedProperty::Rotation => ("rotation", "VEC4", 1),
        AnimatedProperty::Scale => ("scale", "VEC3", 1),
        AnimatedProperty::Weights => ("weights", "SCALAR", width),
    };
    AnimationChannel { node, path, kind, elements, width, values: TrackValues::Ready(values), frames }
}
