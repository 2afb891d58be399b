//! Goals of the hands of one window of frames: where each point of a hand belongs on the target's body.
//!
//! A point near a part of the source's body keeps its place on the part and, scaled by the arms' lengths, its distance from the
//! skin. The weight falls to exactly zero at [`FREE_AIR_DISTANCE`], so free arms are not changed at all. Near is also slow: a hand
//! that swings past a hip does not touch it. Space: model space. Units: metres.

use super::direct_arm::{ELBOW, PALM, POINTS, WRIST};
use super::surface_pair::{BodyFrame, SurfacePair, TargetFrame, largest_extent, point_extent};
use crate::body::{AroundSegment, BodySurface, PartLine, PartSegment, TOUCHED_PARTS, TouchedPart};
use crate::math::{Vec3, nearest_on_segment, smoothstep};
use crate::parallel;

/// The distance from the skin at which a hand is in free air, over the length of the arm: with 0.2 arms rotate by a tenth more
/// (90 pairs), with 0.08 one touch more in a hundred is lost.
const FREE_AIR_DISTANCE: f64 = 0.12;
/// The speed along the skin at which a hand touches half as much, arm lengths per second.
const SLIDE_SPEED: f64 = 0.5;
/// At the skin the speed limit is higher by this factor, so that stroking and patting count as touching and a swing past does not.
const TOUCH_SLIDE: f64 = 2.0;
/// The distance from the skin at which that is over, over the length of the arm.
const TOUCH_DISTANCE: f64 = 0.03;
/// The time over which that speed is averaged, seconds.
const SLIDE_TIME: f64 = 0.05;
/// How far a hand may be moved for a touch, over the length of the arm.
const LARGEST_MOVE: f64 = 0.35;
/// Share of it for a hand at the distance [`FREE_AIR_DISTANCE`]; grows to 1 at the skin.
const LARGEST_MOVE_SHARE_AFAR: f64 = 0.15;
/// The reach of an arm over its length, and the excess over which goals out of reach lose their weight.
const REACH: [f64; 2] = [0.97, 0.1];
/// Goals with a weight below this are left out.
const LEAST_WEIGHT: f64 = 1e-6;
/// Near the axis of a part there is no direction to keep: from this distance over the radius on, and fully after that much.
const GOAL_DIRECTION: [f64; 2] = [0.15, 0.35];
/// The weight of the other hand: its own points see this one as well.
const OTHER_HAND: f64 = 0.5;

/// Where a point of an arm belongs on a part of the body.
#[derive(Clone, Copy, Debug)]
pub struct BodyGoal {
    /// The arm and its point.
    pub point: (usize, usize),
    /// The position.
    pub at: Vec3,
    /// The direction out of the part.
    pub direction: Vec3,
    /// The weight, 0 to 1.
    pub weight: f64,
}

/// Where a point of a hand belongs on the other arm, which moves as well.
#[derive(Clone, Copy, Debug)]
pub struct OtherArmGoal {
    /// The arm and its point.
    pub point: (usize, usize),
    /// The segment of the other arm.
    pub segment: ArmSegment,
    /// The position along that segment.
    pub share: f64,
    /// From there to the point.
    pub offset: Vec3,
    /// The direction of the offset.
    pub direction: Vec3,
    /// The weight, 0 to 1.
    pub weight: f64,
}

/// A segment of an arm that the other hand touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArmSegment {
    /// From shoulder to elbow.
    Upper,
    /// From elbow to wrist.
    Forearm,
    /// From wrist to palm.
    Hand,
}

/// The goals of one frame.
#[derive(Clone, Debug, Default)]
pub struct FrameGoals {
    /// On the body.
    pub body: Vec<BodyGoal>,
    /// On the other arm.
    pub arms: Vec<OtherArmGoal>,
}

/// 1 at the skin and inside, 0 from `far` on, flat at both.
fn near_skin_weight(gap: f64, far: f64) -> f64 {
    let x = (gap / far).clamp(0.0, 1.0);
    (1.0 - x * x) * (1.0 - x * x)
}

/// Weight of the direction out of a part: 0 near its axis, where there is none, 1 well outside of it.
fn direction_weight(distance: f64, radius: f64) -> f64 {
    smoothstep((distance / radius.max(1e-9) - GOAL_DIRECTION[0]) / GOAL_DIRECTION[1])
}

/// The goals of consecutive frames, at this rate, of both bodies.
pub fn goals(pair: &SurfacePair, source: &[BodyFrame], target: &[TargetFrame], rate: f64) -> Vec<FrameGoals> {
    let hand_points = [0, 1].map(|side| [WRIST, PALM, PALM + 1].map(|point| (side, point)));
    let on_body = |&point: &(usize, usize)| PointGoals { pair, source, target, rate, point }.on_body();
    let each: Vec<Vec<(usize, BodyGoal)>> = parallel::map_each(&hand_points.concat(), 1, on_body);
    let mut found = vec![FrameGoals::default(); source.len()];
    for (frame, goal) in each.into_iter().flatten() {
        found[frame].body.push(goal);
    }
    parallel::for_each(&mut found, 64, |f, goals| {
        goals.arms = on_other_arm(pair, &source[f], &target[f].body);
    });
    found
}

