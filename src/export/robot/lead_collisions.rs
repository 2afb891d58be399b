//! Keeps arms out of the body in the transitions from and to a standing pose.
//!
//! The shortest way between two poses may lead a hand through a thigh. Capsules show where; the arm then goes to its side in the middle of
//! the transition, as far as it has to.

use crate::math::{Transform, Vec3, nearest_points_of_segments};
use crate::robot_body::{RobotBody, RobotLimb, Sole};

/// Parts that are by less deeper in each other than at both ends do not collide, metres: capsules are larger than shapes by more.
const COLLIDES: f64 = 0.005;
/// The most rounds, each of which moves the arms of one collision: two arms, and once more if they meet something else.
const ROUNDS: usize = 4;
/// The hinge of an arm that goes aside the most is tried in steps of this size, radians, ...
const STEP: f64 = 0.05;
/// ... of which there are so many: up to 86 degrees, an arm that is raised to the side.
const STEPS: usize = 30;
/// Change of a hinge by which the way of a hand is found, radians.
const SMALL: f64 = 1e-5;

/// A robot whose transitions are examined.
pub(super) struct LeadBody {
    body: RobotBody,
    /// Per arm its side, 1 left and -1 right, its last link, and those of its hinges that no other hinge is coupled with.
    arms: Vec<(f64, usize, Vec<usize>)>,
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
        let arm = |(arm, side): (&Option<RobotLimb>, f64)| {
            let arm = arm.as_ref()?;
            Some((side, arm.end, arm.hinges.iter().copied().filter(alone).collect()))
        };
        let arms = body.limbs.arms.iter().zip([1.0, -1.0]).filter_map(arm).collect();
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
        let (mut rows, mut aside) = (straight, vec![0.0; ends[0].len()]);
        for _ in 0..ROUNDS {
            let Some(outward) = self.outward(&worst, &rows[worst.row]) else { break };
            let (mut best, before) = (None, aside.clone());
            for step in 1..=STEPS {
                let moved: Vec<f64> =
                    before.iter().zip(&outward).map(|(a, b)| a + b * step as f64 * STEP).collect();
                let made = by(&moved);
                let Some(found) = self.deepest(ends, &made).filter(|found| found.depth > COLLIDES) else {
                    return Some((made, None));
                };
                if found.depth < worst.depth {
                    (worst, best) = (found, Some((moved, made)));
                }
            }
            let Some(best) = best else { break };
            (aside, rows) = best;
        }
        let message = self.message(&worst);
        Some((rows, Some(message)))
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

    /// The change of the hinges of colliding arms by which their hands go to their sides from a pose, 1 for the hinge that changes most;
    /// `None` if no arm collides.
    fn outward(&self, worst: &Collision, values: &[f64]) -> Option<Vec<f64>> {
        let robot = &self.body.robot;
        let upright = robot.links[0].parent_from_link;
        let links = worst.pair.map(|k| self.body.capsules[k].link);
        let collides = |hinges: &[usize]| {
            links.iter().any(|&link| hinges.iter().any(|hinge| self.body.zero.chains[link].contains(hinge)))
        };
        let mut outward = vec![0.0; values.len()];
        for (side, end, hinges) in self.arms.iter().filter(|(_, _, hinges)| collides(hinges)) {
            let far = |values: &[f64]| side * robot.links_in_world(upright, values)[*end].translation.y;
            let now = far(values);
            for &hinge in hinges {
                let mut moved = values.to_vec();
                moved[hinge] += SMALL;
                outward[hinge] = (far(&moved) - now) / SMALL;
            }
        }
        let largest = outward.iter().map(|change| change.abs()).fold(0.0, f64::max);
        (largest > SMALL).then(|| outward.iter().map(|change| change / largest).collect())
    }
}

/// How much of a detour frame `k` of `frames` has: all of it in the middle, nothing at both ends, where it neither begins nor ends with a
/// velocity.
pub(super) fn middle(k: usize, frames: usize) -> f64 {
    let t = k as f64 / frames as f64;
    (4.0 * t * (1.0 - t)).powi(2)
}
