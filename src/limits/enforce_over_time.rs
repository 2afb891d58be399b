//! Brings every joint inside its range by the smallest and smoothest change of its rotation over time.
//!
//! A joint is three channels, two angles of swing and the twist ([`SwingTwist::angles`]), followed over time so that a
//! twist past half a circle continues; their allowed values are convex, and `corrections` finds the change. Bringing
//! each frame to its nearest inside instead stops a joint dead where it meets its bound. Parents come first: head
//! and arms keep their world rotations when a trunk or a collar bone changes, as far as their own ranges allow. What the
//! performer of a take did is no fault: [`keep_relative`] widens the range of each frame by it. Units: radians, hertz.

use super::limb_roll::roll_limbs;
use super::widened_ranges::{LimitOptions, OUTSIDE, Ranges};
use crate::ik::Mechanism;
use crate::math::{Quat, same_hemisphere};
use crate::model::{Clip, JointId, Motion, Role, Side};
use crate::parallel;
use crate::signal::fix_hemispheres;

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
    pub rotated: f64,
    /// The largest roll of an upper arm or a thigh, radians.
    pub rolled: f64,
    /// Joints left as they are, whole limbs: one of the limb is further outside its range than a body of its kind could be,
    /// or points backwards at times, where the twist of a bone is not defined.
    pub left: Vec<JointId>,
}

/// The motion with `joints` inside the limits of `mechanism`.
pub fn keep(
    motion: Motion,
    mechanism: &Mechanism,
    joints: &[JointId],
    options: &LimitOptions,
) -> (Motion, LimitReport) {
    keep_relative(motion, None, mechanism, joints, options)
}

/// As [`keep`], with limits that every frame widens by the rotations of `direct` in it: the take on the same skeleton, as
/// its performer moved. Ranges that were set for the character are not widened.
///
/// # Panics
/// If `direct` has other frames or joints.
pub fn keep_relative(
    motion: Motion,
    direct: Option<&Clip>,
    mechanism: &Mechanism,
    joints: &[JointId],
    options: &LimitOptions,
) -> (Motion, LimitReport) {
    let mut kept = LimitReport::default();
    let ranges = Ranges { mechanism, direct, options };
    let mut outside = vec![false; motion.clip.frames()];
    for &id in joints {
        let mut worst = 0.0_f64;
        for (excess, outside) in ranges.excess(&motion, id).into_iter().zip(&mut outside) {
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
    let (mut motion, rolled) = roll_limbs(motion, &ranges, joints);
    kept.rolled = rolled;
    let brought: Vec<(JointId, Option<Vec<Quat>>)> =
        parallel::map_each(joints, 1, |&id| (id, ranges.brought_inside(&motion, id)));
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
            true => ranges.brought_inside(&motion, id).or(rotations),
            false => rotations,
        };
        for (f, rotation) in rotations.unwrap_or_default().into_iter().enumerate() {
            kept.rotated = kept.rotated.max(original.rotations(f)[id.index()].angle_to(&rotation));
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
