//! The foot of a leg that ends in its knee: the lowest shapes of the shin, to which it is fixed.

use super::sole::extremes;
use super::zero_pose::ZeroPose;
use crate::math::Vec3;
use crate::model::{Form, Robot};

/// What reaches down to within this share of the lowest shape's depth below the knee is of the foot: an ankle is as high (Winter 2009: 0.16
/// of the shin with the foot), half of which a foot's own shapes may have between them. The shin of Gymnasium's humanoid ends at 0.17.
const DEEP: f64 = 0.08;

/// A foot's link with its origin below the knee by more than this share of the foot's depth has its origin at the ankle, not at the knee.
const OWN: f64 = 0.5;

/// A foot that no hinge moves, in the zero pose.
pub(super) struct RigidFoot {
    /// The link of the lowest shape.
    pub(super) link: usize,
    /// Points of its shapes: centres of spheres and of ends of capsules, else corners.
    pub(super) points: Vec<Vec3>,
    /// The foot ends this far around its points.
    pub(super) radius: f64,
    /// The end of the leg.
    pub(super) tip: Vec3,
}

impl RigidFoot {
    /// The foot on what a knee moves; `None` without shapes below the knee.
    pub(super) fn of(robot: &Robot, zero: &ZeroPose, knee: usize) -> Option<Self> {
        let shin = &zero.chains[robot.hinges[knee].link];
        let rigid = (0..robot.links.len()).filter(|&k| zero.chains[k] == *shin);
        let ends: Vec<(usize, Vec3, f64)> = rigid
            .flat_map(|k| robot.links[k].shapes.iter().map(move |shape| (k, shape)))
            .flat_map(|(k, shape)| {
                let place = zero.links[k] * shape.link_from_shape;
                let both = |half: f64| [half, -half].map(|z| place.point(&(Vec3::z() * z))).to_vec();
                let (points, radius) = match shape.form {
                    Form::Sphere { radius } => (vec![place.translation], radius),
                    Form::Capsule { radius, half } => (both(half), radius),
                    _ => (extremes(place, shape), 0.0),
                };
                points.into_iter().map(move |point| (k, point, radius))
            })
            .collect();
        let top = zero.anchors[knee].z;
        let depth = |(_, point, radius): &(usize, Vec3, f64)| top - point.z + radius;
        let lowest = ends.iter().max_by(|a, b| depth(a).total_cmp(&depth(b)))?;
        let deep = depth(lowest) * (1.0 - DEEP);
        let foot = || ends.iter().filter(|point| depth(point) >= deep);
        let radius = foot().map(|(_, _, radius)| *radius).fold(f64::MAX, f64::min);
        // Rounder parts are as low as they are.
        let lowered = |(_, point, own): &(usize, Vec3, f64)| point - Vec3::z() * (own - radius);
        let points: Vec<Vec3> = foot().map(lowered).collect();
        let origin = zero.links[lowest.0].translation;
        let tip = Self::tip(&points, (top - origin.z > OWN * deep).then_some(origin));
        (deep > 0.0).then_some(Self { link: lowest.0, points, radius, tip })
    }

    /// The end of the leg: the middle of its points, below the origin of a link of its own, for feet reach to the front.
    fn tip(points: &[Vec3], origin: Option<Vec3>) -> Vec3 {
        let middle = points.iter().sum::<Vec3>() / points.len() as f64;
        origin.map_or(middle, |origin| Vec3::new(origin.x, origin.y, middle.z))
    }
}
