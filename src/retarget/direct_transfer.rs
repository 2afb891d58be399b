//! Direct transfer of a motion: rotations joint by joint, before anything is corrected.

use super::joint_transfer::JointTransfer;
use super::position_source::{PositionSource, dependencies};
use super::stretch::JointStretch;
use super::trunk_lean::TrunkLean;
use crate::body::SupportPoints;
use crate::contacts::Footing;
use crate::kinematics::{FramePoses, Towards};
use crate::legs::{LimbChain, LimbPose};
use crate::math::{Quat, Transform, Vec3};
use crate::model::{Clip, Contacts, JointId, ModelPose, Motion, Skeleton};
use crate::parallel;

/// Frames of a part where a motion is transferred in parts: enough for many threads, and few relative to a long take.
pub const PART: usize = 1024;

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

    /// The clip of the target with these joints, in an evaluation order, for a clip of the source; other joints have
    /// identity rotations. Quaternion signs may flip between frames.
    pub fn clip(&self, source: &Skeleton, clip: &Clip, joints: &[JointId]) -> Clip {
        let skeleton = self.joints.target.skeleton();
        let (width, frames) = (skeleton.len(), clip.frames());
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
        parallel::for_each(&mut blocks.collect::<Vec<_>>(), 1, |block, (rotations, translations)| {
            let mut poses = FramePoses::new(&all, clip);
            let mut model = vec![Transform::identity(); width];
            for (n, row) in rotations.chunks_mut(width).enumerate() {
                self.joints.frame(poses.at(block * BLOCK + n), (joints, trunk), &mut model);
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
            }
        });
        if moved == 0 {
            translations.clear();
        }
        let translated = self.translated.clone();
        let mut result =
            Clip::new(clip.name.clone(), clip.sample_rate, width, rotations, translated, translations);
        result.start = clip.start;
        result
    }

    /// The poses of these legs of the target, by leg and frame, and the lowest height in every frame of the skin that the
    /// pelvis moves; the latter is empty without skin. Hands count as well in frames in which no foot can stand.
    pub fn legs(
        &self,
        motion: &Motion,
        legs: &[&LimbChain],
        skin: &SupportPoints,
        footing: &Footing,
    ) -> (Vec<Vec<LimbPose>>, Vec<f64>) {
        let JointTransfer { target, positions, order, .. } = &self.joints;
        let mut seat: Vec<JointId> = skin.joints_of_body().collect();
        let on_hands = !seat.is_empty() && (0..motion.clip.frames()).any(|f| footing.in_air(f));
        if on_hands {
            seat.extend(skin.hands.iter().flatten().map(|(joint, _)| *joint));
        }
        let ends = legs.iter().flat_map(|leg| leg.joints()).chain(seat.iter().copied());
        let joints = &dependencies(&target.rig, positions, order, ends);
        let skeleton = motion.character.skeleton();
        let (trunk, all) = (self.trunk_of(joints), Towards::new(skeleton, skeleton.ids()));
        let start = || (FramePoses::new(&all, &motion.clip), target.skeleton().rest_model_pose());
        let frame = |(poses, model): &mut (FramePoses<'_>, ModelPose), f: usize| {
            self.joints.frame(poses.at(f), (joints, trunk), model.joints_mut());
            let hands = on_hands && footing.in_air(f);
            let low = (!seat.is_empty()).then(|| {
                let body = skin.lowest_of_body(model);
                if hands { skin.lowest_of_hands(model).min(body) } else { body }
            });
            (legs.iter().map(|leg| LimbPose::of(leg, model)).collect::<Vec<LimbPose>>(), low)
        };
        let frames = motion.clip.frames();
        let mut poses: Vec<Vec<LimbPose>> = vec![Vec::with_capacity(frames); legs.len()];
        let mut lowest = Vec::with_capacity(if seat.is_empty() { 0 } else { frames });
        for first in (0..frames).step_by(PART) {
            let part = PART.min(frames - first);
            for (legs, low) in parallel::map_with(part, 64, start, |state, k| frame(state, first + k)) {
                poses.iter_mut().zip(legs).for_each(|(poses, leg)| poses.push(leg));
                lowest.extend(low);
            }
        }
        (poses, lowest)
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
