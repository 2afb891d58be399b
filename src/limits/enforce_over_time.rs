//! Brings every joint inside its range by the smallest and smoothest change of its rotation over time.
//!
//! A joint is three channels, two angles of swing and the twist ([`SwingTwist::angles`]), followed over time so that a
//! twist past half a turn continues; their allowed values are convex, and `corrections` finds the change. Bringing
//! each frame to its nearest inside instead stops a joint dead where it meets its bound. Parents come first: head
//! and arms keep their world rotations when a trunk or a collar bone changes, as far as their own ranges allow. Units: radians,
//! hertz.

use super::limb_roll::roll_limbs;
use crate::ik::{Limit, Mechanism, SwingTwist};
use crate::math::{Quat, same_hemisphere, slerp};
use crate::model::{Clip, JointId, Motion, Role, Side};
use crate::signal::{corrections, fix_hemispheres};
use rayon::prelude::*;
use std::f64::consts::{PI, TAU};

/// How limits are enforced.
#[derive(Clone, Debug, PartialEq)]
pub struct LimitOptions {
    /// Cutoff frequency of the changes, hertz.
    pub cutoff: f64,
    /// The share of the correction that is applied, 0 to 1.
    pub strength: f64,
}

impl Default for LimitOptions {
    fn default() -> Self {
        Self { cutoff: 3.0, strength: 1.0 }
    }
}

/// What was changed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LimitReport {
    /// Frames in which a joint was outside.
    pub frames: usize,
    /// The joints that were outside, in joint order.
    pub joints: Vec<JointId>,
    /// The largest angle outside, radians.
    pub excess: f64,
    /// The greatest change of a joint's rotation, radians.
    pub turned: f64,
    /// The largest roll of an upper arm or a thigh, radians.
    pub rolled: f64,
    /// Joints left as they are, whole limbs: one of the limb is further outside its range than a body of its kind could be,
    /// or points backwards at times, where the twist of a bone is not defined.
    pub left: Vec<JointId>,
}

/// A joint counts as outside its range above this angle, radians.
const OUTSIDE: f64 = 1e-9;
/// The twist of a bone that swings further than this off its axis is not defined, radians.
const TELLING: f64 = 170.0 * PI / 180.0;
/// A joint further outside its range than this does not have that range, radians: a robot's neck that goes round.
const FOREIGN: f64 = 60.0 * PI / 180.0;

/// The motion with `joints` inside the limits of `mechanism`.
pub fn keep(
    motion: Motion,
    mechanism: &Mechanism,
    joints: &[JointId],
    options: &LimitOptions,
) -> (Motion, LimitReport) {
    let mut kept = LimitReport::default();
    let mut outside = vec![false; motion.clip.frames()];
    for &id in joints {
        let skeleton = mechanism.skeleton();
        let excess =
            (0..motion.clip.frames()).map(|f| mechanism.excess(id, &motion.clip.local(skeleton, f, id)));
        let mut worst = 0.0_f64;
        for (excess, outside) in excess.zip(&mut outside) {
            *outside |= excess > OUTSIDE;
            worst = worst.max(excess);
        }
        if worst > OUTSIDE {
            kept.joints.push(id);
            kept.excess = kept.excess.max(worst);
        }
    }
    kept.frames = outside.iter().filter(|o| **o).count();
    if kept.joints.is_empty() {
        return (motion, kept);
    }
    let original = motion.clip.clone();
    let (mut motion, rolled) = roll_limbs(motion, mechanism, joints, options);
    kept.rolled = rolled;
    let brought: Vec<(JointId, Option<Vec<Quat>>)> =
        joints.par_iter().map(|&id| (id, brought_inside(&motion, mechanism, id, options))).collect();
    let limb_of = |id: JointId| motion.character.rig.role(id).map(limb);
    let foreign: Vec<_> = brought.iter().filter(|(_, r)| r.is_none()).map(|(id, _)| limb_of(*id)).collect();
    let left = |id: JointId| foreign.contains(&limb_of(id));
    kept.left = joints.iter().copied().filter(|id| left(*id)).collect();
    let whole: Vec<JointId> = mechanism.skeleton().ids().filter(|id| left(*id)).collect();
    for f in 0..original.frames() {
        whole
            .iter()
            .for_each(|id| motion.clip.rotations_mut(f)[id.index()] = original.rotations(f)[id.index()]);
    }
    let rolled = motion.clip.clone();
    for (id, rotations) in brought.into_iter().filter(|(id, _)| !whole.contains(id)) {
        let rotations = match keep_world_rotation(&mut motion, &rolled, id) {
            true => brought_inside(&motion, mechanism, id, options).or(rotations),
            false => rotations,
        };
        for (f, rotation) in rotations.unwrap_or_default().into_iter().enumerate() {
            kept.turned = kept.turned.max(original.rotations(f)[id.index()].angle_to(&rotation));
            motion.clip.rotations_mut(f)[id.index()] = rotation;
        }
    }
    fix_hemispheres(&mut motion.clip);
    (motion, kept)
}

