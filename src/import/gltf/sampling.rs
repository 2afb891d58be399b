//! Samples the tracks of an animation to the local transforms of joints, frame by frame.
//!
//! Most joints of most files are sampled from their own channels: those whose parent joint is their node's parent, below
//! constant uniform scales. For the others, world transforms of the nodes are computed from the scene down, and the joints from
//! them. So animated scale, and animated nodes above or between joints, are part of the clip.
//!
//! Key positions of a frame are found once for all tracks with the same key times. Blocks of frames are computed in parallel.
//! Space: local, parent joint from joint. Units: metres, seconds.

use super::frame_tile::{TILE, Tile, side_by_side};
use super::interpolation::{KeyCursor, KeyPosition, KeyTrack};
use super::node_joints::Joints;
use super::sampling_plan::{AnimatedNode, JointMotion, SamplingPlan};
use crate::gltf_document::WorldTransform;
use crate::kinematics::figure_size;
use crate::math::{Quat, Transform, Vec3, in_wide_registers, same_hemisphere};
use crate::model::{JointId, Skeleton};
use crate::parallel;

/// Offsets from the rest translation below this share of the size of the figure are rounding errors.
const STILL: f64 = 1e-7;
/// Frames per block, computed by one thread: those of 60 joints fit in the second-level cache.
const BLOCK: usize = 256;

/// The frames at which tracks are sampled.
pub(super) struct FrameTimes<T> {
    /// The number of frames.
    pub(super) frames: usize,
    /// The time of a frame in seconds.
    pub(super) time: T,
    /// A key this close to a frame is on it, seconds.
    pub(super) snap: f64,
}

/// The arguments of [`Clip::new`](crate::model::Clip::new).
pub(super) struct SampledTransforms {
    pub(super) rotations: Vec<Quat>,
    pub(super) translated: Vec<JointId>,
    pub(super) translations: Vec<Vec3>,
}

/// Local rotations, the joints that translate, and their translations, frame by frame. Each track refers to one of `cursors`,
/// which has its key times.
///
/// # Errors
/// The first frame in which the transform of a joint is not finite.
pub(super) fn sample(
    mut steps: Vec<AnimatedNode>,
    tracks: &[KeyTrack],
    cursors: &[KeyCursor],
    joints: &Joints,
    span: &FrameTimes<impl Fn(usize) -> f64 + Sync>,
) -> Result<SampledTransforms, usize> {
    let skeleton = &joints.skeleton;
    let n = skeleton.len();
    fold_constant_scales(&mut steps, tracks);
    let plan = SamplingPlan::new(&steps, tracks, joints);
    let still = STILL * figure_size(skeleton);
    let loose = joints_that_may_translate(&plan, still);

    let mut rotations = Vec::with_capacity(span.frames * n);
    let mut translations = vec![Vec3::zeros(); span.frames * loose.len()];
    let mut most = vec![0.0f64; loose.len()];
    // The list grows with each wave of blocks, so that memory is first touched just before it is filled.
    let wave = match crate::parallel::threads() {
        0 | 1 => BLOCK,
        threads => 4 * threads * BLOCK,
    };
    for first in (0..span.frames).step_by(wave) {
        let frames = wave.min(span.frames - first);
        rotations.resize((first + frames) * n, Quat::identity());
        // Each block of rotations needs a block of translations, even if no joint translates.
        let mut rows: Vec<&mut [Vec3]> = match loose.len() {
            0 => (0..frames.div_ceil(BLOCK)).map(|_| &mut [][..]).collect(),
            width => translations[first * width..][..frames * width].chunks_mut(BLOCK * width).collect(),
        };
        let mut blocks: Vec<_> = rotations[first * n..].chunks_mut(BLOCK * n).zip(&mut rows).collect();
        let filled = parallel::map_mut(&mut blocks, 1, |block, (rotations, translations)| {
            let first = first + block * BLOCK;
            let mut sampler = FrameSampler::new(&plan, cursors, (span.time)(first), span.snap);
            let frames = rotations.len() / n;
            for begin in (0..frames).step_by(TILE) {
                let end = frames.min(begin + TILE);
                let (before, ahead) = rotations.split_at_mut(begin * n);
                sampler.seek((first + begin..first + end).map(&span.time), span.snap);
                let mut tile = Tile {
                    joints: n,
                    before: before.rchunks_exact(n).next(),
                    rotations: &mut ahead[..(end - begin) * n],
                    loose: &loose,
                    translations: &mut translations[begin * loose.len()..end * loose.len()],
                    lost: None,
                };
                in_wide_registers(
                    #[inline(always)]
                    || sampler.fill(&mut tile),
                );
                if let Some(frame) = tile.lost {
                    return Err(first + begin + frame);
                }
            }
            Ok::<Vec<f64>, usize>(largest_offsets(skeleton, &loose, translations))
        });
        for offsets in filled {
            most.iter_mut().zip(offsets?).for_each(|(most, offset)| *most = most.max(offset));
        }
    }
    join_blocks(&mut rotations, n);
    let kept: Vec<usize> = (0..loose.len()).filter(|i| most[*i] > still).collect();
    let translated = kept.iter().map(|i| JointId::new(loose[*i])).collect();
    if kept.len() < loose.len() {
        let rows = translations.chunks_exact(loose.len());
        translations = rows.flat_map(|row| kept.iter().map(|i| row[*i])).collect();
    }
    Ok(SampledTransforms { rotations, translated, translations })
}

