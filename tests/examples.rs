//! The programs of `examples/` run and say what is so, and a pipeline used from Rust does to the byte what the command does.

use posemill::import::{ImportOptions, load};
use posemill::pipeline::{Pipeline, PlanError, RunError, save};
use std::path::Path;
use std::process::Command;

#[path = "../examples/ik.rs"]
#[expect(dead_code, reason = "its `main` is that of the example")]
mod ik;
#[path = "../examples/own_metric.rs"]
#[expect(dead_code, reason = "its `main` is that of the example")]
mod own_metric;
#[path = "../examples/own_stage.rs"]
#[expect(dead_code, reason = "its `main` is that of the example")]
mod own_stage;
#[path = "../examples/retarget.rs"]
#[expect(dead_code, reason = "its `main` is that of the example")]
mod retarget;
#[path = "../examples/simulate.rs"]
#[expect(dead_code, reason = "its `main` is that of the example")]
mod simulate;

/// Runs `posemill retarget` on the walk and the robot.
fn command(output: &Path, more: &[&str]) {
    let result = Command::new(env!("CARGO_BIN_EXE_posemill"))
        .args(["retarget", "data/walk.bvh", "--onto", "data/robot.glb", "-o"])
        .arg(output)
        .args(more)
        .output()
        .unwrap();
    assert!(result.status.success(), "{}", String::from_utf8_lossy(&result.stderr));
}

fn same(a: &Path, b: &Path) {
    assert!(std::fs::read(a).unwrap() == std::fs::read(b).unwrap(), "{} and {}", a.display(), b.display());
}

#[test]
fn the_standard_pipeline_writes_the_bytes_that_the_command_writes() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let pipeline = Pipeline::standard("data/robot.glb").unwrap();
    // Formats whose bytes depend on the name of the file would differ by that alone: both are called the same.
    for (side, of) in [("own", true), ("theirs", false)] {
        std::fs::create_dir(at(side)).unwrap();
        for name in ["walk.glb", "walk.gltf", "walk.bvh", "walk.npz"] {
            let output = at(side).join(name);
            match of {
                true => drop(pipeline.run("data/walk.bvh", &output).unwrap()),
                false => command(&output, &[]),
            }
        }
    }
    for name in ["walk.glb", "walk.gltf", "walk.bvh", "walk.npz"] {
        same(&at("own").join(name), &at("theirs").join(name));
    }
    let sets = ["stage.retarget.scale=1.0".to_owned()];
    let other = Pipeline::standard_with("data/robot.glb", &sets).unwrap();
    other.run("data/walk.bvh", at("other.npz")).unwrap();
    command(&at("set.npz"), &["--set", &sets[0]]);
    same(&at("other.npz"), &at("set.npz"));
    assert_ne!(std::fs::read(at("set.npz")).unwrap(), std::fs::read(at("own/walk.npz")).unwrap());
}

#[test]
fn a_motion_in_memory_becomes_what_a_file_becomes() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let pipeline = Pipeline::standard("data/robot.glb").unwrap();
    let (take, _) = pipeline.load("data/walk.bvh").unwrap();
    let before = take.clone();
    let (performed, report) = pipeline.apply(take).unwrap();
    performed.check().unwrap();
    assert!(report.warnings.is_empty());
    assert_eq!(pipeline.load("data/walk.bvh").unwrap().0, before);
    for name in ["walk.npz", "walk.bvh"] {
        assert!(save(std::slice::from_ref(&performed), at(name), &Default::default()).unwrap().is_empty());
        pipeline.run("data/walk.bvh", at("of_file").with_file_name(format!("file.{name}"))).unwrap();
        same(&at(name), &at(&format!("file.{name}")));
    }
}

#[test]
fn nothing_that_is_read_is_written_over_and_no_format_is_guessed() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for name in ["walk.bvh", "robot.glb"] {
        std::fs::copy(Path::new("data").join(name), at(name)).unwrap();
    }
    let before = std::fs::read(at("robot.glb")).unwrap();
    let pipeline = Pipeline::standard(at("robot.glb")).unwrap();
    for output in ["robot.glb", "walk.bvh"] {
        let refused = pipeline.run(at("walk.bvh"), at(output));
        assert!(matches!(refused, Err(RunError::Plan(PlanError::OverInput { .. }))), "{refused:?}");
    }
    let said = pipeline.run(at("walk.bvh"), at("walk.xyz")).unwrap_err().to_string();
    assert!(said.contains("has no extension of a format that can be written"), "{said}");
    assert_eq!(save(&[], at("walk.xyz"), &Default::default()).unwrap_err().to_string(), said);
    assert!(!at("walk.xyz").exists());
    assert_eq!(std::fs::read(at("robot.glb")).unwrap(), before);
}

#[test]
fn every_take_is_carried_over() {
    let out = tempfile::tempdir().unwrap();
    retarget::example(out.path()).unwrap();
    for take in ["walk", "jump", "squat", "turn", "wave"] {
        let asset = load(out.path().join(take).with_extension("glb"), &ImportOptions::default()).unwrap();
        let source = load(format!("data/{take}.bvh"), &ImportOptions::default()).unwrap();
        let longest = asset.clips.iter().map(|c| c.frames()).max();
        assert_eq!(longest, source.clips.first().map(|c| c.frames()), "{take}");
    }
}

#[test]
fn poses_are_held_on_twos() {
    let out = tempfile::tempdir().unwrap();
    own_stage::example(out.path()).unwrap();
    let asset = load(out.path().join("on_twos.glb"), &ImportOptions::default()).unwrap();
    let clip = &asset.clips[asset.meant];
    assert!(clip.frames() > 20);
    for frame in 0..clip.frames() {
        let [row, kept] = [frame, frame - frame % 2].map(|frame| clip.rotations(frame));
        assert!(
            row.iter().zip(kept.iter()).map(|(a, b)| a.angle_to(b)).fold(0.0, f64::max) < 1e-4,
            "frame {frame}"
        );
    }
    let moved = |f: usize| {
        clip.rotations(f).iter().zip(clip.rotations(f + 2).iter()).any(|(a, b)| a.angle_to(b) > 1e-2)
    };
    assert!(moved(4));
}

#[test]
fn the_robot_travels_as_far_for_its_size_as_the_take() {
    let [take, robot] = own_metric::example().unwrap();
    let share = |metrics: &[posemill::report::Metric]| {
        metrics.iter().find(|m| m.name == "travel_in_legs").map(|m| m.value).unwrap()
    };
    // Strides are scaled by the legs: so is the way, but for what foot locking moves the hips.
    assert!((share(&robot) / share(&take) - 1.0).abs() < 0.05, "{} and {}", share(&robot), share(&take));
    assert!(share(&take) > 1.0);
}

#[test]
fn the_hand_meets_its_circle() {
    let out = tempfile::tempdir().unwrap();
    let worst = ik::example(out.path()).unwrap();
    assert!(worst < 1e-3, "{worst} m");
    assert!(out.path().join("circle.glb").exists());
}

#[test]
fn the_pendulum_keeps_its_energy() {
    let out = tempfile::tempdir().unwrap();
    let drift = simulate::example(out.path()).unwrap();
    // The links fall by up to 1 m each: about 15 J are exchanged.
    assert!(drift < 1e-3, "{drift} J");
    assert!(out.path().join("double_pendulum.glb").exists());
}
