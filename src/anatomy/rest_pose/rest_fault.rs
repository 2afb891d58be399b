//! Tests whether a rest pose can be used to compare bodies, against the motion.
//!
//! Both tests are independent of up axis, front and unit. The limits are between what good rest poses of 87 BVH and
//! 39 glTF files reach and what baked ones show (spine 47 and 90 degrees, neck and head 44 and 98, clavicle 64 and
//! 88).

use super::flexion_axis::{ENDS, Sided};
use super::motion_samples::MotionSamples;
use crate::anatomy::body_hierarchy::parent_role;
use crate::anatomy::orientation::orientation;
use crate::math::{Quat, Vec3, mean_rotation, median, percentile};
use crate::model::{Clip, JointId, ModelPose, Rig, Role, Side};
use std::fmt;

/// Sampled frames: the median of a take does not change with more.
const SAMPLES: usize = 64;
/// Cosine between trunk and legs below which a figure at rest is folded.
const FOLDED: f64 = 0.5;
/// Cosine between trunk and legs above which the motion stands upright.
const STANDS: f64 = 0.7;

/// Why a rest pose is unusable.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum RestFault {
    /// At rest the legs do not continue the trunk, and in the motion they do.
    Folded,
    /// The mean of these joints' motion (L1) is further from rest than the joints can rotate.
    OutOfReach(Vec<Role>),
    /// A plausible but asymmetric figure: a frame of some clip. The largest difference, radians.
    Posed(f64),
    /// A symmetric figure that bends its knees by more than it does in the motion: a frame of some clip. Their bend, radians.
    Crouched(f64),
}

impl fmt::Display for RestFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RestFault::Folded => write!(f, "at rest the legs do not continue the trunk"),
            RestFault::OutOfReach(roles) => {
                let names: Vec<String> = roles.iter().map(Role::to_string).collect();
                write!(
                    f,
                    "the motion rotates these joints further from it than a body can: {}",
                    names.join(", ")
                )
            }
            RestFault::Posed(angle) => {
                write!(f, "left and right differ by {:.0} degrees at rest", angle.to_degrees())
            }
            RestFault::Crouched(angle) => {
                write!(
                    f,
                    "the knees are bent by {:.0} degrees at rest, and less in the motion",
                    angle.to_degrees()
                )
            }
        }
    }
}

/// Largest difference in degrees between rest pose and mean of a motion that a person's body can have.
fn beyond(role: Role) -> Option<f64> {
    match role {
        Role::Spine(_) | Role::Neck(_) | Role::Head => Some(70.0),
        Role::Clavicle(_) => Some(75.0),
        // A crouching take reaches 138 at the thigh, so one role alone is not enough.
        Role::UpperLeg(_) | Role::LowerLeg(_) => Some(150.0),
        Role::Foot(_) => Some(90.0),
        _ => None,
    }
}

/// The reason why `rest` (model space, any axes and unit) cannot calibrate these clips, or `None`.
pub fn rest_fault(rig: &Rig, rest: &ModelPose, clips: &[&Clip]) -> Option<RestFault> {
    let e = MotionSamples::new(rig, clips, Quat::identity(), SAMPLES);
    let thighs = Side::BOTH.map(Role::UpperLeg);
    if !e.has(&thighs) || !(e.has(&[Role::Head]) || e.has(&Side::BOTH.map(Role::UpperArm))) {
        return None;
    }
    let at_rest = straightness(rig, |role| rig.joint(role).map(|j| rest.position(j)))?;
    if e.count == 0 {
        // Without a frame nothing can be estimated; only a trunk that is folded onto its legs is detectable.
        return (at_rest < 0.0).then_some(RestFault::Folded);
    }
    // A figure whose thighs are above one another is upright along no axis either.
    let folded = at_rest < FOLDED || orientation(rig, rest, None, false).is_none();
    if folded && median(straightness_in_motion(&e)) > STANDS {
        return Some(RestFault::Folded);
    }
    let ones = vec![1.0; e.count];
    let far = |role: Role| {
        let (limit, above) = (beyond(role)?, parent_role(rig, role)?);
        let (j, p) = (e.joint(role), e.joint(above));
        let back = (rest.joint(p).rotation.inverse() * rest.joint(j).rotation).inverse();
        let pairs = e.of_joint(p).iter().zip(e.of_joint(j));
        let moved: Vec<Quat> = pairs.map(|(p, j)| p.rotation.inverse() * j.rotation * back).collect();
        if within(&moved, limit) {
            return None;
        }
        (mean_rotation(&moved, &ones).angle().to_degrees() > limit).then_some(role)
    };
    let roles: Vec<Role> = rig.assignments().filter_map(|(role, _)| far(role)).collect();
    (roles.len() >= 2).then_some(RestFault::OutOfReach(roles))
}

