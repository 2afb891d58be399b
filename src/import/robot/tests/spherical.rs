//! Bullet's joints that rotate freely, as in the humanoid of DeepMimic.

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
