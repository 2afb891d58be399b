//! Motors, limits and springs of constraints, PD drives of ball joints, and bounded forces towards a target velocity.
//!
//! A `BallDrive` is a spring and damper between the orientation of a ball joint and a moving target, integrated implicitly
//! (Tan, Liu, Turk, "Stable Proportional-Derivative Controllers", 2011): `L = g (rate - w) - h kp e` with
//! `g = h (kd + h kp)`, so that it is stable at any stiffness and does not lag behind a target of constant velocity. A
//! `Pull` is one auxiliary row. Space: world, unless noted otherwise. Units: SI.

use super::articulated_solver::Resistance;
use super::constraint::{Constraint, of};
use super::rigid_body::BodyState;
use crate::math::{Quat, Vec3, log};

/// Drives the velocity of `b` relative to `a` of a hinge (rad/s) or slider (m/s), with a bounded torque or force.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Motor {
    /// Index of the constraint.
    pub constraint: usize,
    /// The target velocity, rad/s or m/s.
    pub speed: f64,
    /// The largest torque (N m) or force (N), in both directions.
    pub limit: f64,
}

/// Keeps the coordinate of a hinge (rad) or slider (m) within bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoordinateLimit {
    /// Index of the constraint.
    pub constraint: usize,
    /// The lower bound.
    pub low: f64,
    /// The upper bound.
    pub high: f64,
}

/// Pulls a hinge, slider or ball towards a coordinate; integrated implicitly, therefore stable at any stiffness.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spring {
    /// Index of the constraint.
    pub constraint: usize,
    /// N m/rad or N/m.
    pub stiffness: f64,
    /// N m s/rad or N s/m.
    pub damping: f64,
    /// The rest coordinate; not used by a ball, whose rest is its initial relative orientation.
    pub target: f64,
    /// The velocity of the target; not used by a ball.
    pub rate: f64,
}

/// Rotates a ball joint towards a moving target orientation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BallDrive {
    /// Index of the constraint, a ball.
    pub constraint: usize,
    /// N m/rad.
    pub stiffness: f64,
    /// N m s/rad.
    pub damping: f64,
    /// The target orientation of `b` in the axes of `a`, at the start of the step.
    pub target: Quat,
    /// The angular velocity of the target, axes of `a`, rad/s.
    pub rate: Vec3,
}

impl BallDrive {
    /// Adds the resistance and the driving impulse of one step of `h` seconds; `child_is_a` tells which side of the
    /// constraint is the child.
    pub(super) fn resist(
        &self,
        states: &[BodyState],
        c: &Constraint,
        child_is_a: bool,
        h: f64,
        to: &mut Resistance,
    ) {
        let (a, b) = (of(states, c.a), of(states, c.b));
        let back = log(&(a.orientation * self.target * b.orientation.inverse()));
        let gain = h * (self.damping + h * self.stiffness);
        let sign = if child_is_a { -1.0 } else { 1.0 };
        to.gain += gain;
        to.drive += (a.orientation * self.rate * gain + back * (h * self.stiffness)) * sign;
    }
}

/// Drives one velocity of a body, relative to another body or the world, towards a value with a bounded force.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pull {
    /// Identifies the pull from step to step, so that a step starts from the impulse of the last one.
    pub id: usize,
    /// The body.
    pub body: usize,
    /// The body relative to which the velocity is measured; `None` for the world.
    pub against: Option<usize>,
    /// Where the force acts, world.
    pub point: Vec3,
    /// The direction of the velocity of that point, and of the force; zero for a pure rotation.
    pub along: Vec3,
    /// The axis of the angular velocity, and of the torque; zero for a pure translation.
    pub about: Vec3,
    /// The target velocity, m/s or rad/s.
    pub speed: f64,
    /// Compliance: the velocity error per impulse.
    pub compliance: f64,
    /// The smallest force or torque, N or N m.
    pub low: f64,
    /// The largest force or torque, N or N m.
    pub high: f64,
}

/// A point supported by immovable ground: the weighted mean of points on several bodies, as a vertex of linear-blend
/// skin is. The force on it is distributed by the same weights.
#[derive(Clone, Debug, PartialEq)]
pub struct Support {
    /// Identifies the support from step to step, so that a step starts from the impulse of the last one.
    pub id: usize,
    /// The bodies: index, weight, and the position of the point on that body, world.
    pub bodies: Vec<(usize, f64, Vec3)>,
    /// Away from the ground, unit length, world.
    pub normal: Vec3,
    /// Depth below the ground, metres; negative above it.
    pub depth: f64,
    /// Coulomb's coefficient.
    pub friction: f64,
}