/// Whether all of these rotations are smaller than `degrees` and than 90: then so is their mean, in every round. Such
/// quaternions lie in a cone that its dual contains, and the sum of `w q q'` maps the one into the other, so the cone
/// contains its first eigenvector (Krein and Rutman 1948).
fn within(moved: &[Quat], degrees: f64) -> bool {
    // Far more than rounding errors.
    let least = libm::cos(0.5 * degrees.min(90.0).to_radians()) + 1e-9;
    moved.iter().all(|q| q.w.abs() > least)
}

/// The cosine between the trunk and the line of the legs in each sample.
fn straightness_in_motion(e: &MotionSamples) -> Vec<f64> {
    let of = |f: usize| straightness(e.rig, |role| e.rig.joint(role).map(|j| e.of_joint(j)[f].translation));
    (0..e.count).map(|f| of(f).unwrap_or(1.0)).collect()
}

/// Cosine between the trunk and the line of the legs, given positions of roles.
fn straightness(rig: &Rig, at: impl Fn(Role) -> Option<Vec3>) -> Option<f64> {
    let middle = |role: fn(Side) -> Role| Some((at(role(Side::Left))? + at(role(Side::Right))?) * 0.5);
    let has_feet = Side::BOTH.iter().all(|s| rig.joint(Role::Foot(*s)).is_some());
    let low = middle(if has_feet { Role::Foot } else { Role::LowerLeg })?;
    let high = middle(Role::UpperArm).or_else(|| at(Role::Head))?;
    let hips = middle(Role::UpperLeg)?;
    // Legs that point apart have no common line: the cosine is 0.
    let unit = |v: Vec3| v.try_normalize(1e-12).unwrap_or_default();
    Some(unit(high - hips).dot(&unit(hips - low)))
}

/// Degrees by which left and right limbs may differ at rest: symmetric rest poses of people reach 5.5, nodes posed as
/// in a frame of some clip 14.6 to 60.
const POSED: f64 = 10.0;
/// Degrees by which knees may be bent further at rest than when they are straight in the motion: rest poses of people bend them by
/// at most 8, frames of squats, leaps and jumping jacks by 26 to 108.
const CROUCHED: f64 = 20.0;
/// The percentile of the bend of a knee over a motion at which it counts as straight.
const STRAIGHT: f64 = 0.1;
/// The percentile of the cosine between trunk and legs over a motion that shows whether the body ever stands: a person who bows half of
/// the time does, a quadruped does not.
const EVER: f64 = 0.9;

