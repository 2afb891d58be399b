//! BVH in and out: real files against Blender's joint positions, damaged files, and the laws of reading and
//! writing.

mod development_data;

use development_data::data;
use posemill::export::bvh as export;
use posemill::export::bvh::{Decimals, RotationOrder};
use posemill::import::BvhError;
use posemill::import::bvh::{BvhReadOptions, Positions, RawBvh, read};
use posemill::model::{Character, JointId, ModelPose, Motion, Rig};
use proptest::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};

fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn replace() -> BvhReadOptions {
    BvhReadOptions { positions: Some(Positions::Replace) }
}

fn motion(raw: &RawBvh) -> Motion {
    let rig = Rig::new(raw.skeleton.clone(), []);
    let character = Character::new(String::new(), rig);
    Motion::new(character.into(), raw.clip.clone())
}

/// Every promise of the normal form but the units.
fn check(raw: &RawBvh) {
    motion(raw).check().unwrap();
}

/// Asserts that two readings are one motion, to `angle` radians and `length` units.
fn assert_same(a: &RawBvh, b: &RawBvh, angle: f64, length: f64) {
    assert_eq!(a.skeleton.len(), b.skeleton.len());
    for (a, b) in a.skeleton.joints().iter().zip(b.skeleton.joints()) {
        assert_eq!((&a.name, &a.file_name, a.parent), (&b.name, &b.file_name, b.parent));
        assert!((a.rest.translation - b.rest.translation).amax() <= length);
        assert!((a.tip.unwrap_or_default() - b.tip.unwrap_or_default()).amax() <= length);
    }
    assert_eq!((a.clip.frames(), a.clip.translated()), (b.clip.frames(), b.clip.translated()));
    assert!((a.clip.sample_rate / b.clip.sample_rate - 1.0).abs() < 1e-14);
    for (i, (a, b)) in a.clip.all_rotations().iter().zip(&b.clip.all_rotations()).enumerate() {
        assert!(a.angle_to(b) <= angle, "rotation {i}: {} rad off", a.angle_to(b));
    }
    for (a, b) in a.clip.all_translations().iter().zip(b.clip.all_translations()) {
        assert!((a - b).amax() <= length);
    }
}

fn raw_units(decimals: Decimals) -> export::BvhWriteOptions {
    export::BvhWriteOptions { decimals, metres_per_unit: 1.0, ..Default::default() }
}

#[test]
fn every_real_file_loads_and_keeps_the_promises() {
    let Some(data) = data() else { return };
    let all = files(&data.join("bvh"), "bvh");
    assert!(all.len() >= 16);
    for path in all {
        let raw = read(&fs::read(&path).unwrap(), &BvhReadOptions::default()).unwrap();
        check(&raw);
        assert!(raw.clip.frames() > 0);
        let makehuman = path.to_str().unwrap().contains("makehuman");
        let expected = if makehuman { Positions::Add } else { Positions::Replace };
        assert_eq!(raw.positions, expected, "{}", path.display());
        println!(
            "{}: {} joints, {} frames, {:?}",
            path.display(),
            raw.skeleton.len(),
            raw.clip.frames(),
            raw.warnings
        );
    }
}

