//! The sole of a foot: the lowest plane of its shapes, as a rectangle in the zero pose.

use super::rigid_foot::RigidFoot;
use super::robot_limbs::RobotLimb;
use super::zero_pose::ZeroPose;
use crate::math::{DEGREE, Quat, Transform, Vec3, arc, log};
use crate::model::{CollisionShape, Form, Robot};

/// A foot without shapes, in lengths of the leg: back and front edge from the ankle, half its width, height of the ankle. The
/// length is that of people's feet (Winter 2009, table 4.1: 0.152 of the stature, 0.30 of the leg, two thirds of which touch).
const PLAIN: [f64; 4] = [-0.06, 0.16, 0.05, 0.08];

/// A sole that is tilted by less in the zero pose is level, radians: 3 degrees are within the tolerances of models.
const LEVEL: f64 = 3.0 * DEGREE;
/// Greatest slope of a sole in the zero pose along either axis: 31 degrees. A foot that is steeper is on its toes.
const STEEPEST: f64 = 0.6;
/// A foot stands level unless that part of the sole under its middle is at least so much inside of what touches, metres: feet of one
/// capsule touch along a line, and have no slope across it.
const INSIDE: f64 = 0.01;
/// Thirds by which a slope is narrowed down: to 4e-4, a tenth of a millimetre at the end of a foot.
const NARROWED: usize = 20;
/// Rounds about the slope of the shapes' outermost points, which depend on it.
const SLOPE_ROUNDS: usize = 3;

/// The edge of a sole of meshes is where the foot stands when it is tilted by the angle of this cotangent, 30 degrees: people and robots
/// that walk tilt a foot on its toes so far (Winter 2009). What is rounded or above the floor is then as far in or above it as it can be
/// on either side of this angle.
const TILTED: f64 = 1.732;

/// The sole of a foot, in the space of its link.
#[derive(Clone, Debug)]
pub(crate) struct Sole {
    /// The link of the foot.
    pub(crate) link: usize,
    /// Back right, back left, front right, front left.
    pub(crate) corners: [Vec3; 4],
    /// Middles of the back and of the front edge.
    pub(crate) heel: Vec3,
    pub(crate) ball: Vec3,
    /// The foot ends this far around its corners: 0 but for feet of spheres and capsules without an ankle, which roll on the floor.
    pub(crate) radius: f64,
    /// Whether an ankle rotates it against the shin.
    pub(crate) has_ankle: bool,
    /// The rotation of the foot in the zero pose that sets the sole level: feet of legs that are spread are not.
    pub(crate) level: Quat,
    /// How far the back edge is before the ankle, along the world's front with the sole level; negative behind it.
    pub(crate) back: f64,
    /// Height of the ankle above the level sole.
    pub(crate) height: f64,
    /// Whether it was measured from shapes.
    pub(crate) measured: bool,
}

impl Sole {
    /// The sole at the end of a leg. `leg_length` is thigh and shin together.
    pub(crate) fn of(robot: &Robot, zero: &ZeroPose, leg: &RobotLimb, leg_length: f64) -> Self {
        let link = leg.end;
        let origin = zero.links[link].translation;
        // Links that no hinge moves against the foot are part of it, and so are toes, which stay at their zero.
        let parts: Vec<usize> = (0..robot.links.len()).filter(|&k| zero.is_beyond(k, link)).collect();
        let rotated = |level: Quat| -> Vec<Vec3> {
            let stands = Transform::from_rotation(level) * Transform::from_translation(-origin);
            let place = |k: usize, shape: &CollisionShape| stands * zero.links[k] * shape.link_from_shape;
            let of = |&k: &usize| {
                robot.links[k].shapes.iter().flat_map(move |shape| extremes(place(k, shape), shape))
            };
            parts.iter().flat_map(of).collect()
        };
        let rigid = leg.ends_in_middle().then(|| RigidFoot::of(robot, zero, leg.middle)).flatten();
        let (level, points, radius) = match rigid {
            Some(foot) => {
                let points: Vec<Vec3> = foot.points.iter().map(|point| point - origin).collect();
                (Quat::identity(), points, foot.radius)
            }
            None => {
                let level = levelling(rotated);
                (level, rotated(level), 0.0)
            }
        };
        let ankle = level * (leg.tip - origin);
        let measured = !points.is_empty();
        let [back, front, side, height] = PLAIN.map(|share| share * leg_length);
        let plain = [ankle + Vec3::new(back, -side, -height), ankle + Vec3::new(front, side, -height)];
        let all = if measured { points.iter() } else { plain.iter() };
        let mut low = all.clone().fold(Vec3::repeat(f64::MAX), |low, point| low.inf(point));
        let mut high = all.fold(Vec3::repeat(f64::MIN), |high, point| high.sup(point));
        let is_mesh = |shape: &CollisionShape| matches!(shape.form, Form::Mesh { .. });
        if measured && parts.iter().any(|&k| robot.links[k].shapes.iter().any(is_mesh)) {
            let edge = |k: usize, sign: f64| {
                let inside = points.iter().map(|p| sign * p[k] - TILTED * (p.z - low.z));
                sign * inside.fold(f64::MIN, f64::max)
            };
            [low.x, low.y, high.x, high.y] = [edge(0, -1.0), edge(1, -1.0), edge(0, 1.0), edge(1, 1.0)];
        }
        let link_from_world = (level * zero.links[link].rotation).inverse();
        let corner = |x: f64, y: f64| link_from_world * Vec3::new(x, y, low.z);
        let corners =
            [corner(low.x, low.y), corner(low.x, high.y), corner(high.x, low.y), corner(high.x, high.y)];
        Self {
            link,
            corners,
            heel: (corners[0] + corners[1]) / 2.0,
            ball: (corners[2] + corners[3]) / 2.0,
            radius,
            has_ankle: !leg.ends_in_middle(),
            level,
            back: low.x - ankle.x,
            height: ankle.z - low.z + radius,
            measured,
        }
    }

