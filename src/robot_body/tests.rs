//! Roles are read off the shape, whatever the names are.

use super::RobotBody;
use crate::import::{ImportOptions, load};
use crate::model::{Robot, Side};
use std::path::Path;
use std::sync::Arc;

fn robot(path: &Path) -> Arc<Robot> {
    load(path, &ImportOptions::default()).unwrap().character.robot.clone().unwrap()
}

/// Robots of the development data and the names of the links before and after knee and elbow of the left side.
#[test]
fn limbs_of_real_robots_are_found_without_their_names() {
    let Some(data) = crate::development_data::data() else { return };
    let expected = [
        ["left_hip_yaw_link", "left_knee_link", "left_ankle_roll_link"],
        ["left_shoulder_yaw_link", "left_elbow_link", "left_wrist_yaw_link"],
    ];
    for file in [
        "dcc/robots/mjlab_g1.xml",
        "later/mjcf/unitree_g1_mocap_29dof.xml",
        "later/urdf/unitree_g1_29dof.urdf",
    ] {
        let named = robot(&data.join(file));
        let mut nameless = (*named).clone();
        nameless.links.iter_mut().enumerate().for_each(|(k, link)| link.name = format!("l{k}"));
        nameless.hinges.iter_mut().enumerate().for_each(|(k, hinge)| hinge.name = format!("h{k}"));
        let body = RobotBody::of(&Arc::new(nameless)).unwrap();
        let limbs = [&body.limbs.legs[0], body.limbs.arms[0].as_ref().unwrap()];
        for (limb, expected) in limbs.into_iter().zip(expected) {
            let found = [limb.upper, limb.lower, limb.end].map(|link| named.links[link].name.as_str());
            assert_eq!(found, expected, "{file}");
            assert!(limb.side == Side::Left && limb.bends);
        }
        assert_eq!(named.links[body.limbs.pelvis()].name, "pelvis");
        assert_eq!(named.links[body.limbs.torso()].name, "torso_link");
        // Thigh and shin are 0.33 and 0.32 m, the ankle is 4 cm above the sole.
        assert!((body.leg_length - 0.64).abs() < 0.03, "{file}: {}", body.leg_length);
        for sole in body.soles.iter().filter(|sole| sole.measured) {
            assert!((0.02..0.07).contains(&sole.height), "{file}: {}", sole.height);
        }
    }
}

/// The forearm is the last link, and its hinge is at its origin: where it ends is known from its shape alone.
#[test]
fn an_arm_without_a_hand_link_ends_where_its_shape_does() {
    let mut robot = (*robot(&crate::made_walk::shipped("humanoid.xml"))).clone();
    let whole = RobotBody::of(&Arc::new(robot.clone())).unwrap().limbs.arms[0].clone().unwrap();
    assert_eq!(robot.links[whole.lower].name, "left_forearm");
    // The wrists and hands are cut off, which are the last three links and hinges of each arm.
    let gone =
        ["wrist_yaw", "wrist_roll", "hand"].map(|name| [format!("left_{name}"), format!("right_{name}")]);
    let kept: Vec<usize> = (0..robot.links.len())
        .filter(|&k| !gone.iter().flatten().any(|name| *name == robot.links[k].name))
        .collect();
    let place = |link: usize| kept.iter().position(|&k| k == link);
    robot.hinges.retain(|hinge| place(hinge.link).is_some());
    robot.hinges.iter_mut().for_each(|hinge| hinge.link = place(hinge.link).unwrap());
    let links: Vec<_> = kept.iter().map(|&k| robot.links[k].clone()).collect();
    robot.links = links;
    robot.links.iter_mut().for_each(|link| link.parent = link.parent.map(|parent| place(parent).unwrap()));
    let cut = RobotBody::of(&Arc::new(robot.clone())).unwrap().limbs.arms[0].clone().unwrap();
    assert_eq!(robot.links[cut.lower].name, "left_forearm");
    assert!((cut.lower_direction - whole.lower_direction).norm() < 1e-9 && !cut.bends);
}
