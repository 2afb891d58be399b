//! The unknowns of one frame, and where they put the links.

use crate::math::{Quat, Transform, Vec3, exp};
use crate::robot_body::RobotBody;
use std::sync::Arc;

/// Base and hinges of one frame.
#[derive(Clone, Debug)]
pub(super) struct RobotState {
    pub(super) base: Transform,
    pub(super) values: Vec<f64>,
}

impl RobotState {
    /// The state at `share` of the path to another.
    pub(super) fn towards(&self, other: &Self, share: f64) -> Self {
        let values = self.values.iter().zip(&other.values).map(|(a, b)| a + (b - a) * share);
        Self { base: self.base.interpolated(&other.base, share), values: values.collect() }
    }
}

/// Links and hinges of one frame in the world.
#[derive(Clone, Debug, Default)]
pub(super) struct Placed {
    /// Where the base is.
    pub(super) base: Vec3,
    pub(super) links: Vec<Transform>,
    /// A point on each hinge's axis, and its direction.
    pub(super) anchors: Vec<Vec3>,
    pub(super) axes: Vec<Vec3>,
}

/// The robot as the equations see it: unknowns, their limits, and which of them move each link.
///
/// Unknowns: 0 to 2 the base's place, 3 to 5 its rotation (a rotation vector in the world, applied last), then one per hinge.
/// A hinge that follows another has none of its own: its columns are added to those of the other.
#[derive(Clone, Debug)]
pub(super) struct Unknowns {
    pub(super) body: Arc<RobotBody>,
    pub(super) count: usize,
    /// Per hinge its unknown and how much of it: 1, or the factor by which it follows.
    pub(super) of_hinge: Vec<(usize, f64)>,
    /// Per unknown from 6 on, the hinge that it is.
    pub(super) hinges: Vec<usize>,
    /// The hinges that move each link.
    pub(super) chains: Vec<Vec<usize>>,
    /// The unknowns that move each link.
    pub(super) columns: Vec<LinkColumns>,
    /// Limits, neutral values and highest speeds of the hinges.
    pub(super) low: Vec<f64>,
    pub(super) high: Vec<f64>,
    pub(super) neutral: Vec<f64>,
    pub(super) fastest: Vec<f64>,
    /// Whether the file states the highest speed of a hinge, or of one that follows it.
    pub(super) stated: Vec<bool>,
}

/// The unknowns that move a link.
#[derive(Clone, Debug)]
pub(super) struct LinkColumns {
    /// Ascending; the base's come first.
    pub(super) unknowns: Vec<usize>,
    /// Per hinge of the link's chain its index, where its unknown is in `unknowns`, and how much of it.
    pub(super) hinges: Vec<(usize, usize, f64)>,
}

impl LinkColumns {
    fn of(chain: &[usize], of_hinge: &[(usize, f64)]) -> Self {
        let mut unknowns: Vec<usize> = (0..6).chain(chain.iter().map(|&hinge| of_hinge[hinge].0)).collect();
        unknowns.sort_unstable();
        unknowns.dedup();
        let column = |&hinge: &usize| {
            let (unknown, part) = of_hinge[hinge];
            (hinge, unknowns.partition_point(|&other| other < unknown), part)
        };
        Self { hinges: chain.iter().map(column).collect(), unknowns }
    }
}

