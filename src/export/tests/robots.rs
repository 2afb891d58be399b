//! Files of robots: the stated rate, and transitions from and to a standing pose.

use crate::export::{ExportOptions, Format, RobotOptions, save};
use crate::import::{ImportOptions, from_bytes, load};
use crate::made_walk::shipped;
use crate::math::{Quat, Transform, Vec3, nearest_points_of_segments};
use crate::model::{Motion, ROBOT_LAYOUTS, Robot, RobotMotion};
use crate::report::Warnings;
use crate::robot_body::RobotBody;
use std::sync::Arc;

/// The hinges of the shipped humanoid with these values, others at zero.
fn pose(robot: &Robot, values: &[(&str, f64)]) -> Vec<f64> {
    let value = |name: &str| values.iter().find(|(known, _)| *known == name).map_or(0.0, |(_, value)| *value);
    robot.hinges.iter().map(|hinge| value(&hinge.name)).collect()
}

/// The shipped humanoid in this pose for eight frames of 50 Hz.
fn still(values: &[(&str, f64)]) -> (Motion, Arc<Robot>) {
    let character = load(shipped("humanoid.xml"), &ImportOptions::default()).unwrap().character;
    let robot = character.robot.clone().unwrap();
    let base = Transform::new(Quat::identity(), Vec3::new(0.0, 0.0, 1.0));
    let made = RobotMotion { rate: 50.0, base: vec![base; 8], values: pose(&robot, values).repeat(8) };
    (Motion::new(Arc::clone(&character), made.clip("still", &robot)), robot)
}

fn written(motion: &Motion, extension: &str, robot: RobotOptions) -> (Vec<u8>, Warnings) {
    let options = ExportOptions { stem: "still".into(), robot, ..ExportOptions::default() };
    let (mut files, warnings) =
        save(std::slice::from_ref(motion), Format::of(extension).unwrap(), &options).unwrap();
    (files.remove(0).bytes, warnings)
}

/// A rate that is not whole is written as it is, and said to readers that cannot take it.
#[cfg(feature = "formats")]
#[test]
fn an_array_states_a_rate_that_is_not_whole() {
    let (motion, _) = still(&[]);
    let arrays = ROBOT_LAYOUTS.iter().filter(|layout| layout.extension == "npz");
    for layout in arrays {
        for rate in [12.5, 25.0] {
            let options = RobotOptions { layout: layout.name.to_owned(), rate, ..RobotOptions::default() };
            let (bytes, warnings) = written(&motion, "npz", options);
            let robot = ImportOptions { robot: Some(shipped("humanoid.xml")), ..ImportOptions::default() };
            let read = from_bytes(&bytes, "still", Some("npz"), None, &robot).unwrap().motion(0).unwrap();
            assert_eq!(read.clip.sample_rate, rate, "{}", layout.name);
            let avoided = warnings
                .iter()
                .any(|w| w.message.contains("take 12; `--set output.robot.rate=13` avoids that"));
            let array = ["mjlab", "beyondmimic", "holosoma"].contains(&layout.name);
            assert_eq!(avoided, array && rate == 12.5, "{}: {warnings:?}", layout.name);
        }
    }
}

/// How much deeper parts are in each other in a frame than in the first or the last one, metres.
fn deepest(robot: &Arc<Robot>, rows: &[Vec<f64>]) -> f64 {
    let body = RobotBody::of(robot).unwrap();
    let depths = |values: &[f64]| {
        let links = robot.links_in_world(Transform::identity(), values);
        let ends: Vec<[Vec3; 2]> =
            body.capsules.iter().map(|c| c.ends.map(|end| links[c.link].point(&end))).collect();
        let depth = |&[a, b]: &[usize; 2]| {
            let [p, q] = nearest_points_of_segments(&ends[a], &ends[b]);
            body.capsules[a].radius + body.capsules[b].radius - (p - q).norm()
        };
        body.pairs.iter().map(depth).collect::<Vec<f64>>()
    };
    let all: Vec<Vec<f64>> = rows.iter().map(|row| depths(row)).collect();
    let usual = |pair: usize| all[0][pair].max(all[all.len() - 1][pair]).max(0.0);
    let deeper = |depths: &Vec<f64>| depths.iter().enumerate().map(|(k, d)| d - usual(k)).fold(0.0, f64::max);
    all.iter().map(deeper).fold(0.0, f64::max)
}