/// Detects a rest pose that is a frame of a motion in which the body ever stands: its left limbs, mirrored at the line of the hips,
/// differ from the right ones, or it crouches further than the straightest frames of `clips`.
pub fn posed_rest(rig: &Rig, rest: &ModelPose, clips: &[&Clip]) -> Option<RestFault> {
    let apart = asymmetry(rig, rest)?;
    let bend = knee_bend(rig, |joint| rest.position(joint)).unwrap_or(0.0);
    if apart.to_degrees() <= POSED && bend.to_degrees() <= CROUCHED {
        return None;
    }
    let e = MotionSamples::new(rig, clips, Quat::identity(), SAMPLES);
    if percentile(&straightness_in_motion(&e), EVER) < STANDS {
        return None;
    }
    if apart.to_degrees() > POSED {
        return Some(RestFault::Posed(apart));
    }
    let moving = |f: usize| knee_bend(rig, |joint| e.of_joint(joint)[f].translation);
    let straight = percentile(&(0..e.count).filter_map(moving).collect::<Vec<f64>>(), STRAIGHT);
    ((bend - straight).to_degrees() > CROUCHED).then_some(RestFault::Crouched(bend))
}

/// The largest angle in radians between a bone of the right limbs and the left one mirrored at the line of the hips.
fn asymmetry(rig: &Rig, rest: &ModelPose) -> Option<f64> {
    let at = |role: Role| rig.joint(role).map(|j| rest.position(j));
    let [left, right] = Side::BOTH.map(|s| at(Role::UpperLeg(s)));
    let across = (left? - right?).try_normalize(1e-12)?;
    let segments = ENDS.into_iter().flat_map(|[upper, lower, end]| [[upper, lower], [lower, end]]);
    let apart = |[from, to]: [Sided; 2]| {
        let bone = |s: Side| (at(to(s))? - at(from(s))?).try_normalize(1e-12);
        let (left, right) = (bone(Side::Left)?, bone(Side::Right)?);
        Some((left - across * (2.0 * left.dot(&across))).angle(&right))
    };
    Some(segments.filter_map(apart).fold(0.0, f64::max))
}

/// The bend of the straighter knee in radians, given positions of joints; `None` unless both legs are whole.
fn knee_bend(rig: &Rig, at: impl Fn(JointId) -> Vec3) -> Option<f64> {
    let bend = |s: Side| {
        let [hip, knee, ankle] = [Role::UpperLeg(s), Role::LowerLeg(s), Role::Foot(s)].map(|r| rig.joint(r));
        let [hip, knee, ankle] = [at(hip?), at(knee?), at(ankle?)];
        Some((knee - hip).angle(&(ankle - knee)))
    };
    Some(bend(Side::Left)?.min(bend(Side::Right)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::exp;
    use proptest::prelude::*;

    proptest! {
        /// The shortcut implies the bound for the mean.
        #[test]
        fn the_mean_of_rotations_below_a_right_angle_is_within_their_bound(
            samples in proptest::collection::vec(
                (prop::array::uniform3(-1.0..1.0f64), 0.0..1.0f64, 0.01..1.0f64, any::<bool>()), 1..20,
            ),
            degrees in 5.0..170.0f64,
        ) {
            let rotation = |(axis, share, _, negated): &([f64; 3], f64, f64, bool)| {
                let axis = Vec3::from(*axis).try_normalize(1e-6).unwrap_or_else(Vec3::x);
                let q = exp(&(axis * (share * degrees.min(90.0) * 0.999).to_radians()));
                if *negated { Quat::new_unchecked(-q.into_inner()) } else { q }
            };
            let moved: Vec<Quat> = samples.iter().map(rotation).collect();
            let weights: Vec<f64> = samples.iter().map(|t| t.2).collect();
            prop_assert!(within(&moved, degrees));
            prop_assert!(mean_rotation(&moved, &weights).angle().to_degrees() <= degrees);
        }
    }

    #[test]
    fn a_larger_rotation_fails_the_shortcut() {
        let rotation = |degrees: f64| exp(&(Vec3::x() * degrees.to_radians()));
        assert!(within(&[rotation(10.0), rotation(-69.0)], 70.0));
        assert!(!within(&[rotation(10.0), rotation(-71.0)], 70.0));
        assert!(
            !within(&[rotation(10.0), rotation(91.0)], 150.0),
            "beyond a right angle the shortcut does not apply"
        );
    }
}
