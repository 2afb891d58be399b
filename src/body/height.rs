//! The height of a body from the soles to the top of the head: the length that all measures are scaled by.
//!
//! Measured in the reference pose (bind pose, else rest pose). Units: metres.

use super::body_part::BodyPart;
use super::capsules::{Capsule, LEG_OF_STATURE};
use crate::anatomy::Figure;
use crate::model::ModelPose;

/// The height that lengths are scaled to before they are compared, metres: a male adult's, rounded.
pub const COMMON_HEIGHT: f64 = 1.75;

/// The height of a body of these capsules in its reference pose; the extent of the skeleton without legs. At least a
/// micrometre; 1 where it is no finite number.
pub fn height(capsules: &[Capsule], figure: Option<&Figure>, reference_pose: &ModelPose) -> f64 {
    let height =
        figure.map_or_else(|| extent(reference_pose), |figure| stature(capsules, figure, reference_pose));
    if height.is_finite() { height.max(1e-6) } else { 1.0 }
}

/// The height of a body in a pose that it stands upright in; estimated from the legs where there is no head.
fn stature(capsules: &[Capsule], figure: &Figure, reference_pose: &ModelPose) -> f64 {
    let top = |c: &Capsule| c.ends(reference_pose).map(|p| p.dot(&figure.up) + c.radius - figure.sole);
    let head = capsules.iter().find(|c| c.part == BodyPart::Head).map(top);
    head.map_or(figure.leg_to_sole / LEG_OF_STATURE, |[a, b]| a.max(b))
}

/// The longest side of the box around the joints.
fn extent(reference_pose: &ModelPose) -> f64 {
    let side = |axis: usize| {
        let along = reference_pose.joints().iter().map(|t| t.translation[axis]);
        let (low, high) =
            along.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
        high - low
    };
    (0..3).map(side).fold(0.0, f64::max)
}
