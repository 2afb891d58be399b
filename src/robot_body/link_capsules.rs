//! Capsules around the shapes of links, and the pairs of them that may collide.
//!
//! Capsules are drawn around shapes, not inside: with inscribed ones, shapes collided in up to three quarters of a take's frames.

use super::robot_limbs::Limbs;
use super::sole::Sole;
use super::zero_pose::ZeroPose;
use crate::math::{Transform, Vec3, nearest_points_of_segments};
use crate::model::{CollisionShape, Form, Robot};

/// A cylinder's capsule is shorter by this share of its radius at each end: 8 percent of the rim stick out.
const CYLINDER_END: f64 = 0.4;
/// Radius of a box's capsules, in its smallest half sides: corners stick out by a third of that side.
const BOX_RADIUS: f64 = 1.08;
/// Outer capsules of a box are this many smallest half sides inside its surface.
const BOX_INSIDE: f64 = 0.6;
/// A box needs several capsules if its middle side is this many times the smallest.
const BOX_FLAT: f64 = 1.05;
/// Points of a mesh stick out of its capsules by this share of their radius, as those of cylinders and the edges of boxes do.
const STICK_OUT: f64 = 0.08;
/// Height of a foot's capsule above the sole, in its radii.
const FOOT_HEIGHT: f64 = 0.6;
/// Radius of a limb without shapes, in lengths of its segment: a thigh of people (Winter 2009) has 0.19, robots are thinner.
const PLAIN_RADIUS: f64 = 0.13;

/// A capsule that is fixed to a link.
#[derive(Clone, Debug)]
pub(crate) struct LinkCapsule {
    /// The link.
    pub(crate) link: usize,
    /// Its ends in the link's space.
    pub(crate) ends: [Vec3; 2],
    /// Its radius.
    pub(crate) radius: f64,
    /// Whether it is that of a foot, whose sole keeps it out of the floor.
    pub(crate) is_foot: bool,
}

/// The capsules of a robot; those of feet come last.
pub(crate) fn link_capsules(
    robot: &Robot,
    zero: &ZeroPose,
    limbs: &Limbs,
    soles: &[Sole; 2],
) -> Vec<LinkCapsule> {
    // A foot without an ankle is one of the shapes of its shin.
    let with_ankles = || soles.iter().filter(|sole| sole.has_ankle);
    let is_foot = |link: usize| with_ankles().any(|sole| zero.is_beyond(link, sole.link));
    let mut capsules = Vec::new();
    for (link, shapes) in
        robot.links.iter().map(|link| &link.shapes).enumerate().filter(|(k, _)| !is_foot(*k))
    {
        capsules.extend(shapes.iter().flat_map(|shape| shape_capsules(link, shape)));
    }
    if capsules.is_empty() {
        capsules = plain(zero, limbs);
    }
    for sole in with_ankles() {
        let [back_right, back_left, ..] = sole.corners;
        let radius = (back_left - back_right).norm() / 2.0;
        let up = (sole.level * zero.links[sole.link].rotation).inverse() * Vec3::z() * (radius * FOOT_HEIGHT);
        let front = (sole.ball - sole.heel).try_normalize(0.0).unwrap_or_else(Vec3::x) * radius;
        let ends = [sole.heel + front + up, sole.ball - front + up];
        capsules.push(LinkCapsule { link: sole.link, ends, radius, is_foot: true });
    }
    capsules
}

/// Capsules around one shape.
pub(crate) fn shape_capsules(link: usize, shape: &CollisionShape) -> Vec<LinkCapsule> {
    let capsule = |a: Vec3, b: Vec3, radius: f64| {
        let ends = [shape.link_from_shape.point(&a), shape.link_from_shape.point(&b)];
        LinkCapsule { link, ends, radius, is_foot: false }
    };
    let along_z = |half: f64, radius: f64| {
        let end = Vec3::z() * half.max(0.0);
        vec![capsule(-end, end, radius)]
    };
    match shape.form {
        Form::Sphere { radius } => along_z(0.0, radius),
        Form::Capsule { radius, half } => along_z(half, radius),
        Form::Cylinder { radius, half } => along_z(half - CYLINDER_END * radius, radius),
        Form::Mesh { ref points } => {
            let row = |ends: [Vec3; 2], radius: f64| capsule(ends[0], ends[1], radius);
            mesh_rows(points).into_iter().map(|(ends, radius)| row(ends, radius)).collect()
        }
        Form::Box { half } => {
            let mut sides = [0, 1, 2];
            sides.sort_by(|&a, &b| half[a].total_cmp(&half[b]));
            let [small, middle, long] = sides.map(|k| half[k]);
            let count = rows(middle, small);
            let sideways = |k: usize| match count {
                1 => 0.0,
                _ => (2.0 * k as f64 / (count - 1) as f64 - 1.0) * (middle - BOX_INSIDE * small),
            };
            let row = |k: usize| {
                let (mut across, mut along) = (Vec3::zeros(), Vec3::zeros());
                across[sides[1]] = sideways(k);
                along[sides[2]] = (long - CYLINDER_END * small).max(0.0);
                capsule(across - along, across + along, small * BOX_RADIUS)
            };
            (0..count).map(row).collect()
        }
    }
}

