//! What leads a world along: motors, limits and springs of coordinates, balls driven towards orientations that move, and
//! velocities pulled within bounds.
//!
//! A `Drive` is a spring and damper between a ball and a target that moves, taken implicitly (Tan, Liu, Turk, "Stable
//! Proportional-Derivative Controllers", 2011): `L = g (rate - w) - h kp e` with `g = h (kd + h kp)`, so that it is
//! stable at any stiffness and does not lag behind a steady target. A `Pull` is one auxiliary row. Space: world,
//! unless said otherwise. Units: SI.

use super::constraint::{Constraint, of};
use super::lcp::Bound;
use super::rows::{PULL, Row};
use super::tree::Resistance;
use super::world::World;
use crate::math::{Quat, Vec3, log};

/// Drives the rate of `b` against `a` of a hinge (rad/s) or slider (m/s), with a bounded torque or force.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Motor {
    /// Which constraint.
    pub constraint: usize,
    /// The wanted rate.
    pub speed: f64,
    /// The largest torque (N m) or force (N), either way.
    pub limit: f64,
}

/// Keeps the coordinate of a hinge (rad) or slider (m) within bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoordinateLimit {
    /// Which constraint.
    pub constraint: usize,
    /// The lower bound.
    pub low: f64,
    /// The upper bound.
    pub high: f64,
}

/// Pulls a hinge, slider or ball towards a coordinate; implicit, so stable at any stiffness.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spring {
    /// Which constraint.
    pub constraint: usize,
    /// N m/rad or N/m.
    pub stiffness: f64,
    /// N m s/rad or N s/m.
    pub damping: f64,
    /// The coordinate of rest; a ball's rest is its first relative orientation.
    pub target: f64,
    /// The rate of the target.
    pub rate: f64,
}

/// Turns a ball towards an orientation that moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drive {
    /// Which constraint, a ball.
    pub constraint: usize,
    /// N m/rad.
    pub stiffness: f64,
    /// N m s/rad.
    pub damping: f64,
    /// The wanted orientation of `b` in the axes of `a`, at the start of the step.
    pub target: Quat,
    /// The angular velocity of the target, axes of `a`, rad/s.
    pub rate: Vec3,
}

impl Drive {
    /// Adds what one step of `h` seconds resists and drives with; `child_is_a` tells whose way up the constraint is.
    pub(super) fn resist(
        &self,
        world: &World,
        c: &Constraint,
        child_is_a: bool,
        h: f64,
        to: &mut Resistance,
    ) {
        let (a, b) = (of(&world.states, c.a), of(&world.states, c.b));
        let back = log(&(a.orientation * self.target * b.orientation.inverse()));
        let gain = h * (self.damping + h * self.stiffness);
        let sign = if child_is_a { -1.0 } else { 1.0 };
        to.stiffness += gain;
        to.drive += (a.orientation * self.rate * gain + back * (h * self.stiffness)) * sign;
    }
}

/// Pulls one velocity of a body, against another body or the world, towards a value with a bounded force.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pull {
    /// What it is called from step to step, so that a step starts from the impulse of the last.
    pub id: usize,
    /// The body.
    pub body: usize,
    /// The body against which the velocity is taken; `None` for the world.
    pub against: Option<usize>,
    /// Where the force acts.
    pub point: Vec3,
    /// The direction of the velocity of that point, and of the force; zero for a turn alone.
    pub along: Vec3,
    /// The axis of the angular velocity, and of the torque; zero for a shift alone.
    pub about: Vec3,
    /// The wanted velocity, m/s or rad/s.
    pub speed: f64,
    /// Velocity per impulse that the pull gives way by.
    pub compliance: f64,
    /// The least force or torque, N or N m.
    pub low: f64,
    /// The greatest force or torque.
    pub high: f64,
}

impl Pull {
    pub(super) fn row(&self, world: &World, h: f64) -> Row {
        let end =
            |body: usize, sign: f64| world.at_link(body, &self.point, self.about * sign, self.along * sign);
        Row {
            ends: [Some(end(self.body, 1.0)), self.against.map(|i| end(i, -1.0))]
                .into_iter()
                .flatten()
                .collect(),
            target: self.speed,
            compliance: self.compliance,
            bound: Bound::Box { low: self.low * h, high: self.high * h },
            key: (PULL, self.id, 0, 0),
        }
    }
}
