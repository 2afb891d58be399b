//! Couplings of hinges, and bases that float by joints of their own, as MuJoCo has them.

use crate::import::{ImportOptions, from_bytes};
use crate::model::{Asset, Robot};
use std::sync::Arc;

fn read(text: &str, extension: &str) -> (Asset, Arc<Robot>) {
    let asset = from_bytes(text.as_bytes(), "r", Some(extension), None, &ImportOptions::default()).unwrap();
    let robot = asset.character.robot.clone().unwrap();
    (asset, robot)
}

/// A chain of the hinges `a` to `d` on a base, with more elements.
fn mjcf(more: &str) -> (Asset, Robot) {
    let body = |name: &str| format!("<body><joint name=\"{name}\" range=\"-90 90\" axis=\"0 1 0\"/>");
    let bodies: String = ["a", "b", "c", "d"].map(body).concat();
    let text = format!(
        "<mujoco><compiler angle=\"degree\"/><worldbody><body><freejoint/>{bodies}{}</body></worldbody>{more}</mujoco>",
        "</body>".repeat(4)
    );
    let (asset, robot) = read(&text, "xml");
    (asset, (*robot).clone())
}

fn couplings(robot: &Robot) -> Vec<Option<(usize, [f64; 5])>> {
    robot.hinges.iter().map(|hinge| hinge.follows.as_ref().map(|f| (f.hinge, f.coefficients))).collect()
}

#[test]
fn a_follower_of_a_follower_follows_the_first() {
    let equality = "<equality><joint joint1=\"d\" joint2=\"c\" polycoef=\"0.1 2\"/><joint joint1=\"c\" joint2=\"b\" polycoef=\"-0.2 0.5 0.25\"/>\
        <joint joint1=\"b\" joint2=\"a\"/></equality>";
    let (asset, robot) = mjcf(equality);
    let found = couplings(&robot);
    assert_eq!(
        found[..3],
        [None, Some((0, [0.0, 1.0, 0.0, 0.0, 0.0])), Some((0, [-0.2, 0.5, 0.25, 0.0, 0.0]))]
    );
    let (leader, coefficients) = found[3].unwrap();
    let off = coefficients.iter().zip([0.1 - 0.4, 1.0, 0.5, 0.0, 0.0]).map(|(a, b)| (a - b).abs());
    assert!(leader == 0 && off.fold(0.0, f64::max) < 1e-12, "{coefficients:?}");
    assert!(!asset.warnings.has("robot-coupling"));
    // Squares of cubes have the degree 6.
    let (asset, robot) = mjcf(
        "<equality><joint joint1=\"c\" joint2=\"b\" polycoef=\"0 0 1\"/><joint joint1=\"b\" joint2=\"a\" polycoef=\"0 0 0 1\"/></equality>",
    );
    assert!(asset.warnings.has("robot-coupling") && robot.hinges[2].follows.is_none());
    let (asset, robot) = mjcf(
        "<equality><joint joint1=\"c\" joint2=\"b\"/><joint joint1=\"b\" joint2=\"a\"/><joint joint1=\"a\" joint2=\"b\"/></equality>",
    );
    assert!(asset.warnings.has("robot-coupling"));
    let first = Some((0, [0.0, 1.0, 0.0, 0.0, 0.0]));
    assert_eq!(couplings(&robot), [None, first, first, None]);
}

#[test]
fn a_mimic_of_a_mimic_follows_the_first() {
    let joint = |name: &str, parent: &str, child: &str, mimic: &str| {
        format!(
            "<joint name=\"{name}\" type=\"revolute\"><parent link=\"{parent}\"/><child link=\"{child}\"/><axis xyz=\"0 1 0\"/>\
             <limit lower=\"-2\" upper=\"2\" velocity=\"3\"/>{mimic}</joint>"
        )
    };
    let text = format!(
        "<robot name=\"r\"><link name=\"w\"/><link name=\"x\"/><link name=\"y\"/><link name=\"z\"/>{}{}{}</robot>",
        joint("a", "w", "x", ""),
        joint("b", "x", "y", "<mimic joint=\"a\" multiplier=\"0.5\" offset=\"0.2\"/>"),
        joint("c", "y", "z", "<mimic joint=\"b\" multiplier=\"0.5\" offset=\"0.05\"/>"),
    );
    let (_, robot) = read(&text, "urdf");
    let found = couplings(&robot)[2].unwrap();
    assert_eq!(found.0, 0);
    assert!((found.1[0] - 0.15).abs() < 1e-12 && found.1[1] == 0.25, "{found:?}");
}

