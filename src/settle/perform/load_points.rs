//! Points of the body that can bear its weight on the floor, and the share that each may bear in every frame.
//!
//! The points are the four of each sole ([`super::foot_points`]), and spheres at hands, elbows, knees, pelvis and head with the
//! radius of the body there. The share falls smoothly with height and horizontal speed: with contact labels, which switch in one
//! frame, forces would jump. Space and units: as in [`super`].

use super::contact_forces::{HIGH, LoadPoint};
use super::foot_points::{POINTS, foot_points};
use super::performing_body::PerformingBody;
use super::reference::Reference;
use crate::body::CharacterBody;
use crate::dynamics::{JointState, Placement};
use crate::math::percentile;
use crate::model::{Character, ContactPart, Side};
use std::sync::Arc;

/// The parts other than feet that can bear the body.
pub const OTHER_PARTS: [ContactPart; 8] = [
    ContactPart::Hand(Side::Left),
    ContactPart::Hand(Side::Right),
    ContactPart::Elbow(Side::Left),
    ContactPart::Elbow(Side::Right),
    ContactPart::Knee(Side::Left),
    ContactPart::Knee(Side::Right),
    ContactPart::Pelvis,
    ContactPart::Head,
];

/// The quantile of a point's height that is its level: for soles that of both feet.
const LEVEL: f64 = 0.05;

/// The points of both soles, then those of other parts; none of a body without feet.
pub fn load_points(
    character: &Arc<Character>,
    body: &PerformingBody,
    frames: &[JointState],
    rate: f64,
) -> Vec<LoadPoint> {
    let places = body_places(body, frames);
    let measured = CharacterBody::new(character);
    let mut points = foot_points(&measured, body, &places, rate);
    let soles = points.len();
    points.extend(other_points(&measured, body));
    let heights = |k: usize| -> Vec<f64> { places.iter().map(|placed| points[k].place(placed).y).collect() };
    let lowest = |of: &[usize]| percentile(&of.iter().flat_map(|k| heights(*k)).collect::<Vec<_>>(), LEVEL);
    let kind = |k: usize| -> Vec<usize> { (k % POINTS..soles).step_by(POINTS).collect() };
    let levels: Vec<f64> =
        (0..points.len()).map(|k| if k < soles { lowest(&kind(k)) } else { lowest(&[k]) }).collect();
    let floor = levels.iter().copied().fold(f64::INFINITY, f64::min);
    for (k, (point, level)) in points.iter_mut().zip(levels).enumerate() {
        // What is never near the floor has the floor's level; a sole that never comes down, the highest that a floor can have.
        let high = floor + HIGH;
        point.level = if k < soles {
            level.min(high)
        } else if level <= high {
            level
        } else {
            floor
        };
    }
    points
}

/// The points of parts other than feet.
fn other_points(measured: &CharacterBody, body: &PerformingBody) -> Vec<LoadPoint> {
    let (reference_pose, skeleton) = (measured.reference_pose(), measured.character().skeleton());
    let known = measured.contact_points().iter().filter(|p| OTHER_PARTS.contains(&p.part));
    let point = |p: &crate::model::ContactPoint| {
        let part = body.part_of(skeleton, p.joint)?;
        let within =
            reference_pose.joint(part.joint).inverse().point(&reference_pose.joint(p.joint).point(&p.at));
        let (of_body, at) = body.in_body(part, &(within * body.scale));
        Some(LoadPoint { part: p.part, body: of_body, at, radius: p.radius * body.scale, level: 0.0 })
    };
    known.filter_map(point).collect()
}

/// The bodies in every frame.
fn body_places(body: &PerformingBody, frames: &[JointState]) -> Vec<Placement> {
    frames.iter().map(|state| body.tree.place(state)).collect()
}

/// The points along the reference.
#[derive(Clone, Debug, Default)]
pub struct LoadTracks {
    /// How much each point may bear, by step.
    pub capacity: Vec<Vec<f64>>,
}

impl LoadTracks {
    /// The tracks of these points.
    pub fn of(points: &[LoadPoint], body: &PerformingBody, reference: &Reference) -> Self {
        let places = body_places(body, &reference.states);
        let last = places.len() - 1;
        let capacity = |k: usize| {
            let (before, after) = (k.saturating_sub(1), (k + 1).min(last));
            let time = (after - before) as f64 * reference.h;
            let of_point = |p: &LoadPoint| {
                let [a, b] = [before, after].map(|s| p.place(&places[s]));
                p.capacity(p.place(&places[k]).y, libm::hypot(b.x - a.x, b.z - a.z) / time)
            };
            points.iter().map(of_point).collect()
        };
        Self { capacity: (0..=last).map(capacity).collect() }
    }
}
