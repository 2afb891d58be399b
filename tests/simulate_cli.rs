//! `posemill simulate` as its users meet it: the scenes of `pipelines/`, what it refuses, what lies on the disk.

use posemill::dynamics::{Scene, simulate};
use posemill::import;
use posemill::math::{Quat, Transform, Vec3};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

const SCENES: [&str; 4] = ["three_bodies", "chain", "ragdoll_drop", "hand_grasp"];

fn scene_file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("pipelines").join(name).with_extension("toml")
}

fn posemill(folder: &TempDir, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_posemill"));
    command.arg("simulate").args(arguments).current_dir(folder.path()).output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn names(folder: &TempDir) -> Vec<String> {
    let files = fs::read_dir(folder.path()).unwrap();
    let mut names: Vec<String> = files.map(|f| f.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A ball that falls for a tenth of a second.
const FALL: &str = "[simulation]\nstep = 0.01\nduration = 0.1\nintegrator = \"world\"\n\n[[body]]\nname = \"ball\"\n\
    mass = 1.0\nposition = [0.0, 1.0, 0.0]\nsphere = 0.1\n";

#[test]
fn every_scene_becomes_an_animation_with_its_bodies_where_the_recording_says() {
    for name in SCENES {
        let folder = TempDir::new().unwrap();
        let path = scene_file(name);
        let output = posemill(&folder, &[path.to_str().unwrap(), "-o", "out.glb"]);
        assert!(output.status.success(), "{name}: {}", stderr(&output));
        assert!(output.stdout.is_empty());
        assert!(stderr(&output).ends_with("wrote out.glb and out.csv\n"), "{}", stderr(&output));
        assert_eq!(names(&folder), ["out.csv", "out.glb"]);

        let scene = Scene::parse(&fs::read_to_string(&path).unwrap()).unwrap();
        let recording = simulate(&scene).unwrap();
        assert_eq!(fs::read_to_string(folder.path().join("out.csv")).unwrap(), recording.to_csv(), "{name}");

        let asset = import::load(folder.path().join("out.glb"), &import::ImportOptions::default()).unwrap();
        let motion = asset.motion(0).unwrap();
        motion.check().unwrap();
        let skeleton = motion.character.skeleton();
        assert_eq!(skeleton.len(), recording.names.len() + 1);
        assert_eq!(motion.clip.frames(), recording.frames.len());
        // The import turns what it takes for a figure to face +Z; the first frame says how.
        let turned = motion.character.document.as_ref().unwrap().model_from_file;
        let up = if scene.up == Vec3::z() {
            Quat::from_axis_angle(&Vec3::x_axis(), -std::f64::consts::FRAC_PI_2)
        } else {
            Quat::identity()
        };
        let model_from_scene = Transform::from_rotation(turned * up);
        let mut worst = (0.0_f64, 0.0_f64);
        for (k, frame) in recording.frames.iter().enumerate() {
            let pose = motion.model_pose(k);
            for (body, expected) in recording.names.iter().zip(&frame.bodies) {
                let found = pose.joint(skeleton.find(body).unwrap());
                let expected = model_from_scene * *expected;
                worst.0 = worst.0.max((found.translation - expected.translation).norm());
                worst.1 = worst.1.max(found.rotation.angle_to(&expected.rotation));
            }
        }
        println!("{name}: {:.1e} m, {:.1e} rad", worst.0, worst.1);
        assert!(worst.0 < 1e-5 && worst.1 < 1e-5, "{name}: {worst:?}");
        // Every body is visible: some mesh of its name hangs on its joint.
        for body in &recording.names {
            let mesh = motion.character.meshes.iter().find(|m| m.name == *body).unwrap();
            let bound = mesh.bindings[usize::from(mesh.joints[0][0])].joint;
            assert_eq!(skeleton.joint(bound).name, *body);
            assert!(mesh.triangles.len() >= 12);
        }
        let has = |what: &str| motion.character.meshes.iter().any(|m| m.name == what);
        assert_eq!((has("links"), has("ground")), (true, !recording.planes.is_empty()), "{name}");
    }
}

#[test]
fn the_same_scene_gives_the_same_bytes_for_any_number_of_threads() {
    let folder = TempDir::new().unwrap();
    let scene = scene_file("hand_grasp");
    for (out, threads) in [("a.glb", "1"), ("b.glb", "3")] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_posemill"));
        command.env("RAYON_NUM_THREADS", threads).current_dir(folder.path()).arg("simulate");
        assert!(command.arg(&scene).args(["-o", out, "--quiet"]).status().unwrap().success());
    }
    let read = |name: &str| fs::read(folder.path().join(name)).unwrap();
    assert!(read("a.glb") == read("b.glb") && read("a.csv") == read("b.csv"));
}

#[test]
fn the_report_is_a_document_for_scripts_and_a_table_for_people() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("fall.toml"), FALL).unwrap();
    let output = posemill(&folder, &["fall.toml", "-o", "fall.csv", "--fps", "20", "--json"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["schema"], "posemill.simulate/1");
    assert_eq!(report["status"], "written");
    assert_eq!(report["outputs"], serde_json::json!(["fall.csv"]));
    let metric = |name: &str| {
        let all = report["metrics"].as_array().unwrap();
        all.iter().find(|m| m["name"] == name).unwrap()["value"].as_f64().unwrap()
    };
    assert!((metric("duration") - 0.1).abs() < 1e-12 && (metric("energy_start") - 9.81).abs() < 1e-9);
    // Ten steps, twenty frames a second: three of them; the table alone was asked for.
    assert_eq!(fs::read_to_string(folder.path().join("fall.csv")).unwrap().lines().count(), 4);
    assert_eq!(names(&folder), ["fall.csv", "fall.toml"]);
    assert_eq!(stderr(&output), "");
    let output = posemill(&folder, &["fall.toml", "-o", "fall.csv"]);
    assert!(output.stdout.is_empty() && stderr(&output).starts_with("duration"), "{}", stderr(&output));
}

#[test]
fn frames_between_the_steps_lie_between_the_bodies() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("fall.toml"), FALL).unwrap();
    // 30 frames a second do not meet steps of 10 ms: a frame is never late by up to a step.
    assert!(posemill(&folder, &["fall.toml", "-o", "fall.glb", "--fps", "30"]).status.success());
    let asset = import::load(folder.path().join("fall.glb"), &import::ImportOptions::default()).unwrap();
    let motion = asset.motion(0).unwrap();
    let skeleton = motion.character.skeleton();
    let ball = skeleton.find("ball").unwrap();
    for k in 0..motion.clip.frames() {
        let time = motion.clip.time(k);
        let height = motion.clip.local(skeleton, k, ball).translation.y;
        // Nothing touches: the parabola, and straight lines between recorded steps that are at most 40 ms apart.
        let fallen = 9.81 * time * time / 2.0;
        assert!((1.0 - height - fallen).abs() < 9.81 * 0.04 * 0.04 / 8.0 + 1e-6, "{time} {height} {fallen}");
    }
}