#[test]
fn joints_stand_where_blender_puts_them() {
    let Some(data) = data() else { return };
    let all = files(&data.join("bvh"), "bvh");
    let (mut compared, mut ends_compared) = (0, 0);
    for reference in files(&data.join("reference"), "json") {
        if !reference.to_str().unwrap().ends_with(".bvh.json") {
            continue;
        }
        let json: serde_json::Value = serde_json::from_slice(&fs::read(&reference).unwrap()).unwrap();
        let name = json["source"]["file"].as_str().unwrap();
        let path = all.iter().find(|p| p.file_name().unwrap() == name).unwrap();
        let raw = read(&fs::read(path).unwrap(), &replace()).unwrap();
        let joints = json["joints"].as_array().unwrap();
        assert_eq!(joints.len(), raw.skeleton.len(), "{name}");
        for (joint, other) in raw.skeleton.joints().iter().zip(joints) {
            assert_eq!(joint.file_name.as_deref(), other["name"].as_str());
            assert_eq!(joint.parent.map_or(-1, |p| p.index() as i64), other["parent"].as_i64().unwrap());
        }
        let time = json["frame_time"].as_f64().unwrap();
        assert!((raw.clip.sample_rate * time - 1.0).abs() < 1e-12, "{name}");
        for sample in json["samples"].as_array().unwrap() {
            let frame = sample["frame"].as_u64().unwrap() as usize;
            let pose = ModelPose::of(&raw.skeleton, &raw.clip.pose(&raw.skeleton, frame));
            let point = |v: &serde_json::Value| [0, 1, 2].map(|i| v[i].as_f64().unwrap());
            let expected: Vec<_> = sample["positions"].as_array().unwrap().iter().map(point).collect();
            let extent = |axis: usize| {
                let values = || expected.iter().map(|p| p[axis]);
                values().fold(f64::MIN, f64::max) - values().fold(f64::MAX, f64::min)
            };
            let size = extent(0).max(extent(1)).max(extent(2)).max(1.0);
            for (id, expected) in raw.skeleton.ids().zip(&expected) {
                let found = pose.position(id);
                let off = (0..3).map(|i| (found[i] - expected[i]).abs()).fold(0.0, f64::max);
                assert!(off < 2e-5 * size, "{name}, frame {frame}, joint {}: off by {off}", id.index());
                compared += 1;
            }
            let ends = sample.get("end_sites").and_then(|e| e.as_object());
            for (index, end) in ends.into_iter().flatten() {
                let id = JointId::new(index.parse().unwrap());
                let tip = raw.skeleton.joint(id).tip.unwrap_or_default();
                let (found, expected) = (pose.joint(id).point(&tip), point(end));
                let off = (0..3).map(|i| (found[i] - expected[i]).abs()).fold(0.0, f64::max);
                assert!(off < 2e-5 * size, "{name}, frame {frame}, end of joint {index}: off by {off}");
                ends_compared += 1;
            }
        }
    }
    assert!(compared > 1200 && ends_compared > 200, "{compared} joints and {ends_compared} ends compared");
}

