//! A leg whose hip and ankle have moved becomes a leg whose knee has bent.
//!
//! The knee stays on the side on which it arrives; a leg that arrives straight bends where knees of this take bend.
//! A leg that comes out of reach is stretched softly, and the ankle falls short. Space: model space. Units: metres.

use super::leg::{Change, Leg, Step};
use super::pelvis::{length, length_bent, stretched};
use crate::ik::{Limb, reframe};
use crate::math::{Transform, Vec3, arc};

/// The part of its length up to which a leg whose foot rests reaches all of its target; knees are then bent by 6 degrees.
pub const STRAIGHT: f64 = 0.9985;

/// What a knee may be bent backwards so that its foot reaches, radians: about what people's knees bend.
const BACKWARDS: f64 = 10.4 * std::f64::consts::PI / 180.0;

/// By how much of the leg's length its foot may fall short for that.
const SHY: f64 = 0.005;

/// Where the knee points, in the space of the upper leg: the mean over the take, the standing body's own direction for
/// takes of straight legs.
pub fn knee_direction(leg: &Leg, steps: &[Step]) -> Vec3 {
    // A hundredth of the leg beside the line from hip to ankle, ten frames long, outweighs the standing body.
    let mut sum = leg.ahead * (0.1 * leg.reach);
    for step in steps {
        sum += step.upper.rotation.inverse() * bulge(step);
    }
    sum.try_normalize(1e-9).unwrap_or(leg.ahead)
}

/// The way from the line between hip and ankle to the knee.
fn bulge(step: &Step) -> Vec3 {
    let [hip, knee, ankle] = [step.upper, step.lower, step.foot].map(|t| t.translation);
    let (upper, line) = (knee - hip, (ankle - hip).try_normalize(1e-9));
    line.map_or(Vec3::zeros(), |e| upper - e * upper.dot(&e))
}

/// The leg after its foot has changed and its hip has moved by `offset`, and how far the ankle fell short; `rests` is 1
/// for a foot at rest and 0 for a free one, which is softened sooner.
pub fn close(
    leg: &Leg,
    step: &Step,
    change: &Change,
    offset: &Vec3,
    ahead: &Vec3,
    rests: f64,
) -> (Step, f64) {
    let mut result = leg.changed(step, change);
    let [hip, knee, ankle] = [step.upper, step.lower, step.foot].map(|t| t.translation);
    let root = hip + offset;
    let lengths = [(knee - hip).norm(), (ankle - knee).norm()];
    let line = result.foot.translation - root;
    let (before, after) = ((ankle - hip).try_normalize(1e-9), line.try_normalize(1e-9));
    let (Some(before), Some(after)) = (before, after) else { return (*step, line.norm()) };
    let soft = stretched(length(step), (ankle - hip).norm());
    let most = soft + (STRAIGHT * length(step) - soft).max(0.0) * rests;
    let mut distance = softened(line.norm(), most, length(step));

    // How far beside the new line the knee will be decides how much its own side counts.
    let turn = arc(&before, &after, &Vec3::x());
    let beside = bulge(step);
    let [l1, l2] = lengths;
    let along = (l1 * l1 + distance * distance - l2 * l2) / (2.0 * distance.max(1e-9));
    let out = (l1 * l1 - along * along).max(0.0).sqrt();
    let straight = step.upper.rotation * ahead;
    let straight = straight - before * straight.dot(&before);
    let pole = beside + straight.try_normalize(1e-9).unwrap_or_default() * (out - beside.norm()).max(0.0);
    // A knee that is bent backwards bends no further.
    if pole.dot(&straight) < 0.0 {
        let least = length_bent(step, BACKWARDS);
        distance = distance.max(least.min((ankle - hip).norm()).min(distance + SHY * length(step)));
    }
    let target = root + after * distance;
    let missed = (line.norm() - distance).abs();
    let limb = Limb { root, lengths, pole: turn * pole, spare_pole: turn * straight, softness: 0.0 };
    let bent = limb.bend(&target);

    // The old axis is that of the same pole: a leg that need not move does not, and one that arrives straight or bent
    // the wrong way by a hair's breadth is not twisted about itself.
    let axes = [before.cross(&pole), after.cross(&(turn * pole))];
    let bones = [[knee - hip, bent.middle - root], [ankle - knee, bent.end - bent.middle]];
    let turned = bones.map(|[old, new]| reframe(&old, &axes[0], &new, &axes[1]));
    let [Some(first), Some(second)] = turned else { return (*step, line.norm()) };
    result.upper = Transform::new(first * step.upper.rotation, root);
    result.lower = Transform::new(second * step.lower.rotation, bent.middle);
    let short = bent.end - result.foot.translation;
    result.foot.translation += short;
    if leg.toes.is_some() {
        result.toes.translation += short;
    } else {
        result.toes = result.foot;
    }
    (result, missed.max(0.0))
}

/// A distance that is kept up to `most` and then grows ever less, never to the whole `length`.
fn softened(distance: f64, most: f64, length: f64) -> f64 {
    if distance <= most {
        return distance;
    }
    let room = 0.9999 * length - most;
    if room <= 1e-9 { most } else { most + room * (1.0 - (-(distance - most) / room).exp()) }
}
