//! Robots are read as MuJoCo 4.0 reads them; its results are the numbers below. What cannot be read is a message.

#[cfg(feature = "formats")]
mod motion;
#[cfg(feature = "formats")]
mod named_motion;
#[cfg(feature = "formats")]
mod doubts;
#[cfg(feature = "formats")]
mod leads;
mod bases;
mod couplings;
mod limits;
mod meshes;
mod mesh_places;
mod spherical;

use crate::import::{ImportError, ImportOptions, from_bytes, load};
use crate::math::{Quat, RawQuat, Transform, Vec3};
use crate::model::{Asset, Form, Motion, Robot, RobotMotion};
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/robots").join(name)
}

fn robot(asset: &Asset) -> Arc<Robot> {
    Arc::clone(asset.character.robot.as_ref().expect("a robot"))
}

fn read(path: &Path) -> (Asset, Arc<Robot>) {
    let asset = load(path, &ImportOptions::default()).unwrap();
    let robot = robot(&asset);
    (asset, robot)
}

fn quat([w, x, y, z]: [f64; 4]) -> Quat {
    Quat::new_normalize(RawQuat::new(w, x, y, z))
}

/// Base and hinges of the pose in which MuJoCo computed the frames below.
fn pose() -> (Transform, [f64; 6]) {
    let base = Transform::new(quat([0.5, 0.5, -0.5, 0.5]), Vec3::new(0.1, -0.2, 0.9));
    (base, [0.3, -0.2, 0.7, 0.05, 0.4, -1.1])
}

#[test]
fn every_dialect_of_mjcf_is_read_as_mujoco_reads_it() {
    let (asset, robot) = read(&fixture("odd.xml"));
    let names: Vec<&str> = robot.hinges.iter().map(|h| h.name.as_str()).collect();
    assert_eq!(names, ["yaw", "roll", "pitch", "slide", "ankle", "wag"]);
    let degrees = |range: Option<[f64; 2]>| range.map(|r| r.map(|x| x.to_degrees().round()));
    let ranges: Vec<_> =
        robot.hinges.iter().map(|h| if h.slides { h.range } else { degrees(h.range) }).collect();
    let expected = [
        Some([-90.0, 90.0]),
        Some([-10.0, 20.0]),
        Some([-5.0, 130.0]),
        Some([-0.1, 0.2]),
        Some([-5.0, 130.0]),
        None,
    ];
    assert_eq!(ranges, expected);
    let (base, values) = pose();
    let places = [
        ("base", [0.1, -0.2, 0.9], [0.5, 0.5, -0.5, 0.5]),
        (
            "hip",
            [-0.112276467290255, -0.088774216367836, 1.034235806911492],
            [0.486078269270446, 0.126619724575162, -0.274006729176572, 0.820131497905985],
        ),
        (
            "shin",
            [-0.16450920637362, -0.076152938812841, 0.960274271658375],
            [-0.820131497905985, -0.274006729176572, -0.126619724575162, 0.486078269270446],
        ),
        (
            "foot",
            [-0.14690287098982, 0.095608248674897, 0.714941617029695],
            [-0.839581638219055, 0.032895553293226, -0.361828156862265, 0.403857574202337],
        ),
        (
            "tail",
            [0.1, -0.2, 0.7],
            [0.369595684016474, 0.369595684016474, -0.602825870676097, 0.602825870676097],
        ),
    ];
    let links = robot.links_in_world(base, &values);
    assert_eq!(links.len(), places.len(), "the ball in the scene is no link");
    for ((link, found), (name, at, turned)) in robot.links.iter().zip(&links).zip(places) {
        assert_eq!(link.name, name);
        assert!((found.translation - Vec3::from(at)).norm() < 1e-12, "{name}: {found:?}");
        assert!(found.rotation.angle_to(&quat(turned)) < 1e-12, "{name}: {found:?}");
    }
    assert!(asset.warnings.has("robot-scene"));
    let follows = robot.hinges[5].follows.as_ref().unwrap();
    assert_eq!((follows.hinge, follows.coefficients), (4, [0.0, 2.0, 0.0, 0.0, 0.0]));
    let shapes: Vec<usize> = robot.links.iter().map(|link| link.shapes.len()).collect();
    assert_eq!(shapes, [1, 1, 1, 1, 1], "shapes that are only drawn count where nothing else does");
    assert!(matches!(robot.links[1].shapes[0].form, Form::Capsule { radius: 0.02, .. }));
    assert_eq!(asset.companions.len(), 1, "an included file belongs to the model");
}

