//! Converts the animations of a document to clips: sampled at the rate that fits their keys, with scale folded in.
//!
//! Space: local, parent joint from joint. Units: metres, seconds. Source: glTF 2.0 specification, section 3.11.

use super::accessor_elements::Numbers;
use super::accessors::Accessors;
use super::interpolation::{Interpolation, KeyCursor, KeyTrack, fitting_rate};
use super::node_joints::Joints;
use super::property_tracks::{Frames, property_tracks, weight_times};
use super::sampling::{FrameTimes, sample};
use super::sampling_plan::{AnimatedNode, steps};
use crate::gltf_document::{GltfError, NodeTree, WorldTransform, is_added, stated_rate};
use crate::math::{Quat, Vec3};
use crate::model::Clip;
use crate::report::{Warnings, one_line};
use ::gltf::animation::{self, Property};
use ::gltf::json::accessor::Type;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// The rate of clips whose keys fit no rate, Hz.
const USUAL_RATE: f64 = 60.0;
/// The rate of a clip with a single frame that states none, Hz: that of other formats which state none.
const SINGLE_FRAME_RATE: f64 = 30.0;
/// The lowest rate of clips with step or cubic keys, Hz: linear interpolation between frames approximates them.
const LEAST_CURVED_RATE: f64 = 30.0;

/// The channels of one animation that move joints: node, property (0 translation, 1 rotation, 2 scale), sampler.
type Channels<'a> = Vec<(usize, usize, animation::Sampler<'a>)>;

/// The clips of the document in file order, and the index of the first that posemill added (0 if there is none); animations
/// that move neither a joint nor a morph target are left out with a warning.
pub(super) fn clips(
    view: &::gltf::Document,
    tree: &NodeTree,
    accessors: &Accessors,
    joints: &Joints,
    warnings: &mut Warnings,
) -> Result<(Vec<Clip>, usize), GltfError> {
    let at_rest = steps(tree, joints);
    let mut added = None;
    let mut clips = Vec::with_capacity(view.animations().len());
    for animation in view.animations() {
        let i = animation.index();
        match clip(&animation, tree, accessors, joints, &at_rest, warnings) {
            Ok(Some(clip)) => {
                if is_added(animation.extras()) {
                    added = added.or(Some(clips.len()));
                }
                clips.push(clip);
            }
            Ok(None) => {
                let message =
                    "an animation that moves neither a joint nor a morph target was not read as a clip";
                warnings.add("gltf-clip-without-joints", message, format!("animations[{i}]"));
            }
            Err(error @ GltfError::Compressed { .. }) => {
                warnings.add(
                    "gltf-packed-clip",
                    format!("a clip was left out: {error}"),
                    format!("animations[{i}]"),
                );
            }
            Err(error) => return Err(error),
        }
    }
    Ok((clips, added.unwrap_or(0)))
}

