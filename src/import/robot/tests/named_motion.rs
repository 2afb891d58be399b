//! Names in motion files of robots, frames that they leave out, and several clips in one.

use super::motion::{codes, read, swaying, written};
use crate::export::numpy_arrays::{archived, doubles, integers, texts};
use crate::import::npz::NpzArchive;
use crate::math::{Quat, Transform};
use crate::memory_budget::MemoryBudget;
use crate::model::{Asset, Motion, RobotMotion};
use std::sync::Arc;

fn values(asset: &Asset) -> RobotMotion {
    RobotMotion::of(&asset.motion(0).unwrap()).unwrap()
}

/// The swaying humanoid, and the same as a robot whose legs have each other's names: its files name hinges in another order.
fn renamed() -> (Motion, Motion) {
    let motion = swaying();
    let mut character = (*motion.character).clone();
    let mut robot = (**character.robot.as_ref().unwrap()).clone();
    for k in 0..6 {
        let (left, right) = robot.hinges.split_at_mut(6);
        std::mem::swap(&mut left[k].name, &mut right[k].name);
    }
    character.robot = Some(Arc::new(robot));
    (motion.clone(), Motion::new(Arc::new(character), motion.clip))
}

/// Values with those of the legs exchanged.
fn exchanged(values: &[f64]) -> Vec<f64> {
    [&values[6..12], &values[..6], &values[12..]].concat()
}

#[test]
fn hinges_are_read_by_their_names_in_every_file_that_has_them() {
    let (motion, renamed) = renamed();
    let expected = RobotMotion::of(&motion).unwrap();
    let check = |bytes: &[u8], extension: &str, layout: &str| {
        let asset = read(bytes, extension);
        let found = values(&asset);
        for frame in 0..found.frames() {
            let pairs = found.values(frame).iter().zip(exchanged(expected.values(frame)));
            let off = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(off < 2e-6, "{layout}: {off}");
        }
        codes(&asset)
    };
    for (extension, layout) in
        [("npz", "locomujoco"), ("npz", "holosoma"), ("npz", "isaaclab_amp"), ("csv", "seed_csv")]
    {
        let found = check(&written(&renamed, extension, layout), extension, layout);
        assert!(!found.contains(&"robot-motion-names"), "{layout}: {found:?}");
    }
    // A table of a layout without a header, with names of its own for the base.
    let robot = renamed.character.robot.clone().unwrap();
    let names: Vec<&str> = robot.hinges.iter().map(|hinge| hinge.name.as_str()).collect();
    let text = String::from_utf8(written(&motion, "csv", "unitree_csv")).unwrap();
    let text = format!("x,y,z,qx,qy,qz,qw,{}\n{text}", names.join(","));
    assert!(check(text.as_bytes(), "csv", "unitree_csv").contains(&"robot-motion-columns"));
}

#[test]
fn a_table_in_reverse_is_refused_with_its_row() {
    let text = String::from_utf8(written(&swaying(), "csv", "seed_csv")).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    lines[1..].reverse();
    let error = super::motion::refused(lines.join("\n").as_bytes(), "csv");
    assert!(error.contains("row 2 of the numbers: the frame 38 is not after the frame 39"), "{error}");
}

#[test]
fn columns_of_the_base_are_read_by_their_names() {
    let text = String::from_utf8(written(&swaying(), "csv", "seed_csv")).unwrap();
    let moved = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        [&cells[4..7], &cells[1..4], &cells[..1], &cells[7..]].concat().join(",")
    };
    let moved: Vec<String> = text.lines().map(moved).collect();
    let [whole, other] = [text.as_bytes(), moved.join("\n").as_bytes()].map(|bytes| read(bytes, "csv"));
    assert_eq!(values(&whole), values(&other));
    assert_eq!(codes(&other), Vec::<&str>::new());
}

#[test]
fn names_that_are_not_the_robots_are_reported_and_the_order_counts() {
    let (motion, _) = renamed();
    let mut character = (*motion.character).clone();
    let mut robot = (**character.robot.as_ref().unwrap()).clone();
    robot.hinges[3].name = "another".into();
    character.robot = Some(Arc::new(robot));
    let other = Motion::new(Arc::new(character), motion.clip.clone());
    let expected = RobotMotion::of(&motion).unwrap();
    for (extension, layout) in [("npz", "locomujoco"), ("npz", "isaaclab_amp"), ("csv", "seed_csv")] {
        let asset = read(&written(&other, extension, layout), extension);
        assert_eq!(codes(&asset), ["robot-motion-names"], "{layout}");
        let pairs = values(&asset).values.into_iter().zip(&expected.values);
        assert!(pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) < 2e-6, "{layout}");
    }
}