#[test]
fn a_urdf_has_its_hinges_in_the_order_of_the_tree() {
    let (asset, robot) = read(&fixture("odd.urdf"));
    let names: Vec<&str> = robot.hinges.iter().map(|h| h.name.as_str()).collect();
    assert_eq!(names, ["swing", "lift"]);
    let links: Vec<&str> = robot.links.iter().map(|l| l.name.as_str()).collect();
    assert_eq!(links, ["base", "arm", "finger", "tool"]);
    let [swing, lift] = &robot.hinges[..] else { panic!() };
    assert_eq!((swing.range, swing.speed, swing.axis), (Some([-1.0, 2.0]), Some(4.0), Vec3::y()));
    assert_eq!((lift.slides, lift.range), (true, Some([-0.1, 0.2])));
    assert_eq!(lift.follows.as_ref().unwrap().coefficients[..2], [0.05, 0.1]);
    // Rz(0.3) Ry(0.2) Rx(0.1), then 0.5 about y.
    let by = |axis, angle| Quat::from_axis_angle(&axis, angle);
    let fixed = by(Vec3::z_axis(), 0.3) * by(Vec3::y_axis(), 0.2) * by(Vec3::x_axis(), 0.1);
    let arm = Transform::new(fixed * by(Vec3::y_axis(), 0.5), Vec3::new(0.1, 0.2, 0.3));
    let found = robot.links_in_world(Transform::identity(), &[0.5, 0.1]);
    assert!((found[1].translation - arm.translation).norm() < 1e-14);
    assert!(found[1].rotation.angle_to(&arm.rotation) < 1e-14);
    assert!((found[2].translation - arm.point(&Vec3::new(0.0, 0.1, 0.1))).norm() < 1e-14);
    assert!(asset.warnings.has("robot-meshes"), "a mesh that is not there is a warning");
}

/// A clip of the skeleton and the motion of the robot are the same thing.
#[test]
fn the_skeleton_moves_as_the_links_do_and_gives_the_values_back() {
    for name in ["odd.xml", "odd.urdf"] {
        let (asset, robot) = read(&fixture(name));
        let frames = 7;
        let value = |k: usize| {
            let (frame, hinge) = (k / robot.hinges.len(), k % robot.hinges.len());
            let [low, high] = robot.hinges[hinge].range.unwrap_or([-4.0, 9.0]);
            low + (high - low) * (0.1 + 0.8 * ((frame * 3 + hinge) % frames) as f64 / frames as f64)
        };
        let base = |k: usize| {
            let (base, _) = pose();
            Transform::new(
                Quat::from_axis_angle(&Vec3::z_axis(), k as f64) * base.rotation,
                base.translation * k as f64,
            )
        };
        let made = RobotMotion {
            rate: 50.0,
            base: (0..frames).map(base).collect(),
            values: (0..frames * robot.hinges.len()).map(value).collect(),
        };
        let motion = Motion::new(Arc::clone(&asset.character), made.clip("made", &robot));
        motion.check().unwrap();
        let found = RobotMotion::of(&motion).unwrap();
        for frame in 0..frames {
            let (a, b) = (made.base[frame], found.base[frame]);
            assert!(
                (a.translation - b.translation).norm() < 1e-12 && a.rotation.angle_to(&b.rotation) < 1e-12
            );
            for ((hinge, a), b) in robot.hinges.iter().zip(made.values(frame)).zip(found.values(frame)) {
                // A hinge without limits is known up to whole turns.
                let off = if hinge.range.is_none() { libm::sin((a - b) / 2.0) } else { a - b };
                assert!(off.abs() < 1e-12, "{}: {a} and {b}", hinge.name);
            }
            let (_, joints) = robot.joints();
            let links = robot.links_in_world(a, made.values(frame));
            let pose = motion.model_pose(frame);
            for (k, link) in links.iter().enumerate() {
                let joint = pose.joint(joints[k]);
                let origin = joint.point(&-robot.joint_in_link(k));
                let at = Vec3::new(origin.z, origin.x, origin.y);
                assert!((at - link.translation).norm() < 1e-12, "{}", robot.links[k].name);
            }
        }
        let mut bent = motion.clone();
        let other = Quat::from_axis_angle(&Vec3::x_axis(), 0.2);
        let last = bent.clip.joints() - 1;
        bent.clip.rotations_mut(3)[last] *= other;
        let error = RobotMotion::of(&bent).unwrap_err().to_string();
        assert!(error.contains("frame 3"), "{error}");
    }
}