#[test]
fn damaged_files_give_errors_or_warnings_and_load_where_blender_loads_them() {
    let Some(data) = data() else { return };
    let verdicts = fs::read(data.join("reference/blender-verdicts-bvh-edited.json")).unwrap();
    let verdicts: serde_json::Value = serde_json::from_slice(&verdicts).unwrap();
    let mut faults = Vec::new();
    for path in files(&data.join("corpus/bvh-edited"), "bvh") {
        let name = path.file_name().unwrap().to_str().unwrap();
        let verdict = verdicts["files"][name].as_str().unwrap();
        let result = read(&fs::read(&path).unwrap(), &BvhReadOptions::default());
        match &result {
            Ok(raw) => check(raw),
            Err(error) if verdict.starts_with("accepted") => faults.push(format!("{name}: {error}")),
            Err(_) => {}
        }
        let said = match &result {
            Ok(raw) => {
                format!("{} joints, {} frames, {:?}", raw.skeleton.len(), raw.clip.frames(), raw.warnings)
            }
            Err(error) => error.to_string(),
        };
        println!("{name} [{verdict}]\n    {said}");
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    let utf16 = fs::read(data.join("corpus/bvh-edited/utf16.bvh")).unwrap();
    assert_eq!(read(&utf16, &BvhReadOptions::default()), Err(BvhError::Utf16));
}

#[test]
fn real_files_survive_writing_and_reading() {
    let Some(data) = data() else { return };
    for path in files(&data.join("bvh"), "bvh") {
        let first = read(&fs::read(&path).unwrap(), &replace()).unwrap();
        let text = export::write(&motion(&first), &raw_units(Decimals::Fixed(6)));
        let second = read(&text, &replace()).unwrap();
        assert!(second.warnings.is_empty(), "{:?}", second.warnings);
        // Three angles of half a millionth of a degree.
        assert_same(&first, &second, 3.0 * 0.5e-6f64.to_radians(), 0.51e-6);
        let again = export::write(&motion(&second), &raw_units(Decimals::Fixed(6)));
        assert!(text == again, "{} is written differently after it was read", path.display());
        let exact = export::write(&motion(&first), &raw_units(Decimals::Shortest));
        assert_same(&first, &read(&exact, &replace()).unwrap(), 1e-7, 0.0);
    }
}

#[test]
fn a_file_cut_anywhere_gives_an_answer() {
    let text = export::write(&small_motion(), &export::BvhWriteOptions::default());
    let whole = read(&text, &replace()).unwrap();
    assert_eq!(whole.clip.frames(), 3);
    let rows = text.windows(10).position(|w| w == b"Frame Time").unwrap();
    for cut in 0..text.len() {
        let result = read(&text[..cut], &replace());
        if let Ok(raw) = &result {
            check(raw);
        }
        assert!(result.is_ok() || cut < rows + 12, "cut at {cut}: {result:?}");
    }
}

#[test]
fn a_file_with_one_odd_byte_gives_an_answer() {
    let text = export::write(&small_motion(), &export::BvhWriteOptions::default());
    for at in 0..text.len() {
        for odd in [b'{', b'}', b'\n', b'\r', b' ', b'-', b'9', b'e', b'.', b',', b'#', 0, 0xff] {
            let mut odd_text = text.clone();
            odd_text[at] = odd;
            if let Ok(raw) = read(&odd_text, &BvhReadOptions::default()) {
                check(&raw);
            }
        }
    }
}

/// A file with this hierarchy, these rows and three channels.
fn three(hierarchy: &str, rows: &str) -> String {
    format!("HIERARCHY\n{hierarchy}\nMOTION\nFrames: 2\nFrame Time: 0.01\n{rows}")
}

const ROOT: &str = "ROOT a { OFFSET 0 1 0 CHANNELS 3 Zrotation Xrotation Yrotation }";

#[test]
fn odd_texts_with_one_reading_are_read_with_a_warning() {
    let root =
        |inside: &str| format!("ROOT a {{ OFFSET 0 1 0 CHANNELS 3 Zrotation Xrotation Yrotation {inside} }}");
    let good = "1 2 3\n4 5 6\n";
    let cases = [
        (three(ROOT, good), ""),
        (three(ROOT, "1 2 3\r4 5 6"), ""),
        (three(ROOT, "\n\n1 2 3\n\n \t4 5 6  \n\n"), ""),
        (three(ROOT, "1 2 3 4 5 6"), "bvh-rows-wrapped"),
        (three(ROOT, "1 2\n3\n4\n5 6"), "bvh-rows-wrapped"),
        (three(ROOT, "1 2 3 9\n4 5 6"), "bvh-row-long"),
        (three(ROOT, "1 2 3\n4 5 6\n7 8"), "bvh-row-cut"),
        (three(ROOT, "1 2 3\n4 5 6\n7 -"), "bvh-row-cut"),
        (three(ROOT, "1,0 2,0 3,0\n4 5 6"), "bvh-decimal-comma"),
        (three(ROOT, "1, 2, 3,\n4, 5, 6"), "bvh-separator"),
        (three(ROOT, "# by hand\n1 2 3\n4 5 6"), "bvh-comment"),
        (three(ROOT, "1 2 3\n4 5 6\nthe end"), "bvh-text-after-rows"),
        (three("ROOT {OFFSET 0 1 0 CHANNELS 3 Zrotation Xrotation Yrotation}", good), "bvh-name-missing"),
        (
            three("// by hand\nROOT a{OFFSET 0 1 0 CHANNELS 3 Zrotation Xrotation Yrotation}", good),
            "bvh-comment",
        ),
        (three("ROOT a { CHANNELS 3 Zrotation Xrotation Yrotation }", good), "bvh-offset-missing"),
        (three(&root("End Site { OFFSET 0 1 0 } End Site { OFFSET 0 2 0 }"), good), "bvh-end-site-repeated"),
        (three(&root("JOINT a { OFFSET 0 1 0 CHANNELS 0 }"), good), "bvh-name-repeated"),
        (three(&format!("{ROOT} ROOT b {{ OFFSET 0 1 0 CHANNELS 0 }}"), good), "bvh-several-roots"),
        (three(ROOT, good).replace("Frames: 2\n", ""), "bvh-frames"),
        (three(ROOT, good).replace("2\nFrame", "3\nFrame"), "bvh-row-count"),
    ];
    let exact = read(three(ROOT, good).as_bytes(), &BvhReadOptions::default()).unwrap();
    for (text, code) in cases {
        let raw = read(text.as_bytes(), &BvhReadOptions::default()).unwrap_or_else(|e| panic!("{text}\n{e}"));
        check(&raw);
        let codes: Vec<_> = raw.warnings.iter().map(|w| w.code).collect();
        assert_eq!(codes, if code.is_empty() { vec![] } else { vec![code] }, "{text}");
        assert_eq!(raw.clip.frames(), 2, "{text}");
        let root = usize::from(code == "bvh-several-roots");
        for frame in 0..2 {
            assert_eq!(raw.clip.rotations(frame)[root], exact.clip.rotations(frame)[0], "{text}");
        }
    }
}

#[test]
fn texts_without_a_certain_reading_are_refused_with_place_and_hint() {
    let rows = "1 2 3\n4 5 6\n";
    let cases = [
        (String::from(" \r\n"), "the file is empty"),
        (
            String::from("glTF"),
            "line 1, column 1: expected `HIERARCHY`, found `glTF`\n  hint: check that this is a BVH file",
        ),
        (
            three(ROOT, "1 2 3\n4 5\n6 7 8\n"),
            "line 7, column 1: a row of 2 numbers, the hierarchy has 3 channels",
        ),
        (three(ROOT, "1 2 3\n4 5 x6\n7 8 9\n"), "line 7, column 5: `x6` is not a number"),
        (
            three("ROOT a { OFFSET 0 1 }", rows),
            "line 2, column 21: expected a number, found `}`\n  hint: write three numbers",
        ),
        (three("ROOT a { OFFSET 0 1 inf }", rows), "line 2, column 21: the offset `inf` is not finite"),
        (three("ROOT a { CHANNELS 1 Spin }", rows), "line 2, column 21: unknown channel `Spin`"),
        (
            three("ROOT a\nOFFSET 0 1 0", rows),
            "line 3, column 1: expected `{`, found `OFFSET`\n  hint: put a `{` there",
        ),
        (
            three("", rows),
            "line 3, column 1: expected `ROOT`, found `MOTION`\n  hint: a BVH file needs at least one joint",
        ),
        (three("ROOT a { End Place { } }", rows), "line 2, column 14: expected `Site`, found `Place`"),
        (
            three("ROOT a { } }", rows).replace("MOTION", "MOTIONS"),
            "line 3, column 1: expected a joint, a channel list",
        ),
    ];
    for (text, expected) in cases {
        let error = read(text.as_bytes(), &BvhReadOptions::default()).expect_err(&text).to_string();
        assert!(error.starts_with(expected), "{text}\n{error}\n{expected}");
        assert!(error.lines().count() == 2, "one sentence and one hint: {error}");
    }
    let many = "ROOT a {}".repeat(posemill::import::bvh::MAX_JOINTS + 1);
    let error = read(three(&many, rows).as_bytes(), &BvhReadOptions::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "50001 joints, at most 50000 can be read (`MAX_JOINTS`)\n  hint: split the file"
    );
}

#[test]
fn joints_without_channels_cannot_blow_up_the_memory() {
    let joints = "JOINT b {}".repeat(40_000);
    let hierarchy = format!("ROOT a {{ CHANNELS 1 Xrotation {joints} }}");
    let error =
        read(three(&hierarchy, &"0\n".repeat(20_000)).as_bytes(), &BvhReadOptions::default()).unwrap_err();
    assert!(error.to_string().contains("`input.memory`"), "{error}");
}

fn small_motion() -> Motion {
    let text = b"HIERARCHY\nROOT Hips\n{\nOFFSET 0 90 0\nCHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation \
        Yrotation\nJOINT Left Leg\n{\nOFFSET 10 -5 0\nCHANNELS 3 Zrotation Xrotation Yrotation\nEnd Site\n{\n\
        OFFSET 0 -40 0\n}\n}\nJOINT Chest\n{\nOFFSET 0 20 0\nCHANNELS 1 Xrotation\n}\n}\nMOTION\nFrames: 3\n\
        Frame Time: 0.01\n1 2 3 10 20 30 -40 50 60 70\n1 2 3 11 21 31 -41 51 61 71\n1 2 3 12 22 32 -42 52 62 72\n";
    motion(&read(text, &replace()).unwrap())
}

#[test]
fn every_value_is_what_the_standard_library_reads() {
    let Some(data) = data() else { return };
    for path in files(&data.join("bvh"), "bvh") {
        let bytes = fs::read(&path).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        let rows = text.split_once("MOTION").unwrap().1;
        let words: Vec<&str> =
            rows.lines().filter(|l| !l.contains(':')).flat_map(str::split_whitespace).collect();
        // All numbers of the file as the positions of a joint, three on each line.
        let mut column =
            String::from("HIERARCHY ROOT a { OFFSET 0 0 0 CHANNELS 3 Xposition Yposition Zposition }\n");
        column.push_str("MOTION\nFrames: 0\nFrame Time: 0.01\n");
        for three in words.chunks_exact(3) {
            column.push_str(&three.join(" "));
            column.push('\n');
        }
        let raw = read(column.as_bytes(), &replace()).unwrap();
        let found = raw.clip.all_translations().iter().flat_map(|v| v.iter().copied());
        let mut compared = 0;
        for (found, word) in found.zip(&words) {
            assert_eq!(found.to_bits(), word.parse::<f64>().unwrap().to_bits(), "{word}");
            compared += 1;
        }
        assert_eq!(compared, words.len() / 3 * 3);
    }
}

/// A hierarchy text with its rows as numbers: what a random file is made of.
#[derive(Clone, Debug)]
struct Sample {
    parents: Vec<usize>,
    channels: Vec<Vec<usize>>,
    rows: Vec<Vec<i64>>,
    /// 0: one row on each line; 1: one number on each line; 2: CR line ends; 3: all on one line.
    layout: u8,
}

const CHANNELS: [&str; 6] = ["Xrotation", "Yrotation", "Zrotation", "Xposition", "Yposition", "Zposition"];

fn sample() -> impl Strategy<Value = Sample> {
    (1usize..9, 0usize..5, 0u8..4)
        .prop_flat_map(|(joints, frames, layout)| {
            let parents: Vec<_> = (1..joints).map(|i| 0..i).collect();
            let channels = prop::sample::subsequence((0..6usize).collect::<Vec<_>>(), 0..=6).prop_shuffle();
            let channels = prop::collection::vec(channels, joints)
                .prop_filter("some channel", |c| c.iter().any(|c| !c.is_empty()));
            (parents, channels).prop_flat_map(move |(parents, channels)| {
                let n: usize = channels.iter().map(Vec::len).sum();
                let rows =
                    prop::collection::vec(prop::collection::vec(-400_000_000i64..400_000_000, n), frames);
                (Just(parents), Just(channels), rows, Just(layout))
            })
        })
        .prop_map(|(parents, channels, rows, layout)| Sample { parents, channels, rows, layout })
}

impl Sample {
    /// Joints in depth-first order, each with its depth.
    fn order(&self) -> Vec<(usize, usize)> {
        let mut order = Vec::new();
        let mut stack = vec![(0, 0)];
        while let Some((joint, depth)) = stack.pop() {
            order.push((joint, depth));
            let children = (1..=self.parents.len()).rev().filter(|&c| self.parents[c - 1] == joint);
            stack.extend(children.map(|c| (c, depth + 1)));
        }
        order
    }

    fn text(&self) -> String {
        let order = self.order();
        let mut text = String::from("hierarchy\n");
        for (n, &(joint, depth)) in order.iter().enumerate() {
            let keyword = if depth == 0 { "ROOT" } else { "joint" };
            let channels: Vec<_> = self.channels[joint].iter().map(|&c| CHANNELS[c]).collect();
            let (list, count) = (channels.join(" "), channels.len());
            text += &format!("{keyword} j {joint} {{ offset 0 {joint}.5 -1e0\nchannels {count} {list}\n");
            let next = order.get(n + 1).map_or(0, |next| next.1);
            for _ in next..=depth {
                text.push('}');
            }
            if next > depth {
                text.push('\n');
            }
        }
        text += &format!("\nMOTION\nFrames:{}\nFrame Time:.02\n", self.rows.len());
        for row in &self.rows {
            let numbers: Vec<String> = row.iter().map(|&v| format!("{:.6}", v as f64 / 1e6)).collect();
            text += &numbers.join(if self.layout == 1 { "\n" } else { "\t " });
            text.push(if self.layout == 3 { ' ' } else { '\n' });
        }
        if self.layout == 2 { text.replace('\n', "\r") } else { text }
    }
}

proptest! {
    #[test]
    fn random_files_are_read_as_the_product_of_their_channels(sample in sample()) {
        use posemill::math::{Quat, Vec3, exp};
        let raw = read(sample.text().as_bytes(), &replace()).unwrap();
        check(&raw);
        prop_assert_eq!(raw.clip.frames(), sample.rows.len());
        for (frame, row) in sample.rows.iter().enumerate() {
            let mut column = 0;
            for (id, (joint, _)) in raw.skeleton.ids().zip(sample.order()) {
                let (mut q, mut place) = (Quat::identity(), Vec3::new(0.0, joint as f64 + 0.5, -1.0));
                if sample.channels[joint].iter().any(|&c| c >= 3) {
                    place = Vec3::zeros();
                }
                for &channel in &sample.channels[joint] {
                    let value = row[column] as f64 / 1e6;
                    column += 1;
                    let mut v = Vec3::zeros();
                    v[channel % 3] = 1.0;
                    if channel < 3 { q *= exp(&(v * value.to_radians())) } else { place[channel - 3] = value }
                }
                let local = raw.clip.local(&raw.skeleton, frame, id);
                prop_assert!(local.rotation.angle_to(&q) < 1e-12);
                prop_assert_eq!(local.translation, place);
            }
        }
    }

    #[test]
    fn what_is_written_reads_back_in_any_rotation_order(sample in sample(), order in 0usize..6) {
        let first = read(sample.text().as_bytes(), &replace()).unwrap();
        let options = export::BvhWriteOptions { order: RotationOrder::ALL[order], ..raw_units(Decimals::Fixed(6)) };
        let text = export::write(&motion(&first), &options);
        let second = read(&text, &replace()).unwrap();
        // The writer gives every root position channels: read again, both have them.
        let text = export::write(&motion(&second), &options);
        let third = read(&text, &replace()).unwrap();
        assert_same(&second, &third, 1e-7, 1e-6);
        for frame in 0..first.clip.frames() {
            for id in first.skeleton.ids() {
                let a = first.clip.local(&first.skeleton, frame, id);
                let b = second.clip.local(&second.skeleton, frame, id);
                prop_assert!(a.rotation.angle_to(&b.rotation) < 5e-8);
                prop_assert!((a.translation - b.translation).amax() < 1e-6);
            }
        }
    }

    #[test]
    fn skeletons_with_rest_rotations_keep_their_joint_positions(
        turns in prop::collection::vec(prop::array::uniform3(-3.0..3.0f64), 6), parents in (0..1usize, 0..2usize)
    ) {
        use posemill::math::{Transform, Vec3, exp};
        use posemill::model::{Clip, Joint, Skeleton};
        let turn = |i: usize| exp(&Vec3::from(turns[i]));
        let rest = |i: usize| Transform::new(turn(i), Vec3::new(0.1, 0.4, -0.2 * i as f64));
        let joints = vec![
            Joint::new("a", None, rest(0)),
            Joint::new("b", Some(JointId::new(parents.0)), rest(1)),
            Joint { tip: Some(Vec3::new(0.0, 0.3, 0.1)), ..Joint::new("c", Some(JointId::new(parents.1)), rest(2)) },
        ];
        let skeleton = Skeleton::new(joints).unwrap();
        let rotations = vec![turn(3), turn(4), turn(5)];
        let clip = Clip::new("", 50.0, 3, rotations, vec![JointId::new(2)], vec![Vec3::new(0.5, 0.1, 0.0)]);
        let (rig, name) = (Rig::new(skeleton.clone(), []), String::new());
        let character = Character::new(name, rig);
        let text = export::write(&Motion::new(character.into(), clip.clone()), &Default::default());
        let raw = read(&text, &replace()).unwrap();
        let expected = ModelPose::of(&skeleton, &clip.pose(&skeleton, 0));
        let found = ModelPose::of(&raw.skeleton, &raw.clip.pose(&raw.skeleton, 0));
        let (rest_expected, rest_found) = (skeleton.rest_model_pose(), raw.skeleton.rest_model_pose());
        for joint in skeleton.joints() {
            let (a, b) = (skeleton.find(&joint.name).unwrap(), raw.skeleton.find(&joint.name).unwrap());
            prop_assert!((expected.position(a) - found.position(b) * 0.01).amax() < 1e-7);
            prop_assert!((rest_expected.position(a) - rest_found.position(b) * 0.01).amax() < 1e-7);
            let tips = (joint.tip.unwrap_or_default(), raw.skeleton.joint(b).tip.unwrap_or_default());
            if joint.name == "c" {
                let tips = (expected.joint(a).point(&tips.0), found.joint(b).point(&tips.1) * 0.01);
                prop_assert!((tips.0 - tips.1).amax() < 1e-7);
            }
        }
    }
}

#[test]
fn any_number_of_threads_reads_the_same_clip() {
    let mut text =
        String::from("HIERARCHY ROOT a { OFFSET 0 0 0 CHANNELS 3 Zrotation Xrotation Yrotation }\n");
    text.push_str("MOTION\nFrames: 60000\nFrame Time: 0.01\n");
    for i in 0..60_000 {
        // Half turns and whole ones, so that quaternions change hemispheres and stand at right angles.
        text += &format!("{}.25 {} {}\n", i * 37 % 720 - 360, i % 5 * 180, i % 7 * 90);
    }
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| read(text.as_bytes(), &BvhReadOptions::default()).unwrap())
    };
    let one = with(1);
    check(&one);
    assert_eq!(one.clip.frames(), 60_000);
    assert!(one == with(2) && one == with(3));
    // The careful reader, which one decimal comma calls for, agrees but for ties between hemispheres.
    let odd = read(text.replacen(".25", ",25", 1).as_bytes(), &BvhReadOptions::default()).unwrap();
    assert!(odd.warnings.has("bvh-decimal-comma"));
    for (a, b) in one.clip.all_rotations().iter().zip(&odd.clip.all_rotations()) {
        assert!((a.coords.dot(&b.coords).abs() - 1.0).abs() < 1e-14);
    }
}