#[test]
fn locomujoco_names_as_many_joints_as_it_has_types() {
    let bytes = written(&swaying(), "npz", "locomujoco");
    let budget = MemoryBudget::new(bytes.len() as u64, None);
    let mut archive = NpzArchive::open(&bytes, &budget).unwrap();
    let names = archive.texts("joint_names").unwrap();
    let types = archive.array("jnt_type").unwrap().values;
    assert_eq!((names.len(), types.len() as f64), (types.len(), archive.array("njnt").unwrap().values[0]));
    assert_eq!((names[0].as_str(), names[1].as_str()), ("root", "left_hip_pitch_joint"));
}

/// A trajectory of LocoMuJoCo with these split points; `named` joints, the floating one first or not at all.
fn trajectory(ends: &[i32], free_joint: bool) -> Vec<u8> {
    let motion = swaying();
    let robot = motion.character.robot.clone().unwrap();
    let own = RobotMotion::of(&motion).unwrap();
    let mut names: Vec<&str> = robot.hinges.iter().map(|hinge| hinge.name.as_str()).collect();
    if free_joint {
        names.insert(0, "floating");
    }
    let row = |frame: usize| {
        let (at, q) = (own.base[frame].translation, own.base[frame].rotation);
        [&[at.x, at.y, at.z, q.w, q.i, q.j, q.k][..], own.values(frame)].concat()
    };
    let rows: Vec<f64> = (0..own.frames()).flat_map(row).collect();
    archived(&[
        texts("joint_names", &[names.len()], &names),
        doubles("frequency", &[], vec![own.rate]),
        doubles("qpos", &[own.frames(), rows.len() / own.frames()], rows),
        integers("split_points", &[ends.len()], ends.to_vec()),
    ])
    .unwrap()
}

#[test]
fn trajectories_between_split_points_are_clips_of_their_own() {
    let expected = RobotMotion::of(&swaying()).unwrap();
    for free_joint in [true, false] {
        let whole = read(&trajectory(&[0, 40], free_joint), "npz");
        assert_eq!((whole.clips.len(), codes(&whole)), (1, Vec::new()));
    }
    let asset = read(&trajectory(&[0, 15, 16, 40], true), "npz");
    assert_eq!(codes(&asset), Vec::<&str>::new());
    let names: Vec<&str> = asset.clips.iter().map(|clip| clip.name.as_str()).collect();
    assert_eq!(names, ["sway_1", "sway_2", "sway_3"]);
    let mut from = 0;
    for (k, frames) in [15, 1, 24].into_iter().enumerate() {
        let found = RobotMotion::of(&asset.motion(k).unwrap()).unwrap();
        assert_eq!((found.frames(), found.rate), (frames, 50.0));
        for frame in 0..frames {
            let pairs = found.values(frame).iter().zip(expected.values(from + frame));
            assert!(pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) < 1e-9);
        }
        from += frames;
    }
    for ends in [&[0, 30][..], &[0, 25, 15, 40], &[5, 40]] {
        let asset = read(&trajectory(ends, true), "npz");
        assert_eq!((asset.clips.len(), codes(&asset)), (1, vec!["robot-motion-splits"]), "{ends:?}");
    }
}

#[test]
fn frames_that_a_table_leaves_out_are_interpolated_or_refused() {
    let text = String::from_utf8(written(&swaying(), "csv", "seed_csv")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let expected = RobotMotion::of(&swaying()).unwrap();
    // The header, then the frames without ten of them.
    let cut = [&lines[..12], &lines[22..]].concat();
    let asset = read(cut.join("\n").as_bytes(), "csv");
    assert_eq!(codes(&asset), ["robot-motion-missing-frames"]);
    let found = values(&asset);
    assert_eq!(found.frames(), 40);
    for frame in (0..11).chain(21..40) {
        let pairs = found.values(frame).iter().zip(expected.values(frame));
        assert!(pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) < 2e-6, "{frame}");
    }
    let middle = (expected.values(10)[0] + expected.values(21)[0]) / 2.0;
    assert!(((found.values(15)[0] + found.values(16)[0]) / 2.0 - middle).abs() < 1e-6);
    // Another take follows, with numbers of its own.
    let two = [&lines[..20], &lines[1..20]].concat().join("\n");
    let options = crate::import::ImportOptions {
        robot: Some(crate::made_walk::shipped("humanoid.xml")),
        ..crate::import::ImportOptions::default()
    };
    let error = crate::import::from_bytes(two.as_bytes(), "two", Some("csv"), None, &options).unwrap_err();
    assert!(error.to_string().contains("the frame 0 is not after the frame 18"), "{error}");
}

