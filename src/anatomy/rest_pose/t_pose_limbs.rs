//! Collar bones, arms and legs in the T-pose.
//!
//! The bones of a limb are exact; the turn about them comes from the axis that elbow or knee bends about. With `u` and
//! `v` the two bones, `n = u x v / |u x v|`: elbows and knees bend one way, so that `n` has a sign and a single bent frame
//! tells it. The symmetric axis of biomechanics (largest singular pair of the mean relative rotation) has no sign and
//! needs a range of motion.

use super::axis_convention::{ALIKE, LineKind, like_above, on_axis, snapped};
use super::estimate::PartialEstimate;
use super::motion_samples::{MotionSamples, across, frame};
use crate::anatomy::figure::nearest_axis;
use crate::math::{Quat, Vec3, arc, mean_direction, mean_rotation};
use crate::model::{Role, Side};
use std::f64::consts::PI;

/// A role of either side.
pub(super) type Sided = fn(Side) -> Role;
/// Both limbs: the upper segment, the lower one, and what ends it.
pub(super) const ENDS: [[Sided; 3]; 2] =
    [[Role::UpperArm, Role::LowerArm, Role::Hand], [Role::UpperLeg, Role::LowerLeg, Role::Foot]];
/// Degrees of bend from which an elbow or knee shows its axis: below, hyperextension and noise turn it round.
const BEND: f64 = 15.0;
/// Frames that must bend so far.
pub(super) const FEW: usize = 3;
/// Degrees about the bone from the average posture to the bend axis, on the left: what people do on average.
const TURNED_ARM: f64 = 14.0;
const TURNED_LEG: f64 = -8.0;
/// Degrees above level and forward of sideways at which collar bones rest: medians of good rest poses.
const COLLAR_RAISED: f64 = 0.0;
const COLLAR_FORWARD: f64 = -4.0;
/// Degrees by which arms that hang lower the shoulders on average.
const SHOULDERS_HANG: f64 = 5.0;

/// How an elbow or a knee bends.
pub(super) struct Bending {
    /// The axis between the bones in each frame, in the world.
    pub(super) normal: Vec<Vec3>,
    /// The angle between them, degrees.
    bend: Vec<f64>,
    /// The frames that show the axis.
    pub(super) shown: Vec<bool>,
}

impl Bending {
    /// The sine of the bend in the frames that show the axis.
    pub(super) fn weights(&self) -> Vec<f64> {
        let weight = |(bend, shown): (&f64, &bool)| if *shown { libm::sin(bend.to_radians()) } else { 0.0 };
        self.bend.iter().zip(&self.shown).map(weight).collect()
    }
}

/// The axis that a limb bends about: shown by the frames that bend far, else by those that bend most, if the bend changes
/// and its axis does not (then the data has a true hinge).
pub(super) fn bending(e: &MotionSamples, [upper, lower, end]: [Role; 3]) -> Bending {
    let (a, b, c) = (e.at(upper), e.at(lower), e.at(end));
    let unit = |v: Vec3| v.try_normalize(1e-12).unwrap_or_default();
    let mut found = Bending { normal: Vec::new(), bend: Vec::new(), shown: Vec::new() };
    for f in 0..e.count {
        let u = unit(b[f].translation - a[f].translation);
        let v = unit(c[f].translation - b[f].translation);
        let normal = u.cross(&v);
        let bend = libm::atan2(normal.norm(), u.dot(&v)).to_degrees();
        found.normal.push(unit(normal));
        found.bend.push(bend);
        found.shown.push(bend > BEND && bend < 175.0);
    }
    if found.shown.iter().filter(|s| **s).count() >= FEW.min(e.count) {
        return found;
    }
    found.shown = vec![false; e.count];
    let (least, largest) = found.bend.iter().fold((180.0_f64, 0.0_f64), |(a, b), x| (a.min(*x), b.max(*x)));
    let most: Vec<bool> = found.bend.iter().map(|b| *b > 0.6 * largest).collect();
    if most.iter().filter(|m| **m).count() >= FEW && largest - least > BEND / 3.0 {
        let tried = Bending { shown: most, ..found };
        let seen = e.seen_from(upper, |f| tried.normal[f]);
        let hinge = bend_axis(&seen, &tried.weights()).is_some_and(|(_, spread)| spread < 5.0);
        let shown = if hinge { tried.shown } else { vec![false; e.count] };
        found = Bending { shown, ..tried };
    }
    found
}