#[test]
fn normalisation_turns_rest_and_rows_and_scales_lengths() {
    use posemill::import::bvh::Normalization;
    use posemill::math::{Vec3, exp};
    for text in ["3 Xposition Yposition Zposition", "3 Zrotation Xrotation Yrotation"] {
        let text = format!(
            "HIERARCHY ROOT a {{ OFFSET 0 0 90 CHANNELS {text} JOINT b {{ OFFSET 0 10 0 CHANNELS 1 Xrotation \
             End Site {{ OFFSET 0 5 0 }} }} }}\nMOTION\nFrames: 1\nFrame Time: 0.01\n1 2 3 90\n"
        );
        let raw = read(text.as_bytes(), &replace()).unwrap();
        let world_from_file = exp(&Vec3::new(-std::f64::consts::FRAC_PI_2, 0.0, 0.0));
        let rest_from_file = exp(&Vec3::new(0.0, 0.3, 0.0));
        let normalization = Normalization { metres_per_unit: 0.01, rest_from_file, world_from_file };
        let normal = raw.clone().normalize(&normalization);
        check(&normal);
        let before = ModelPose::of(&raw.skeleton, &raw.clip.pose(&raw.skeleton, 0));
        let after = ModelPose::of(&normal.skeleton, &normal.clip.pose(&normal.skeleton, 0));
        let (rest_before, rest_after) = (raw.skeleton.rest_model_pose(), normal.skeleton.rest_model_pose());
        for id in raw.skeleton.ids() {
            let expected = world_from_file * before.position(id) * 0.01;
            assert!((after.position(id) - expected).amax() < 1e-14, "{text}");
            let expected = rest_from_file * rest_before.position(id) * 0.01;
            assert!((rest_after.position(id) - expected).amax() < 1e-14);
        }
        assert!((normal.skeleton.joints()[1].tip.unwrap() - Vec3::new(0.0, 0.05, 0.0)).amax() < 1e-15);
    }
}

