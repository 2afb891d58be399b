//! Samples the channels of an animation that move no joint as property tracks of the clip.
//!
//! These are morph weights, and translation, rotation and scale of nodes that are neither joints nor their ancestors, sampled
//! at the frames of the clip. An invalid channel is left out with a warning. Space and units: the file's. Source: glTF 2.0
//! specification, section 3.11.

use super::accessor_elements::Numbers;
use super::accessors::Accessors;
use super::interpolation::{Interpolation, KeyCursor, KeyTrack};
use crate::gltf_document::{GltfError, NodeTree};
use crate::math::Quat;
use crate::model::{AnimatedProperty, PropertyTrack};
use crate::report::{Warnings, one_line};
use ::gltf::animation::Property;
use ::gltf::json::accessor::Type;
use std::collections::BTreeSet;

/// The frames of a clip.
pub(super) struct Frames<'a> {
    pub(super) count: usize,
    pub(super) time: &'a dyn Fn(usize) -> f64,
    /// A key this close to a frame is on it, seconds.
    pub(super) snap: f64,
}

/// The tracks of the channels of `animation` whose nodes are not joints according to `is_joint`.
pub(super) fn property_tracks(
    animation: &::gltf::Animation,
    tree: &NodeTree,
    accessors: &Accessors,
    is_joint: impl Fn(usize) -> bool,
    frames: &Frames,
    warnings: &mut Warnings,
) -> Result<Vec<PropertyTrack>, GltfError> {
    let mut all: Vec<PropertyTrack> = Vec::new();
    let mut found: BTreeSet<(&str, AnimatedProperty)> = BTreeSet::new();
    for channel in animation.channels() {
        let node = channel.target().node().index();
        let property = match channel.target().property() {
            Property::MorphTargetWeights => AnimatedProperty::Weights,
            _ if is_joint(node) => continue,
            Property::Translation => AnimatedProperty::Translation,
            Property::Rotation => AnimatedProperty::Rotation,
            Property::Scale => AnimatedProperty::Scale,
        };
        let Some(name) = tree.node(node).name.as_deref().filter(|name| !name.is_empty()) else {
            let message = "channels of nodes without a name are not part of the clip";
            warnings.add("gltf-foreign-channel", message, format!("nodes[{node}]"));
            continue;
        };
        if found.contains(&(name, property)) {
            let said = format!(
                "several nodes are named `{}`: only the channels of the first are part of the clip",
                one_line(name)
            );
            warnings.add("gltf-same-name", said, format!("nodes[{node}]"));
            continue;
        }
        let path = format!("animations[{}].channels[{}]", animation.index(), channel.index());
        accessors.budget().reserve(name.len() as u64, || format!("the name of `{path}`"))?;
        match sampled(&channel, property, accessors, frames, &path) {
            Ok((width, values)) => {
                found.insert((name, property));
                all.push(PropertyTrack { node: name.to_owned(), property, width, values });
            }
            Err(error) => {
                let error = error.unless_memory()?;
                let message = format!("channels of nodes that are not joints were left out: {error}");
                warnings.add("gltf-foreign-channel", message, path);
            }
        }
    }
    Ok(all)
}

/// The key times of all channels of morph weights, sorted, seconds, and whether any of them is not linear.
///
/// # Errors
/// Times that cannot be read or do not ascend.
pub(super) fn weight_times(
    animation: &::gltf::Animation,
    tree: &NodeTree,
    accessors: &Accessors,
) -> Result<(Vec<f64>, bool), GltfError> {
    let mut inputs = BTreeSet::new();
    let mut curved = false;
    for channel in animation.channels() {
        let target = channel.target();
        let named = tree.node(target.node().index()).name.as_ref().is_some_and(|name| !name.is_empty());
        if target.property() == Property::MorphTargetWeights && named {
            inputs.insert(channel.sampler().input().index());
            curved |= channel.sampler().interpolation() != ::gltf::animation::Interpolation::Linear;
        }
    }
    let mut all: Vec<f64> = Vec::new();
    for input in inputs {
        let path = format!("animations[{}]", animation.index());
        let times = accessors.floats(input, &path, Type::Scalar, Numbers::Float)?;
        if times.windows(2).any(|w| w[0] > w[1]) {
            return Err(GltfError::value(format!("accessors[{input}]"), "key times do not ascend"));
        }
        let what = || format!("the key times of `{path}`");
        accessors.budget().reserve_list::<f64>(times.len() as u64, what)?;
        all.extend(times.into_iter().map(f64::from));
    }
    all.sort_by(f64::total_cmp);
    curved &= all.len() > 1;
    Ok((all, curved))
}

/// The number of values per frame, and the values of all frames.
fn sampled(
    channel: &::gltf::animation::Channel,
    property: AnimatedProperty,
    accessors: &Accessors,
    frames: &Frames,
    path: &str,
) -> Result<(usize, Vec<f32>), GltfError> {
    let sampler = channel.sampler();
    let times = accessors.floats(sampler.input().index(), path, Type::Scalar, Numbers::Float)?;
    let times: Vec<f64> = times.into_iter().map(f64::from).collect();
    if times.windows(2).any(|w| w[0] > w[1]) {
        return Err(GltfError::value(path, "key times do not ascend"));
    }
    let shape = match property {
        AnimatedProperty::Weights => Type::Scalar,
        AnimatedProperty::Rotation => Type::Vec4,
        AnimatedProperty::Translation | AnimatedProperty::Scale => Type::Vec3,
    };
    let values = accessors.float_bytes(sampler.output().index(), path, shape, Numbers::Unit)?;
    let (interpolation, per_key) = match sampler.interpolation() {
        ::gltf::animation::Interpolation::Linear => (Interpolation::Linear, 1),
        ::gltf::animation::Interpolation::Step => (Interpolation::Step, 1),
        ::gltf::animation::Interpolation::CubicSpline => (Interpolation::CubicSpline, 3),
    };
    let width = match property {
        AnimatedProperty::Weights => values.len() / (4 * per_key * times.len().max(1)),
        _ => shape.multiplicity(),
    };
    let track = KeyTrack::new(0, times.len(), &values, width, interpolation).filter(|_| width > 0);
    let track = track.ok_or_else(|| GltfError::value(path, "values do not fit the key times"))?;
    let found = frames.count.saturating_mul(width);
    accessors.budget().reserve_list::<f32>(found as u64, || format!("`{path}`"))?;
    let mut sampled = Vec::with_capacity(found);
    let mut cursor = KeyCursor::new(&times);
    for frame in 0..frames.count {
        let key_position = cursor.seek((frames.time)(frame), frames.snap);
        if property == AnimatedProperty::Rotation {
            let q: Quat = track.sample(key_position);
            sampled.extend([q.i, q.j, q.k, q.w].map(|x| x as f32));
        } else {
            track.sample_numbers(key_position, &mut sampled);
        }
    }
    match sampled.iter().position(|x| !x.is_finite()) {
        Some(k) => Err(GltfError::NotFinite { path: path.into(), item: k / width }),
        None => Ok((width, sampled)),
    }
}
