//! Brings every joint inside its range by the smallest and smoothest change of its rotation over time.
//!
//! A joint is three channels, two angles of swing and the twist ([`SwingTwist::angles`]), followed over time so that a
//! twist past half a turn continues; their allowed values are convex, and `corrections` finds the change. Bringing
//! each frame to its nearest inside instead stops a joint dead where it meets its bound. Parents come first: head
//! and arms keep their world rotations when a trunk or a collar bone changes, as far as their own ranges allow. What the
//! performer of a take did is no fault: [`keep_beside`] widens the range of each frame by it. Units: radians, hertz.

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
    keep_beside(motion, None, mechanism, joints, options)
}

/// As [`keep`], with limits that every frame widens by the rotations of `performed` in it: the take on the same skeleton, as
/// its performer moved. Ranges that were set for the character are not widened.
///
/// # Panics
/// If `performed` has other frames or joints.
pub fn keep_beside(
    motion: Motion,
    performed: Option<&Clip>,
    mechanism: &Mechanism,
    joints: &[JointId],
    options: &LimitOptions,
) -> (Motion, LimitReport) {
    let mut kept = LimitReport::default();
    let ranges = Ranges { mechanism, performed, options };
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
        joints.par_iter().map(|&id| (id, ranges.brought_inside(&motion, id))).collect();
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

/// The ranges of motion of a body, widened in every frame by what the performer of the take did.
#[derive(Debug)]
pub struct Ranges<'a> {
    pub mechanism: &'a Mechanism,
    /// The take on the same skeleton.
    performed: Option<&'a Clip>,
    pub options: &'a LimitOptions,
}

impl Ranges<'_> {
    /// The rotations of a joint in the take, if they widen its range: an override is a fact about this body, a published range
    /// one about people.
    pub fn performed(&self, motion: &Motion, id: JointId) -> Option<Vec<Quat>> {
        let clip = self.performed.filter(|_| !overridden(motion, id))?;
        Some((0..clip.frames()).map(|f| clip.rotations(f)[id.index()]).collect())
    }

    /// By how much a joint is outside its range in every frame, radians.
    fn excess(&self, motion: &Motion, id: JointId) -> Vec<f64> {
        let skeleton = self.mechanism.skeleton();
        let excess = |f: usize| self.mechanism.excess(id, &motion.clip.local(skeleton, f, id));
        let mut excess: Vec<f64> = (0..motion.clip.frames()).map(excess).collect();
        let outside = excess.iter().any(|excess| *excess > OUTSIDE);
        if let (true, Some(range)) = (outside && self.performed.is_some(), self.of_joint(motion, id)) {
            // The distance in angles bounds the rotation between the two from above.
            for (f, excess) in excess.iter_mut().enumerate() {
                let nearest = range.nearest(f, range.angles[f]);
                let apart = (0..3).map(|k| (nearest[k] - range.angles[f][k]).powi(2)).sum::<f64>().sqrt();
                *excess = excess.min(apart);
            }
        }
        excess
    }

    fn of_joint(&self, motion: &Motion, id: JointId) -> Option<JointRange<'_>> {
        let Some(Limit::SwingTwist(limit)) = self.mechanism.limit(id) else { return None };
        let own = |f: usize| motion.clip.rotations(f)[id.index()];
        let angles = followed(limit, &(0..motion.clip.frames()).map(own).collect::<Vec<_>>());
        let beyond = self.performed(motion, id).map(|rotations| {
            let beyond = |performed: [f64; 3]| {
                let nearest = limit.nearest(performed);
                std::array::from_fn(|k| performed[k] - nearest[k])
            };
            followed(limit, &rotations).into_iter().map(beyond).collect()
        });
        Some(JointRange { limit, angles, beyond })
    }

    /// The rotations of one joint inside its range; `None` where they are not defined.
    fn brought_inside(&self, motion: &Motion, id: JointId) -> Option<Vec<Quat>> {
        let frames = motion.clip.frames();
        let mut rotations: Vec<Quat> = (0..frames).map(|f| motion.clip.rotations(f)[id.index()]).collect();
        let Some(range) = self.of_joint(motion, id) else { return Some(rotations) };
        let angles = &range.angles;
        let needed: Vec<usize> = (0..frames).filter(|&f| range.nearest(f, angles[f]) != angles[f]).collect();
        if needed.is_empty() {
            return Some(rotations);
        }
        let excess = self.excess(motion, id);
        let foreign = |f: usize| !overridden(motion, id) && excess[f] > FOREIGN;
        if needed.iter().any(|&f| libm::hypot(angles[f][0], angles[f][1]) > TELLING || foreign(f)) {
            return None;
        }
        let nearest = |f: usize, change: [f64; 3]| {
            let from = angles[f];
            let nearest = range.nearest(f, std::array::from_fn(|k| from[k] + change[k]));
            std::array::from_fn(|k| nearest[k] - from[k])
        };
        let LimitOptions { cutoff, strength } = *self.options;
        for (f, change) in corrections(&needed, frames, cutoff, motion.clip.sample_rate, nearest) {
            let inside = range.limit.rotation(std::array::from_fn(|k| angles[f][k] + change[k]));
            rotations[f] = slerp(&rotations[f], &same_hemisphere(inside, &rotations[f]), strength);
        }
        Some(rotations)
    }
}

/// Whether the range of a joint was set for this character.
fn overridden(motion: &Motion, id: JointId) -> bool {
    let rig = &motion.character.rig;
    rig.role(id).is_some_and(|role| rig.told_mobility(role).is_some())
}

/// Bisection steps for the share of the performer's excess: to 1e-9 of it.
const BISECTIONS: usize = 30;

/// The range of one joint in every frame of a motion.
#[derive(Debug)]
struct JointRange<'a> {
    limit: &'a SwingTwist,
    /// The angles of the motion.
    angles: Vec<[f64; 3]>,
    /// By how much the performer exceeded the limit.
    beyond: Option<Vec<[f64; 3]>>,
}

impl JointRange<'_> {
    /// The nearest angles to `at` inside the range of a frame: the limit, moved by any share of what the performer exceeded
    /// it by. Such a range is convex.
    fn nearest(&self, f: usize, at: [f64; 3]) -> [f64; 3] {
        let nearest = self.limit.nearest(at);
        let Some(beyond) = self.beyond.as_ref().map(|beyond| beyond[f]).filter(|b| *b != [0.0; 3]) else {
            return nearest;
        };
        if nearest == at {
            return at;
        }
        let moved = |share: f64| -> [f64; 3] { std::array::from_fn(|k| at[k] - share * beyond[k]) };
        // Whether a greater share brings the limit nearer still.
        let nearer = |share: f64| {
            let at = moved(share);
            let inside = self.limit.nearest(at);
            (0..3).map(|k| beyond[k] * (at[k] - inside[k])).sum::<f64>() > 0.0
        };
        let (mut low, mut high) = (0.0, 1.0);
        if nearer(1.0) {
            low = 1.0;
        } else {
            for _ in 0..BISECTIONS {
                let middle = 0.5 * (low + high);
                if nearer(middle) { low = middle } else { high = middle }
            }
        }
        let share = if low == 1.0 { 1.0 } else { high };
        let inside = self.limit.nearest(moved(share));
        let nearest: [f64; 3] = std::array::from_fn(|k| inside[k] + share * beyond[k]);
        let same = nearest.iter().zip(&at).all(|(a, b)| (a - b).abs() < OUTSIDE);
        if same { at } else { nearest }
    }
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
