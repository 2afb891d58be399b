//! Joints that rotate freely: Bullet's, as in the humanoid of DeepMimic, and MuJoCo's.

use super::robot;
use crate::import::{ImportOptions, from_bytes};
use crate::math::{Transform, Vec3, exp};

/// Angles about X, Y and Z are those of rotations one after the other, in the axes that the earlier ones leave. Bullet's file ends in a zero
/// byte.
#[test]
fn a_spherical_joint_is_three_hinges() {
    let text = "<robot name=\"r\"><link name=\"a\"/><link name=\"b\"/>\n<joint name=\"hip\" type=\"spherical\">\
        <parent link=\"a\"/><child link=\"b\"/><origin xyz=\"1 2 3\"/></joint></robot>\r\n\0";
    let asset = from_bytes(text.as_bytes(), "r", Some("urdf"), None, &ImportOptions::default()).unwrap();
    let robot = robot(&asset);
    let names: Vec<&str> = robot.hinges.iter().map(|hinge| hinge.name.as_str()).collect();
    assert_eq!(names, ["hip_x", "hip_y", "hip_z"]);
    let found = robot.links_in_world(Transform::identity(), &[0.3, -0.5, 0.7])[1];
    let turns = [Vec3::x() * 0.3, Vec3::y() * -0.5, Vec3::z() * 0.7].map(|turn| exp(&turn));
    assert!((found.rotation * (turns[0] * turns[1] * turns[2]).inverse()).angle() < 1e-9);
    assert_eq!(found.translation, Vec3::new(1.0, 2.0, 3.0));
    assert!(asset.warnings.has("robot-spherical"));
}

/// The angle of a ball joint is limited in every direction; its hinges meet at its place.
#[test]
fn a_ball_joint_is_three_hinges_within_its_angle() {
    let text = "<mujoco><worldbody><body name=\"a\"><body name=\"b\" pos=\"1 2 3\">\
        <joint name=\"hip\" type=\"ball\" pos=\"0 0 0.5\" range=\"0 60\" limited=\"true\"/></body></body></worldbody></mujoco>";
    let asset = from_bytes(text.as_bytes(), "r", Some("xml"), None, &ImportOptions::default()).unwrap();
    let robot = robot(&asset);
    let names: Vec<&str> = robot.hinges.iter().map(|hinge| hinge.name.as_str()).collect();
    assert_eq!(names, ["hip_x", "hip_y", "hip_z"]);
    for hinge in &robot.hinges {
        let [low, high] = hinge.range.unwrap();
        assert!((high - 60f64.to_radians()).abs() < 1e-12 && low == -high, "{hinge:?}");
    }
    let found = robot.links_in_world(Transform::identity(), &[0.3, -0.5, 0.7])[1];
    let turns = [Vec3::x() * 0.3, Vec3::y() * -0.5, Vec3::z() * 0.7].map(|turn| exp(&turn));
    let turned = turns[0] * turns[1] * turns[2];
    assert!((found.rotation * turned.inverse()).angle() < 1e-9);
    let pivot = Vec3::new(1.0, 2.0, 3.5);
    assert!((found.translation - (pivot - turned * Vec3::new(0.0, 0.0, 0.5))).norm() < 1e-12);
    assert!(asset.warnings.has("robot-spherical"));
}

/// A mesh, a box or a staircase of the world is no part of the robot, and its takes do not stand on it; a plane is the ground.
#[test]
fn shapes_of_the_world_are_reported() {
    let world = |shape: &str| {
        let text = format!(
            "<mujoco><worldbody>{shape}<body name=\"a\"><body name=\"b\"><joint/></body></body></worldbody></mujoco>"
        );
        from_bytes(text.as_bytes(), "r", Some("xml"), None, &ImportOptions::default()).unwrap()
    };
    assert!(!world("<geom type=\"plane\" size=\"1 1 1\"/>").warnings.has("robot-scene"));
    for shape in ["<geom type=\"mesh\" mesh=\"gone\"/>", "<frame><geom type=\"box\" size=\"1 1 1\"/></frame>"]
    {
        assert!(world(shape).warnings.has("robot-scene"), "{shape}");
    }
}