/// The joints whose translation may differ from rest by more than `still`: a joint without a track of its own may do so too.
fn joints_that_may_translate(plan: &SamplingPlan, still: f64) -> Vec<usize> {
    let joints = plan.joints.skeleton.joints();
    let rest = |k: usize| joints[k].rest.translation;
    let may_translate = |k: &usize| match plan.sources[*k] {
        JointMotion::World => true,
        JointMotion::Node(s, scale) => {
            let step = &plan.steps[s];
            step.tracks[0].is_some() || (step.local.translation * scale - rest(*k)).amax() > still
        }
        JointMotion::Fixed(local) => (local.translation - rest(*k)).amax() > still,
    };
    (0..joints.len()).filter(may_translate).collect()
}

/// The largest offset of each joint in `loose` from its rest translation, over all rows.
fn largest_offsets(skeleton: &Skeleton, loose: &[usize], translations: &[Vec3]) -> Vec<f64> {
    let mut offsets = vec![0.0f64; loose.len()];
    for row in translations.chunks_exact(loose.len().max(1)) {
        for ((offset, t), k) in offsets.iter_mut().zip(row).zip(loose) {
            *offset = offset.max((t - skeleton.joints()[*k].rest.translation).amax());
        }
    }
    offsets
}

/// Puts constant scales into the local transforms, and removes the matrices of animated nodes: they are animated by
/// translation, rotation and scale.
fn fold_constant_scales(steps: &mut [AnimatedNode], tracks: &[KeyTrack]) {
    for step in steps {
        if step.tracks != [None; 3] {
            step.local.matrix = None;
        }
        // Exporters often write a scale that never changes.
        if let Some(scale) = step.tracks[2].filter(|s| tracks[*s].is_constant()) {
            step.local.scale = tracks[scale].sample(KeyPosition::default());
            step.tracks[2] = None;
        }
    }
}

/// Makes the quaternion signs of `n` joints continuous across the blocks, which were computed independently.
fn join_blocks(rotations: &mut [Quat], n: usize) {
    for begin in (BLOCK * n..rotations.len()).step_by(BLOCK * n) {
        for joint in begin..begin + n {
            for k in (joint..rotations.len()).step_by(n) {
                let q = same_hemisphere(rotations[k], &rotations[k - n]);
                // Compares components, because a rotation equals its negative.
                if q.coords == rotations[k].coords {
                    break;
                }
                rotations[k] = q;
            }
        }
    }
}

/// Samples one tile of frames after the other.
struct FrameSampler<'p, 'a> {
    plan: &'p SamplingPlan<'a>,
    cursors: Vec<KeyCursor<'a>>,
    /// The positions of the frames in each list of key times.
    key_positions: Vec<[KeyPosition; TILE]>,
    worlds: Vec<WorldTransform>,
    model: Vec<Transform>,
    /// The local transforms, frame by frame, of joints that are computed from world transforms; empty if there are none.
    from_world: Vec<Transform>,
}

