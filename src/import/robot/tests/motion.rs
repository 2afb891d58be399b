//! What is written in a layout is read back as it went out, and what contradicts the robot is said.

use crate::export::{ExportOptions, Format, RobotOptions, save};
use crate::import::{ImportOptions, from_bytes, load};
use crate::made_walk::shipped;
use crate::math::{Quat, Transform, Vec3};
use crate::model::{Asset, Motion, ROBOT_LAYOUTS, RobotMotion};
use std::sync::Arc;

/// The shipped humanoid sways: every hinge by a sine of its own inside its range.
pub(super) fn swaying() -> Motion {
    let character = load(shipped("humanoid.xml"), &ImportOptions::default()).unwrap().character;
    let robot = character.robot.clone().unwrap();
    let (rate, frames) = (50.0, 40);
    let mut made = RobotMotion { rate, base: Vec::new(), values: Vec::new() };
    for frame in 0..frames {
        let t = f64::from(frame) / rate;
        let turned = Quat::from_euler_angles(0.1 * libm::sin(t), 0.2 * libm::cos(2.0 * t), 0.5 + t);
        made.base.push(Transform::new(turned, Vec3::new(0.3 * t, 0.1 * libm::sin(t), 0.7)));
        for (k, hinge) in robot.hinges.iter().enumerate() {
            let [low, high] = hinge.range.unwrap();
            made.values.push((low + high) / 2.0 + (high - low) * 0.3 * libm::sin(3.0 * t + k as f64));
        }
    }
    Motion::new(Arc::clone(&character), made.clip("sway", &robot))
}

pub(super) fn written(motion: &Motion, extension: &str, layout: &str) -> Vec<u8> {
    let robot = RobotOptions { layout: layout.into(), rate: 50.0, ..RobotOptions::default() };
    let options = ExportOptions { stem: "sway".into(), robot, ..ExportOptions::default() };
    let format = Format::of(extension).unwrap();
    save(std::slice::from_ref(motion), format, &options).unwrap().0.remove(0).bytes
}

pub(super) fn read(bytes: &[u8], extension: &str) -> Asset {
    read_at(bytes, extension, Some(50.0))
}

/// The message for a file that is refused.
pub(super) fn refused(bytes: &[u8], extension: &str) -> String {
    let options = ImportOptions { robot: Some(shipped("humanoid.xml")), ..ImportOptions::default() };
    from_bytes(bytes, "sway", Some(extension), None, &options).unwrap_err().to_string()
}

fn read_at(bytes: &[u8], extension: &str, rate: Option<f64>) -> Asset {
    let options = ImportOptions { robot: Some(shipped("humanoid.xml")), rate, ..ImportOptions::default() };
    from_bytes(bytes, "sway", Some(extension), None, &options).unwrap()
}

/// The first words of every warning.
pub(super) fn codes(asset: &Asset) -> Vec<&'static str> {
    asset.warnings.iter().map(|w| w.code).filter(|code| *code != "robot-layout").collect()
}

#[test]
fn every_layout_comes_back_as_it_went_out_and_names_itself() {
    let motion = swaying();
    let expected = RobotMotion::of(&motion).unwrap();
    for layout in ROBOT_LAYOUTS.iter().filter(|layout| layout.extension != "pkl") {
        let asset = read(&written(&motion, layout.extension, layout.name), layout.extension);
        assert_eq!(codes(&asset), Vec::<&str>::new(), "{}: {:?}", layout.name, asset.warnings);
        let said = asset.warnings.iter().find(|w| w.code == "robot-layout").unwrap();
        assert!(said.message.contains(&format!("`{}`", layout.name)), "{}: {}", layout.name, said.message);
        let found = RobotMotion::of(&asset.motion(0).unwrap()).unwrap();
        assert_eq!((found.frames(), found.rate), (expected.frames(), 50.0));
        for frame in 0..found.frames() {
            let (a, b) = (found.base[frame], expected.base[frame]);
            assert!((a.translation - b.translation).norm() < 2e-6, "{}", layout.name);
            assert!(a.rotation.angle_to(&b.rotation) < 5e-6, "{}", layout.name);
            let off = found.values(frame).iter().zip(expected.values(frame)).map(|(a, b)| (a - b).abs());
            assert!(off.fold(0.0, f64::max) < 2e-6, "{}", layout.name);
        }
    }
}

#[test]
fn arrays_lie_in_their_archive_as_they_are_where_a_reader_can_use_them() {
    let bytes = written(&swaying(), "npz", "mjlab");
    let starts: Vec<usize> = (0..bytes.len()).filter(|&at| bytes[at..].starts_with(b"\x93NUMPY")).collect();
    assert_eq!(starts.len(), 7, "the arrays of the layout");
    assert!(starts.iter().all(|at| at % 64 == 0), "{starts:?}");
}

