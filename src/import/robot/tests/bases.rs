//! The base of a URDF file is its first link that is a body, whatever frames are above it; the robot of a scene is what floats.

use super::{fixture, robot};
use crate::import::{ImportOptions, from_bytes};
use crate::math::{Quat, Vec3};

/// A body `pelvis` with a swinging leg, below the joints `above`.
fn file(links: &[&str], above: &str) -> String {
    let links: String = links.iter().map(|link| format!("<link name=\"{link}\"/>")).collect();
    let mass = "<inertial><mass value=\"5\"/></inertial>";
    let leg = joint("revolute", "pelvis", "leg", "");
    format!(
        "<robot name=\"r\">{links}<link name=\"pelvis\">{mass}</link><link name=\"leg\">{mass}</link>{above}{leg}</robot>"
    )
}

fn joint(kind: &str, parent: &str, child: &str, inside: &str) -> String {
    format!(
        "<joint name=\"{parent}_{child}\" type=\"{kind}\"><parent link=\"{parent}\"/><child link=\"{child}\"/>{inside}</joint>"
    )
}

#[test]
fn frames_above_the_first_body_are_no_base() {
    let raised = "<origin xyz=\"0 0 .9\" rpy=\"0 0 .5\"/>";
    for (links, above) in [
        (&["base_link"][..], joint("fixed", "base_link", "pelvis", raised)),
        (&["base_link"], joint("floating", "base_link", "pelvis", raised)),
        (&["world"], joint("fixed", "world", "pelvis", raised)),
        (
            &["base_footprint", "base_link"],
            joint("fixed", "base_footprint", "base_link", raised)
                + &joint("fixed", "base_link", "pelvis", ""),
        ),
        (
            &["world", "base_link"],
            joint("floating", "world", "base_link", "") + &joint("fixed", "base_link", "pelvis", raised),
        ),
        (
            &["base_link", "camera"],
            joint("fixed", "base_link", "camera", "") + &joint("fixed", "base_link", "pelvis", raised),
        ),
    ] {
        let text = file(links, &above);
        let options = ImportOptions::default();
        let asset = from_bytes(text.as_bytes(), "r", Some("urdf"), Some(&fixture("")), &options).unwrap();
        let robot = robot(&asset);
        let names: Vec<&str> = robot.links.iter().map(|link| link.name.as_str()).collect();
        assert_eq!(names, ["pelvis", "leg"], "{above}");
        let place = robot.links[0].parent_from_link;
        assert!((place.translation - Vec3::new(0.0, 0.0, 0.9)).norm() < 1e-12, "{above}");
        assert!(place.rotation.angle_to(&Quat::from_euler_angles(0.0, 0.0, 0.5)) < 1e-12, "{above}");
        assert!(asset.warnings.has("robot-base"), "{above}");
    }
}

#[test]
fn a_body_to_which_others_are_fixed_stays_the_base() {
    let mass = "<link name=\"torso\"><inertial><mass value=\"5\"/></inertial></link>";
    let text = file(&[], &(mass.to_owned() + &joint("fixed", "torso", "pelvis", "")));
    let options = ImportOptions::default();
    let asset = from_bytes(text.as_bytes(), "r", Some("urdf"), Some(&fixture("")), &options).unwrap();
    let names: Vec<String> = robot(&asset).links.iter().map(|link| link.name.clone()).collect();
    assert_eq!(names, ["torso", "pelvis", "leg"]);
    assert!(!asset.warnings.has("robot-base"));
}

#[test]
fn the_robot_of_a_scene_is_the_body_that_floats() {
    let chain = |name: &str, joints: usize, free: &str| {
        let joint = "<joint axis=\"1 0 0\"/><geom type=\"sphere\" size=\".1\"/>";
        let body = |k: usize| format!("<body name=\"{name}{k}\" pos=\"0 0 .1\">{joint}");
        let inside: String = (0..joints).map(body).collect::<String>() + &"</body>".repeat(joints);
        format!("<body name=\"{name}\">{free}<geom type=\"sphere\" size=\".1\"/>{inside}</body>")
    };
    let first = |bodies: &str| {
        let text = format!("<mujoco><worldbody>{bodies}</worldbody></mujoco>");
        let options = ImportOptions::default();
        let asset = from_bytes(text.as_bytes(), "r", Some("xml"), Some(&fixture("")), &options).unwrap();
        robot(&asset).links[0].name.clone()
    };
    let (robot, cable) = (chain("robot", 8, "<freejoint/>"), chain("cable", 12, ""));
    assert_eq!(first(&(cable.clone() + &robot)), "robot");
    assert_eq!(first(&(robot + &cable)), "robot");
    // A box that floats is no robot.
    let (door, thing) = (chain("fixed", 8, ""), chain("box", 1, "<freejoint/>"));
    assert_eq!(first(&(thing + &door)), "fixed");
}
