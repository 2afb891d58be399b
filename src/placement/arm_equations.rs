//! The least-squares problem of both arms over one window of frames, solved by damped Gauss-Newton steps from the direct transfer.
//!
//! ```text
//! sum |u|^2 / ROTATION^2 + b^2 / BEND^2                               the direct transfer's shape
//!   + sum (arm / MISS_DISTANCE)^2 / (2 pi CUTOFF)^4 |D D (u, b / 2)|^2   smooth over time
//!   + sum POINT_SHARE w |x - goal|^2 / MISS_DISTANCE^2                hands keep their place on the skin (slack along it)
//!   + sum POINT_SHARE a (gap - bound)^2 / MISS_DISTANCE^2             no point goes deeper into the body than on the source
//!   + sum over the other arm as over the body; both arms move
//! ```
//!
//! Space: model space. Units: metres, radians.

use super::block_chain::{FrameBlock, Smoothness};
use super::direct_arm::{ArmPoint, ArmState, ELBOW, PALM, POINTS, WRIST};
use super::goals::{ArmSegment, BodyGoal, FrameGoals};
use super::surface_pair::{BodyFrame, SurfacePair, TargetFrame, largest_extent, skin_around};
use crate::body::{PartLine, PartSegment, TOUCHED_PARTS};
use crate::math::{Real, RealX4, Triple, Vec3, in_wide_registers, smoothstep};
use crate::parallel;

/// The distance by which a touch may be missed, over the length of the arm: with 0.02 arms rotate half as much again for four
/// touches in a hundred.
const MISS_DISTANCE: f64 = 0.03;
/// The rotation of the whole arm that costs as much as that, radians: with 0.15 arms rotate half as much again for two touches
/// in a hundred.
const ROTATION: f64 = 0.10;
/// The bend of an elbow that costs as much, radians: chosen, other values were not tried.
const BEND: f64 = 0.15;
/// Corrections faster than this are damped, Hz. With 4 Hz hands that go around a wide body jerk (28 times the take's at most in 32
/// pairs, with 2.25 Hz 9 times; elbows jump by more than 3 cm in four pairs and in one); with 1.3 Hz two touches of 112 more are lost.
const CUTOFF: f64 = 2.25;
/// The weight of each point, 2/5: five points can act on an arm, rarely more than two at once.
const POINT_SHARE: f64 = 0.4;
/// The weight along the skin over that across it.
const SLACK_ALONG_SKIN: f64 = 0.3;
/// Over this depth, by the length of the arm, the push out of the body grows to its full weight.
const PUSH_RAMP: f64 = 0.01;
/// Near the axis of a part there is no direction out: see `goals::GOAL_DIRECTION`.
const OUT_DIRECTION: [f64; 2] = [0.1, 0.3];
/// The weight that keeps the elbow within its range: ten times that of a point that is pushed out at arm's length. With the
/// same weight elbows run into the clamp after the last step and jerk there (pop of 15.6 instead of 13.8 degrees in one pair).
const RANGE_WEIGHT: f64 = 4000.0;
/// The least bend of an elbow, radians; the direct transfer may be beyond.
const LEAST_BEND: f64 = 3.0 * std::f64::consts::PI / 180.0;
/// The largest bend of an elbow, radians; the direct transfer may be beyond.
const LARGEST_BEND: f64 = 150.0 * std::f64::consts::PI / 180.0;
/// Goals of at least this weight are touches.
const TOUCHING: f64 = 0.5;
/// Steps of the iteration: with two, arms of very wide bodies still change from frame to frame (of 14 pairs: pops of 2.2
/// instead of 1.3 degrees in the mean, 14.5 instead of 9.5 % of the arm in the body); with five it is 1.25 and 9.4.
const STEPS: usize = 3;
/// Weight of a step's own size, over that of the direct transfer's shape (Levenberg 1944): with four steps and without it the
/// largest pop of those pairs is 8.0 instead of 6.2 degrees, where points leave and enter the body between two steps.
const STEP_WEIGHT: f64 = 1.0;

/// The unknowns of both arms in one frame.
pub type BothArms = [f64; 8];