/// The number of capsules side by side in a box of these sides across them.
fn rows(middle: f64, small: f64) -> usize {
    match middle > BOX_FLAT * small {
        true => ((middle / small.max(1e-6)).ceil() as usize).clamp(2, 8),
        false => 1,
    }
}

/// Ends and radius of capsules around the points of a mesh: those of the box around them, where no point is as far out with shorter ends
/// and less apart.
fn mesh_rows(points: &[Vec3]) -> Vec<([Vec3; 2], f64)> {
    let half = points.iter().fold(Vec3::zeros(), |half, p| half.sup(&p.abs()));
    let mut sides = [0, 1, 2];
    sides.sort_by(|&a, &b| half[a].total_cmp(&half[b]));
    let [small, middle, long] = sides.map(|k| half[k]);
    let count = rows(middle, small);
    let around = points.iter().map(|p| libm::hypot(p[sides[0]], p[sides[1]])).fold(0.0, f64::max);
    let radius = if count == 1 { around.min(small * BOX_RADIUS) } else { small * BOX_RADIUS };
    let far = radius * (1.0 + STICK_OUT);
    // How far a row has to reach to one end of a side, for points that are `off` it.
    let reach = |side: usize, sign: f64, most: f64, off: &dyn Fn(&Vec3) -> f64| {
        let needed = |p: &Vec3| sign * p[side] - libm::sqrt((far * far - off(p).powi(2)).max(0.0));
        points.iter().map(needed).fold(f64::MIN, f64::max).min(most)
    };
    let pair = |side: usize, most: f64, off: &dyn Fn(&Vec3) -> f64| {
        let [low, high] = [-reach(side, -1.0, most, off), reach(side, 1.0, most, off)];
        if low < high { [low, high] } else { [(low + high) / 2.0; 2] }
    };
    let across = match count {
        1 => [0.0; 2],
        _ => pair(sides[1], middle - BOX_INSIDE * small, &|p| p[sides[0]]),
    };
    let aside = |p: &Vec3| p[sides[1]] - p[sides[1]].clamp(across[0], across[1]);
    let along = pair(sides[2], long - CYLINDER_END * small, &|p| libm::hypot(p[sides[0]], aside(p)));
    let row = |k: usize| {
        let share = k as f64 / (count.max(2) - 1) as f64;
        let end = |at: f64| {
            let mut end = Vec3::zeros();
            (end[sides[1]], end[sides[2]]) = (across[0] + (across[1] - across[0]) * share, at);
            end
        };
        (along.map(end), radius)
    };
    (0..count).map(row).collect()
}

/// Capsules along the segments of limbs, for robots without shapes.
fn plain(zero: &ZeroPose, limbs: &Limbs) -> Vec<LinkCapsule> {
    let mut capsules = Vec::new();
    for limb in limbs.legs.iter().chain(limbs.arms.iter().flatten()) {
        for (link, length, [from, to]) in [
            (limb.upper, limb.lengths[0], [limb.root, zero.anchors[limb.middle]]),
            (limb.lower, limb.lengths[1], [zero.anchors[limb.middle], limb.tip]),
        ] {
            let link_from_world = zero.links[link].inverse();
            let ends = [from, to].map(|point| link_from_world.point(&point));
            capsules.push(LinkCapsule { link, ends, radius: PLAIN_RADIUS * length, is_foot: false });
        }
    }
    capsules
}

/// The pairs of capsules that may collide: not of one link or of neighbours, at least two hinges apart, and apart where the limbs are
/// `spread` (world from link): what touches there overlaps in every pose.
pub(crate) fn colliding_pairs(
    robot: &Robot,
    zero: &ZeroPose,
    capsules: &[LinkCapsule],
    spread: &[Transform],
) -> Vec<[usize; 2]> {
    let neighbours =
        |a: usize, b: usize| a == b || robot.links[a].parent == Some(b) || robot.links[b].parent == Some(a);
    let hinges_between = |a: usize, b: usize| {
        let (a, b) = (&zero.chains[a], &zero.chains[b]);
        let shared = a.iter().zip(b).take_while(|(x, y)| x == y).count();
        a.len() + b.len() - 2 * shared
    };
    let ends: Vec<[Vec3; 2]> =
        capsules.iter().map(|c| c.ends.map(|end| spread[c.link].point(&end))).collect();
    let apart = |a: usize, b: usize| {
        let [p, q] = nearest_points_of_segments(&ends[a], &ends[b]);
        (p - q).norm() > capsules[a].radius + capsules[b].radius
    };
    let mut pairs = Vec::new();
    for a in 0..capsules.len() {
        for b in 0..a {
            let (i, j) = (capsules[a].link, capsules[b].link);
            if !neighbours(i, j) && hinges_between(i, j) >= 2 && apart(a, b) {
                pairs.push([a, b]);
            }
        }
    }
    pairs
}
