//! Samples the tracks of an animation to the local transforms of joints, frame by frame.
//!
//! A joint whose parent joint is its node's parent, below constant uniform scales, is sampled from its own channels: most
//! joints of most files. For the others the world transforms of the nodes are computed from the scene down, and from them the
//! rigid frames of the joints: so animated scale, and whatever is animated above or between joints, is part of the clip. The
//! key positions of each frame are found once for all tracks that share key times. Blocks of frames are computed in parallel.
//! Space: local, parent joint from joint. Units: metres, seconds.

use super::frame_tile::{TILE, Tile, side_by_side};
use super::interpolation::{KeyCursor, KeyPosition, KeyTrack};
use super::node_joints::Joints;
use super::sampling_plan::{AnimatedNode, JointMotion, SamplingPlan};
use crate::gltf_document::WorldTransform;
use crate::kinematics::figure_size;
use crate::math::{Quat, Transform, Vec3, in_wide_registers, same_hemisphere};
use crate::model::JointId;
use rayon::prelude::*;

/// Leaving the rest translation by less than this, relative to the size of the figure, is rounding.
const STILL: f64 = 1e-7;
/// Frames that are computed one after the other: 60 joints of them stay in the second cache.
const BLOCK: usize = 256;

/// The frames at which tracks are sampled.
pub(super) struct FrameTimes<T> {
    /// How many.
    pub(super) frames: usize,
    /// When, in seconds.
    pub(super) time: T,
    /// How near a key is hit, seconds.
    pub(super) snap: f64,
}

/// What [`Clip::new`](crate::model::Clip::new) asks for.
pub(super) struct SampledTransforms {
    pub(super) rotations: Vec<Quat>,
    pub(super) translated: Vec<JointId>,
    pub(super) translations: Vec<Vec3>,
}

/// Local rotations, the joints that translate, and their translations, frame by frame. `cursors` are on the lists of key times
/// that the tracks name.
///
/// # Errors
/// The first frame in which a joint is nowhere.
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
    let walk = SamplingPlan::new(&steps, tracks, joints);
    // A joint without a track of its own may stand elsewhere than at rest all the same.
    let still = STILL * figure_size(skeleton);
    let rest = |k: usize| skeleton.joints()[k].rest.translation;
    let may_leave = |k: &usize| match walk.sources[*k] {
        JointMotion::World => true,
        JointMotion::Node(s, scale) => {
            steps[s].tracks[0].is_some() || (steps[s].local.translation * scale - rest(*k)).amax() > still
        }
        JointMotion::Fixed(local) => (local.translation - rest(*k)).amax() > still,
    };
    let loose: Vec<usize> = (0..n).filter(may_leave).collect();

    let mut rotations = Vec::with_capacity(span.frames * n);
    let mut translations = vec![Vec3::zeros(); span.frames * loose.len()];
    let mut most = vec![0.0f64; loose.len()];
    // The list grows with each wave of blocks: memory is first touched just before it is filled.
    let wave = match rayon::current_num_threads() {
        0 | 1 => BLOCK,
        threads => 4 * threads * BLOCK,
    };
    for first in (0..span.frames).step_by(wave) {
        let frames = wave.min(span.frames - first);
        rotations.resize((first + frames) * n, Quat::identity());
        // Rows of translations go along with rows of rotations, even where no joint translates.
        let mut rows: Vec<&mut [Vec3]> = match loose.len() {
            0 => (0..frames.div_ceil(BLOCK)).map(|_| &mut [][..]).collect(),
            width => translations[first * width..][..frames * width].chunks_mut(BLOCK * width).collect(),
        };
        let blocks = rotations[first * n..].par_chunks_mut(BLOCK * n).zip(&mut rows).enumerate();
        let filled = blocks.map(|(block, (rotations, translations))| {
            let first = first + block * BLOCK;
            let mut instants = FrameSampler::new(&walk, cursors, (span.time)(first), span.snap);
            let frames = rotations.len() / n;
            for begin in (0..frames).step_by(TILE) {
                let end = frames.min(begin + TILE);
                let (before, ahead) = rotations.split_at_mut(begin * n);
                instants.go((first + begin..first + end).map(&span.time), span.snap);
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
                    || instants.fill(&mut tile),
                );
                if let Some(frame) = tile.lost {
                    return Err(first + begin + frame);
                }
            }
            let mut leaves = vec![0.0f64; loose.len()];
            for row in translations.chunks_exact(loose.len().max(1)) {
                for ((leaves, t), k) in leaves.iter_mut().zip(row).zip(&loose) {
                    *leaves = leaves.max((t - rest(*k)).amax());
                }
            }
            Ok(leaves)
        });
        for leaves in filled.collect::<Vec<Result<Vec<f64>, usize>>>() {
            most.iter_mut().zip(leaves?).for_each(|(most, leaves)| *most = most.max(leaves));
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

/// Puts constant scales into the local transforms, and removes the matrices of animated nodes: they are animated by
/// translation, rotation and scale.
fn fold_constant_scales(steps: &mut [AnimatedNode], tracks: &[KeyTrack]) {
    for step in steps {
        if step.tracks != [None; 3] {
            step.local.matrix = None;
        }
        // Exporters like to write a scale that never changes.
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
                // By their numbers: a rotation equals its negative.
                if q.coords == rotations[k].coords {
                    break;
                }
                rotations[k] = q;
            }
        }
    }
}

