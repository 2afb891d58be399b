//! Writes solved legs and body displacements back into the local transforms of a clip.
//!
//! Every moved joint gets its model-space transform, from which and its parent's the local transform follows; joints below
//! follow their parents. Space: model space in, local space out. Units: metres.

use super::limb_chain::LimbChain;
use super::limb_pose::LimbPose;
use crate::kinematics::Towards;
use crate::math::{Quat, Transform, Vec3, same_hemisphere};
use crate::model::{Clip, JointId, ModelPose, Motion, Pose, Rig, Role, Skeleton};
use crate::signal::fix_hemispheres;

/// The new transforms of legs and body.
pub struct SolvedFrames<'a> {
    /// The legs.
    pub legs: &'a [&'a LimbChain],
    /// Their new transforms, by leg and frame.
    pub poses: &'a [Vec<LimbPose>],
    /// For each frame: displacement of the body, and delta rotation of the pelvis alone (trunk and legs keep their orientation);
    /// empty if the body does not move.
    pub body: &'a [(Vec3, Quat)],
    /// Whether nothing moves in a frame: such frames keep every bit.
    pub still: &'a (dyn Fn(usize) -> bool + Sync),
}

/// The motion with the new transforms.
pub fn write(motion: Motion, solved: &SolvedFrames<'_>) -> Motion {
    let mut motion = write_flipping(motion, solved);
    fix_hemispheres(&mut motion.clip);
    motion
}

/// As [`write`], with quaternion signs that may flip between frames.
pub fn write_flipping(motion: Motion, solved: &SolvedFrames<'_>) -> Motion {
    let Motion { character, mut clip, contacts } = motion;
    let skeleton = character.rig.skeleton();
    let moved = MovedJoints::of(&character.rig, &clip, solved);
    let translated = moved.translated(&clip, solved.legs, skeleton);
    let (joints, animated) = (clip.joints(), clip.translated().to_vec());
    let blocks = clip.change_rotations(|first, rotations, positions| {
        let mut scratch = PoseBuffers::of(skeleton);
        let mut translations = Vec::with_capacity(rotations.len() / joints * translated.len());
        for (n, row) in rotations.chunks_mut(joints).enumerate() {
            let f = first + n;
            let local = scratch.pose.local_mut();
            local.iter_mut().zip(row.iter()).for_each(|(t, q)| t.rotation = *q);
            for (id, v) in animated.iter().zip(&positions[n * animated.len()..]) {
                local[id.index()].translation = *v;
            }
            let still = (solved.still)(f);
            if !still {
                scratch.set_goals(&moved, solved, f);
                scratch.set_locals(&moved, skeleton, row);
            }
            translations.extend(translated.iter().map(|id| scratch.pose.joint(*id).translation));
            // The next frame starts from the rest translations: joints without a translation channel keep them.
            if !still {
                for &id in moved.towards.joints() {
                    let rest = skeleton.joint(id).rest.translation;
                    scratch.pose.local_mut()[id.index()].translation = rest;
                }
            }
        }
        translations
    });
    let clip = clip.translating(translated, blocks.concat());
    Motion { character, clip, contacts }
}

/// A leaf joint without a role within this distance of the hips (share of leg length) is a helper that holds the skin of the pelvis
/// (4 cm for a person).
const OF_PELVIS: f64 = 0.05;

/// The joints of a skeleton that are written.
struct MovedJoints<'a> {
    hips: Option<JointId>,
    /// The topmost joints of the body; empty if the body does not move.
    top: Vec<JointId>,
    /// Whether a joint keeps its orientation when the pelvis rotates. True for children of the hips, except legs, helpers at
    /// the hips, and joints without a role that only connect to a joint that has one (that one keeps its orientation instead).
    trunk: Vec<bool>,
    /// The moved joints and their ancestors; no others are processed.
    towards: Towards<'a>,
}

impl<'a> MovedJoints<'a> {
    fn of(rig: &'a Rig, clip: &Clip, solved: &SolvedFrames<'_>) -> Self {
        let skeleton = rig.skeleton();
        let moves = !solved.body.is_empty();
        let top = if moves { top_joints(rig, clip) } else { Vec::new() };
        let hips = rig.joint(Role::Hips);
        let above_leg =
            |id: JointId| solved.legs.iter().any(|l| id == l.upper || skeleton.is_ancestor(id, l.upper));
        let mut leads = vec![false; skeleton.len()];
        for id in skeleton.ids().rev() {
            if let Some(parent) = skeleton.parent(id).filter(|_| leads[id.index()] || rig.role(id).is_some())
            {
                leads[parent.index()] = true;
            }
        }
        let near = OF_PELVIS * solved.legs.iter().map(|chain| chain.length()).fold(0.0, f64::max);
        let of_pelvis = |id: JointId| {
            let lone = rig.role(id).is_none() && skeleton.children(id).is_empty();
            lone && skeleton.joint(id).rest.translation.norm() < near
        };
        let mut trunk = vec![false; skeleton.len()];
        let mut between = vec![false; skeleton.len()];
        for id in skeleton.ids() {
            let on_hips = skeleton.parent(id).is_some_and(|p| Some(p) == hips || between[p.index()]);
            let only_leads = leads[id.index()] && rig.role(id).is_none();
            between[id.index()] = on_hips && only_leads;
            trunk[id.index()] = on_hips && !only_leads && !above_leg(id) && !of_pelvis(id);
        }
        let ends = top.iter().copied().chain(hips).chain(solved.legs.iter().flat_map(|chain| chain.joints()));
        let held = skeleton.ids().filter(|id| moves && trunk[id.index()]);
        let towards = Towards::new(skeleton, ends.chain(held));
        Self { hips, top, trunk, towards }
    }