#[test]
fn bvh_anim_values_come_and_go() {
    let Some(data) = data() else { return };
    let bytes = fs::read(data.join("bvh/cmu/jumping_jacks.bvh")).unwrap();
    let ours = read(&bytes, &BvhReadOptions::default()).unwrap();
    let theirs = RawBvh::try_from(&bvh_anim::from_bytes(&bytes).unwrap()).unwrap();
    // Their frame time is cut to whole nanoseconds and their numbers are single precision.
    assert_eq!(ours.skeleton.len(), theirs.skeleton.len());
    for (a, b) in ours.clip.all_rotations().iter().zip(&theirs.clip.all_rotations()) {
        assert!(a.angle_to(b) < 1e-6);
    }
    let back = bvh_anim::Bvh::try_from(&motion(&ours)).unwrap();
    assert_eq!(back.frames().count(), 125);
    assert_eq!(back.joints().count(), ours.skeleton.len());
}

#[test]
fn bvh_anim_refuses_a_root_alone() {
    let text = "ROOT a { OFFSET 0 0 0 CHANNELS 1 Xrotation } MOTION\nFrames: 1\nFrame Time: 0.1\n0\n";
    let alone = read(text.as_bytes(), &BvhReadOptions::default()).unwrap();
    let error = bvh_anim::Bvh::try_from(&motion(&alone)).unwrap_err().to_string();
    assert_eq!(error, "the root `a` has no joints below it, which `bvh_anim` cannot hold");
}