#[test]
fn a_rate_that_no_one_states_is_reported_with_the_option_that_sets_it() {
    let motion = swaying();
    for layout in ROBOT_LAYOUTS.iter().filter(|layout| layout.extension != "pkl") {
        let bytes = written(&motion, layout.extension, layout.name);
        let asset = read_at(&bytes, layout.extension, None);
        let said = asset.warnings.iter().find(|w| w.code == "robot-motion-assumed-rate");
        let stated = layout.extension == "npz";
        assert_eq!(said.is_none(), stated, "{}", layout.name);
        let rate = if stated { 50.0 } else { layout.rate.unwrap() };
        assert_eq!(asset.motion(0).unwrap().clip.sample_rate, rate, "{}", layout.name);
        if let Some(said) = said {
            assert!(
                said.message.contains(&format!("{rate} frames")) && said.message.contains("`input.rate`")
            );
        }
    }
    // Every second frame of a table, with the numbers that they had.
    let text = String::from_utf8(written(&motion, "csv", "seed_csv")).unwrap();
    let half: Vec<&str> =
        text.lines().enumerate().filter(|(k, _)| *k == 0 || k % 2 == 1).map(|(_, l)| l).collect();
    let asset = read_at(half.join("\n").as_bytes(), "csv", None);
    assert_eq!(asset.motion(0).unwrap().clip.sample_rate, 60.0);
    let said = asset.warnings.iter().find(|w| w.code == "robot-motion-assumed-rate").unwrap();
    assert!(said.message.contains("numbered by 2"), "{}", said.message);
    assert_eq!(codes(&read(half.join("\n").as_bytes(), "csv")), Vec::<&str>::new());
}

/// The shipped humanoid rolls over its left foot: the ankle stays where it is while the base moves ahead and the other leg is bent.
fn rolling() -> Motion {
    let character = load(shipped("humanoid.xml"), &ImportOptions::default()).unwrap().character;
    let robot = character.robot.clone().unwrap();
    let find = |name: &str| robot.hinges.iter().position(|h| h.name == name).unwrap();
    let [hip, ankle, other] =
        ["left_hip_pitch_joint", "left_ankle_pitch_joint", "right_knee_joint"].map(find);
    let foot = robot.links.iter().position(|link| link.name == "left_foot").unwrap();
    let mut made = RobotMotion { rate: 30.0, base: Vec::new(), values: Vec::new() };
    for frame in 0..30 {
        let lean = 0.02 * (f64::from(frame) - 15.0);
        let mut values = vec![0.0; robot.hinges.len()];
        (values[hip], values[ankle], values[other]) = (lean, -lean, 1.0);
        let at = robot.links_in_world(Transform::identity(), &values)[foot].translation;
        made.base.push(Transform::from_translation(Vec3::new(0.0, 0.0, 0.03) - at));
        made.values.extend(values);
    }
    Motion::new(Arc::clone(&character), made.clip("roll", &robot))
}

/// The name of the layout that a table was read as, with the warnings.
fn layout_and_codes(bytes: &[u8]) -> (String, Vec<&'static str>) {
    let asset = read(bytes, "csv");
    let said = asset.warnings.iter().find(|w| w.code == "robot-layout").unwrap();
    (said.message.split('`').nth(1).unwrap().to_owned(), codes(&asset))
}

/// With its base nearly at the identity, x y z w read as w x y z is half a turn: upright as well, but it slides.
#[test]
fn the_order_of_a_walkers_quaternion_is_found_by_its_feet() {
    for layout in ["unitree_csv", "kimodo_csv"] {
        let (found, codes) = layout_and_codes(&written(&rolling(), "csv", layout));
        assert_eq!((found.as_str(), codes), (layout, Vec::new()));
    }
}

/// Hinges breadth first make the feet of both layouts slide: the layout is that of the quaternion nevertheless, and the order is reported.
#[test]
fn hinges_in_isaac_labs_order_are_reported_and_do_not_change_the_layout() {
    let motion = rolling();
    let robot = motion.character.robot.clone().unwrap();
    let links = robot.links_of(crate::model::RobotLayout::of("beyondmimic").unwrap(), false);
    let order: Vec<usize> =
        links.iter().flat_map(|&link| robot.hinges_of(link).map(|(hinge, _)| hinge)).collect();
    for layout in ["unitree_csv", "kimodo_csv"] {
        let text = String::from_utf8(written(&motion, "csv", layout)).unwrap();
        let reordered = |line: &str| {
            let cells: Vec<&str> = line.split(',').collect();
            let hinges = order.iter().map(|&hinge| cells[7 + hinge]);
            cells[..7].iter().copied().chain(hinges).collect::<Vec<_>>().join(",")
        };
        let rows: Vec<String> = text.lines().map(reordered).collect();
        let (found, codes) = layout_and_codes(rows.join("\n").as_bytes());
        assert_eq!(found, layout);
        assert!(codes.contains(&"robot-motion-order"), "{codes:?}");
    }
}

