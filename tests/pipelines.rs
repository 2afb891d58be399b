//! Every pipeline of the repository runs on the data of the repository, and does what its first line says.

use posemill::import::{ImportOptions, load};
use posemill::math::{Transform, Vec3, angle_between};
use posemill::model::{Motion, Role, Side};
use rayon::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The pipelines (not the scenes of `simulate`, not the reference, which names no files).
fn pipelines() -> Vec<PathBuf> {
    let files = fs::read_dir(root().join("pipelines")).unwrap().map(|e| e.unwrap().path());
    let mut found: Vec<PathBuf> = files
        .filter(|p| p.extension().is_some_and(|e| e == "toml") && !p.ends_with("reference.toml"))
        .filter(|p| fs::read_to_string(p).unwrap().contains("[input]"))
        .collect();
    found.sort();
    found
}

fn run(pipeline: &Path, output: &Path, more: &[&str]) -> std::process::Output {
    let program = env!("CARGO_BIN_EXE_posemill");
    let mut command = Command::new(program);
    command.arg("run").arg(pipeline).arg("--output").arg(output).args(more).output().unwrap()
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_below(&path));
        } else if matches!(path.extension().and_then(|e| e.to_str()), Some("glb" | "bvh")) {
            found.push(path);
        }
    }
    found.sort();
    found
}

#[test]
fn every_pipeline_runs_and_its_outputs_read_back() {
    pipelines().par_iter().for_each(|pipeline| {
        let out = tempfile::tempdir().unwrap();
        let result = run(pipeline, out.path(), &[]);
        let said = String::from_utf8_lossy(&result.stderr);
        assert!(result.status.success(), "{}: {said}", pipeline.display());
        let outputs = files_below(out.path());
        assert!(!outputs.is_empty(), "{} wrote nothing", pipeline.display());
        for file in outputs {
            let asset =
                load(&file, &ImportOptions::default()).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
            let motion = asset.motion(0).unwrap_or_else(|| panic!("{} holds no clip", file.display()));
            motion.check().unwrap();
            assert!(motion.clip.frames() > 1, "{}", file.display());
        }
    });
}

#[test]
fn the_demo_puts_every_take_on_both_characters_and_then_has_nothing_to_do() {
    let demo = root().join("pipelines/demo.toml");
    let out = tempfile::tempdir().unwrap();
    let first = run(&demo, out.path(), &[]);
    assert!(first.status.success());
    let said = String::from_utf8(first.stderr).unwrap();
    let page = format!("report: {}", out.path().join("report.html").display());
    assert_eq!(said.lines().next(), Some(&page[..]), "the first line names what to open");
    let takes = fs::read_dir(root().join("data")).unwrap().map(|e| e.unwrap().path());
    let takes: Vec<_> = takes.filter(|p| p.extension().is_some_and(|e| e == "bvh")).collect();
    assert!(takes.len() >= 4);
    for character in ["mannequin", "robot"] {
        for take in &takes {
            let file = out.path().join(character).join(take.file_stem().unwrap()).with_extension("glb");
            assert!(file.is_file(), "{}", file.display());
            let picture = file.with_extension("png");
            assert!(fs::read(&picture).unwrap().starts_with(b"\x89PNG"), "{}", picture.display());
        }
    }
    // The takes of the repository are good, and are not condemned.
    let report = fs::read(out.path().join("report.json")).unwrap();
    let report: serde_json::Value = serde_json::from_slice(&report).unwrap();
    let files = report["files"].as_array().unwrap();
    assert_eq!(files.len(), 2 * takes.len());
    assert!(files.iter().all(|file| file["verdict"]["word"] == "good"), "{files:?}");
    // One page has all results and is the only one that is named.
    assert!(fs::read_to_string(out.path().join("report.html")).unwrap().contains("robot/walk.report.html"));
    let said = String::from_utf8(run(&demo, out.path(), &[]).stderr).unwrap();
    let pages: Vec<&str> = said.lines().filter(|line| line.starts_with("report: ")).collect();
    assert_eq!(pages, [format!("report: {}", out.path().join("report.html").display())], "{said}");
    let before: Vec<_> =
        files_below(out.path()).iter().map(|f| fs::metadata(f).unwrap().modified().unwrap()).collect();
    let again = run(&demo, out.path(), &[]);
    assert!(again.status.success());
    let after: Vec<_> =
        files_below(out.path()).iter().map(|f| fs::metadata(f).unwrap().modified().unwrap()).collect();
    assert_eq!(before, after, "{}", String::from_utf8_lossy(&again.stderr));
}