fn of_arm(state: &BothArms, side: usize) -> ArmState {
    std::array::from_fn(|k| state[4 * side + k])
}

/// The frames of one window.
pub struct ArmWindow<'a> {
    /// Both surfaces.
    pub pair: &'a SurfacePair,
    /// The source; `None`: no point may be deeper than the skin.
    pub source: Option<&'a [BodyFrame]>,
    /// The direct transfer.
    pub target: &'a [TargetFrame],
    /// What the hands keep.
    pub goals: &'a [FrameGoals],
    /// Frames per second.
    pub rate: f64,
}

/// Limits the `added` bend so that the elbow does not go past straight, which the last Gauss-Newton step could do.
pub fn limited_straightening(direct_bend: f64, added: f64) -> f64 {
    added.max(direct_bend.min(LEAST_BEND) - direct_bend)
}

/// A solved frame.
#[derive(Clone, Copy, Debug, Default)]
pub struct SolvedArms {
    /// The unknowns of both arms.
    pub state: BothArms,
    /// The largest distance across the skin of a touching point from its goal, metres.
    pub missed: f64,
}

impl ArmWindow<'_> {
    /// The states of all frames.
    pub fn solve(&self) -> Vec<SolvedArms> {
        let arm = self.pair.target.lengths.arm();
        let omega = std::f64::consts::TAU * CUTOFF / self.rate;
        let smooth = 1.0 / (MISS_DISTANCE * MISS_DISTANCE) / omega.powi(4);
        let of_arm = [smooth, smooth, smooth, 0.25 * smooth];
        let smoothness = Smoothness(std::array::from_fn(|k| of_arm[k % 4]));
        let mut states = vec![[0.0; 8]; self.target.len()];
        for _ in 0..STEPS {
            let frame = |f: usize| self.equations(f, &states[f], arm);
            let mut blocks: Vec<FrameBlock<8>> = parallel::map(states.len(), 32, frame);
            smoothness.subtract_gradient(&states, &mut blocks);
            let steps = smoothness.solve(blocks);
            for (x, step) in states.iter_mut().flatten().zip(steps.iter().flatten()) {
                *x += step;
            }
        }
        let solved = |(f, state): (usize, BothArms)| SolvedArms { state, missed: self.missed(f, &state) };
        states.into_iter().enumerate().map(solved).collect()
    }

    /// How far touching points stay from their goals in a frame.
    fn missed(&self, f: usize, state: &BothArms) -> f64 {
        let goals = self.goals[f].body.iter().filter(|goal| goal.weight > TOUCHING);
        let far = |goal: &BodyGoal| {
            let (side, k) = goal.point;
            let point = self.target[f].arms[side].points(&of_arm(state, side))[k].at;
            (goal.at - point).dot(&goal.direction).abs()
        };
        goals.map(far).fold(0.0, f64::max)
    }

    /// Whether anything acts on the direct transfer in a frame.
    pub fn is_active(&self, f: usize) -> bool {
        let goals = &self.goals[f];
        if !goals.body.is_empty() || !goals.arms.is_empty() {
            return true;
        }
        let mut sum = ArmEquations::new([[ArmPoint::default(); POINTS]; 2], 1.0);
        for (side, points) in self.target[f].body.points.iter().enumerate() {
            sum.points[side] = points.map(|at| ArmPoint { at, ..ArmPoint::default() });
        }
        self.push_out(f, &mut sum)
    }

    /// The equations of one frame at a state.
    fn equations(&self, f: usize, state: &BothArms, arm: f64) -> FrameBlock<8> {
        let arms = &self.target[f].arms;
        let points = [0, 1].map(|side| arms[side].points(&of_arm(state, side)));
        let mut sum = ArmEquations::new(points, POINT_SHARE / (MISS_DISTANCE * arm).powi(2));
        for goal in &self.goals[f].body {
            sum.keep(goal.point, &goal.at, &goal.direction, goal.weight);
        }
        for goal in &self.goals[f].arms {
            let other = 1 - goal.point.0;
            let points = &sum.points[other];
            let fixed = ArmPoint { at: arms[other].shoulder, ..ArmPoint::default() };
            let [start, end] = match goal.segment {
                ArmSegment::Upper => [fixed, points[ELBOW]],
                ArmSegment::Forearm => [points[ELBOW], points[WRIST]],
                ArmSegment::Hand => [points[WRIST], points[PALM]],
            };
            let mix = |a: &Vec3, b: &Vec3| a * (1.0 - goal.share) + b * goal.share;
            let on = ArmPoint {
                at: mix(&start.at, &end.at) + goal.offset,
                columns: std::array::from_fn(|k| mix(&start.columns[k], &end.columns[k])),
            };
            sum.keep_on_arm(goal.point, &on, &goal.direction, goal.weight);
        }
        self.push_out(f, &mut sum);
        for (k, x) in state.iter().enumerate() {
            let weight = if k % 4 == 3 { 1.0 / (BEND * BEND) } else { 1.0 / (ROTATION * ROTATION) };
            sum.block.matrix[k][k] += (1.0 + STEP_WEIGHT) * weight;
            sum.block.right_hand_side[k] -= weight * x;
        }
        for (side, arm) in arms.iter().enumerate() {
            let (direct_bend, k) = (arm.bend(), 4 * side + 3);
            let bend = direct_bend + state[k];
            let excess = (bend - direct_bend.min(LEAST_BEND)).min(0.0)
                + (bend - direct_bend.max(LARGEST_BEND)).max(0.0);
            if excess != 0.0 {
                sum.block.matrix[k][k] += RANGE_WEIGHT;
                sum.block.right_hand_side[k] -= RANGE_WEIGHT * excess;
            }
        }
        sum.block
    }

    /// Adds that no point goes deeper into the body than on the source; whether any does.
    fn push_out(&self, f: usize, sum: &mut ArmEquations) -> bool {
        let (pair, body) = (self.pair, &self.target[f].body);
        let ramp = PUSH_RAMP * pair.target.lengths.arm();
        // Without a source the surfaces shall just not touch.
        let outermost = if self.source.is_some() { 0.0 } else { ramp };
        let mut any = false;
        // Four points at a time: almost all are passed over.
        let groups: [(Triple<RealX4>, RealX4); 2 * POINTS / 4] = std::array::from_fn(|group| {
            let points: [(usize, usize); 4] = std::array::from_fn(|lane| point_of_lane(group, lane));
            let at = points.map(|(side, k)| sum.points[side][k].at);
            let extents = points.map(|point| largest_extent(&pair.target, point) + outermost);
            ([0, 1, 2].map(|c| RealX4::from_lanes(|lane| at[lane][c])), extents.into())
        });
        let largest = TOUCHED_PARTS.map(|part| pair.target.tables[part.index()].largest());
        let lines = TOUCHED_PARTS.map(|part| PartLine::of(part, &body.pose, &pair.target.lengths));
        let mut squared_margin = [[RealX4::splat(0.0); 2 * POINTS / 4]; TOUCHED_PARTS.len()];
        in_wide_registers(
            #[inline(always)]
            || {
                for ((squared_margin, line), largest) in squared_margin.iter_mut().zip(&lines).zip(largest) {
                    for (squared_margin, (at, extent)) in squared_margin.iter_mut().zip(&groups) {
                        *squared_margin = line.squared_margin(*at, *extent + RealX4::splat(largest));
                    }
                }
            },
        );
        for (((part, line), largest), squared_margin) in
            TOUCHED_PARTS.into_iter().zip(&lines).zip(largest).zip(&squared_margin)
        {
            if largest <= 0.0 {
                continue;
            }
            // Few points are near a part: axes are computed for those.
            let mut segment = None;
            for (group, squared_margin) in squared_margin.iter().enumerate() {
                let near = (0..4).filter(|lane| squared_margin.lane(*lane) > 0.0);
                for (side, k) in near.map(|lane| point_of_lane(group, lane)) {
                    let at = sum.points[side][k].at;
                    let (around, point_radius) = skin_around(&pair.target, &body.pose, (side, k), &at, line);
                    if around.distance >= largest + point_radius + outermost {
                        continue;
                    }
                    let segment = segment
                        .get_or_insert_with(|| PartSegment::of(part, &body.pose, &pair.target.lengths));
                    let radius = pair.target_radius(part, segment, &around);
                    let gap = around.distance - radius - point_radius;
                    if gap >= outermost {
                        continue;
                    }
                    let bound = self.source.map_or(outermost, |source| {
                        let source_segment = PartSegment::of(part, &source[f].pose, &pair.source.lengths);
                        let at = source[f].points[side][k];
                        let (around, point_radius) =
                            skin_around(&pair.source, &source[f].pose, (side, k), &at, source_segment.line());
                        let radius = pair.source_radius(part, &source_segment, &around);
                        pair.target_gap(&around, radius, point_radius).min(0.0)
                    });
                    let direction_weight = smoothstep(
                        (around.distance / radius.max(1e-9) - OUT_DIRECTION[0]) / OUT_DIRECTION[1],
                    );
                    let active = smoothstep((bound - gap) / ramp) * direction_weight;
                    if active > 0.0 {
                        any = true;
                        sum.push((side, k), &around.direction, bound - gap, active);
                    }
                }
            }
        }
        any
    }
}