#[test]
fn a_file_that_contradicts_the_robot_says_how() {
    let motion = swaying();
    let text = String::from_utf8(written(&motion, "csv", "unitree_csv")).unwrap();
    let rows: Vec<Vec<f64>> =
        text.lines().map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect()).collect();
    let changed = |change: &dyn Fn(&mut Vec<f64>)| {
        let mut rows = rows.clone();
        rows.iter_mut().for_each(change);
        let line = |row: &Vec<f64>| row.iter().map(f64::to_string).collect::<Vec<_>>().join(",");
        codes(&read(rows.iter().map(line).collect::<Vec<_>>().join("\n").as_bytes(), "csv"))
    };
    assert!(changed(&|_| ()).is_empty());
    assert!(changed(&|row| row[7..].iter_mut().for_each(|x| *x *= 57.3)).contains(&"robot-motion-degrees"));
    assert!(changed(&|row| row[7..].reverse()).contains(&"robot-motion-range"));
    assert!(changed(&|row| row[..3].iter_mut().for_each(|x| *x *= 100.0)).contains(&"robot-motion-unit"));
    assert!(
        changed(&|row| row[3..7].iter_mut().for_each(|x| *x *= 1.1)).contains(&"robot-motion-quaternion")
    );
    // x y w z is no layout: read as any other, the robot lies or the hinges are wrong.
    assert!(changed(&|row| row[3..7].rotate_left(2)).contains(&"robot-motion-lies"));
    let missing = text.lines().map(|line| line.rsplit_once(',').unwrap().0).collect::<Vec<_>>().join("\n");
    let options = ImportOptions { robot: Some(shipped("humanoid.xml")), ..ImportOptions::default() };
    let error = from_bytes(missing.as_bytes(), "sway", Some("csv"), None, &options).unwrap_err().to_string();
    assert!(error.contains("no layout for a robot of 29 hinges: 35 columns"), "{error}");
    let torn = text.replacen(',', ",x", 1);
    let error = from_bytes(torn.as_bytes(), "sway", Some("csv"), None, &options).unwrap_err().to_string();
    assert!(error.contains("line"), "{error}");
}

/// Unitree's table and that of SEED have the same width for some robots: names of columns tell them apart, not that there are some.
#[test]
fn a_line_of_names_above_a_table_is_no_other_layout() {
    let motion = swaying();
    let plain = String::from_utf8(written(&motion, "csv", "unitree_csv")).unwrap();
    let names = (0..36).map(|k| format!("c{k}")).collect::<Vec<_>>().join(",");
    for above in [names.as_str(), "# made by hand", "\u{feff}a,b", "# made by hand\nx,y,z"] {
        let asset = read(format!("{above}\n{plain}").as_bytes(), "csv");
        let said = asset.warnings.iter().find(|w| w.code == "robot-layout").unwrap();
        assert!(said.message.contains("`unitree_csv`"), "{above}: {}", said.message);
        assert_eq!(codes(&asset), ["robot-motion-columns"], "{above}");
        assert_eq!(asset.clips[0], read(plain.as_bytes(), "csv").clips[0]);
    }
}

#[test]
fn a_layout_of_robots_is_refused_for_a_character_that_is_none() {
    let walk = crate::made_walk::take("walk.bvh");
    let saved = |extension: &str, layout: &str| {
        let robot = RobotOptions { layout: layout.into(), ..RobotOptions::default() };
        let options = ExportOptions { stem: "walk".into(), robot, ..ExportOptions::default() };
        save(std::slice::from_ref(&walk), Format::of(extension).unwrap(), &options).map_err(|e| e.to_string())
    };
    for layout in ROBOT_LAYOUTS {
        let error = saved(layout.extension, layout.name).unwrap_err();
        let expected =
            format!("the layout `{}` holds motions of robots, and the character `walk` is none", layout.name);
        assert!(error.starts_with(&expected), "{error}");
    }
    assert!(saved("npz", "").is_ok() && saved("csv", "none").is_ok() && saved("glb", "mjlab").is_ok());
}