#[test]
fn a_joint_that_is_equal_to_nothing_is_locked() {
    let (asset, robot) = mjcf("<equality><joint joint1=\"d\" polycoef=\"0.3 0 0 0 0\"/></equality>");
    assert_eq!(couplings(&robot), [None, None, None, Some((2, [0.3, 0.0, 0.0, 0.0, 0.0]))]);
    assert!(!asset.warnings.has("robot-coupling"));
    // Its default has a slope, which says nothing without a second joint.
    let (_, robot) =
        mjcf("<equality><joint joint1=\"a\"/><joint joint1=\"b\" joint2=\"a\" polycoef=\"0.1\"/></equality>");
    assert_eq!(couplings(&robot)[0], Some((2, [0.0; 5])));
    assert_eq!(couplings(&robot)[1], Some((2, [0.1, 0.0, 0.0, 0.0, 0.0])));
}

#[test]
fn defaults_of_equalities_count_and_what_is_not_read_is_reported() {
    let equality =
        "<equality><joint joint1=\"d\" joint2=\"c\"/><connect body1=\"x\" anchor=\"0 0 0\"/></equality>";
    let (asset, robot) = mjcf(&format!("<default><equality active=\"false\"/></default>{equality}"));
    assert!(robot.hinges[3].follows.is_none() && !asset.warnings.has("robot-equality"));
    let (asset, robot) = mjcf(&format!("<default><joint active=\"false\"/></default>{equality}"));
    assert!(robot.hinges[3].follows.is_some());
    let said = asset.warnings.iter().find(|w| w.code == "robot-equality").unwrap();
    assert!(said.message.contains("`equality/connect` is not read"), "{}", said.message);
}

#[test]
fn three_slides_and_three_hinges_of_the_first_body_are_the_floating_base() {
    let joint =
        |kind: &str, axis: &str| format!("<joint name=\"{kind}{axis}\" type=\"{kind}\" axis=\"{axis}\"/>");
    let base = |axes: [&str; 6]| {
        let joints: String = axes
            .iter()
            .enumerate()
            .map(|(k, axis)| joint(if k < 3 { "slide" } else { "hinge" }, axis))
            .collect();
        let text = format!(
            "<mujoco><worldbody><body name=\"pelvis\">{joints}<body name=\"arm\"><joint name=\"j\"/></body></body></worldbody></mujoco>"
        );
        let (asset, robot) = read(&text, "xml");
        let names: Vec<String> = robot.links.iter().map(|link| link.name.clone()).collect();
        (asset.warnings.has("robot-floating-base"), robot.hinges.len(), names.join(" "))
    };
    let [x, y, z] = ["1 0 0", "0 1 0", "0 0 1"];
    assert_eq!(base([x, y, z, z, y, x]), (true, 1, "pelvis arm".into()));
    // Two of the slides are one, of which MuJoCo's base can do less.
    assert_eq!(base([x, y, "1 1 0", x, y, z]), (false, 7, "base pelvis arm".into()));
}

#[test]
fn a_mimic_of_no_joint_is_a_warning_and_an_ordinary_hinge() {
    for other in ["none", "j"] {
        let text = format!(
            "<robot name=\"r\"><link name=\"a\"/><link name=\"b\"/><joint name=\"j\" type=\"revolute\"><parent link=\"a\"/>\
             <child link=\"b\"/><mimic joint=\"{other}\"/></joint></robot>"
        );
        let (asset, robot) = read(&text, "urdf");
        assert!(robot.hinges[0].follows.is_none());
        let said = asset.warnings.iter().find(|w| w.code == "robot-coupling").unwrap();
        assert!(said.message.contains(&format!("`{other}`: it moves freely")), "{}", said.message);
    }
}