#[test]
fn milliseconds_written_for_seconds_are_noticed() {
    let rate = |time: &str| {
        let text = format!(
            "ROOT a {{ OFFSET 0 0 0 CHANNELS 1 Xrotation }} MOTION\nFrames: 2\nFrame Time: {time}\n0\n1\n"
        );
        let bvh = read(text.as_bytes(), &BvhReadOptions::default()).unwrap();
        (bvh.clip.sample_rate, bvh.warnings.has("bvh-milliseconds"))
    };
    for (milliseconds, seconds) in
        [("33.333", "0.033333"), ("8.3333", "0.0083333"), ("100", "0.1"), ("2", "0.002")]
    {
        let (told, meant) = (rate(milliseconds), rate(seconds));
        assert!(told.1 && !meant.1, "{milliseconds}");
        assert!((told.0 / meant.0 - 1.0).abs() < 1e-9, "{milliseconds}: {} Hz", told.0);
    }
    // A pose a second is a list of poses; slower than ten a second nothing is captured.
    assert_eq!(rate("1"), (1.0, false));
    assert_eq!(rate("110"), (1.0 / 110.0, false));
    // What nobody writes for milliseconds is the rate itself.
    for hertz in ["24", "30", "60", "120"] {
        assert_eq!(rate(hertz), (hertz.parse().unwrap(), false), "{hertz}");
    }
}