fn clip(
    animation: &::gltf::Animation,
    tree: &NodeTree,
    accessors: &Accessors,
    joints: &Joints,
    (at_rest, step_of): &(Vec<AnimatedNode>, Vec<Option<usize>>),
    warnings: &mut Warnings,
) -> Result<Option<Clip>, GltfError> {
    let here = format!("animations[{}]", animation.index());
    let channels = channels(animation, &here, tree, step_of, warnings);
    let budget = accessors.budget();
    budget.reserve_list::<(AnimatedNode, WorldTransform)>(at_rest.len() as u64, || format!("`{here}`"))?;
    let mut steps = at_rest.clone();
    let keys = ChannelKeys::read(&channels, &here, accessors)?;
    warn_of_repeats(keys.times.values(), &here, warnings);
    let JointTracks { tracks, cursors, mut times, mut curved } =
        keys.tracks(&channels, &here, step_of, &mut steps)?;
    warn_of_scale(&channels, &tracks, &steps, step_of, (&here, tree), warnings);
    if channels.is_empty() {
        // A take of a face: the body rests.
        (times, curved) = weight_times(animation, tree, accessors)?;
    }
    if times.is_empty() {
        return Ok(None);
    }
    let stated = stated_rate(animation.extras());
    let FrameGrid { start, duration, mut rate, snap, frames } = FrameGrid::of(&times, curved, stated);
    if frames == 1 {
        rate = stated.unwrap_or(SINGLE_FRAME_RATE);
    }
    let samples = frames.saturating_mul(steps.len().max(joints.nodes.len()) as u64);
    let what = || format!("`{here}`, {duration:.1} s at {rate:.0} Hz,");
    budget.reserve_list::<(Quat, Vec3)>(samples, what)?;
    if let Some((from, to)) = suspicious_gap(&times) {
        let message = format!(
            "the time between the keys at {from:.2} and {to:.2} s is far longer than between all others: one key time may be \
             damaged"
        );
        warnings.add("gltf-key-gap", message, here.clone());
    }
    let name = animation.name().unwrap_or_default().to_owned();
    let time = |f: usize| start + f as f64 / rate;
    let span = Frames { count: frames as usize, time: &time, snap };
    let is_joint = |node: usize| step_of[node].is_some();
    let property_tracks = property_tracks(animation, tree, accessors, is_joint, &span, warnings)?;
    let span = FrameTimes { frames: frames as usize, time, snap };
    let sampled = sample(steps, &tracks, &cursors, joints, &span)
        .map_err(|item| GltfError::NotFinite { path: here, item })?;
    let mut clip = Clip::new(
        name,
        rate,
        joints.nodes.len(),
        sampled.rotations,
        sampled.translated,
        sampled.translations,
    );
    clip.start = start;
    clip.property_tracks = property_tracks;
    Ok(Some(clip))
}

/// Warns of keys at the time of the key before them, of which only the last counts.
fn warn_of_repeats<'t>(times: impl Iterator<Item = &'t Vec<f64>>, here: &str, warnings: &mut Warnings) {
    let (mut keys, mut repeated) = (0, 0);
    for times in times {
        keys += times.len();
        repeated += times.windows(2).filter(|pair| pair[0] == pair[1]).count();
    }
    if repeated > 0 {
        let message = format!(
            "{repeated} of {keys} key times repeat the one before: of the keys of one time only the last is read"
        );
        warnings.add("gltf-key-repeats", message, here);
    }
}

/// The warning of a scale that changes, which says nothing of a character whose clips are not played.
pub(crate) const SCALE_ANIMATED: &str = "gltf-scale-animated";
/// Scales of a joint that differ less are rounding errors of exporters: a thousandth of a limb is no motion.
const SAME_SCALE: f64 = 1e-3;

/// Warns of joints, and of nodes above them, whose scale changes over time: joints stay where it puts them, but a clip has no sizes.
fn warn_of_scale(
    channels: &Channels,
    tracks: &[KeyTrack],
    steps: &[AnimatedNode],
    step_of: &[Option<usize>],
    (here, tree): (&str, &NodeTree),
    warnings: &mut Warnings,
) {
    for (node, _, _) in channels.iter().filter(|(_, property, _)| *property == 2) {
        let track = step_of[*node].and_then(|step| steps[step].tracks[2]);
        let Some([least, most]) = track.map(|track| tracks[track].range()) else { continue };
        if most - least > SAME_SCALE * most.abs().max(least.abs()) {
            // Helpers of FBX have no name; what they scale is above them.
            let named = tree.path_to_top(*node).find_map(|n| tree.node(n).name.as_deref());
            let name = named.map_or_else(|| format!("nodes[{node}]"), one_line);
            let said = format!(
                "the scale of `{name}` changes from {least:.3} to {most:.3}: joints move as it moves them, but takes keep no sizes, so \
                 that skin does not grow or shrink"
            );
            warnings.add(SCALE_ANIMATED, said, here);
        }
    }
}