/// The mean of unit normals and their spread, degrees root mean square; `None` without weight.
pub(super) fn bend_axis(normals: &[Vec3], weights: &[f64]) -> Option<(Vec3, f64)> {
    let total: f64 = weights.iter().sum();
    let mean = mean_direction(normals, weights).filter(|_| total > 0.0)?;
    let squares: f64 =
        normals.iter().zip(weights).map(|(n, w)| w * n.angle(&mean).to_degrees().powi(2)).sum();
    Some((mean, (squares / total).sqrt()))
}

/// Collar bone, upper arm and forearm of a side.
pub(super) fn arm(e: &MotionSamples, found: &mut PartialEstimate, side: Side) {
    let k = side.sign();
    let (collar, upper) = (Role::Clavicle(side), Role::UpperArm(side));
    let mut above = found.chest.clone();
    if e.has(&[collar, upper]) {
        let bone = e.line(collar, collar, upper).try_normalize(1e-12);
        let (relative, rigid) = found.turns(e, &above, collar);
        match bone.filter(|_| !rigid) {
            None if rigid => found.set(collar, relative, 0.9, "it never turns against the chest"),
            None => found.set(collar, relative, 0.3, "it has no length: the average posture"),
            Some(bone) => {
                let (raised, forward) = (COLLAR_RAISED.to_radians(), COLLAR_FORWARD.to_radians());
                let usual = Vec3::new(
                    k * libm::cos(raised) * libm::cos(forward),
                    libm::sin(raised),
                    libm::cos(raised) * libm::sin(forward),
                );
                let lift = SHOULDERS_HANG.to_radians();
                let seen = relative * bone;
                let seen = (seen * libm::cos(lift) + Vec3::y() * libm::sin(lift)).normalize();
                let up = snapped(found, across(&(relative.inverse() * Vec3::y()), &bone), LineKind::Clavicle);
                let along = (usual + seen).try_normalize(1e-6).unwrap_or(usual);
                found.bones.insert(collar, along);
                let c = frame(&along, &Vec3::y()) * frame(&bone, &up).inverse();
                found.set(collar, c, 0.6, "its bone sideways; upright on average");
            }
        }
        above = found.away(e, collar);
    }
    let roles = ENDS[0].map(|role| role(side));
    if e.has(&roles[..2]) {
        limb(e, found, roles, (Vec3::x() * k, Vec3::y() * -k), &above, k * TURNED_ARM);
    }
}

/// Thigh and shin of a side.
pub(super) fn leg(e: &MotionSamples, found: &mut PartialEstimate, side: Side) {
    let roles = ENDS[1].map(|role| role(side));
    if e.has(&roles[..2]) {
        let above = found.hips.clone();
        limb(e, found, roles, (-Vec3::y(), Vec3::x()), &above, side.sign() * TURNED_LEG);
    }
}