/// The hinges in the transition from a pose to a motion that stays in another one, with the pose and the first frame; and the warnings.
fn transition(from: &[(&str, f64)], to: &[(&str, f64)]) -> (Arc<Robot>, Vec<Vec<f64>>, Warnings) {
    let (motion, robot) = still(to);
    let options = RobotOptions { rate: 50.0, default_pose: pose(&robot, from), ..RobotOptions::default() };
    let (bytes, warnings) = written(&motion, "csv", options);
    let numbers = |line: &str| line.split(',').skip(7).map(|x| x.parse().unwrap()).collect::<Vec<f64>>();
    let rows: Vec<Vec<f64>> = String::from_utf8(bytes).unwrap().lines().map(numbers).collect();
    let lead = (rows.len() - 8) / 2;
    let back = rows[lead + 7..].iter().rev();
    assert!(back.eq(&rows[..=lead]), "the way back is the way there");
    (robot, rows[..=lead].to_vec(), warnings)
}

/// A hand behind the thigh comes before it: the shortest way leads through the thigh.
#[test]
fn a_transition_leads_an_arm_around_the_body() {
    let arm = |pitch: f64| [("left_shoulder_pitch_joint", pitch), ("left_shoulder_roll_joint", -0.15)];
    let (robot, rows, warnings) = transition(&arm(0.9), &arm(-0.9));
    let ends = [pose(&robot, &arm(0.9)), pose(&robot, &arm(-0.9))];
    let mixed = |k: usize| ends[0].iter().zip(&ends[1]).map(|(a, b)| a + (b - a) * k as f64 / 50.0).collect();
    let straight: Vec<Vec<f64>> = (0..=50).map(mixed).collect();
    let (before, after) = (deepest(&robot, &straight), deepest(&robot, &rows));
    println!("{before} m on the shortest way, {after} m on the other");
    assert!(before > 0.02, "{before}");
    assert!(after <= 0.0051, "{after}");
    assert!(warnings.iter().all(|w| w.code != "robot-lead-collision"), "{warnings:?}");
    assert_eq!([&rows[0], &rows[rows.len() - 1]], [&ends[0], &ends[1]]);
    for row in &rows {
        for (hinge, value) in robot.hinges.iter().zip(row) {
            let [low, high] = hinge.range.unwrap();
            assert!((low - 1e-6..=high + 1e-6).contains(value), "{} at {value}", hinge.name);
        }
    }
}

/// Legs that cross change places: no arm helps.
#[test]
fn a_transition_through_the_body_is_said_with_its_depth_and_its_links() {
    let legs = |pitch: f64| {
        [("left_hip_pitch_joint", pitch), ("right_hip_pitch_joint", -pitch), ("left_hip_roll_joint", -0.4)]
    };
    let (robot, rows, warnings) = transition(&legs(0.5), &legs(-0.5));
    let depth = deepest(&robot, &rows);
    let found = warnings.iter().find(|w| w.code == "robot-lead-collision").expect("a warning");
    println!("{depth} m: {}", found.message);
    assert!(depth > 0.01);
    assert!(found.message.contains(&format!("{:.1} cm", 100.0 * depth)), "{} at {depth}", found.message);
    assert!(found.message.contains("left") && found.message.contains("right"), "{}", found.message);
}

/// Without a part in the way the transition is the shortest one.
#[test]
fn a_transition_without_a_collision_is_not_changed() {
    let out = |pitch: f64| [("left_shoulder_pitch_joint", pitch), ("left_shoulder_roll_joint", 0.5)];
    let (_, rows, warnings) = transition(&out(0.9), &out(-0.9));
    assert!(rows.windows(2).all(|w| w[0].iter().zip(&w[1]).filter(|(a, b)| a != b).count() <= 1));
    assert!(warnings.iter().all(|w| w.code != "robot-lead-collision"), "{warnings:?}");
}
