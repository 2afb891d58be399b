//! What in a motion file contradicts itself or the robot is reported: speeds, orders of quaternions, lengths of arrays, units,
//! separators.

use super::motion::{codes, read, refused, swaying, written};
use crate::export::numpy_arrays::{archived, doubles, texts};
use crate::import::npz::{NpyArray, NpzArchive};
use crate::memory_budget::MemoryBudget;

/// The warnings for the swaying humanoid in a layout of archives, one of whose arrays is changed.
fn changed(layout: &str, name: &str, change: impl Fn(&mut NpyArray)) -> Vec<&'static str> {
    let bytes = written(&swaying(), "npz", layout);
    let budget = MemoryBudget::new(bytes.len() as u64, None);
    let mut archive = NpzArchive::open(&bytes, &budget).unwrap();
    let layout = crate::model::RobotLayout::of(layout).unwrap();
    let mut files = Vec::new();
    for (array, _) in layout.fields {
        if let Ok(names) = archive.texts(array) {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            files.push(texts(array, &[names.len()], &names));
            continue;
        }
        let mut numbers = archive.array(array).unwrap();
        if *array == name {
            change(&mut numbers);
        }
        files.push(doubles(array, &numbers.shape, numbers.values));
    }
    codes(&read(&archived(&files).unwrap(), "npz"))
}

#[test]
fn speeds_of_another_rate_are_reported_in_layouts_of_whole_states() {
    for (layout, rate, speeds) in [("locomujoco", "frequency", "qvel"), ("holosoma", "fps", "joint_vel")] {
        assert_eq!(changed(layout, rate, |_| ()), Vec::<&str>::new(), "{layout}");
        let halved = changed(layout, rate, |array| array.values.iter_mut().for_each(|x| *x /= 2.0));
        assert!(halved.contains(&"robot-motion-rate"), "{layout}: {halved:?}");
        let still = changed(layout, speeds, |array| array.values.fill(0.0));
        assert_eq!(still, ["robot-motion-rate"], "{layout}");
    }
}

#[test]
fn a_quaternion_in_another_order_turns_otherwise_than_stated() {
    let found = changed("locomujoco", "qpos", |array| {
        let width = array.shape[1];
        array.values.chunks_exact_mut(width).for_each(|row| row[3..7].rotate_left(1));
    });
    assert!(found.contains(&"robot-motion-quaternion-order"), "{found:?}");
}

#[test]
fn arrays_of_other_lengths_are_reported() {
    let found = changed("mjlab", "joint_pos", |array| {
        array.shape[0] -= 5;
        array.values.truncate(array.shape.iter().product());
    });
    assert_eq!(found, ["robot-motion-lengths"]);
}

#[test]
fn a_table_of_another_unit_is_reported() {
    let text = String::from_utf8(written(&swaying(), "csv", "seed_csv")).unwrap();
    let (head, rows) = text.split_once('\n').unwrap();
    let scaled = |columns: std::ops::Range<usize>, by: f64| {
        let number = |(k, cell): (usize, &str)| match columns.contains(&k) {
            true => (cell.parse::<f64>().unwrap() * by).to_string(),
            false => cell.to_owned(),
        };
        let row = |row: &str| row.split(',').enumerate().map(number).collect::<Vec<_>>().join(",");
        let rows: Vec<String> = rows.lines().map(row).collect();
        codes(&read(format!("{head}\n{}\n", rows.join("\n")).as_bytes(), "csv"))
    };
    assert_eq!(scaled(0..0, 1.0), Vec::<&str>::new());
    assert!(scaled(7..99, 1f64.to_radians()).contains(&"robot-motion-radians"));
    assert!(scaled(1..4, 0.01).contains(&"robot-motion-unit"));
}

#[test]
fn another_separator_is_named() {
    let text = String::from_utf8(written(&swaying(), "csv", "unitree_csv")).unwrap();
    for (sign, name) in [(";", "semicolons"), ("\t", "tabs"), (" ", "spaces")] {
        let said = refused(text.replace(',', sign).as_bytes(), "csv");
        assert!(said.contains(&format!("separated by {name}")) && said.contains("commas"), "{said}");
    }
}
