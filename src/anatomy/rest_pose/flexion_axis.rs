//! Flexion axes of elbows and knees, measured in the motion.
//!
//! With `u` and `v` the unit vectors of both bones, the axis is `n = u x v / |u x v|`: elbows and knees bend in one
//! direction only, so `n` has a sign, and a single flexed frame defines it. The symmetric axis of biomechanics
//! (largest singular pair of the mean relative rotation) has no sign and needs a range of motion.

use super::motion_samples::MotionSamples;
use crate::math::{Vec3, mean_direction};
use crate::model::{Role, Side};

/// A role of either side.
pub(super) type Sided = fn(Side) -> Role;
/// Upper segment, lower segment and end joint of arms and legs.
pub(super) const ENDS: [[Sided; 3]; 2] =
    [[Role::UpperArm, Role::LowerArm, Role::Hand], [Role::UpperLeg, Role::LowerLeg, Role::Foot]];
/// Degrees of flexion from which a frame shows the axis: below, hyperextension and noise reverse it.
const BEND: f64 = 15.0;
/// Degrees of flexion up to which a frame shows the axis: in a folded limb both bones are parallel again.
const FOLDED: f64 = 175.0;
/// Frames count from this share of the largest flexion where none reaches [`BEND`].
const NEAR_LARGEST: f64 = 0.6;
/// Degrees of spread up to which the axis of such frames is a true hinge.
const HINGE_SPREAD: f64 = 5.0;
/// Frames that must show the axis: fewer may be glitches.
pub(super) const FEW: usize = 3;

/// The flexion of an elbow or a knee in each frame.
pub(super) struct Flexion {
    /// Unit normal of both bones, world space.
    pub(super) normal: Vec<Vec3>,
    /// The angle between them, degrees.
    pub(super) bend: Vec<f64>,
    /// Whether a frame shows the axis.
    pub(super) shown: Vec<bool>,
}

impl Flexion {
    /// Weights of the frames: the sine of the flexion where it shows the axis, else 0.
    pub(super) fn weights(&self) -> Vec<f64> {
        let weight = |(bend, shown): (&f64, &bool)| if *shown { libm::sin(bend.to_radians()) } else { 0.0 };
        self.bend.iter().zip(&self.shown).map(weight).collect()
    }
}

/// The flexion of a limb. The axis is shown by frames that bend far; else by those that bend most, if the flexion
/// changes and the axis does not, as for a true hinge.
pub(super) fn flexion(e: &MotionSamples, [upper, lower, end]: [Role; 3]) -> Flexion {
    let (a, b, c) = (e.at(upper), e.at(lower), e.at(end));
    let unit = |v: Vec3| v.try_normalize(1e-12).unwrap_or_default();
    let mut found = Flexion { normal: Vec::new(), bend: Vec::new(), shown: Vec::new() };
    for f in 0..e.count {
        let u = unit(b[f].translation - a[f].translation);
        let v = unit(c[f].translation - b[f].translation);
        let normal = u.cross(&v);
        let bend = libm::atan2(normal.norm(), u.dot(&v)).to_degrees();
        found.normal.push(unit(normal));
        found.bend.push(bend);
        found.shown.push(bend > BEND && bend < FOLDED);
    }
    if found.shown.iter().filter(|s| **s).count() >= FEW.min(e.count) {
        return found;
    }
    found.shown = vec![false; e.count];
    let (least, largest) = found.bend.iter().fold((180.0_f64, 0.0_f64), |(a, b), x| (a.min(*x), b.max(*x)));
    let most: Vec<bool> = found.bend.iter().map(|b| *b > NEAR_LARGEST * largest).collect();
    if most.iter().filter(|m| **m).count() >= FEW && largest - least > BEND / 3.0 {
        let tried = Flexion { shown: most, ..found };
        let seen = e.seen_from(upper, |f| tried.normal[f]);
        let hinge = mean_axis(&seen, &tried.weights()).is_some_and(|(_, spread)| spread < HINGE_SPREAD);
        let shown = if hinge { tried.shown } else { vec![false; e.count] };
        found = Flexion { shown, ..tried };
    }
    found
}

/// The mean of unit normals and their spread (root mean square, degrees); `None` where all weights are 0.
pub(super) fn mean_axis(normals: &[Vec3], weights: &[f64]) -> Option<(Vec3, f64)> {
    let total: f64 = weights.iter().sum();
    let mean = mean_direction(normals, weights).filter(|_| total > 0.0)?;
    let squares: f64 =
        normals.iter().zip(weights).map(|(n, w)| w * n.angle(&mean).to_degrees().powi(2)).sum();
    Some((mean, (squares / total).sqrt()))
}