/// The side and the number of a point of both arms, by its place in groups of four.
fn point_of_lane(group: usize, lane: usize) -> (usize, usize) {
    let n = 4 * group + lane;
    (n / POINTS, n % POINTS)
}

/// The normal equations of one frame.
struct ArmEquations {
    points: [[ArmPoint; POINTS]; 2],
    /// The weight of a goal of weight 1, per square metre.
    weight_scale: f64,
    block: FrameBlock<8>,
}

impl ArmEquations {
    fn new(points: [[ArmPoint; POINTS]; 2], weight_scale: f64) -> ArmEquations {
        ArmEquations {
            points,
            weight_scale,
            block: FrameBlock { matrix: [[0.0; 8]; 8], right_hand_side: [0.0; 8] },
        }
    }

    /// A point shall be somewhere, mostly along `direction`.
    fn keep(&mut self, (side, k): (usize, usize), at: &Vec3, direction: &Vec3, weight: f64) {
        let point = self.points[side][k];
        let error = at - point.at;
        let weight = weight * self.weight_scale;
        let columns: [(usize, Vec3); 4] = std::array::from_fn(|i| (4 * side + i, point.columns[i]));
        self.add(&columns, &error, direction, weight, SLACK_ALONG_SKIN);
    }

    /// A point shall be where a point of the other arm is.
    fn keep_on_arm(&mut self, (side, k): (usize, usize), on: &ArmPoint, direction: &Vec3, weight: f64) {
        let point = self.points[side][k];
        let error = on.at - point.at;
        let columns: [(usize, Vec3); 8] = std::array::from_fn(|i| match i {
            0..4 => (4 * side + i, point.columns[i]),
            _ => (4 * (1 - side) + i - 4, -on.columns[i - 4]),
        });
        self.add(&columns, &error, direction, weight * self.weight_scale, SLACK_ALONG_SKIN);
    }

    /// A point shall move along `direction` by `far`.
    fn push(&mut self, (side, k): (usize, usize), direction: &Vec3, far: f64, weight: f64) {
        let point = self.points[side][k];
        let columns: [(usize, Vec3); 4] = std::array::from_fn(|i| (4 * side + i, point.columns[i]));
        self.add(&columns, &(direction * far), direction, weight * self.weight_scale, 0.0);
    }

    /// Adds `weight |J x - error|^2`, of which the part across `direction` counts by `across`; `columns` are those of `J` with
    /// the unknowns they belong to.
    fn add(&mut self, columns: &[(usize, Vec3)], error: &Vec3, direction: &Vec3, weight: f64, across: f64) {
        let weighted =
            |v: &Vec3| v * (weight * across) + direction * (weight * (1.0 - across) * v.dot(direction));
        let FrameBlock { matrix, right_hand_side } = &mut self.block;
        for (i, column) in columns {
            let column = weighted(column);
            right_hand_side[*i] += column.dot(error);
            for (j, other) in columns {
                matrix[*i][*j] += column.dot(other);
            }
        }
    }
}