/// One point of a hand over the frames.
struct PointGoals<'a> {
    pair: &'a SurfacePair,
    source: &'a [BodyFrame],
    target: &'a [TargetFrame],
    rate: f64,
    point: (usize, usize),
}

/// The relation to one part in one frame, on the source.
#[derive(Clone, Copy)]
struct Near {
    around: AroundSegment,
    /// The wanted distance from the skin on the target.
    gap: f64,
    weight: f64,
}

impl PointGoals<'_> {
    fn on_body(&self) -> Vec<(usize, BodyGoal)> {
        let near: Vec<(TouchedPart, Vec<(usize, Near)>)> = TOUCHED_PARTS
            .iter()
            .map(|part| (*part, self.near(*part)))
            .filter(|(_, near)| !near.is_empty())
            .collect();
        let mut total = vec![0.0; self.source.len()];
        for (f, near) in near.iter().flat_map(|(_, near)| near) {
            total[*f] += near.weight;
        }
        let mut goals = Vec::new();
        for (part, near) in &near {
            for (f, near) in near {
                let goal = self.goal(*part, *f, near, near.weight * near.weight / total[*f]);
                goals.extend((goal.weight > LEAST_WEIGHT).then_some((*f, goal)));
            }
        }
        goals
    }

    /// The frames in which the point is near a part.
    fn near(&self, part: TouchedPart) -> Vec<(usize, Near)> {
        let (pair, (side, k)) = (self.pair, self.point);
        let (source_table, target_table) =
            (&pair.source.tables[part.index()], &pair.target.tables[part.index()]);
        let mut found = Vec::new();
        if source_table.largest() <= 0.0 || target_table.largest() <= 0.0 {
            return found;
        }
        let arm = pair.target.lengths.arm();
        let far = FREE_AIR_DISTANCE * arm;
        let cutoff_distance =
            source_table.largest() + largest_extent(&pair.source, self.point) + far / pair.ratio;
        for (f, frame) in self.source.iter().enumerate() {
            let line = PartLine::of(part, &frame.pose, &pair.source.lengths);
            let around = line.around(&frame.points[side][k]);
            if around.distance >= cutoff_distance {
                continue;
            }
            let segment = PartSegment::of(part, &frame.pose, &pair.source.lengths);
            let radius = pair.source_radius(part, &segment, &around);
            let point_radius = point_extent(&pair.source, &frame.pose, self.point, &-around.direction);
            let gap = pair.target_gap(&around, radius, point_radius);
            let nearness = near_skin_weight(gap, far);
            let weight = nearness * nearness * direction_weight(around.distance, radius);
            if weight > LEAST_WEIGHT {
                found.push((f, Near { around, gap, weight }));
            }
        }
        let slides = self.slides(part, &found);
        for ((_, near), slide) in found.iter_mut().zip(slides) {
            let most = SLIDE_SPEED * (1.0 + TOUCH_SLIDE * near_skin_weight(near.gap, TOUCH_DISTANCE * arm));
            near.weight /= 1.0 + (slide / most) * (slide / most);
        }
        found
    }

    /// How fast the point slides over the part in each of these frames, arm lengths per second.
    fn slides(&self, part: TouchedPart, near: &[(usize, Near)]) -> Vec<f64> {
        let n = self.source.len();
        if n < 3 || near.is_empty() {
            return vec![0.0; near.len()];
        }
        let half = ((SLIDE_TIME * self.rate).round() as usize).max(1);
        let raised =
            |k: usize| 0.5 - 0.5 * libm::cos(std::f64::consts::TAU * (k + 1) as f64 / (2 * half + 2) as f64);
        let window: Vec<f64> = (0..=2 * half).map(raised).collect();
        let whole: f64 = window.iter().sum();
        // The speeds over edges that some window reaches, computed once.
        let mut speeds = vec![f64::NAN; n - 1];
        let mut speed = |edge: usize| {
            if speeds[edge].is_nan() {
                speeds[edge] = self.speed(part, edge);
            }
            speeds[edge]
        };
        let mut at = |f: usize| {
            let (before, after) = (f.saturating_sub(1), f.min(n - 2));
            0.5 * (speed(before.min(n - 2)) + speed(after))
        };
        let mean = |(f, _): &(usize, Near)| {
            let near = |k: usize| (f + k).saturating_sub(half).min(n - 1);
            window.iter().enumerate().map(|(k, w)| w * at(near(k))).sum::<f64>() / whole
        };
        near.iter().map(mean).collect()
    }

    /// The speed over one edge between frames, without that away from the part.
    fn speed(&self, part: TouchedPart, edge: usize) -> f64 {
        let (side, point) = self.point;
        let [(first_direction, up_a, far_a), (second_direction, up_b, far_b)] = [edge, edge + 1].map(|f| {
            let segment = PartSegment::of(part, &self.source[f].pose, &self.pair.source.lengths);
            let around = segment.around(&self.source[f].points[side][point]);
            let direction = segment.components(&around.direction);
            (direction, around.share * segment.along.norm(), around.distance)
        });
        let across = second_direction * far_b
            - first_direction * far_a
            - (first_direction + second_direction) * (0.5 * (far_b - far_a));
        let step = (across.norm_squared() + (up_b - up_a) * (up_b - up_a)).sqrt();
        step * self.rate / self.pair.source.lengths.arm()
    }

    /// The goal at one part.
    fn goal(&self, part: TouchedPart, f: usize, near: &Near, weight: f64) -> BodyGoal {
        let (pair, (side, point)) = (self.pair, self.point);
        let (from, to) = (&self.source[f], &self.target[f].body);
        let segment = PartSegment::of(part, &to.pose, &pair.target.lengths);
        let direction = if part.bends() {
            let there = PartSegment::of(part, &from.pose, &pair.source.lengths);
            segment.direction(&there.components(&near.around.direction))
        } else {
            near.around.direction
        };
        let around = AroundSegment { direction, ..near.around };
        let radius = pair.target_radius(part, &segment, &around);
        let distance_from_axis =
            radius + point_extent(&pair.target, &to.pose, self.point, &-direction) + near.gap;
        let at = segment.start + segment.along * near.around.share + direction * distance_from_axis;
        let position = to.points[side][point];
        let arm = pair.target.lengths.arm();
        let nearness = near_skin_weight(near.gap, FREE_AIR_DISTANCE * arm);
        let free =
            LARGEST_MOVE * arm * (LARGEST_MOVE_SHARE_AFAR + (1.0 - LARGEST_MOVE_SHARE_AFAR) * nearness);
        let distance_weight = 1.0 / (1.0 + (at - position).norm_squared() / (free * free));
        let [shoulder, _, wrist] = to.pose.arms[side];
        let ahead = if point > WRIST { position - wrist } else { Vec3::zeros() };
        let excess_reach = ((at - shoulder - ahead).norm() / arm - REACH[0]).max(0.0) / REACH[1];
        let weight = weight * distance_weight * distance_weight * libm::exp(-excess_reach * excess_reach);
        BodyGoal { point: self.point, at, direction, weight }
    }
}

