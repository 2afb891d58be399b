//! A pose in which a robot's limbs are away from its trunk and from each other, whatever pose its file calls zero.

use super::robot_limbs::{Limbs, RobotLimb};
use super::zero_pose::ZeroPose;
use crate::math::{Transform, Vec3};
use crate::model::{Hinge, Robot, Side};
use std::f64::consts::FRAC_1_SQRT_2;

/// Rounds over the hinges of a limb: each rotates it as far as one hinge can, and after half of them limbs of real robots have settled.
const SWEEPS: usize = 16;

/// World from link of a robot that stands with straight legs and holds straight arms half-way down and out. Hinges that point neither
/// segment of a limb are in the middle of their range, so that the same robot with another zero has the same pose.
pub(super) fn spread(robot: &Robot, zero: &ZeroPose, limbs: &Limbs) -> Vec<Transform> {
    let mut values: Vec<f64> = robot.hinges.iter().map(|hinge| hinge.zero).collect();
    let down = -Vec3::z();
    let out = |side: Side| (down + Vec3::y() * side.sign()) * FRAC_1_SQRT_2;
    let legs = limbs.legs.iter().map(|leg| (leg, down));
    for (limb, goal) in legs.chain(limbs.arms.iter().flatten().map(|arm| (arm, out(arm.side)))) {
        for &hinge in &limb.hinges {
            values[hinge] = robot.hinges[hinge].range.map_or(values[hinge], |[low, high]| (low + high) / 2.0);
        }
        for _ in 0..SWEEPS {
            limb.hinges.iter().for_each(|&hinge| rotate_hinge(robot, zero, limb, goal, hinge, &mut values));
        }
    }
    robot.links_in_world(base(zero), &values)
}

fn base(zero: &ZeroPose) -> Transform {
    Transform::from_rotation(zero.links[0].rotation)
}

/// Rotates one hinge of a limb so that the segments that it moves are as near to `goal` as it can bring them.
fn rotate_hinge(
    robot: &Robot,
    zero: &ZeroPose,
    limb: &RobotLimb,
    goal: Vec3,
    hinge: usize,
    values: &mut [f64],
) {
    let own = &robot.hinges[hinge];
    if own.slides || hinge > limb.middle {
        return;
    }
    let links = robot.links_in_world(base(zero), values);
    let later: Vec<_> = robot.hinges_of(own.link).filter(|(other, _)| *other >= hinge).collect();
    let undone = |at: Transform, (k, later): &(usize, &Hinge)| at * later.moved(values[*k]).inverse();
    let axis = later.iter().rev().fold(links[own.link], undone).rotation * own.axis;
    let lower = links[limb.lower].rotation * limb.lower_direction;
    let upper = links[limb.upper].rotation * limb.upper_direction;
    let moved = [lower, upper];
    let (mut sine, mut cosine) = (0.0, 0.0);
    for segment in &moved[..if hinge < limb.middle { 2 } else { 1 }] {
        sine += axis.dot(&segment.cross(&goal));
        cosine += segment.dot(&goal) - axis.dot(segment) * axis.dot(&goal);
    }
    if libm::hypot(sine, cosine) > f64::EPSILON {
        let [low, high] = own.range.unwrap_or([f64::MIN, f64::MAX]);
        values[hinge] = (values[hinge] + libm::atan2(sine, cosine)).clamp(low, high);
    }
}
