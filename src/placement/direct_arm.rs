//! Positions of the points of an arm of the direct transfer as a function of small rotations, with derivatives.
//!
//! The whole arm rotates about its shoulder by a rotation vector `u`, and the forearm bends by `b` more about the elbow's own
//! axis. The hand keeps its rotation. With all four zero the arm is that of the direct transfer, so the elbow has no
//! side to choose and cannot flip. Space: model space. Units: metres, radians.

use crate::body::FOREARM_POINTS;
use crate::math::{Quat, Vec3, exp};

/// Points of an arm: four of the forearm from elbow to wrist, palm, fingers.
pub const POINTS: usize = 6;
/// The point at the elbow.
pub const ELBOW: usize = 0;
/// The point at the wrist.
pub const WRIST: usize = 3;
/// The point at the palm.
pub const PALM: usize = 4;

/// The unknowns of one arm: the rotation vector `u` and the bend `b`, radians.
pub type ArmState = [f64; 4];

/// An arm of the direct transfer.
#[derive(Clone, Copy, Debug)]
pub struct DirectArm {
    /// The shoulder joint.
    pub shoulder: Vec3,
    /// From shoulder to elbow.
    pub upper: Vec3,
    /// From elbow to wrist.
    pub lower: Vec3,
    /// From the wrist to palm and fingers.
    pub hand: [Vec3; 2],
    /// The axis of the elbow, a unit vector; shorter where it is not known.
    pub axis: Vec3,
}

/// A point with its derivatives by the unknowns of its arm.
#[derive(Clone, Copy, Debug, Default)]
pub struct ArmPoint {
    /// Its position.
    pub at: Vec3,
    /// The derivative by each unknown.
    pub columns: [Vec3; 4],
}

impl DirectArm {
    /// The angle between upper arm and forearm, see [`bend`].
    pub fn bend(&self) -> f64 {
        bend(&self.upper, &self.lower, &self.axis)
    }

    /// The rotation of the whole arm and the one of the forearm before it.
    pub fn rotations(&self, state: &ArmState) -> [Quat; 2] {
        [exp(&rotation_vector(state)), exp(&(self.axis * state[3]))]
    }

    /// The points of the arm.
    pub fn points(&self, state: &ArmState) -> [ArmPoint; POINTS] {
        let [whole, bend] = self.rotations(state);
        let jacobian = left_jacobian(&rotation_vector(state));
        let upper = whole * self.upper;
        let lower = whole * (bend * self.lower);
        let axis = whole * self.axis;
        let by_bend = axis.cross(&lower);
        let wrist = upper + lower;
        let point = |arm: Vec3, share: f64, hand: Vec3| ArmPoint {
            at: self.shoulder + arm + hand,
            columns: [
                jacobian[0].cross(&arm),
                jacobian[1].cross(&arm),
                jacobian[2].cross(&arm),
                by_bend * share,
            ],
        };
        let [a, b, c, d] = FOREARM_POINTS.map(|s| point(upper + lower * s, s, Vec3::zeros()));
        let [palm, fingers] = self.hand.map(|offset| point(wrist, 1.0, offset));
        [a, b, c, d, palm, fingers]
    }
}

/// The angle between upper arm and forearm about the axis of the elbow, 0 when straight.
pub fn bend(upper: &Vec3, lower: &Vec3, axis: &Vec3) -> f64 {
    libm::atan2(upper.cross(lower).dot(axis), upper.dot(lower))
}

fn rotation_vector(state: &ArmState) -> Vec3 {
    Vec3::new(state[0], state[1], state[2])
}

/// The columns of the left Jacobian of the rotation by `u`: the angular velocities of changes of its components.
fn left_jacobian(u: &Vec3) -> [Vec3; 3] {
    let square = u.norm_squared();
    let angle = square.sqrt();
    // Below, the series: the quotients lose their digits.
    let (c, d) = if angle < 1e-2 {
        (0.5 - square / 24.0, 1.0 / 6.0 - square / 120.0)
    } else {
        let (sin, cos) = libm::sincos(angle);
        ((1.0 - cos) / square, (angle - sin) / (square * angle))
    };
    [Vec3::x(), Vec3::y(), Vec3::z()].map(|e| {
        let once = u.cross(&e);
        e + once * c + u.cross(&once) * d
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Derivatives against differences, and lengths that stay.
        #[test]
        fn points_move_as_their_derivatives_say(
            v in prop::array::uniform9(-0.4..0.4f64), state in prop::array::uniform4(-0.8..0.8f64),
        ) {
            let arm = DirectArm {
                shoulder: Vec3::new(0.2, 1.4, v[0]),
                upper: Vec3::new(0.3, v[1], v[2]),
                lower: Vec3::new(v[3], 0.25, v[4]),
                hand: [Vec3::new(v[5], 0.1, 0.0), Vec3::new(v[6], 0.2, 0.0)],
                axis: Vec3::new(v[7], v[8], 1.0).normalize(),
            };
            let points = arm.points(&state);
            let still = arm.points(&[0.0; 4]);
            prop_assert_eq!(still[ELBOW].at, arm.shoulder + arm.upper);
            prop_assert!(((points[WRIST].at - points[ELBOW].at).norm() - arm.lower.norm()).abs() < 1e-12);
            for unknown in 0..4 {
                let moved = |step: f64| {
                    let mut state = state;
                    state[unknown] += step;
                    arm.points(&state)
                };
                for ((a, b), point) in moved(-1e-6).iter().zip(&moved(1e-6)).zip(&points) {
                    let difference = (b.at - a.at) / 2e-6;
                    prop_assert!((difference - point.columns[unknown]).norm() < 1e-8);
                }
            }
        }
    }
}