impl Unknowns {
    /// The unknowns of a robot.
    pub(super) fn of(body: &Arc<RobotBody>) -> Self {
        let robot = &body.robot;
        let mut hinges = Vec::new();
        let mut of_hinge = vec![(usize::MAX, 0.0); robot.hinges.len()];
        for (k, hinge) in robot.hinges.iter().enumerate() {
            let leads = hinge.follows.as_ref().is_none_or(|f| robot.hinges[f.hinge].follows.is_some());
            if leads {
                of_hinge[k] = (6 + hinges.len(), 1.0);
                hinges.push(k);
            }
        }
        for (k, hinge) in robot.hinges.iter().enumerate() {
            if let Some(follows) = hinge.follows.as_ref().filter(|_| of_hinge[k].0 == usize::MAX) {
                of_hinge[k] = (of_hinge[follows.hinge].0, follows.coefficients[1]);
            }
        }
        let used = |range: Option<[f64; 2]>| {
            let [low, high] = range.unwrap_or([-std::f64::consts::PI, std::f64::consts::PI]);
            let (middle, half) = ((low + high) / 2.0, (high - low) / 2.0 * super::robot_settings::RANGE);
            [middle - half, middle + half]
        };
        let ranges: Vec<[f64; 2]> = robot.hinges.iter().map(|h| used(h.range)).collect();
        let neutral = robot.hinges.iter().zip(&ranges).map(|(h, r)| h.zero.clamp(r[0], r[1])).collect();
        let usual = super::robot_settings::USUAL_SPEED;
        let mut fastest: Vec<f64> = robot.hinges.iter().map(|h| h.speed.unwrap_or(usual)).collect();
        let mut stated: Vec<bool> = robot.hinges.iter().map(|h| h.speed.is_some()).collect();
        for hinge in &robot.hinges {
            if let (Some(follows), Some(speed)) = (&hinge.follows, hinge.speed) {
                let most = &mut fastest[follows.hinge];
                *most = most.min(speed / follows.coefficients[1].abs().max(f64::MIN_POSITIVE));
                stated[follows.hinge] = true;
            }
        }
        let chains = body.zero.chains.clone();
        Self {
            body: Arc::clone(body),
            count: 6 + hinges.len(),
            columns: chains.iter().map(|chain| LinkColumns::of(chain, &of_hinge)).collect(),
            of_hinge,
            hinges,
            chains,
            low: ranges.iter().map(|r| r[0]).collect(),
            high: ranges.iter().map(|r| r[1]).collect(),
            neutral,
            fastest,
            stated,
        }
    }

    /// Sets the hinges that follow others.
    pub(super) fn couple(&self, values: &mut [f64]) {
        let robot = &self.body.robot;
        for (k, hinge) in robot.hinges.iter().enumerate() {
            let Some(follows) = hinge.follows.as_ref().filter(|_| self.hinges.binary_search(&k).is_err())
            else {
                continue;
            };
            let x = values[follows.hinge] - robot.hinges[follows.hinge].zero;
            let power = follows.coefficients.iter().rev().fold(0.0, |sum, c| sum * x + c);
            values[k] = (hinge.zero + power).clamp(self.low[k], self.high[k]);
        }
    }

    /// Puts the links where a state has them.
    pub(super) fn place(&self, state: &RobotState, placed: &mut Placed) {
        let robot = &self.body.robot;
        placed.base = state.base.translation;
        placed.links.clear();
        placed.anchors.clear();
        placed.axes.clear();
        let mut hinge = 0;
        for (k, link) in robot.links.iter().enumerate() {
            let mut at =
                link.parent.map_or(state.base, |parent| placed.links[parent] * link.parent_from_link);
            while let Some(h) = robot.hinges.get(hinge).filter(|h| h.link == k) {
                placed.anchors.push(at.point(&h.anchor));
                placed.axes.push(at.rotation * h.axis);
                at = h.moving(at, state.values[hinge]);
                hinge += 1;
            }
            placed.links.push(at);
        }
    }

    /// The state after a step of the unknowns, inside the limits, into `moved`.
    pub(super) fn step(&self, state: &RobotState, step: &[f64], moved: &mut RobotState) {
        let rotation = exp(&Vec3::new(step[3], step[4], step[5])) * state.base.rotation;
        moved.base = Transform {
            rotation: Quat::new_normalize(rotation.into_inner()),
            translation: state.base.translation + Vec3::new(step[0], step[1], step[2]),
        };
        moved.values.clone_from(&state.values);
        for (unknown, &hinge) in self.hinges.iter().enumerate() {
            let value = moved.values[hinge] + step[6 + unknown];
            moved.values[hinge] = value.clamp(self.low[hinge], self.high[hinge]);
        }
        self.couple(&mut moved.values);
    }
}