/// The motion of `make_robot_motion.py`: sines inside the limits. The positions of its links are MuJoCo's.
#[cfg(feature = "formats")]
#[test]
fn the_links_of_a_real_robot_are_where_mujoco_has_them() {
    let Some(data) = crate::development_data::data() else { return };
    let (_, robot) = read(&data.join("dcc/robots/mjlab_g1.xml"));
    let bytes = std::fs::read(data.join("dcc/numpy/g1_answer.npz")).unwrap();
    let budget = crate::memory_budget::MemoryBudget::new(bytes.len() as u64, None);
    let mut archive = crate::import::npz::NpzArchive::open(&bytes, &budget).unwrap();
    let answer = archive.array("body_pos").unwrap();
    assert_eq!(answer.shape, [60, robot.links.len(), 3]);
    let count = robot.hinges.len();
    assert_eq!(count, 29);
    let mut worst = 0.0f64;
    for frame in 0..60 {
        let t = frame as f64 / 30.0;
        let value = |(k, hinge): (usize, &crate::model::Hinge)| {
            let [low, high] = hinge.range.unwrap();
            let phase = std::f64::consts::TAU * (0.5 * t + k as f64 / (count - 1) as f64);
            (low + high) / 2.0 + (high - low) * 0.2 * libm::sin(phase)
        };
        let values: Vec<f64> = robot.hinges.iter().enumerate().map(value).collect();
        let by = |axis, angle| Quat::from_axis_angle(&axis, angle);
        let rotation = by(Vec3::z_axis(), 0.5 * t)
            * by(Vec3::y_axis(), 0.1 * libm::cos(2.0 * t))
            * by(Vec3::x_axis(), 0.1 * libm::sin(2.0 * t));
        let at = Vec3::new(0.3 * t, 0.05 * libm::sin(3.0 * t), 0.78 + 0.02 * libm::cos(3.0 * t));
        let links = robot.links_in_world(Transform::new(rotation, at), &values);
        for (k, link) in links.iter().enumerate() {
            let expected = Vec3::from_column_slice(&answer.values[(frame * links.len() + k) * 3..][..3]);
            worst = worst.max((link.translation - expected).norm());
        }
    }
    assert!(worst < 1e-9, "{worst:e}");
}

