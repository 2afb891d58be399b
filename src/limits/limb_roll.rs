//! Rolls upper arms and thighs about their length so that elbows and knees bend about their hinges.
//!
//! A straight limb does not show about which axis its hinge rotates, so takes roll upper arms as they please, and a
//! directly transferred forearm then bends sideways out of its elbow. Rolling the upper limb by `psi` and the lower one back by as
//! much rotates the direction of the bend by `-psi` and keeps the position of every joint below, and the lower limb itself.
//! Of all rolls inside both ranges the smallest and smoothest is taken; an elbow that rotates about a single axis
//! throughout the take still does so. Units: radians.

use super::widened_ranges::{Ranges, followed};
use crate::ik::{Limit, SwingTwist};
use crate::math::{DEGREE, Quat, Vec3, exp, log};
use crate::model::{JointId, Motion, Role, Side};
use crate::signal::corrections;
use std::f64::consts::PI;

/// A limb that bends further sideways than this bends backwards, which no roll can fix, radians.
const SIDEWAYS: f64 = 2.1;

/// A joint that leaves its axis by less than this (one degree) is a hinge, radians: rounding in files is a tenth of it, and
/// the carrying angle of a captured elbow with more than one axis varies by several degrees.
const ONE_AXIS: f64 = DEGREE;

/// The motion with the limbs above its elbows and knees rolled, and the largest roll.
pub fn roll_limbs(mut motion: Motion, ranges: &Ranges<'_>, joints: &[JointId]) -> (Motion, f64) {
    let mechanism = ranges.mechanism;
    let mut largest = 0.0_f64;
    for (upper, lower) in hinges(&motion) {
        let Some(Limit::SwingTwist(hinge)) = mechanism.limit(lower) else { continue };
        let above = match mechanism.limit(upper) {
            Some(Limit::SwingTwist(limit)) => Some(limit),
            _ => None,
        };
        // A limb that is left alone is not rolled either; one without a range may roll as it likes.
        if !joints.contains(&lower) || above.is_some() && !joints.contains(&upper) {
            continue;
        }
        let rolls = rolls(&motion, ranges, (upper, above), (lower, hinge));
        for (f, roll) in rolls.into_iter().enumerate().filter(|(_, roll)| *roll != 0.0) {
            let Some([in_upper, in_lower]) = along(&motion, f, upper, lower) else { continue };
            largest = largest.max(roll.abs());
            let roll = ranges.options.strength * roll;
            let rotations = motion.clip.rotations_mut(f);
            rotations[upper.index()] *= exp(&(in_upper * roll));
            rotations[lower.index()] = exp(&(in_lower * -roll)) * rotations[lower.index()];
        }
    }
    (motion, largest)
}

/// The direction from the upper joint to the lower one, in the space of the upper joint and in that above the lower
/// one; between the two may lie joints that share the twist of a limb.
fn along(motion: &Motion, frame: usize, upper: JointId, lower: JointId) -> Option<[Vec3; 2]> {
    let skeleton = motion.character.skeleton();
    let mut at = motion.clip.local(skeleton, frame, lower).translation;
    let mut rotation = Quat::identity();
    let mut above = skeleton.parent(lower)?;
    while above != upper {
        let local = motion.clip.local(skeleton, frame, above);
        at = local.point(&at);
        rotation = local.rotation * rotation;
        above = skeleton.parent(above)?;
    }
    let along = at.try_normalize(1e-12)?;
    Some([along, rotation.inverse() * along])
}

/// The upper and lower joints of the arms and legs that hang together.
fn hinges(motion: &Motion) -> Vec<(JointId, JointId)> {
    let rig = &motion.character.rig;
    let pairs = Side::BOTH
        .into_iter()
        .flat_map(|s| [(Role::UpperArm(s), Role::LowerArm(s)), (Role::UpperLeg(s), Role::LowerLeg(s))]);
    let of = |(a, b): (Role, Role)| {
        let (a, b) = (rig.joint(a)?, rig.joint(b)?);
        let mut above = std::iter::successors(rig.skeleton().parent(b), |&p| rig.skeleton().parent(p));
        above.any(|p| p == a).then_some((a, b))
    };
    pairs.filter_map(of).collect()
}