/// Feet below a root bone move through the world: where they happen to be nearer to zero than to their OFFSETs says nothing about
/// what the channels mean.
#[test]
fn feet_that_walk_away_do_not_decide_what_position_channels_mean() {
    let joint = |name: &str, offset: &str| {
        format!(
            "JOINT {name}\n{{\nOFFSET {offset}\nCHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation\n\
             End Site\n{{\nOFFSET 0 10 0\n}}\n}}\n"
        )
    };
    let text = |rows: &[[f64; 3]]| {
        let row = |[body, foot, other]: &[f64; 3]| {
            format!("0 0 0 0 0 0 0 {body} 0 0 0 0 {foot} 5 0 0 0 0 {other} 5 0 0 0 0\n")
        };
        format!(
            "HIERARCHY\nROOT Root\n{{\nOFFSET 0 0 0\nCHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation\n\
             {}{}{}}}\nMOTION\nFrames: {}\nFrame Time: 0.033333\n{}",
            joint("Body", "0 100 0"),
            joint("FootL", "30 5 0"),
            joint("FootR", "-30 5 0"),
            rows.len(),
            rows.iter().map(row).collect::<String>()
        )
    };
    let positions =
        |rows: &[[f64; 3]]| read(text(rows).as_bytes(), &BvhReadOptions::default()).unwrap().positions;
    assert_eq!(positions(&[[98.0, -40.0, 60.0], [101.0, -90.0, 20.0]]), Positions::Replace);
    assert_eq!(positions(&[[2.0, 1.0, 3.0], [-1.0, -2.0, 0.5]]), Positions::Add);
}
