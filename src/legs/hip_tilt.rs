//! Reduced tilt for hips wider than the source's, so that the hip joints rise and fall as much as the source's, scaled.
//!
//! The sideways tilt `phi` of the line through the hip joints is changed to `phi - (1 - f) phi s(phi)`; `f` is the ratio of
//! hip widths over that of leg lengths, `s` falls from 1 at 20 degrees to 0 at 45, so that bodies that lie keep their roll.
//! The change depends on the frame alone: cycles stay cycles. Space: model space, Y up. Units: metres, radians.

use crate::math::{DEGREE, Quat, Vec3, exp, horizontal, smoothstep};

/// Tilts, radians, up to which a body stands and from which it lies: a standing one tilts by 15 degrees at most.
const LIES: [f64; 2] = [20.0 * DEGREE, 45.0 * DEGREE];

/// The delta rotation of the pelvis about the middle of the hip joints. `across` is the vector from the right to the left hip
/// joint, `share` the width of the source's hips relative to the target's. The identity for 1 and more.
pub fn hip_tilt(across: &Vec3, share: f64) -> Quat {
    let (Some(h), Some(e)) = (horizontal(across).try_normalize(1e-9), across.try_normalize(1e-9)) else {
        return Quat::identity();
    };
    let tilt = libm::asin(e.y.clamp(-1.0, 1.0));
    let stands = 1.0 - smoothstep((tilt.abs() - LIES[0]) / (LIES[1] - LIES[0]));
    exp(&(h.cross(&Vec3::y()) * (-(1.0 - share).max(0.0) * tilt * stands)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hip_joints_rise_as_the_narrower_ones_do() {
        for degrees in [-15.0_f64, -3.0, 0.0, 8.0] {
            let tilt = degrees.to_radians();
            let across = Vec3::new(tilt.cos() * 0.6, tilt.sin(), tilt.cos() * 0.8);
            let tilted = hip_tilt(&across, 0.5) * across;
            assert!((tilted.y.asin() - 0.5 * tilt).abs() < 1e-12);
            assert!((tilted.x * across.z - tilted.z * across.x).abs() < 1e-12, "the heading stays");
            assert_eq!(hip_tilt(&across, 1.2), Quat::identity());
        }
        assert_eq!(hip_tilt(&Vec3::y(), 0.5), Quat::identity());
    }
}