impl<'p, 'a> FrameSampler<'p, 'a> {
    /// A sampler for frames from `time` on.
    fn new(plan: &'p SamplingPlan<'a>, cursors: &[KeyCursor<'a>], time: f64, snap: f64) -> Self {
        let n = plan.joints.skeleton.len();
        let mut model = vec![Transform::identity(); n];
        for (step, world) in plan.steps.iter().zip(&plan.worlds) {
            step.joint.into_iter().for_each(|joint| model[joint.index()] = world.rigid().0);
        }
        Self {
            plan,
            cursors: cursors.iter().map(|cursor| cursor.at(time, snap)).collect(),
            key_positions: vec![[KeyPosition::default(); TILE]; cursors.len()],
            worlds: plan.worlds.clone(),
            model,
            from_world: vec![Transform::identity(); if plan.from_world.is_empty() { 0 } else { TILE * n }],
        }
    }

    /// A track and the positions of the frames in its key times.
    fn track(&self, track: usize) -> (&'p KeyTrack<'a>, &[KeyPosition; TILE]) {
        let track = &self.plan.tracks[track];
        (track, &self.key_positions[track.times])
    }

    /// Moves to the frames at `times`, at most [`TILE`].
    fn seek(&mut self, times: impl Iterator<Item = f64>, snap: f64) {
        for (frame, now) in times.enumerate() {
            for (cursor, key_positions) in self.cursors.iter_mut().zip(&mut self.key_positions) {
                key_positions[frame] = cursor.seek(now, snap);
            }
            if !self.from_world.is_empty() {
                self.evaluate_nodes(frame);
            }
        }
    }

    /// Evaluates the nodes from the scene down, and the local transforms that are computed from them.
    fn evaluate_nodes(&mut self, frame: usize) {
        let plan = self.plan;
        for &k in &plan.evaluated {
            let AnimatedNode { mut local, parent, tracks: [t, r, s], joint } = plan.steps[k];
            if let Some((track, key_positions)) = t.map(|t| self.track(t)) {
                local.translation = track.sample(key_positions[frame]);
            }
            if let Some((track, key_positions)) = r.map(|r| self.track(r)) {
                local.rotation = track.sample(key_positions[frame]);
            }
            if let Some((track, key_positions)) = s.map(|s| self.track(s)) {
                local.scale = track.sample(key_positions[frame]);
            }
            self.worlds[k] = parent.map_or(WorldTransform::identity(), |p| self.worlds[p]).child(&local);
            if let Some(joint) = joint {
                self.model[joint.index()] = self.worlds[k].rigid().0;
            }
        }
        let n = self.model.len();
        for &joint in &plan.from_world {
            let own = self.model[joint.index()];
            let above = plan.joints.skeleton.parent(joint).map(|above| self.model[above.index()]);
            self.from_world[frame * n + joint.index()] = above.map_or(own, |above| above.inverse() * own);
        }
    }

    /// Fills a tile with the current frames.
    #[inline(always)]
    fn fill(&self, tile: &mut Tile) {
        let n = self.model.len();
        for (k, source) in self.plan.sources.iter().enumerate() {
            match *source {
                JointMotion::Node(step, scale) => {
                    let AnimatedNode { local, tracks: [t, r, _], .. } = &self.plan.steps[step];
                    match r.map(|r| self.track(r)) {
                        Some((track, key_positions)) => tile.set_rotations(k, track.rotations(key_positions)),
                        None => tile.set_rotations(k, side_by_side(|_| local.rotation)),
                    }
                    match t.map(|t| self.track(t)) {
                        Some((track, key_positions)) => {
                            tile.set_translations(k, |f| track.sample::<Vec3>(key_positions[f]) * scale)
                        }
                        None => tile.set_translations(k, |_| local.translation * scale),
                    }
                }
                JointMotion::Fixed(local) => {
                    tile.set_rotations(k, side_by_side(|_| local.rotation));
                    tile.set_translations(k, |_| local.translation);
                }
                JointMotion::World => {
                    let local = |f: usize| self.from_world[f * n + k];
                    tile.set_rotations(k, side_by_side(|f| local(f).rotation));
                    tile.set_translations(k, |f| local(f).translation);
                    (0..tile.frames()).for_each(|f| tile.check(f, local(f).is_finite()));
                }
            }
        }
    }
}