/// Restores the world rotation that a joint of trunk, neck, head or shoulder had before the joints above it changed since
/// `before`; returns whether it did. Elbows and the joints below them follow their parent joint, since a hinge has no such
/// freedom.
fn keep_world_rotation(motion: &mut Motion, before: &Clip, id: JointId) -> bool {
    let role = motion.character.rig.role(id);
    let ball = matches!(
        role,
        Some(Role::Spine(_) | Role::Neck(_) | Role::Head | Role::Clavicle(_) | Role::UpperArm(_))
    );
    let above: Vec<JointId> = motion.character.skeleton().path_to_root(id).skip(1).collect();
    let mut given = false;
    for f in 0..if ball { before.frames() } else { 0 } {
        if above.iter().all(|j| before.rotations(f)[j.index()] == motion.clip.rotations(f)[j.index()]) {
            continue;
        }
        let parent_rotation = |clip: &Clip| {
            above.iter().fold(Quat::identity(), |below, j| clip.rotations(f)[j.index()] * below)
        };
        let delta = parent_rotation(&motion.clip).inverse() * parent_rotation(before);
        let own = &mut motion.clip.rotations_mut(f)[id.index()];
        *own = same_hemisphere(delta * *own, own);
        given = true;
    }
    given
}

/// What is left together: a trunk, a neck with its head, an arm from the clavicle on, a leg.
fn limb(role: Role) -> (u8, Option<Side>) {
    match role {
        Role::Neck(_) | Role::Head => (1, None),
        Role::Clavicle(_) | Role::UpperArm(_) | Role::LowerArm(_) | Role::Hand(_) | Role::Finger(..) => {
            (2, role.side())
        }
        Role::UpperLeg(_) | Role::LowerLeg(_) | Role::Foot(_) | Role::Toes(_) => (3, role.side()),
        _ => (0, None),
    }
}

/// The rotations of one joint inside its limit; `None` where they are not defined.
fn brought_inside(
    motion: &Motion,
    mechanism: &Mechanism,
    id: JointId,
    options: &LimitOptions,
) -> Option<Vec<Quat>> {
    let own = |f: usize| motion.clip.rotations(f)[id.index()];
    let frames = motion.clip.frames();
    let mut rotations: Vec<Quat> = (0..frames).map(own).collect();
    let Some(Limit::SwingTwist(limit)) = mechanism.limit(id) else { return Some(rotations) };
    let angles = followed(limit, &rotations);
    let outside = |f: &usize| limit.nearest(angles[*f]) != angles[*f];
    let needed: Vec<usize> = (0..frames).filter(outside).collect();
    // An override is a fact about this body, a published range one about people.
    let rig = &motion.character.rig;
    let overridden = rig.role(id).is_some_and(|role| rig.told_mobility(role).is_some());
    let foreign = |f: usize| {
        !overridden && mechanism.excess(id, &motion.clip.local(mechanism.skeleton(), f, id)) > FOREIGN
    };
    if needed.iter().any(|&f| libm::hypot(angles[f][0], angles[f][1]) > TELLING || foreign(f)) {
        return None;
    }
    let nearest = |f: usize, change: [f64; 3]| {
        let from = angles[f];
        let nearest = limit.nearest(std::array::from_fn(|k| from[k] + change[k]));
        std::array::from_fn(|k| nearest[k] - from[k])
    };
    for (f, change) in corrections(&needed, frames, options.cutoff, motion.clip.sample_rate, nearest) {
        let inside = limit.rotation(std::array::from_fn(|k| angles[f][k] + change[k]));
        rotations[f] = slerp(&rotations[f], &same_hemisphere(inside, &rotations[f]), options.strength);
    }
    Some(rotations)
}

/// The angles of every frame, the twist without jumps of a whole turn.
pub(super) fn followed(limit: &SwingTwist, rotations: &[Quat]) -> Vec<[f64; 3]> {
    let mut near = 0.5 * (limit.twist.low + limit.twist.high);
    let follow = |q: &Quat| {
        let [first, second, twist] = limit.angles(q);
        near = twist + ((near - twist) / TAU).round() * TAU;
        [first, second, near]
    };
    rotations.iter().map(follow).collect()
}