/// A walk over a tile of frames.
struct FrameSampler<'w, 'a> {
    walk: &'w SamplingPlan<'a>,
    cursors: Vec<KeyCursor<'a>>,
    /// Where the frames lie among each list of key times.
    key_positions: Vec<[KeyPosition; TILE]>,
    worlds: Vec<WorldTransform>,
    model: Vec<Transform>,
    /// The local transforms of joints that hang in the world, frame by frame; empty where none does.
    places: Vec<Transform>,
}

impl<'w, 'a> FrameSampler<'w, 'a> {
    /// Everything where it is at `time`, the first of some frames.
    fn new(walk: &'w SamplingPlan<'a>, cursors: &[KeyCursor<'a>], time: f64, snap: f64) -> Self {
        let n = walk.joints.skeleton.len();
        let mut model = vec![Transform::identity(); n];
        for (step, world) in walk.steps.iter().zip(&walk.worlds) {
            step.joint.into_iter().for_each(|joint| model[joint.index()] = world.rigid().0);
        }
        Self {
            walk,
            cursors: cursors.iter().map(|cursor| cursor.at(time, snap)).collect(),
            key_positions: vec![[KeyPosition::default(); TILE]; cursors.len()],
            worlds: walk.worlds.clone(),
            model,
            places: vec![Transform::identity(); if walk.hanging.is_empty() { 0 } else { TILE * n }],
        }
    }

    /// A track and where the frames lie among its key times.
    fn track(&self, track: usize) -> (&'w KeyTrack<'a>, &[KeyPosition; TILE]) {
        let track = &self.walk.tracks[track];
        (track, &self.key_positions[track.times])
    }

    /// Walks to frames at `times`, at most [`TILE`].
    fn go(&mut self, times: impl Iterator<Item = f64>, snap: f64) {
        for (frame, now) in times.enumerate() {
            for (cursor, key_positions) in self.cursors.iter_mut().zip(&mut self.key_positions) {
                key_positions[frame] = cursor.seek(now, snap);
            }
            if !self.places.is_empty() {
                self.walk_down(frame);
            }
        }
    }

    /// The places of all joints that hang in the world.
    fn walk_down(&mut self, frame: usize) {
        let walk = self.walk;
        for &k in &walk.walked {
            let AnimatedNode { mut local, parent, tracks: [t, r, s], joint } = walk.steps[k];
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
        for &joint in &walk.hanging {
            let own = self.model[joint.index()];
            let above = walk.joints.skeleton.parent(joint).map(|above| self.model[above.index()]);
            self.places[frame * n + joint.index()] = above.map_or(own, |above| above.inverse() * own);
        }
    }

    /// Fills a tile of the frames that were walked to.
    #[inline(always)]
    fn fill(&self, tile: &mut Tile) {
        let n = self.model.len();
        for (k, source) in self.walk.sources.iter().enumerate() {
            match *source {
                JointMotion::Node(step, scale) => {
                    let AnimatedNode { local, tracks: [t, r, _], .. } = &self.walk.steps[step];
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
                    let place = |f: usize| self.places[f * n + k];
                    tile.set_rotations(k, side_by_side(|f| place(f).rotation));
                    tile.set_translations(k, |f| place(f).translation);
                    (0..tile.frames()).for_each(|f| tile.check(f, place(f).is_finite()));
                }
            }
        }
    }
}
