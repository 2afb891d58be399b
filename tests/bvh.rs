//! BVH in and out: real files against Blender's joint positions, damaged files, and the laws of reading and
//! writing.

use posemill::import::BvhError;
use posemill::import::bvh::{BvhOptions, Positions, RawBvh, read};
use posemill::model::{JointId, ModelPose};
use std::fs;
use std::path::{Path, PathBuf};

/// The folder of real data, where there is one.
fn data() -> Option<PathBuf> {
    let folder =
        std::env::var_os("POSEMILL_DATA").map_or_else(|| PathBuf::from("../shared/data"), PathBuf::from);
    if folder.is_dir() {
        return Some(folder);
    }
    println!("skipped: no real data at {}", folder.display());
    None
}

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

fn replace() -> BvhOptions {
    BvhOptions { positions: Some(Positions::Replace) }
}

/// Every promise of the normal form but the units.
fn check(raw: &RawBvh) {
    use posemill::model::{Character, Motion, Rig};
    let rig = Rig::new(raw.skeleton.clone(), []);
    let character = Character { name: String::new(), rig, bind: None, meshes: Vec::new(), document: None };
    Motion { character: character.into(), clip: raw.clip.clone() }.check().unwrap();
}

#[test]
fn every_real_file_loads_and_keeps_the_promises() {
    let Some(data) = data() else { return };
    let all = files(&data.join("bvh"), "bvh");
    assert!(all.len() >= 16);
    for path in all {
        let raw = read(&fs::read(&path).unwrap(), &BvhOptions::default()).unwrap();
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
        let result = read(&fs::read(&path).unwrap(), &BvhOptions::default());
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
    assert_eq!(read(&utf16, &BvhOptions::default()), Err(BvhError::Utf16));
}