/// Two segments, whose bones both point `along` in the T-pose and bend about `axis` (upper bone x lower bone) there.
///
/// `above` is what carries them, in each frame away from the T-pose; `turned` degrees about the bone lead from the average
/// posture to the bend axis.
fn limb(
    e: &MotionSamples,
    found: &mut PartialEstimate,
    [upper, lower, end]: [Role; 3],
    (along, axis): (Vec3, Vec3),
    above: &[Quat],
    turned: f64,
) {
    let bone = e.line(upper, upper, lower).try_normalize(1e-12).unwrap_or_else(Vec3::x);
    let (relative, _) = found.turns(e, above, upper);
    // What stands for the axis where nothing bends: the average posture, by the shortest arc from its bone.
    let likely = relative.inverse() * (arc(&(relative * bone), &along, &Vec3::z()).inverse() * axis);
    let likely = across(&likely, &bone);
    let angle = turned.to_radians();
    let likely = likely * libm::cos(angle) + bone.cross(&likely) * libm::sin(angle);
    let target = frame(&along, &axis);
    if !e.has(&[end]) {
        let n = snapped(found, likely, LineKind::Hinge);
        let c = target * frame(&bone, &n).inverse();
        let pairs = e.at(upper).iter().zip(e.at(lower));
        let between: Vec<Quat> = pairs.map(|(u, l)| u.rotation.inverse() * l.rotation).collect();
        let reason = "no joint ends the limb: the average posture";
        found.set(upper, c, 0.3, reason);
        found.set(lower, c * mean_rotation(&between, &found.weights), 0.3, reason);
        return;
    }
    let bends = bending(e, [upper, lower, end]);
    let weights = bends.weights();
    let seen = e.seen_from(upper, |f| bends.normal[f]);
    let shown = bends.shown.iter().filter(|s| **s).count();
    let (n, mut sure, mut why) = match bend_axis(&seen, &weights) {
        Some((n, spread)) => {
            let sure = (1.0 - spread / 60.0).clamp(0.4, 0.95);
            (n, sure, format!("the axis it bends about in {shown} of {} frames", e.count))
        }
        None => {
            let most = bends.bend.iter().copied().fold(0.0, f64::max);
            (
                likely,
                0.3,
                format!("it bends by {most:.0} degrees at most: the turn about the bone is a guess"),
            )
        }
    };
    let weak = weights.iter().sum::<f64>() <= FEW as f64;
    // Too little to go by: an arm has its axes as the collar bone has them.
    let is_arm = matches!(upper, Role::UpperArm(_));
    let alike = (weak && is_arm)
        .then(|| like_above(e, found, upper, &(target * frame(&bone, &n).inverse()), &along, &axis))
        .flatten();
    let n = match alike {
        Some(c) => c.inverse() * axis,
        None => snapped(found, n, if weak { LineKind::WeakHinge } else { LineKind::Hinge }),
    };
    if weak {
        sure = sure.min(0.5);
    }
    if alike.is_some() {
        (sure, why) = (0.6, "its axes as the collar bone's".into());
    } else if found.conventional && on_axis(&n) {
        sure = sure.max(if weak { 0.6 } else { 0.95 });
    }
    let c = target * frame(&bone, &n).inverse();
    found.bones.insert(upper, along);
    found.bones.insert(lower, along);
    found.set(upper, c, sure, why.clone());

    // The lower segment: the same axis, seen from its own axes, in the frames that show it.
    let bone = e.line(lower, lower, end).try_normalize(1e-12).unwrap_or(bone);
    let (s, ends) = (e.at(lower), e.at(end));
    let in_upper = c.inverse() * axis;
    let upper_frames = e.at(upper);
    let flat = |f: usize| {
        let v = (ends[f].translation - s[f].translation).try_normalize(1e-12).unwrap_or_default();
        let m = upper_frames[f].rotation * in_upper;
        (m - v * m.dot(&v)).try_normalize(1e-12).unwrap_or_default()
    };
    let weights = if shown > 0 { weights.iter().map(|w| w + 1e-9).collect() } else { found.weights.clone() };
    let (m, spread) = bend_axis(&e.seen_from(lower, flat), &weights).unwrap_or((likely, 180.0));
    // Rigs give both segments the same axes.
    let same_bone = nearest_axis(&bone) == nearest_axis(&(c.inverse() * along));
    let of_upper = nearest_axis(&in_upper);
    let same = found.conventional && on_axis(&in_upper) && same_bone;
    let n = if same && of_upper.angle(&m) < ALIKE * PI / 180.0 {
        of_upper
    } else {
        snapped(found, m, LineKind::Hinge)
    };
    let c = target * frame(&bone, &n).inverse();
    found.set(lower, c, sure.min((1.0 - spread / 90.0).clamp(0.3, 0.95)), why);
}