/// The frames of a clip.
struct FrameGrid {
    /// The time of the first key, seconds.
    start: f64,
    /// From the first to the last key, seconds.
    duration: f64,
    /// Hz.
    rate: f64,
    /// A key this close to a frame is on it, seconds.
    snap: f64,
    frames: u64,
}

impl FrameGrid {
    /// The frames for keys at these times, ascending and not empty, of which some are not interpolated linearly if `curved`; at a
    /// `stated` rate if it fits.
    fn of(times: &[f64], curved: bool, stated: Option<f64>) -> Self {
        let (start, end) = (times[0], times[times.len() - 1]);
        let fitted = fitting_rate(times, stated);
        let rate = match fitted {
            Some(rate) if curved && rate < LEAST_CURVED_RATE => rate * (LEAST_CURVED_RATE / rate).ceil(),
            Some(rate) => rate,
            None => USUAL_RATE,
        };
        // With a fitting rate every key is within a tenth of a frame of its frame.
        let snap = if fitted.is_some() { 0.1 / rate } else { 1e-5 / rate };
        let length = (end - start) * rate;
        let length = if fitted.is_some() { length.round() } else { (length - 1e-5).ceil().max(0.0) };
        // A damaged time may lead to any number of frames; the cast saturates.
        let frames = (length as u64).saturating_add(1);
        Self { start, duration: end - start, rate, snap, frames }
    }
}

/// The keys of the channels of one animation, each accessor read once.
struct ChannelKeys<'a> {
    /// The key times by accessor, seconds, ascending.
    times: BTreeMap<usize, Vec<f64>>,
    /// The bytes of the key values by accessor and numbers per value.
    values: BTreeMap<(usize, usize), Cow<'a, [u8]>>,
}

/// The tracks of the joints and what the frames of the clip follow from.
struct JointTracks<'a> {
    tracks: Vec<KeyTrack<'a>>,
    /// One per list of key times.
    cursors: Vec<KeyCursor<'a>>,
    /// All key times, sorted, seconds.
    times: Vec<f64>,
    /// Whether any track has step or cubic interpolation.
    curved: bool,
}

impl<'a> ChannelKeys<'a> {
    fn read(channels: &Channels, here: &str, accessors: &'a Accessors) -> Result<Self, GltfError> {
        let mut times: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
        let mut values: BTreeMap<(usize, usize), Cow<[u8]>> = BTreeMap::new();
        for (_, property, sampler) in channels {
            let path = format!("{here}.samplers[{}]", sampler.index());
            let (input, output) = (sampler.input().index(), sampler.output().index());
            if let Entry::Vacant(slot) = times.entry(input) {
                let keys = accessors.floats(input, &format!("{path}.input"), Type::Scalar, Numbers::Float)?;
                if keys.windows(2).any(|w| w[0] > w[1]) {
                    return Err(GltfError::value(format!("accessors[{input}]"), "key times do not ascend"));
                }
                // Once by accessor, once among all keys of the clip.
                let what = || format!("the key times of `{here}`");
                accessors.budget().reserve_list::<[f64; 2]>(keys.len() as u64, what)?;
                slot.insert(keys.into_iter().map(f64::from).collect());
            }
            let (shape, width) = if *property == 1 { (Type::Vec4, 4) } else { (Type::Vec3, 3) };
            if let Entry::Vacant(slot) = values.entry((output, width)) {
                slot.insert(accessors.float_bytes(
                    output,
                    &format!("{path}.output"),
                    shape,
                    Numbers::Unit,
                )?);
            }
        }
        Ok(Self { times, values })
    }

