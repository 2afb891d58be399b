//! How the trunk leans.

use super::*;
use crate::development_data::data;
use crate::made_walk::with_rest;

/// The rest pose of a skeleton is its author's choice: a spine that leans back in it, or a body that lies, and the same motion.
#[test]
fn a_rest_pose_that_leans_or_lies_does_not_bend_the_robot() {
    let plain = slow("walk.bvh", 40);
    let made = performed(&plain);
    let spine = plain.character.rig.joint(Role::Spine(0)).unwrap().index();
    for (joint, degrees, most) in [(spine, -13.0, 0.03), (0, 90.0, 0.15)] {
        let other = performed(&with_rest(&plain, joint, degrees));
        let off = (0..made.frames()).map(|f| made.base[f].rotation.angle_to(&other.base[f].rotation));
        let off = off.fold(0.0, f64::max);
        assert!(off < most, "joint {joint}: the base leans by {off} rad more");
        // Palms are known by the reference pose alone.
        let pairs = made.values.iter().zip(&other.values).filter(|_| joint != 0);
        let off = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(off < 0.3, "joint {joint}: a hinge is {off} rad off");
    }
}

/// The mean difference between how the lines from hips to shoulders of robot and take lean forward, degrees.
fn lean_error(robot: &Arc<Robot>, take: &Motion) -> f64 {
    let body = RobotBody::of(robot).unwrap();
    let made = RobotRetarget::new(robot).unwrap().apply(take, &[]).unwrap();
    let lines = TakeBody::of(take, &Quat::identity()).unwrap().trunk_line.unwrap();
    let (pelvis, torso) = (body.limbs.pelvis(), body.limbs.torso());
    let lean = |line: Vec3| libm::atan2(line.x, line.z).to_degrees();
    let error = |f: usize| {
        let links = robot.links_in_world(made.base[f], made.values(f));
        let shoulders = links[torso].point(&body.shoulders_in_torso(&links).unwrap());
        let own = shoulders - links[pelvis].point(&body.hips_in_pelvis);
        lean(own) - lean(lines[f])
    };
    (0..made.frames()).map(error).sum::<f64>() / made.frames() as f64
}

/// The waist of a robot is a third of the way up: what a pelvis that was calibrated as leaning is off, the chest makes up for.
#[test]
fn a_robot_leans_as_the_take_whatever_its_pelvis_does() {
    let plain = slow("walk.bvh", 40);
    for degrees in [0.0, 13.0, -13.0] {
        let off = lean_error(&robot(), &with_rest(&plain, 0, degrees));
        assert!(off.abs() < 1.5, "rest pose {degrees}: the robot leans by {off} degrees more");
    }
}

/// Shoulders behind the hips in the zero pose are no lean of the torso that others have.
#[test]
fn a_robot_whose_shoulders_are_behind_its_hips_leans_as_the_take() {
    let mut behind = (*robot()).clone();
    let body = RobotBody::of(&robot()).unwrap();
    for arm in body.limbs.arms.iter().flatten() {
        let first = behind.hinges[arm.hinges[0]].link;
        behind.links[first].parent_from_link.translation.x -= 0.04;
    }
    let off = lean_error(&Arc::new(behind), &slow("walk.bvh", 40));
    assert!(off.abs() < 1.5, "the robot leans by {off} degrees more");
}

/// Upper arms that do not reach down hold the clavicles forward.
#[test]
fn a_robot_whose_clavicles_hold_its_shoulders_forward_leans_as_the_take() {
    let Some(file) = data().map(|folder| folder.join("later/mjcf/dm_control-humanoid_CMU_V2020.xml")) else {
        return;
    };
    let robot = load(file, &ImportOptions::default()).unwrap().character.robot.clone().unwrap();
    assert!(RobotBody::of(&robot).unwrap().has_clavicles());
    let off = lean_error(&robot, &slow("walk.bvh", 40));
    assert!(off.abs() < 2.5, "the robot leans by {off} degrees more");
}