#[test]
fn one_thread_and_two_write_the_same_bytes() {
    let demo = root().join("pipelines/demo.toml");
    let outputs = |jobs: &str| -> Vec<Vec<u8>> {
        let out = tempfile::tempdir().unwrap();
        assert!(run(&demo, out.path(), &["--jobs", jobs]).status.success());
        files_below(out.path()).iter().map(|f| fs::read(f).unwrap()).collect()
    };
    assert!(outputs("1") == outputs("2"));
}

/// The one motion that a pipeline of the repository makes.
fn made(name: &str) -> Motion {
    let out = tempfile::tempdir().unwrap();
    let result = run(&root().join("pipelines").join(name), out.path(), &[]);
    assert!(result.status.success(), "{}", String::from_utf8_lossy(&result.stderr));
    let files = files_below(out.path());
    let [file] = files.as_slice() else { panic!("{files:?}") };
    load(file, &ImportOptions::default()).unwrap().motion(0).unwrap()
}

/// A role's joint in every frame, with the time since the first.
fn path(motion: &Motion, role: Role) -> Vec<(f64, Transform)> {
    let joint = motion.character.rig.joint(role).unwrap();
    let at = |f| *motion.model_pose(f).joint(joint);
    (0..motion.clip.frames()).map(|f| (motion.clip.time(f) - motion.clip.start, at(f))).collect()
}

#[test]
fn the_hand_of_the_reach_is_where_its_target_is_and_the_feet_stay() {
    let motion = made("reach.toml");
    let angle = |t: f64| std::f64::consts::TAU * t / 3.0;
    let target = |t: f64| Vec3::new(-0.15 + 0.25 * angle(t).sin(), 1.1 + 0.18 * (2.0 * angle(t)).sin(), 0.42);
    for (time, hand) in path(&motion, Role::Hand(Side::Right)).into_iter().filter(|(t, _)| *t >= 0.5) {
        // Within the tolerance of the stage, and what straight lines between the rows of the file leave.
        let miss = (hand.translation - target(time)).norm();
        assert!(miss < 2e-3, "{miss} m after {time} s");
    }
    for side in Side::BOTH {
        let places: Vec<Vec3> =
            path(&motion, Role::Foot(side)).into_iter().map(|(_, at)| at.translation).collect();
        let moved = places.iter().map(|p| (p - places[0]).norm()).fold(0.0, f64::max);
        assert!(moved < 0.02, "{side:?}: {moved} m");
    }
}

#[test]
fn the_head_looks_at_what_it_passes() {
    let motion = made("look_at.toml");
    let rest = motion.character.reference_pose();
    let ahead = rest.joint(motion.character.rig.joint(Role::Head).unwrap()).rotation.inverse() * Vec3::z();
    let thing = Vec3::new(0.7, 1.5, 2.5);
    let seen: Vec<f64> = path(&motion, Role::Head)
        .into_iter()
        .filter(|(time, _)| (0.8..1.4).contains(time))
        .map(|(_, head)| angle_between(&head.vector(&ahead), &(thing - head.translation)))
        .collect();
    let worst = seen.iter().copied().fold(0.0, f64::max);
    assert!(seen.len() > 60 && worst < 0.0101, "{worst} rad over {} frames", seen.len());
}
