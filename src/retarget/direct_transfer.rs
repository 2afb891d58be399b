//! Direct transfer of a motion: rotations joint by joint, before anything is corrected.

use super::joint_transfer::JointTransfer;
use super::position_source::{PositionSource, dependencies};
use super::stretch::JointStretch;
use super::trunk_lean::TrunkLean;
use crate::body::SupportPoints;
use crate::contacts::Footing;
use crate::kinematics::{FramePoses, Towards};
use crate::legs::{LimbChain, LimbPose, LimbPositions};
use crate::math::{Quat, Vec3};
use crate::model::{Clip, Contacts, JointId, ModelPose, Motion, Skeleton};
use crate::parallel;
use std::ops::Range;

/// Frames of a part where a motion is transferred in parts: few relative to a long take, and more than most takes have, whose direct
/// transfer is then computed once.
pub const PART: usize = 4096;

/// Least displacement of a joint from rest that counts as motion of its own, as a share of the bone's length: less is noise
/// of exporters.
const NOISE: f64 = 0.01;

/// The direct transfer of one motion, whose ground and translated joints are known.
#[derive(Clone, Debug)]
pub struct DirectTransfer {
    /// The transfer, with the ground of the motion and without stretches that it does not have.
    pub joints: JointTransfer,
    /// The target's joints that get translations, ascending.
    translated: Vec<JointId>,
}

/// The legs of source and target in the direct transfer of a motion.
#[derive(Clone, Debug)]
pub struct DirectLegs {
    /// The joints of the source's legs, by leg and frame.
    pub source: Vec<Vec<LimbPositions>>,
    /// The poses of the target's legs, by leg and frame.
    pub direct: Vec<Vec<LimbPose>>,
    /// The height in every frame of the lowest point that the pelvis has to be raised for: of trunk, thighs and front legs without
    /// paws, of the head what bending the neck does not raise, of hands while no foot can stand; empty without skin.
    pub lowest_body: Vec<f64>,
    /// The whole clip, if the motion is a single part.
    pub clip: Option<Clip>,
}

impl DirectTransfer {
    /// The direct transfer of `motion`.
    pub fn of(joints: &JointTransfer, motion: &Motion) -> DirectTransfer {
        let mut joints = joints.clone();
        if let Some(contacts) = &motion.contacts {
            joints.pelvis = joints.pelvis.map(|path| path.on_ground(contacts.zero()));
        }
        // A joint's own translation is transferred if the source's clip or its tree gives it one.
        let target = joints.target.skeleton();
        let counts = |s: &JointStretch| s.free || moves(motion, target, s.source);
        let stretches = joints.stretches.iter().map(|s| s.clone().filter(counts)).collect();
        joints.stretches = stretches;
        let moves = |id: &JointId| {
            !matches!(joints.positions[id.index()], PositionSource::Tree)
                || joints.stretches[id.index()].is_some()
        };
        let translated = joints.target.skeleton().ids().filter(moves).collect();
        DirectTransfer { joints, translated }
    }

    /// The clip of the target for a clip of the source. Quaternion signs may flip between frames.
    pub fn clip(&self, source: &Skeleton, clip: &Clip) -> Clip {
        self.part(source, (clip, 0..clip.frames()), &self.joints.order, |_, _, _| ()).0
    }

    /// The clip of the target with these joints, in an evaluation order, for some frames of a clip of the source, and what `of` finds in
    /// each frame's model poses of source and target. Other joints of the target have identity rotations, and rest in its poses.
    fn part<T: Send>(
        &self,
        source: &Skeleton,
        (clip, range): (&Clip, Range<usize>),
        joints: &[JointId],
        of: impl Fn(usize, &ModelPose, &ModelPose) -> T + Sync,
    ) -> (Clip, Vec<T>) {
        let skeleton = self.joints.target.skeleton();
        let (width, frames) = (skeleton.len(), range.len());
        let moved = self.translated.len();
        let mut rotations = vec![Quat::identity(); frames * width];
        let mut translations = vec![Vec3::zeros(); frames * moved.max(1)];
        let track = |id: JointId| self.translated.binary_search(&id).ok();
        let tracks: Vec<(JointId, Option<usize>)> = joints.iter().map(|&id| (id, track(id))).collect();
        let all = Towards::new(source, source.ids());
        let trunk = self.trunk_of(joints);
        /// Frames that share scratch poses; the result does not depend on which thread computes a block.
        const BLOCK: usize = 64;
        let blocks = rotations.chunks_mut(BLOCK * width).zip(translations.chunks_mut(BLOCK * moved.max(1)));
        let mut blocks: Vec<_> = blocks.collect();
        let found = parallel::map_mut(&mut blocks, 1, |block, (rotations, translations)| {
            let mut poses = FramePoses::new(&all, clip);
            let mut pose = skeleton.rest_model_pose();
            let row = |(n, row): (usize, &mut [Quat])| {
                let frame = range.start + block * BLOCK + n;
                let from = poses.at(frame);
                self.joints.frame(from, (joints, trunk), pose.joints_mut());
                let model = pose.joints();
                for &(id, track) in &tracks {
                    let own = &model[id.index()];
                    let parent = skeleton.parent(id).map(|parent| &model[parent.index()]);
                    let inverse = parent.map(|parent| parent.rotation.inverse());
                    row[id.index()] = inverse.map_or(own.rotation, |inverse| inverse * own.rotation);
                    if let Some(track) = track {
                        let from = parent.map_or(Vec3::zeros(), |parent| parent.translation);
                        let within = own.translation - from;
                        translations[n * moved + track] = inverse.map_or(within, |inverse| inverse * within);
                    }
                }
                of(frame, from, &pose)
            };
            rotations.chunks_mut(width).enumerate().map(row).collect::<Vec<T>>()
        });
        if moved == 0 {
            translations.clear();
        }
        let translated = self.translated.clone();
        let mut result =
            Clip::new(clip.name.clone(), clip.sample_rate, width, rotations, translated, translations);
        result.start = clip.time(range.start);
        (result, found.into_iter().flatten().collect())
    }