/// The message for a text of this name.
fn refused(name: &str, text: &str) -> String {
    let (stem, extension) = name.split_once('.').unwrap();
    let folder = fixture("");
    match from_bytes(text.as_bytes(), stem, Some(extension), Some(&folder), &ImportOptions::default()) {
        Err(error @ ImportError::Robot(_)) => error.to_string(),
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn what_cannot_be_a_robot_is_named_with_its_line() {
    let body = |inside: &str| {
        format!("<mujoco>\n<worldbody><body name=\"a\">\n{inside}</body></worldbody></mujoco>")
    };
    let urdf =
        |inside: &str| format!("<robot name=\"r\"><link name=\"a\"/><link name=\"b\"/>\n{inside}</robot>");
    let joint = |inside: &str| {
        urdf(&format!(
            "<joint name=\"j\" type=\"revolute\"><parent link=\"a\"/><child link=\"b\"/>{inside}</joint>"
        ))
    };
    let deep = "<body>".repeat(20_000);
    let cases: Vec<(&str, String, &[&str])> = vec![
        ("r.xml", "<mujoco><worldbody>".into(), &["r.xml: ", "hint: correct the XML"]),
        ("r.urdf", "<robot name=\"r\"><link".into(), &["r.urdf: ", "hint: correct the XML"]),
        ("r.xml", "<mujoco/>".into(), &["its world has no body"]),
        ("r.xml", body(""), &["it has 1 link and no hinge"]),
        ("r.xml", body("<joint axis=\"0 0 0\"/>"), &["r.xml, line 3: the axis of <joint> is zero"]),
        ("r.xml", body("<joint name=\"j\" range=\"1 -1\"/>"), &["line 3: the limits of <joint name=\"j\"> are reversed: 1 to -1"]),
        ("r.xml", body("<joint name=\"j\"/><joint name=\"j\"/>"), &["the name of <joint name=\"j\"> is taken"]),
        ("r.xml", body("<body name=\"a\"/>"), &["the name of <body name=\"a\"> is taken"]),
        ("r.xml", body("<joint type=\"gear\"/>"), &["is of the type `gear`", "one for each axis"]),
        ("r.xml", body("<joint pos=\"0 zero 0\"/>"), &["`pos` of <joint> is not a number: `zero`"]),
        ("r.xml", body("<joint pos=\"0 nan 0\"/>"), &["`pos` of <joint> is not a number: `nan`"]),
        ("r.xml", body("<joint pos=\"0 0\"/>"), &["has 2 numbers, expected 3"]),
        ("r.xml", body("<geom type=\"capsule\"/>"), &["has no radius"]),
        ("r.xml", "<mujoco>\n<include file=\"../humanoid.xml\"/></mujoco>".into(), &["line 2", "no such file in the robot's folder"]),
        ("r.xml", "<mujoco><include file=\"/etc/passwd\"/></mujoco>".into(), &["no such file in the robot's folder"]),
        ("r.xml", "<mujoco><include file=\"self.xml\"/></mujoco>".into(), &["included a second time"]),
        ("r.xml", format!("<mujoco><worldbody>{deep}"), &["elements inside of each other", "MAX_DEPTH"]),
        (
            "r.xml",
            "<!DOCTYPE m [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;\">]><mujoco>&b;</mujoco>".into(),
            &["document type definitions"],
        ),
        ("r.urdf", joint("<axis xyz=\"0 0 0\"/>"), &["line 2", "the axis of <joint name=\"j\"> is zero"]),
        ("r.urdf", joint("<limit lower=\"1\" upper=\"-1\"/>"), &["are reversed: 1 to -1"]),
        ("r.urdf", joint("<limit lower=\"1\" upper=\"1\"/>"), &["are equal: 1"]),
        ("r.urdf", "<robot name=\"r\"/>".into(), &["it has no links"]),
        ("r.urdf", urdf(""), &["`a` and `b` both have no parent"]),
        ("r.urdf", urdf("<link name=\"b\"/>"), &["the name of <link name=\"b\"> is taken"]),
        ("r.urdf", urdf("<joint name=\"j\" type=\"fixed\"><parent link=\"a\"/><child link=\"c\"/></joint>"), &["no child link that exists"]),
        (
            "r.urdf",
            joint("") .replace("</robot>", "<joint name=\"k\"><parent link=\"b\"/><child link=\"a\"/></joint></robot>"),
            &["go round in a circle"],
        ),
    ];
    for (name, text, expected) in &cases {
        let message = refused(name, text);
        for part in *expected {
            assert!(message.contains(part), "{message}\ndoes not contain {part}");
        }
        assert!(message.contains("\n  hint: "), "{message}");
    }
}