    /// The tracks of the channels; `steps` get their indices.
    fn tracks(
        &self,
        channels: &Channels,
        here: &str,
        step_of: &[Option<usize>],
        steps: &mut [AnimatedNode],
    ) -> Result<JointTracks<'_>, GltfError> {
        let mut tracks = Vec::with_capacity(channels.len());
        let mut curved = false;
        let mut all_times: Vec<f64> = Vec::new();
        let (mut cursors, mut cursor_of) = (Vec::new(), BTreeMap::new());
        for (node, property, sampler) in channels {
            let (node, property) = (*node, *property);
            let interpolation = match sampler.interpolation() {
                animation::Interpolation::Linear => Interpolation::Linear,
                animation::Interpolation::Step => Interpolation::Step,
                animation::Interpolation::CubicSpline => Interpolation::CubicSpline,
            };
            let width = if property == 1 { 4 } else { 3 };
            let input = sampler.input().index();
            let (times, values) = (&self.times[&input], &self.values[&(sampler.output().index(), width)]);
            let next = cursors.len();
            let cursor = *cursor_of.entry(input).or_insert(next);
            let Some(track) = KeyTrack::new(cursor, times.len(), values, width, interpolation) else {
                let reason = format!("{} key times for {} values", times.len(), values.len() / (4 * width));
                return Err(GltfError::value(format!("{here}.samplers[{}]", sampler.index()), reason));
            };
            // Some exporters write a value that stays as two steps.
            curved |= interpolation != Interpolation::Linear && times.len() > 1 && !track.stays();
            if cursor == next {
                all_times.extend_from_slice(times);
                cursors.push(KeyCursor::new(times));
            }
            let step = step_of[node].unwrap_or_default();
            steps[step].tracks[property] = Some(tracks.len());
            tracks.push(track);
        }
        all_times.sort_by(f64::total_cmp);
        Ok(JointTracks { tracks, cursors, times: all_times, curved })
    }
}

/// Shortest time between two keys that is suspicious, seconds: a flipped bit changes a time by 128 s or more about every
/// second time. With half of it, warnings would also be given for long holds between the takes of one file.
const LONG_GAP: f64 = 60.0;
/// A suspicious gap is longer than all others by this factor.
const UNUSUAL_FACTOR: f64 = 100.0;
/// The fewest gaps between keys of which one can be unusual.
const MIN_GAPS: usize = 4;

/// The two of the ascending `keys` between which far more time passes than between all others.
fn suspicious_gap(keys: &[f64]) -> Option<(f64, f64)> {
    let pairs = keys.windows(2).filter(|w| w[1] > w[0]);
    let widest = pairs.clone().max_by(|a, b| (a[1] - a[0]).total_cmp(&(b[1] - b[0])))?;
    let gap = widest[1] - widest[0];
    let others = pairs.clone().filter(|w| w[1] - w[0] < gap);
    let second = others.map(|w| w[1] - w[0]).fold(0.0, f64::max);
    (gap > LONG_GAP && gap > UNUSUAL_FACTOR * second && second > 0.0 && pairs.count() >= MIN_GAPS)
        .then_some((widest[0], widest[1]))
}

fn channels<'a>(
    animation: &::gltf::Animation<'a>,
    here: &str,
    tree: &NodeTree,
    step_of: &[Option<usize>],
    warnings: &mut Warnings,
) -> Channels<'a> {
    let mut taken = std::collections::BTreeSet::new();
    let mut found = Vec::new();
    for channel in animation.channels() {
        let target = channel.target();
        let node = target.node().index();
        let property = match target.property() {
            Property::Translation => 0,
            Property::Rotation => 1,
            Property::Scale => 2,
            Property::MorphTargetWeights => continue,
        };
        if step_of[node].is_none() {
            continue;
        }
        let path = || format!("{here}.channels[{}]", channel.index());
        if !taken.insert((node, property)) {
            warnings.add("gltf-repeated-channel", "a second channel of one property was ignored", path());
            continue;
        }
        if tree.node(node).local.matrix.is_some() {
            let message = "the matrix of an animated node was decomposed";
            warnings.add("gltf-animated-matrix", message, path());
        }
        found.push((node, property, channel.sampler()));
    }
    found
}