    /// These legs of the source and of the target, and the lowest height of the body in every frame; see [`DirectLegs::lowest_body`].
    pub fn legs(
        &self,
        motion: &Motion,
        (source, legs): (&[&LimbChain], &[&LimbChain]),
        skin: &SupportPoints,
        footing: &Footing,
    ) -> DirectLegs {
        let JointTransfer { target, positions: position_sources, order, .. } = &self.joints;
        let frames = motion.clip.frames();
        let mut lowest_joints: Vec<JointId> = skin.joints_of_body().collect();
        let on_hands = !lowest_joints.is_empty() && (0..frames).any(|f| footing.in_air(f));
        if on_hands {
            lowest_joints.extend(skin.hands.iter().flatten().map(|(joint, _)| *joint));
        }
        let in_one_part = frames <= PART;
        let ends = legs.iter().flat_map(|leg| leg.joints()).chain(lowest_joints.iter().copied());
        let joints = if in_one_part {
            order.clone()
        } else {
            dependencies(&target.rig, position_sources, order, ends)
        };
        let of = |f: usize, from: &ModelPose, pose: &ModelPose| {
            let hands = on_hands && footing.in_air(f);
            let lowest_height = (!lowest_joints.is_empty()).then(|| {
                let body = skin.lowest_of_body(pose);
                if hands { skin.lowest_of_hands(pose).min(body) } else { body }
            });
            let pair = |(from_leg, leg): (&&LimbChain, &&LimbChain)| {
                (LimbPose::of(from_leg, from).positions(), LimbPose::of(leg, pose))
            };
            (source.iter().zip(legs).map(pair).collect::<Vec<_>>(), lowest_height)
        };
        let mut positions: Vec<Vec<LimbPositions>> = vec![Vec::with_capacity(frames); legs.len()];
        let mut poses: Vec<Vec<LimbPose>> = vec![Vec::with_capacity(frames); legs.len()];
        let mut lowest_body = Vec::with_capacity(if lowest_joints.is_empty() { 0 } else { frames });
        let mut whole = None;
        for first in (0..frames).step_by(PART) {
            let range = first..frames.min(first + PART);
            let (clip, found) = self.part(motion.character.skeleton(), (&motion.clip, range), &joints, of);
            for (legs, lowest_height) in found {
                for (leg_index, (from, leg)) in legs.into_iter().enumerate() {
                    positions[leg_index].push(from);
                    poses[leg_index].push(leg);
                }
                lowest_body.extend(lowest_height);
            }
            whole = in_one_part.then_some(clip);
        }
        DirectLegs { source: positions, direct: poses, lowest_body, clip: whole }
    }

    /// The lean of the trunk, if it rotates one of these joints.
    fn trunk_of(&self, joints: &[JointId]) -> Option<&(TrunkLean, Vec<JointId>)> {
        self.joints.trunk.as_ref().filter(|(trunk, _)| trunk.rotates_any(joints))
    }

    /// The contact labels; points at equal heights stay at equal heights.
    pub fn contacts(&self, contacts: &Contacts) -> Contacts {
        let JointTransfer { pelvis, scale, .. } = &self.joints;
        contacts.changed(|frame| frame, |y| pelvis.as_ref().map_or(y * scale, |path| path.height(y)))
    }
}

/// Whether the clip moves the joint relative to its parent, on another skeleton than the target's by more than [`NOISE`].
fn moves(motion: &Motion, target: &Skeleton, joint: JointId) -> bool {
    let Ok(slot) = motion.clip.translated().binary_search(&joint) else { return false };
    let rest = motion.character.skeleton().joint(joint).rest.translation;
    let same = motion.character.skeleton() == target;
    let noise = if same { 0.0 } else { NOISE * rest.norm() };
    let width = motion.clip.translated().len();
    motion.clip.all_translations().iter().skip(slot).step_by(width).any(|t| (t - rest).norm() > noise)
}