    /// Where the foot may touch the floor about one of its points, for its link in the world.
    pub(crate) fn touches(&self, link: &Transform, own: &Vec3) -> Vec3 {
        link.point(own) - Vec3::z() * self.radius
    }

    /// The height of its lowest point, for its link in the world and the height of a point there.
    pub(crate) fn lowest(&self, link: &Transform, height: impl Fn(Vec3) -> f64) -> f64 {
        self.corners.iter().map(|corner| height(self.touches(link, corner))).fold(f64::MAX, f64::min)
    }

    /// How far what touches the floor about one of its points slides while its link moves: a foot that rolls does not.
    pub(crate) fn slide(&self, own: &Vec3, [before, now]: [&Transform; 2]) -> Vec3 {
        let moved = now.point(own) - before.point(own);
        if self.radius == 0.0 {
            return moved;
        }
        moved - log(&(now.rotation * before.rotation.inverse())).cross(&Vec3::z()) * self.radius
    }
}

/// The rotation that sets a sole level; `rotated` has the points of its foot after a rotation.
fn levelling(rotated: impl Fn(Quat) -> Vec<Vec3>) -> Quat {
    let mut level = Quat::identity();
    for _ in 0..SLOPE_ROUNDS {
        level = arc(&support(&rotated(level)), &Vec3::z(), &Vec3::x()) * level;
        if level.angle() < LEVEL {
            return Quat::identity();
        }
    }
    level
}

/// The upward normal of the plane that touches the points from below and is highest under their middle: on it the foot stands.
fn support(points: &[Vec3]) -> Vec3 {
    if points.is_empty() {
        return Vec3::z();
    }
    let low = points.iter().fold(Vec3::repeat(f64::MAX), |low, point| low.inf(point));
    let high = points.iter().fold(Vec3::repeat(f64::MIN), |high, point| high.sup(point));
    let middle = (low + high) / 2.0;
    // The height of the plane of these slopes under the middle, concave in them.
    let height = |x: f64, y: f64| {
        let under = |p: &Vec3| p.z - x * (p.x - middle.x) - y * (p.y - middle.y);
        points.iter().map(under).fold(f64::MAX, f64::min) - INSIDE * libm::hypot(x, y)
    };
    let best_y = |x: f64| highest(|y| height(x, y));
    let x = highest(|x| height(x, best_y(x)));
    Vec3::new(-x, -best_y(x), 1.0).normalize()
}

/// Where a concave function of a slope is highest.
fn highest(of: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (-STEEPEST, STEEPEST);
    for _ in 0..NARROWED {
        let third = (high - low) / 3.0;
        if of(low + third) < of(high - third) {
            low += third;
        } else {
            high -= third;
        }
    }
    (low + high) / 2.0
}

/// Points of a shape that can be its outermost ones along the axes.
pub(super) fn extremes(world_from_shape: Transform, shape: &CollisionShape) -> Vec<Vec3> {
    let around = |centre: Vec3, radius: f64| {
        let axes = [Vec3::x(), -Vec3::x(), Vec3::y(), -Vec3::y(), -Vec3::z()];
        axes.map(|axis| centre + axis * radius).into_iter()
    };
    let ends = |half: f64, radius: f64| {
        let end = |z: f64| world_from_shape.point(&Vec3::new(0.0, 0.0, z));
        around(end(half), radius).chain(around(end(-half), radius)).collect()
    };
    match shape.form {
        Form::Mesh { ref points } => points.iter().map(|p| world_from_shape.point(p)).collect(),
        Form::Sphere { radius } => ends(0.0, radius),
        Form::Capsule { radius, half } => ends(half, radius),
        Form::Cylinder { radius, half } => {
            // Both rims, at eight points each.
            let rim = |k: usize| {
                let angle = (k % 8) as f64 * std::f64::consts::FRAC_PI_4;
                let z = if k < 8 { half } else { -half };
                Vec3::new(radius * libm::cos(angle), radius * libm::sin(angle), z)
            };
            (0..16).map(|k| world_from_shape.point(&rim(k))).collect()
        }
        Form::Box { half } => {
            let sign = |k: usize, bit: usize| if k >> bit & 1 == 1 { 1.0 } else { -1.0 };
            let corner = |k: usize| half.component_mul(&Vec3::new(sign(k, 0), sign(k, 1), sign(k, 2)));
            (0..8).map(|k| world_from_shape.point(&corner(k))).collect()
        }
    }
}