#[test]
fn what_cannot_start_says_why_and_where_and_leaves_the_old_file() {
    let folder = TempDir::new().unwrap();
    let says = |text: &str, arguments: &[&str], code: i32, expected: &str| {
        fs::write(folder.path().join("s.toml"), text).unwrap();
        fs::write(folder.path().join("s.glb"), "old").unwrap();
        let output = posemill(&folder, &[&["s.toml"], arguments].concat());
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert!(said.contains(expected), "{said}\nexpected {expected}");
        assert_eq!(fs::read(folder.path().join("s.glb")).unwrap(), b"old");
        assert_eq!(names(&folder), ["s.glb", "s.toml"]);
    };
    let out = ["-o", "s.glb"];
    let cases = [
        ("mass = 1.0", "mass = 0.0", "s.toml:8:1", "error: the mass of body `ball` is 0 kg"),
        ("mass = 1.0", "mass = nan", "s.toml:8:1", "error: the mass of body `ball` is NaN kg"),
        (
            "step = 0.01",
            "step = 0",
            "s.toml:2:1",
            "error: `step` is 0, it must be a finite number above zero",
        ),
        ("sphere = 0.1", "inertia = [1.0, 1.0, -1.0]", "s.toml:10:1", "error: the inertia of body `ball`"),
        ("sphere = 0.1", "sphere = 0.1\ncolour = 1", "s.toml:11:1", "error: unknown field `colour`"),
        ("\"ball\"", "\"\"", "s.toml:7:1", "error: `name` is empty, it must be a word"),
        ("[0.0, 1.0, 0.0]", "[0.0, inf, 0.0]", "s.toml:9:1", "must be three finite numbers"),
    ];
    for (from, to, place, message) in cases {
        assert!(FALL.contains(from));
        let text = FALL.replacen(from, to, 1);
        says(&text, &out, 2, message);
        says(&text, &out, 2, place);
    }
    let tie = |name: &str| {
        format!(
            "[[constraint]]\nname = \"{name}\"\nkind = \"ball\"\na = \"world\"\nb = \"ball\"\nanchor = [0.0, 1.0, 0.0]\n"
        )
    };
    let knotted = format!("{FALL}{}", tie("first").replace("\"world\"", "\"ball\""));
    let pipeline = "[input]\nmotion = \"walk.bvh\"\n";
    says(pipeline, &out, 2, "help: this is a pipeline: use `posemill run`");
    says(&knotted, &out, 2, "error: constraint `first` joins a body to itself\n  --> s.toml:12:1");
    let odd = FALL.replace("\"ball\"", "\"a\\u001b[31m\\nb\"").replace("mass = 1.0", "mass = 0.0");
    says(&odd, &out, 2, "error: the mass of body `a\\u{1b}[31m\\nb` is 0 kg");
    let follow = format!(
        "{FALL}[[target]]\nbody = \"ball\"\nmotion = \"none.bvh\"\njoint = \"Hips\"\nforce = 1.0\ntorque = 1.0\n"
    );
    says(&follow, &out, 2, "the file `none.bvh` does not exist");
    says(
        FALL,
        &["-o", "s.fbx"],
        2,
        "error: `s.fbx` is no animation\n  hint: end it with `.glb`, `.gltf`, `.csv`",
    );
    says(FALL, &["-o", "s.glb", "--fps", "0"], 2, "a frame rate of 0 Hz: allowed is above 0");
    // Started, but without a result.
    let away =
        FALL.replace("sphere = 0.1", "sphere = 0.1\nvelocity = [1e308, 1e308, 0.0]").replace("0.01", "1e3");
    says(&away.replace("0.1\nint", "1e4\nint"), &out, 1, "s.toml: body `ball` left the finite numbers at");
    let output = posemill(&folder, &["none.toml", "-o", "s.glb"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("none.toml"), "{}", stderr(&output));
}

#[test]
fn a_folder_gets_the_scenes_name_and_keeps_what_is_not_ours() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("fall.toml"), FALL).unwrap();
    let run = |more: &[&str]| posemill(&folder, &[&["fall.toml", "-o", "out/", "--json"], more].concat());
    let status = |output: &Output| {
        assert!(output.status.success(), "{}", stderr(output));
        serde_json::from_slice::<Value>(&output.stdout).unwrap()["status"].as_str().unwrap().to_owned()
    };
    assert_eq!(status(&run(&[])), "written");
    assert_eq!(status(&run(&[])), "up_to_date");
    assert_eq!(status(&run(&["--fps", "50"])), "written");
    fs::write(folder.path().join("fall.toml"), FALL.replace("sphere = 0.1", "sphere = 0.2")).unwrap();
    assert_eq!(status(&run(&["--fps", "50"])), "written");
    let glb = folder.path().join("out/fall.glb");
    fs::write(&glb, "mine").unwrap();
    let refused = run(&[]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains("was not written by posemill"), "{}", stderr(&refused));
    assert_eq!(fs::read(&glb).unwrap(), b"mine");
    assert_eq!(status(&run(&["--force"])), "written");
    assert!(fs::read(&glb).unwrap().starts_with(b"glTF"));
}
