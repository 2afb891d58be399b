//! The sole of a foot: the lowest plane of its shapes, as a rectangle in the zero pose.

use super::robot_limbs::RobotLimb;
use super::zero_pose::ZeroPose;
use crate::math::Vec3;
use crate::model::{Form, Robot, Shape};

/// A foot without shapes, in lengths of the leg: back and front edge from the ankle, half its width, height of the ankle. The
/// length is that of people's feet (Winter 2009, table 4.1: 0.152 of the stature, 0.30 of the leg, two thirds of which touch).
const PLAIN: [f64; 4] = [-0.06, 0.16, 0.05, 0.08];

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
    /// How far the back edge is before the ankle, along the world's front in the zero pose; negative behind it.
    pub(crate) back: f64,
    /// Height of the ankle above the sole in the zero pose.
    pub(crate) height: f64,
    /// Whether it was measured from shapes.
    pub(crate) measured: bool,
}

impl Sole {
    /// The sole at the end of a leg. `leg_length` is thigh and shin together.
    pub(crate) fn of(robot: &Robot, zero: &ZeroPose, leg: &RobotLimb, leg_length: f64) -> Self {
        let link = leg.end;
        let origin = zero.links[link].translation;
        let ankle = leg.tip - origin;
        // Links that no hinge moves against the foot are part of it, and so are toes, which stay at their zero.
        let parts = (0..robot.links.len()).filter(|&k| zero.is_beyond(k, link));
        let points: Vec<Vec3> = parts
            .flat_map(|k| robot.links[k].shapes.iter().flat_map(move |shape| extremes(zero, k, shape)))
            .map(|point| point - origin)
            .collect();
        let measured = !points.is_empty();
        let [back, front, side, height] = PLAIN.map(|share| share * leg_length);
        let plain = [ankle + Vec3::new(back, -side, -height), ankle + Vec3::new(front, side, -height)];
        let all = if measured { points.iter() } else { plain.iter() };
        let low = all.clone().fold(Vec3::repeat(f64::MAX), |low, point| low.inf(point));
        let high = all.fold(Vec3::repeat(f64::MIN), |high, point| high.sup(point));
        let link_from_world = zero.links[link].rotation.inverse();
        let corner = |x: f64, y: f64| link_from_world * Vec3::new(x, y, low.z);
        let corners =
            [corner(low.x, low.y), corner(low.x, high.y), corner(high.x, low.y), corner(high.x, high.y)];
        Self {
            link,
            corners,
            heel: (corners[0] + corners[1]) / 2.0,
            ball: (corners[2] + corners[3]) / 2.0,
            back: low.x - ankle.x,
            height: ankle.z - low.z,
            measured,
        }
    }
}

/// Points of a shape in the world of the zero pose that can be its outermost ones along the axes.
fn extremes(zero: &ZeroPose, link: usize, shape: &Shape) -> Vec<Vec3> {
    let world_from_shape = zero.links[link] * shape.link_from_shape;
    let around = |centre: Vec3, radius: f64| {
        let axes = [Vec3::x(), -Vec3::x(), Vec3::y(), -Vec3::y(), -Vec3::z()];
        axes.map(|axis| centre + axis * radius).into_iter()
    };
    let ends = |half: f64, radius: f64| {
        let end = |z: f64| world_from_shape.point(&Vec3::new(0.0, 0.0, z));
        around(end(half), radius).chain(around(end(-half), radius)).collect()
    };
    match shape.form {
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