    /// The joints with a translation channel: those of the clip, and those that their parent joint does not move.
    fn translated(&self, clip: &Clip, legs: &[&LimbChain], skeleton: &Skeleton) -> Vec<JointId> {
        let mut translated = clip.translated().to_vec();
        translated.extend(&self.top);
        for chain in legs {
            let path: Vec<JointId> = self.hips.into_iter().chain(chain.joints()).collect();
            let loose = path.windows(2).filter(|pair| !skeleton.is_ancestor(pair[0], pair[1]));
            translated.extend(loose.map(|pair| pair[1]));
        }
        translated.sort();
        translated.dedup();
        translated
    }
}

/// The topmost joints of a body: the hips, and every part that is not a descendant of the hips (feet under a root bone, rigs
/// exported in pieces), which are joints with a role at or below them or with a translation channel. Ancestors of the hips
/// and descendants of another topmost joint are left out.
fn top_joints(rig: &Rig, clip: &Clip) -> Vec<JointId> {
    let skeleton = rig.skeleton();
    let Some(hips) = rig.joint(Role::Hips) else { return vec![JointId::new(0)] };
    let body = skeleton.above(|id| rig.role(id).is_some() || clip.translated().binary_search(&id).is_ok());
    let above = |id: JointId| id != hips && skeleton.is_ancestor(id, hips);
    let top = |id: &JointId| {
        let hangs = skeleton.parent(*id).is_none_or(above);
        *id == hips || (body[id.index()] && hangs && !above(*id))
    };
    skeleton.ids().filter(top).collect()
}

/// Poses that a thread uses for all its frames.
struct PoseBuffers {
    /// The local pose, before and after.
    pose: Pose,
    /// The model pose before.
    model: ModelPose,
    /// The model-space transforms after.
    new: Vec<Transform>,
    /// The goals of joints in model space; the same joints have one in every frame.
    goals: Vec<Option<Transform>>,
    /// Whether the pelvis rotates in the frame.
    rotates: bool,
}

impl PoseBuffers {
    fn of(skeleton: &Skeleton) -> Self {
        Self {
            pose: skeleton.rest_pose(),
            model: skeleton.rest_model_pose(),
            new: vec![Transform::identity(); skeleton.len()],
            goals: vec![None; skeleton.len()],
            rotates: false,
        }
    }

    /// Sets the model pose and the goals of a frame.
    fn set_goals(&mut self, moved: &MovedJoints<'_>, solved: &SolvedFrames<'_>, f: usize) {
        let Self { pose, model, goals, .. } = self;
        moved.towards.set(pose, model);
        let delta = solved.body.get(f).map_or(Quat::identity(), |(_, delta)| *delta);
        self.rotates = delta != Quat::identity();
        for &id in &moved.top {
            let at = model.joint(id);
            let rotation = if Some(id) == moved.hips { delta * at.rotation } else { at.rotation };
            goals[id.index()] = Some(Transform::new(rotation, at.translation + solved.body[f].0));
        }
        if let (true, Some(hips)) = (self.rotates, moved.hips) {
            // The pelvis rotates about the middle of the hip joints, which moves with the body.
            let middle =
                solved.legs.iter().map(|l| model.position(l.upper)).sum::<Vec3>() / solved.legs.len() as f64;
            let at = model.joint(hips);
            let position = middle + delta * (at.translation - middle) + solved.body[f].0;
            goals[hips.index()] = Some(Transform::new(delta * at.rotation, position));
        }
        for (chain, poses) in solved.legs.iter().zip(solved.poses) {
            let LimbPose { upper, lower, foot, toes } = poses[f];
            chain.joints().zip([upper, lower, foot, toes]).for_each(|(id, t)| goals[id.index()] = Some(t));
        }
    }

    /// Sets the local transforms of joints with goals, and the rotations of `row`.
    fn set_locals(&mut self, moved: &MovedJoints<'_>, skeleton: &Skeleton, row: &mut [Quat]) {
        let Self { pose, model, new, goals, rotates } = self;
        for &id in moved.towards.joints() {
            let parent = skeleton.parent(id).map(|p| new[p.index()]);
            let local = *pose.joint(id);
            let goal = match goals[id.index()] {
                Some(at) => Some(at),
                None if *rotates && moved.trunk[id.index()] => {
                    parent.map(|p| Transform::new(model.joint(id).rotation, p.point(&local.translation)))
                }
                None => None,
            };
            new[id.index()] = match goal {
                Some(at) => {
                    let local = parent.map_or(at, |p| p.inverse() * at);
                    pose.local_mut()[id.index()] = local;
                    row[id.index()] = same_hemisphere(local.rotation, &row[id.index()]);
                    at
                }
                None => parent.map_or(local, |p| p * local),
            };
        }
    }
}

/// The motion with its whole body displaced, by frame; frames with displacement zero keep every bit.
pub fn shifted(motion: Motion, offsets: &[Vec3]) -> Motion {
    let body: Vec<(Vec3, Quat)> = offsets.iter().map(|offset| (*offset, Quat::identity())).collect();
    let still = |f: usize| offsets[f] == Vec3::zeros();
    write(motion, &SolvedFrames { legs: &[], poses: &[], body: &body, still: &still })
}