/// The roll of every frame.
fn rolls(
    motion: &Motion,
    ranges: &Ranges<'_>,
    (upper, above): (JointId, Option<&SwingTwist>),
    (lower, hinge): (JointId, &SwingTwist),
) -> Vec<f64> {
    let frames = motion.clip.frames();
    let of =
        |id: JointId| -> Vec<Quat> { (0..frames).map(|f| motion.clip.rotations(f)[id.index()]).collect() };
    let mut allowed = allowed_rolls((above, of(upper)), (hinge, of(lower)));
    let direct = [upper, lower].map(|id| ranges.direct_rotations(motion, id));
    if let [Some(upper), Some(lower)] = direct {
        // The rolls that the performer would have needed are not asked for.
        let direct_rolls = allowed_rolls((above, upper), (hinge, lower));
        for ([least, most], [direct_least, direct_most]) in allowed.iter_mut().zip(direct_rolls) {
            *least = if *least > 0.0 { (*least - direct_least.max(0.0)).max(0.0) } else { *least };
            *most = if *most < 0.0 { (*most - direct_most.min(0.0)).min(0.0) } else { *most };
        }
    }
    let arm = matches!(motion.character.rig.role(upper), Some(Role::UpperArm(_)));
    if arm && is_hinge(&of(lower)) {
        // One roll for the whole take, where one serves all frames: the elbow still rotates about a single axis.
        let least = allowed.iter().map(|a| a[0]).fold(f64::NEG_INFINITY, f64::max);
        let most = allowed.iter().map(|a| a[1]).fold(f64::INFINITY, f64::min);
        if least <= most {
            return vec![0.0_f64.clamp(least, most); frames];
        }
    }
    let needed: Vec<usize> = (0..frames).filter(|&f| allowed[f][0] > 0.0 || allowed[f][1] < 0.0).collect();
    let mut rolls = vec![0.0; frames];
    let nearest = |f: usize, [roll]: [f64; 1]| [roll.clamp(allowed[f][0], allowed[f][1])];
    for (f, [roll]) in corrections(&needed, frames, ranges.options.cutoff, motion.clip.sample_rate, nearest) {
        rolls[f] = roll;
    }
    rolls
}

/// The least and the greatest roll that bring a limb inside its ranges, in every frame.
fn allowed_rolls(
    (above, upper): (Option<&SwingTwist>, Vec<Quat>),
    (hinge, lower): (&SwingTwist, Vec<Quat>),
) -> Vec<[f64; 2]> {
    // The limb above has the last word: the rolls that its own twist leaves it.
    let room: Vec<[f64; 2]> = match above {
        Some(above) => followed(above, &upper)
            .iter()
            .map(|[_, _, twist]| [(above.twist.low - twist).min(0.0), (above.twist.high - twist).max(0.0)])
            .collect(),
        None => vec![[-PI, PI]; upper.len()],
    };
    let bends = followed(hinge, &lower);
    let rolls = bends.iter().zip(&room);
    rolls
        .map(|(bend, [least, most])| rolls_of_hinge(hinge, bend).map(|roll| roll.clamp(*least, *most)))
        .collect()
}

/// Whether a joint rotates about a single axis that it keeps.
fn is_hinge(rotations: &[Quat]) -> bool {
    let Some(first) = rotations.first().map(Quat::inverse) else { return false };
    let rotations: Vec<Vec3> = rotations.iter().map(|q| log(&(q * first))).collect();
    let widest = rotations.iter().max_by(|a, b| a.norm().total_cmp(&b.norm()));
    let Some(axis) = widest.and_then(|r| r.try_normalize(ONE_AXIS)) else { return false };
    rotations.iter().all(|r| (r - axis * r.dot(&axis)).norm() < ONE_AXIS)
}

/// The rolls after which a bend is no further sideways than its hinge allows; all where no roll is needed, or helps.
fn rolls_of_hinge(hinge: &SwingTwist, [first, second, _]: &[f64; 3]) -> [f64; 2] {
    let (bend, direction) = (libm::hypot(*first, *second), libm::atan2(*second, *first));
    if direction.abs() > SIDEWAYS {
        return [f64::NEG_INFINITY, f64::INFINITY];
    }
    // The direction in which the bend meets the ellipse: `(bend cos w / a)^2 + (bend sin w / b)^2 = 1`.
    let a = hinge.swing[0].high;
    let widest = |b: f64| {
        let (reach, narrow, wide) = (bend.powi(-2), b.powi(-2), a.powi(-2));
        if bend <= b {
            f64::INFINITY
        } else if bend >= a || b >= a {
            0.0
        } else {
            libm::asin(((reach - wide) / (narrow - wide)).sqrt().min(1.0))
        }
    };
    [direction - widest(hinge.swing[1].high), direction + widest(-hinge.swing[1].low)]
}