#[test]
fn numbers_of_columns_are_no_frame() {
    let text = String::from_utf8(written(&swaying(), "csv", "unitree_csv")).unwrap();
    let width = text.lines().next().unwrap().split(',').count();
    let numbers: Vec<String> = (0..width).map(|k| k.to_string()).collect();
    let asset = read(format!("{}\n{text}", numbers.join(",")).as_bytes(), "csv");
    let whole = read(text.as_bytes(), "csv");
    assert_eq!(values(&asset), values(&whole));
    assert_eq!(codes(&asset), ["robot-motion-columns"]);
}

#[test]
fn numbers_of_rows_are_left_out_with_a_warning() {
    let plain = String::from_utf8(written(&swaying(), "csv", "unitree_csv")).unwrap();
    let named = String::from_utf8(written(&swaying(), "csv", "seed_csv")).unwrap();
    // As `to_csv` of pandas writes them: rows are numbered, columns have names, numbers or nothing.
    let width = plain.lines().next().unwrap().split(',').count();
    let columns: Vec<String> = (0..width).map(|k| k.to_string()).collect();
    let numbered = |text: &str| {
        let row = |(k, line): (usize, &str)| format!("{k},{line}\n");
        text.lines().enumerate().map(row).collect::<String>()
    };
    let header = named.lines().next().unwrap();
    let body = named.split_once('\n').unwrap().1;
    for (text, whole, codes_of) in [
        (numbered(&plain), &plain, &["robot-motion-row-numbers"][..]),
        (
            format!(",{}\n{}", columns.join(","), numbered(&plain)),
            &plain,
            &["robot-motion-row-numbers", "robot-motion-columns"],
        ),
        (format!(",{header}\n{}", numbered(body)), &named, &["robot-motion-row-numbers"]),
        (format!("Unnamed: 0,{header}\n{}", numbered(body)), &named, &["robot-motion-row-numbers"]),
    ] {
        let asset = read(text.as_bytes(), "csv");
        assert_eq!(values(&asset), values(&read(whole.as_bytes(), "csv")));
        assert_eq!(codes(&asset), codes_of);
    }
}

#[test]
fn rows_that_their_numbers_leave_out_are_no_gap_closed() {
    let plain = String::from_utf8(written(&swaying(), "csv", "unitree_csv")).unwrap();
    let row = |(k, line): (usize, &str)| format!("{k},{line}\n");
    let kept = |k: &usize| !(10..20).contains(k);
    let text: String = plain.lines().enumerate().filter(|(k, _)| kept(k)).map(row).collect();
    let asset = read(text.as_bytes(), "csv");
    assert_eq!(codes(&asset), ["robot-motion-row-numbers", "robot-motion-missing-frames"]);
    assert_eq!(values(&asset).frames(), values(&read(plain.as_bytes(), "csv")).frames());
}

#[test]
fn a_single_row_heads_forward_and_says_that_another_order_fits() {
    let swaying = swaying();
    let own = RobotMotion::of(&swaying).unwrap();
    // It leans more than it turns: read the other way round it stands more upright.
    let lean = Quat::from_euler_angles(0.0, 0.12, 0.05);
    let base = vec![Transform::new(lean, own.base[0].translation)];
    let one = RobotMotion { rate: own.rate, base, values: own.values(0).to_vec() };
    let robot = swaying.character.robot.clone().unwrap();
    let stands = Motion::new(Arc::clone(&swaying.character), one.clip("one", &robot));
    // The other way round the robot would stand on its head.
    for (layout, rival) in [("unitree_csv", &["robot-motion-rival"][..]), ("kimodo_csv", &[])] {
        let asset = read(&written(&stands, "csv", layout), "csv");
        let said = asset.warnings.iter().find(|warning| warning.code == "robot-layout").unwrap();
        assert!(said.message.contains(layout), "{layout}: {}", said.message);
        assert_eq!(codes(&asset), rival, "{layout}");
        assert!(values(&asset).base[0].rotation.angle_to(&lean) < 1e-5, "{layout}");
    }
}

#[test]
fn names_that_are_no_texts_are_reported_as_such() {
    let motion = swaying();
    let own = RobotMotion::of(&motion).unwrap();
    let bytes = archived(&[
        integers("joint_names", &[2], vec![1, 2]),
        doubles("frequency", &[], vec![own.rate]),
        doubles("qpos", &[1, 36], vec![0.1; 36]),
    ])
    .unwrap();
    let asset = read(&bytes, "npz");
    let said = asset.warnings.iter().find(|warning| warning.code == "robot-motion-names").unwrap();
    assert!(said.message.contains("no texts"), "{}", said.message);
}