/// The goals of the points of both hands on the other arm.
fn on_other_arm(pair: &SurfacePair, source: &BodyFrame, target: &BodyFrame) -> Vec<OtherArmGoal> {
    let far = FREE_AIR_DISTANCE * pair.target.lengths.arm();
    let mut found = Vec::new();
    for side in 0..2 {
        let other = &source.points[1 - side];
        let shoulder = source.pose.arms[1 - side][0];
        let segments = [
            (ArmSegment::Forearm, other[ELBOW], other[WRIST]),
            (ArmSegment::Hand, other[WRIST], other[PALM]),
            (ArmSegment::Upper, shoulder, other[ELBOW]),
        ];
        for (segment, start, end) in segments {
            for point in WRIST..POINTS {
                let at = source.points[side][point];
                let share = nearest_on_segment(&[start, end], &at);
                let offset = at - (start + (end - start) * share);
                let most =
                    segment.largest(&pair.source, 1 - side) + largest_extent(&pair.source, (side, point));
                if offset.norm_squared() > (most + far / pair.ratio).powi(2) {
                    continue;
                }
                let distance = offset.norm();
                let direction = offset / distance.max(1e-12);
                let extents = |surface, frame: &BodyFrame| {
                    let other = segment.extent(surface, frame, 1 - side, &direction);
                    (other, point_extent(surface, &frame.pose, (side, point), &-direction))
                };
                let (radius, point_radius) = extents(&pair.source, source);
                let gap = pair.ratio * (distance - radius - point_radius);
                let nearness = near_skin_weight(gap, far);
                let hand_weight = if segment == ArmSegment::Hand { OTHER_HAND } else { 1.0 };
                let weight = nearness * nearness * direction_weight(distance, radius) * hand_weight;
                if weight > LEAST_WEIGHT {
                    let (radius, point_radius) = extents(&pair.target, target);
                    let offset = direction * (radius + point_radius + gap);
                    found.push(OtherArmGoal {
                        point: (side, point),
                        segment,
                        share,
                        offset,
                        direction,
                        weight,
                    });
                }
            }
        }
    }
    found
}

impl ArmSegment {
    /// Its extent in a direction.
    fn extent(self, surface: &BodySurface, frame: &BodyFrame, side: usize, direction: &Vec3) -> f64 {
        match self {
            ArmSegment::Upper => surface.arm[ELBOW],
            ArmSegment::Forearm => surface.arm.iter().sum::<f64>() / surface.arm.len() as f64,
            ArmSegment::Hand => point_extent(surface, &frame.pose, (side, PALM), direction),
        }
    }

    /// At least its extent in any direction.
    fn largest(self, surface: &BodySurface, side: usize) -> f64 {
        match self {
            ArmSegment::Hand => largest_extent(surface, (side, PALM)),
            _ => surface.arm.iter().copied().fold(0.0, f64::max),
        }
    }
}
