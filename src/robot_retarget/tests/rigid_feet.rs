//! A walk on legs that end in their knees.

use super::{performed_on, slow};
use crate::import::{ImportOptions, from_bytes};
use crate::made_walk::shipped;
use crate::math::{Vec3, angle_between, median};
use crate::model::{Robot, Role};
use crate::robot_body::RobotBody;
use std::sync::Arc;

/// The shipped humanoid without ankles, on spheres of 5 cm at the ends of its shins.
fn on_spheres() -> Arc<Robot> {
    let text = std::fs::read_to_string(shipped("humanoid.xml")).unwrap();
    let is_ankle = |line: &&str| !(line.contains("<joint") && line.contains("_ankle_"));
    let foot = "type=\"box\" size=\"0.095 0.035 0.012\" pos=\"0.045 0 -0.018\"";
    let text = text.lines().filter(is_ankle).collect::<Vec<_>>().join("\n");
    assert!(text.contains(foot));
    let text = text.replace(foot, "size=\"0.05\" pos=\"0 0 0.02\"");
    let asset = from_bytes(text.as_bytes(), "r", Some("xml"), None, &ImportOptions::default()).unwrap();
    asset.character.robot.clone().unwrap()
}

/// Feet rest on the floor one after the other, and neither slide nor are in it; thighs and shins point where the take's do, but for the
/// end of a step: a person rolls over the ball of the foot, which these robots lack.
#[test]
fn a_walk_steps_on_spheres_at_the_ends_of_shins() {
    let motion = slow("walk.bvh", 60);
    let robot = on_spheres();
    let result = performed_on(&robot, &motion);
    let body = RobotBody::of(&robot).unwrap();
    let links: Vec<_> = (0..60).map(|f| robot.links_in_world(result.base[f], result.values(f))).collect();
    let low = |k: usize, f: usize| body.soles[k].lowest(&links[f][body.soles[k].link], |p| p.z);
    let mut off = Vec::new();
    let (mut stands, mut lowest, mut fastest) = (0, f64::MAX, 0.0f64);
    for frame in 0..60 {
        lowest = lowest.min(low(0, frame)).min(low(1, frame));
        stands += usize::from(low(0, frame).min(low(1, frame)) < 0.01);
        let pose = motion.model_pose(frame);
        for (k, leg) in body.limbs.legs.iter().enumerate() {
            let at = |role: Role| pose.position(motion.character.rig.joint(role).unwrap());
            let goal = at(Role::LowerLeg(leg.side)) - at(Role::UpperLeg(leg.side));
            let thigh = links[frame][leg.upper].rotation * leg.upper_direction;
            off.push(angle_between(&thigh, &Vec3::new(goal.z, goal.x, goal.y)).to_degrees());
            if frame > 0 && low(k, frame - 1).max(low(k, frame)) < 0.002 {
                let sole = &body.soles[k];
                let pair = [&links[frame - 1][sole.link], &links[frame][sole.link]];
                fastest = fastest.max(sole.slide(&sole.heel, pair).xy().norm() * result.rate);
            }
        }
    }
    let typical = median(off);
    assert!(typical < 4.0, "thighs are {typical} degrees off");
    assert!(lowest > -0.003, "the lowest foot is at {lowest} m");
    assert!(stands >= 57, "in {stands} of 60 frames a foot is on the floor");
    assert!(fastest < 0.15, "a foot on the floor slides at {fastest} m/s");
}
