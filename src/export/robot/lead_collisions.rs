//! Keeps arms out of the body in the transitions from and to a standing pose.
//!
//! The shortest way between two poses may lead a hand through a thigh. Capsules show where; the hinges of the arms then go aside in the
//! middle of the transition, by the smallest change that separates the parts, round after round.

use crate::math::{Transform, Vec3, nearest_points_of_segments};
use crate::robot_body::{RobotBody, Sole};

/// Parts that are by less deeper in each other than at both ends do not collide, metres: capsules are larger than shapes by more.
const COLLIDES: f64 = 0.005;
/// Parts are separated by more than is needed, metres: then the way beside the deepest frame is free as well.
const CLEAR: f64 = 0.01;
/// The most rounds: a detour is found in a few, or not at all.
const ROUNDS: usize = 24;
/// A hinge goes aside by at most this in a round, radians: beyond it distances are not linear.
const STEP: f64 = 0.3;
/// Frames with less of a detour are so near an end that hinges would have to jump there.
const NEAR_END: f64 = 0.05;
/// Change of a hinge by which the change of a distance is found, radians.
const SMALL: f64 = 1e-5;

/// A robot whose transitions are examined.
pub(super) struct LeadBody {
    body: RobotBody,
    /// The hinges of the arms that no other hinge is coupled with.
    arms: Vec<usize>,
}

/// Where two capsules are deepest in each other.
struct Collision {
    /// Beyond their depth at the ends, metres.
    depth: f64,
    row: usize,
    pair: [usize; 2],
}

impl LeadBody {
    pub(super) fn new(body: RobotBody) -> Self {
        let hinges = &body.robot.hinges;
        let leads = |hinge: usize| {
            hinges.iter().any(|other| other.follows.as_ref().is_some_and(|f| f.hinge == hinge))
        };
        let alone = |hinge: &usize| hinges[*hinge].follows.is_none() && !leads(*hinge);
        let all = body.limbs.arms.iter().flatten().flat_map(|arm| arm.hinges.iter().copied());
        let arms = all.filter(alone).collect();
        Self { body, arms }
    }

    pub(super) fn soles(&self) -> &[Sole; 2] {
        &self.body.soles
    }

    /// The frames of a transition that goes around the body, and what is left of a collision in words; `None` if `straight`, the shortest
    /// way, has none. `ends` are the poses between which it leads, `by` makes the frames of a detour.
    pub(super) fn detour(
        &self,
        ends: [&[f64]; 2],
        straight: Vec<Vec<f64>>,
        by: impl Fn(&[f64]) -> Vec<Vec<f64>>,
    ) -> Option<(Vec<Vec<f64>>, Option<String>)> {
        let mut worst = self.deepest(ends, &straight).filter(|found| found.depth > COLLIDES)?;
        let mut aside = vec![0.0; straight.first()?.len()];
        let (mut rows, mut best) = (straight.clone(), (worst.depth, straight));
        for _ in 0..ROUNDS {
            let share = middle(worst.row, rows.len());
            if share < NEAR_END || !self.step_aside(&worst, &rows[worst.row], share, &mut aside) {
                break;
            }
            rows = by(&aside);
            let Some(found) = self.deepest(ends, &rows) else { break };
            if found.depth < best.0 {
                best = (found.depth, rows.clone());
            }
            if found.depth <= COLLIDES {
                return Some((rows, None));
            }
            worst = found;
        }
        let left = self.deepest(ends, &best.1)?;
        let message = self.message(&left);
        Some((best.1, Some(message)))
    }

    fn message(&self, left: &Collision) -> String {
        let [a, b] = left.pair.map(|k| &self.body.robot.links[self.body.capsules[k].link].name);
        format!(
            "in the transition from or to `output.robot.default_pose`, `{a}` is {:.1} cm deeper in `{b}` than in the poses that it connects: choose a default pose that is nearer to the motion's, or trim the take to where it is nearer to the default pose",
            100.0 * left.depth
        )
    }

    /// The collision that is deepest beyond what the same parts have at the ends.
    fn deepest(&self, ends: [&[f64]; 2], rows: &[Vec<f64>]) -> Option<Collision> {
        let usual = ends.map(|values| self.capsules(values));
        let mut worst: Option<Collision> = None;
        for (row, values) in rows.iter().enumerate() {
            let capsules = self.capsules(values);
            for pair in self.body.near(&capsules, 0.0) {
                let allowed = usual.iter().map(|at| self.depth(at, pair)).fold(0.0, f64::max);
                let depth = self.depth(&capsules, pair) - allowed;
                if depth > worst.as_ref().map_or(0.0, |worst| worst.depth) {
                    worst = Some(Collision { depth, row, pair });
                }
            }
        }
        worst
    }

    /// The ends of all capsules in the space of the base.
    fn capsules(&self, values: &[f64]) -> Vec<[Vec3; 2]> {
        let links = self.body.robot.links_in_world(Transform::identity(), values);
        self.body.capsules.iter().map(|c| c.ends.map(|end| links[c.link].point(&end))).collect()
    }

    /// How deep two capsules are in each other; negative if they are apart.
    fn depth(&self, capsules: &[[Vec3; 2]], [a, b]: [usize; 2]) -> f64 {
        let [p, q] = nearest_points_of_segments(&capsules[a], &capsules[b]);
        self.body.capsules[a].radius + self.body.capsules[b].radius - (p - q).norm()
    }

    /// Adds the smallest change of the arms that separates two parts in a frame that has this share of a detour; whether there is one.
    fn step_aside(&self, worst: &Collision, values: &[f64], share: f64, aside: &mut [f64]) -> bool {
        let now = self.depth(&self.capsules(values), worst.pair);
        let slope = |&hinge: &usize| {
            let mut moved = values.to_vec();
            moved[hinge] += SMALL;
            (now - self.depth(&self.capsules(&moved), worst.pair)) / SMALL
        };
        let slopes: Vec<f64> = self.arms.iter().map(slope).collect();
        let square: f64 = slopes.iter().map(|slope| slope * slope).sum();
        let largest = slopes.iter().map(|slope| slope.abs()).fold(0.0, f64::max);
        if largest < SMALL {
            return false;
        }
        let step = ((worst.depth + CLEAR) / square).min(STEP / largest) / share;
        for (&hinge, slope) in self.arms.iter().zip(&slopes) {
            aside[hinge] += slope * step;
        }
        true
    }
}

/// How much of a detour frame `k` of `frames` has: all of it in the middle, nothing at both ends, where it neither begins nor ends with a
/// velocity.
pub(super) fn middle(k: usize, frames: usize) -> f64 {
    let t = k as f64 / frames as f64;
    (4.0 * t * (1.0 - t)).powi(2)
}
