//! The channels of morph targets, and their animation from the weights of a clip.

use super::animation_stack::MorphCurve;
use crate::model::{AnimatedProperty, Clip, PropertyTrack};

/// The channels of the morph targets of a mesh.
pub(super) struct MorphChannels {
    /// The name of the node of the mesh, by which weights are addressed.
    pub(super) node: String,
    /// The object id of each target's channel.
    pub(super) channels: Vec<i64>,
}

impl MorphChannels {
    /// The channels of a node of an existing file, in the order in which the importer reads them.
    #[cfg(feature = "fbx")]
    pub(super) fn of_node(node: &ufbx::Node) -> Option<Self> {
        let mesh = node.mesh.as_ref()?;
        let channels = mesh.blend_deformers.iter().flat_map(|deformer| deformer.channels.iter());
        let read = channels.filter(|channel| channel.target_shape.is_some());
        let channels: Option<Vec<i64>> = read.map(|channel| object_id(&channel.element)).collect();
        let node = node.element.name.to_string();
        channels.filter(|channels| !channels.is_empty()).map(|channels| Self { node, channels })
    }

    /// The curves of the channels in a clip, which are none if it does not animate the weights of the node.
    pub(super) fn curves(&self, clip: &Clip) -> Vec<MorphCurve> {
        let is_weights = |t: &&PropertyTrack| t.property == AnimatedProperty::Weights && t.node == self.node;
        let Some(track) = clip.property_tracks.iter().find(is_weights) else { return Vec::new() };
        let percent = |k: usize| {
            let weight = |frame| track.frame(frame).get(k).copied().unwrap_or(0.0);
            (0..clip.frames()).map(|frame| 100.0 * f64::from(weight(frame))).collect()
        };
        let curve = |(k, channel): (usize, &i64)| MorphCurve { channel: *channel, percent: percent(k) };
        self.channels.iter().enumerate().take(track.width).map(curve).collect()
    }
}

/// The id of an object in its file.
#[cfg(feature = "fbx")]
pub(super) fn object_id(element: &ufbx::Element) -> Option<i64> {
    element.dom_node.as_ref()?.values.first().map(|value| value.value_int)
}
