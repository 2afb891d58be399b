//! Points of the soles that can bear the body.
//!
//! Four points a foot: heel, ball inside and outside, tip. They lie on the skin where there is one, else 2 cm under the toe
//! joint in the flattest frame. Units: as `perform`.

use super::contact_forces::LoadPoint;
use super::part_kind::PartJoint;
use super::performing_body::PerformingBody;
use crate::body::CharacterBody;
use crate::dynamics::Placement;
use crate::math::{Vec3, horizontal};
use crate::model::{ContactPart, Role, Side};

/// Points of a foot.
pub const POINTS: usize = 4;

/// The sole lies this far below the toe joint of a body without skin, metres.
const BELOW: f64 = 0.02;
/// Its heel lies this far behind the ankle, metres.
const HEEL: f64 = 0.05;
/// The ball of a foot reaches this far to either side, metres.
const HALF_BALL: f64 = 0.04;
/// The tip lies this far ahead of the toe joint, metres.
const TIP: f64 = 0.06;

/// Seconds by which a slow foot is preferred to a low one in the search for the flattest frame.
const SLOW: f64 = 0.05;

/// Skin up to this height above the sole belongs to the ball, metres.
const BALL_HEIGHT: f64 = 0.03;

/// The parts of the four points.
const PARTS: [fn(Side) -> ContactPart; POINTS] =
    [ContactPart::Heel, ContactPart::Ball, ContactPart::Ball, ContactPart::Toe];

/// The points of both soles, without their levels; none of a body without feet.
pub fn foot_points(
    measured: &CharacterBody,
    body: &PerformingBody,
    places: &[Placement],
    rate: f64,
) -> Vec<LoadPoint> {
    let mut points = Vec::new();
    for side in Side::BOTH {
        let of_skin = || skin_points(measured, body, side);
        let skin = (!measured.character().meshes.is_empty()).then(of_skin).flatten();
        let found = skin.or_else(|| bone_points(body, side, places, rate)).unwrap_or_default();
        points.extend(PARTS.iter().zip(found).map(|(part, (body, at))| LoadPoint {
            part: part(side),
            body,
            at,
            radius: 0.0,
            level: 0.0,
        }));
    }
    points
}

/// The points on the skin of one foot: of the measured heel, ball and tip, the ball as wide as the skin around it.
fn skin_points(measured: &CharacterBody, body: &PerformingBody, side: Side) -> Option<Vec<(usize, Vec3)>> {
    let (reference_pose, skeleton) = (measured.reference_pose(), measured.character().skeleton());
    let sole = [ContactPart::Heel(side), ContactPart::Ball(side), ContactPart::Toe(side)];
    let found = sole.map(|part| measured.contact_points().iter().find(|p| p.part == part));
    let [Some(heel), Some(ball), Some(tip)] = found else { return None };
    let place = |p: &crate::model::ContactPoint| reference_pose.joint(p.joint).point(&p.at);
    let ahead = place(tip) - place(heel);
    let ahead = horizontal(&ahead).try_normalize(1e-9)?;
    let across = Vec3::y().cross(&ahead);
    let near = HALF_BALL / body.scale;
    let width = measured.foot_support(side).iter().filter_map(|(joint, at)| {
        let from_ball = reference_pose.joint(*joint).point(at) - place(ball);
        let beside = from_ball.dot(&ahead).abs() < near && from_ball.y < BALL_HEIGHT / body.scale;
        beside.then(|| from_ball.dot(&across))
    });
    let (low, high) = width.fold((0.0_f64, 0.0_f64), |(a, b), x| (a.min(x), b.max(x)));
    // A box has its corners in no range of the ball: a foot is at least as wide as one without skin.
    let (low, high) = (low.min(-0.5 * near), high.max(0.5 * near));
    let point = |p: &crate::model::ContactPoint, across_by: f64| {
        let part = body.part_of(skeleton, p.joint)?;
        let at = place(p) + across * across_by;
        let within = reference_pose.joint(part.joint).inverse().point(&at) * body.scale;
        Some(body.in_body(part, &within))
    };
    Some(vec![point(heel, 0.0)?, point(ball, high)?, point(ball, low)?, point(tip, 0.0)?])
}

/// The points of one foot of a body without skin, from its flattest frame.
fn bone_points(
    body: &PerformingBody,
    side: Side,
    places: &[Placement],
    rate: f64,
) -> Option<Vec<(usize, Vec3)>> {
    let foot = body.part(Role::Foot(side))?;
    let toes = body.part(Role::Toes(side)).unwrap_or(foot);
    let own = |part: &PartJoint, at: &Vec3| body.in_body(part, at);
    let (ankle, ball) = (
        own(foot, &Vec3::zeros()),
        match toes.joint == foot.joint {
            true => own(foot, &foot.bone),
            false => own(toes, &Vec3::zeros()),
        },
    );
    let path = |(b, at): &(usize, Vec3)| -> Vec<Vec3> { places.iter().map(|p| p.point(*b, at)).collect() };
    let (ankles, balls) = (path(&ankle), path(&ball));
    let speed = |f: usize| {
        let (a, b) = (f.saturating_sub(1), (f + 1).min(ankles.len() - 1));
        (ankles[b] - ankles[a]).norm() * rate / (b - a).max(1) as f64
    };
    let cost = |f: usize| ankles[f].y + balls[f].y + SLOW * speed(f);
    let flattest = (0..places.len()).min_by(|&a, &b| cost(a).total_cmp(&cost(b)))?;
    let (placed, ankle, ball) = (&places[flattest], ankles[flattest], balls[flattest]);
    let ahead = Vec3::new(ball.x - ankle.x, 0.0, ball.z - ankle.z).try_normalize(1e-9)?;
    let across = Vec3::y().cross(&ahead);
    let wanted = [
        (foot, ankle - ahead * HEEL),
        (foot, ball + across * HALF_BALL),
        (foot, ball - across * HALF_BALL),
        (toes, ball + ahead * TIP),
    ];
    let point = |(part, at): (&PartJoint, Vec3)| {
        let at = Vec3::new(at.x, ball.y - BELOW, at.z);
        (part.body, placed.within(part.body, &at))
    };
    Some(wanted.map(point).to_vec())
}
