//! A character becomes the one length that every measure is scaled by: its height, sole to the top of the head.
//!
//! Measured in the bind pose, else in the rest pose. Units: metres.

use super::capsules::{Capsule, stature};
use crate::anatomy::Figure;
use crate::model::{Character, ModelPose};

/// The height that lengths are scaled to before they are compared, metres.
pub const COMMON_HEIGHT: f64 = 1.75;

/// The height of a body of these capsules; the extent of the skeleton without legs. At least a micrometre.
pub fn height(character: &Character, capsules: &[Capsule], standing: &ModelPose) -> f64 {
    let figure = Figure::of(&character.rig, standing);
    let height = figure.map_or_else(|| extent(standing), |figure| stature(capsules, &figure, standing));
    if height.is_finite() { height.max(1e-6) } else { 1.0 }
}

/// The greatest side of the box around the joints.
fn extent(standing: &ModelPose) -> f64 {
    let side = |axis: usize| {
        let along = standing.joints().iter().map(|t| t.translation[axis]);
        let (low, high) =
            along.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
        high - low
    };
    (0..3).map(side).fold(0.0, f64::max)
}
