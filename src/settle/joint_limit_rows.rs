//! Solver rows that keep the bodies of a ragdoll inside their joint limits.
//!
//! The room of a joint is the angle left before it reaches its limit: the twist to either end, the swing to the
//! ellipse of [`SwingTwist`]. A row lets the room shrink no faster than it is there; its axis
//! is the slope of the room, by central differences. Space: world axes. Units: radians.

use super::ragdoll::Ragdoll;
use crate::dynamics::{BodyState, Pull};
use crate::ik::{Limit, Mechanism, Range, SwingTwist};
use crate::math::{Quat, Vec3, exp};
use crate::model::{ModelPose, Skeleton};

/// The limit of the joint above one part.
#[derive(Clone, Debug)]
struct BodyLimit {
    part: usize,
    parent: usize,
    /// From the axes of the skeleton's parent joint to those of the parent's body.
    body_from_above: Quat,
    limit: SwingTwist,
}

/// The limits of all joints between the bodies of a ragdoll.
#[derive(Clone, Debug)]
pub struct JointLimitRows(Vec<BodyLimit>);

/// Rows are made for joints nearer to their limit than this, radians.
const NEAR: f64 = 0.2;

/// Joints are stopped this much before their limit, radians: a step overshoots a little where the limit is curved.
const MARGIN: f64 = 0.05;

/// The share of a violation that one step corrects.
const RETURN: f64 = 0.05;

/// The narrowest swing range, radians: narrower ones are widened to it.
const NARROW: f64 = 0.01;

/// The number of rows of one joint.
const ROOMS: usize = 6;

/// The share of the longer axis of an ellipse that is used.
const TIP: f64 = 0.96;

impl JointLimitRows {
    /// The bounds of `mechanism` between the bodies, with everything that lies between two bodies as it is in `model`.
    pub fn new(ragdoll: &Ragdoll, mechanism: &Mechanism, skeleton: &Skeleton, model: &ModelPose) -> Self {
        let bound = |(k, p): (usize, &super::ragdoll::RagdollPart)| {
            let parent = p.parent?;
            let Some(Limit::SwingTwist(limit)) = mechanism.limit(p.joint) else { return None };
            let above = model.joint(skeleton.parent(p.joint)?).rotation;
            let body = model.joint(ragdoll.parts[parent].joint).rotation;
            Some(BodyLimit { part: k, parent, body_from_above: body.inverse() * above, limit: *limit })
        };
        Self(ragdoll.parts.iter().enumerate().filter_map(bound).collect())
    }

    /// The number of identifiers that rows may have: those from there on are free for others.
    pub fn ids(&self) -> usize {
        self.0.iter().map(|bound| (bound.part + 1) * ROOMS).max().unwrap_or(0)
    }

    /// The rows of one step of `h` seconds.
    pub fn rows(&self, states: &[BodyState], h: f64) -> Vec<Pull> {
        let mut rows = Vec::new();
        for bound in &self.0 {
            let (a, b) = (&states[bound.parent], &states[bound.part]);
            let above = a.orientation * bound.body_from_above;
            let rooms = |delta: &Vec3| bound.rooms(&(above.inverse() * (exp(delta) * b.orientation)));
            let now = rooms(&Vec3::zeros());
            let spin = b.world_angular_velocity() - a.world_angular_velocity();
            for (side, &value) in now.iter().enumerate() {
                // A narrow range is not stopped from both ends at once: that has no solution.
                let margin = MARGIN.min(0.25 * (value + now[side ^ 1]));
                let slope = Vec3::from_fn(|r, _| {
                    let step = Vec3::ith(r, SLOPE_STEP);
                    (rooms(&step)[side] - rooms(&-step)[side]) / (2.0 * SLOPE_STEP)
                });
                // Over its slope a room is an angle, whatever it was.
                let steepness = slope.norm();
                let room = value / steepness;
                if !(0.05..200.0).contains(&steepness) || room > NEAR + h * spin.norm() {
                    continue;
                }
                let slope = slope / steepness;
                rows.push(Pull {
                    id: bound.part * ROOMS + side,
                    body: bound.part,
                    against: Some(bound.parent),
                    point: b.position,
                    along: Vec3::zeros(),
                    about: slope,
                    speed: if room < 0.0 { -room * RETURN / h } else { (margin - room).min(0.0) / h },
                    compliance: 1e-7,
                    low: 0.0,
                    high: f64::INFINITY,
                });
            }
        }
        rows
    }

    /// How far a joint is outside of its bound at most, radians.
    pub fn excess(&self, states: &[BodyState]) -> f64 {
        let of_bound = |bound: &BodyLimit| {
            let above = states[bound.parent].orientation * bound.body_from_above;
            let local = above.inverse() * states[bound.part].orientation;
            bound.limit.project(&local).angle_to(&local)
        };
        self.0.iter().map(of_bound).fold(0.0, f64::max)
    }
}

/// Step of the central differences of a room, radians.
const SLOPE_STEP: f64 = 1e-4;

impl BodyLimit {
    /// The room of the twist to either end, of the swing along the longer axis of its ellipse to either end, and along
    /// the shorter one to the ellipse. The sharp ends of long ellipses are cut off: nothing slides around them.
    fn rooms(&self, local: &Quat) -> [f64; ROOMS] {
        let [first, second, twist] = self.limit.angles(local);
        // The twist is taken modulo a full turn, nearest to the middle of the range.
        let middle = 0.5 * (self.limit.twist.low + self.limit.twist.high);
        let turns = ((twist - middle) / std::f64::consts::TAU).round();
        let twist = twist - turns * std::f64::consts::TAU;
        let [a, b] = &self.limit.swing;
        let long_first = a.high - a.low >= b.high - b.low;
        let (long, short) = if long_first { (a, b) } else { (b, a) };
        let (x, y) = if long_first { (first, second) } else { (second, first) };
        let half = |r: &Range, v: f64| if v < 0.0 { -r.low } else { r.high }.max(NARROW);
        let share = (x / half(long, x)).clamp(-TIP, TIP);
        let width = (1.0 - share * share).sqrt();
        [
            twist - self.limit.twist.low,
            self.limit.twist.high - twist,
            x + TIP * half(long, -1.0),
            TIP * half(long, 1.0) - x,
            y + width * half(short, -1.0),
            width * half(short, 1.0) - y,
        ]
    }
}
