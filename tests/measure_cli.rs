//! `posemill measure`, and measures in pipelines, as scripts see them.

use posemill::measure::MEASURES;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(name)
}

fn posemill(folder: &TempDir, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_posemill"));
    command.args(arguments).current_dir(folder.path()).env("TERM", "dumb").output().unwrap()
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// A folder with `walk.bvh` and `hero.glb`, and the walk on the hero as `hero_walk.glb`.
fn studio() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(data("walk.bvh"), folder.path().join("walk.bvh")).unwrap();
    fs::copy(data("jump.bvh"), folder.path().join("jump.bvh")).unwrap();
    fs::copy(data("robot.glb"), folder.path().join("hero.glb")).unwrap();
    let made = posemill(&folder, &["retarget", "walk.bvh", "--onto", "hero.glb", "-o", "hero_walk.glb"]);
    assert_eq!(code(&made), 0, "{}", text(&made.stderr));
    folder
}

fn metric<'v>(metrics: &'v Value, name: &str) -> &'v Value {
    let all = metrics.as_array().unwrap();
    all.iter().find(|m| m["name"] == name).unwrap_or_else(|| panic!("no `{name}` in {metrics}"))
}

#[test]
fn a_result_is_measured_beside_the_direct_transfer_of_its_source() {
    let studio = studio();
    let output = posemill(&studio, &["measure", "hero_walk.glb", "--source", "walk.bvh", "--json"]);
    assert_eq!(code(&output), 0, "{}", text(&output.stderr));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["schema"], "posemill.measure/1");
    assert_eq!(document["source"], "walk.bvh");
    let result = &document["results"][0];
    assert_eq!((&result["file"], &result["contacts"]), (&"hero_walk.glb".into(), &"source".into()));
    let skate = metric(&result["metrics"], "rest_slip_p95");
    assert_eq!((&skate["unit"], &skate["at_most"]), (&"m/s".into(), &0.2.into()));
    assert!(skate["copy"].is_number() && metric(&result["metrics"], "mpjpe")["value"].is_number());
    let place = |m: &Value| MEASURES.iter().position(|k| m["name"] == k.name);
    let places: Vec<Option<usize>> = result["metrics"].as_array().unwrap().iter().map(place).collect();
    assert!(places.is_sorted() && places[0].is_some(), "not in the order of the catalogue");
    assert!(metric(&result["metrics"], "hands_error")["copy"].is_number());
    // Files hold single precision; a bone keeps its length all the same.
    assert!(metric(&result["metrics"], "bone_stretch")["value"].as_f64().unwrap() < 1e-6);

    let table = posemill(&studio, &["measure", "hero_walk.glb"]);
    let table = text(&table.stdout);
    assert!(table.contains("contacts detected on the result itself"), "{table}");
    assert!(table.contains("foot_skate_p95") && !table.contains("mpjpe"), "{table}");
}

#[test]
fn a_part_of_a_result_is_judged_as_a_part() {
    let studio = studio();
    // The take of another tool that lost all but three frames; a part that posemill cut knows its place in the take.
    let take = fs::read_to_string(data("walk.bvh")).unwrap();
    let (head, rows) = take.split_once("Frame Time:").unwrap();
    let kept: Vec<&str> = rows.lines().take(4).collect();
    let head = head.replace("Frames: 545", "Frames: 3");
    fs::write(studio.path().join("part.bvh"), format!("{head}Frame Time:{}\n", kept.join("\n"))).unwrap();
    let made = posemill(&studio, &["retarget", "part.bvh", "--onto", "hero.glb", "-o", "part.glb"]);
    assert_eq!(code(&made), 0, "{}", text(&made.stderr));
    let said = |result: &str, json: &[&str]| {
        let output = posemill(&studio, &[&["measure", result, "--source", "walk.bvh"][..], json].concat());
        text(&output.stdout)
    };
    let whole: Value = serde_json::from_str(&said("hero_walk.glb", &["--json"])).unwrap();
    let frames = &whole["results"][0]["frames"];
    assert!(
        whole["results"][0]["source_frames"].is_null()
            && !said("hero_walk.glb", &[]).contains("frames are judged")
    );
    let part: Value = serde_json::from_str(&said("part.glb", &["--json"])).unwrap();
    assert_eq!(&part["results"][0]["source_frames"], frames);
    let own = &part["results"][0]["frames"];
    let expected = format!("; {own} of the source's {frames} frames are judged");
    let table = said("part.glb", &[]);
    assert!(table.lines().any(|line| line.starts_with("verdict: ") && line.ends_with(&expected)), "{table}");
}

#[test]
fn a_result_without_its_take_names_the_take() {
    let studio = studio();
    let said = |arguments: &[&str]| text(&posemill(&studio, arguments).stderr);
    let alone = said(&["measure", "hero_walk.glb"]);
    assert!(alone.contains("add `--source` with walk.bvh"), "{alone}");
    for arguments in [&["measure", "hero_walk.glb", "--source", "walk.bvh"][..], &["measure", "walk.bvh"]] {
        assert!(!said(arguments).contains("without its take"), "{arguments:?}");
    }
}

#[test]
fn a_take_and_its_result_that_are_swapped_are_refused() {
    let folder = studio();
    let swapped = posemill(&folder, &["measure", "walk.bvh", "--source", "hero_walk.glb"]);
    assert_eq!(code(&swapped), 2);
    let hint = "hint: posemill measure hero_walk.glb --source walk.bvh";
    assert!(text(&swapped.stderr).contains(hint), "{}", text(&swapped.stderr));
    // A result of a result has a source that was made too.
    let again = posemill(&folder, &["retarget", "hero_walk.glb", "--onto", "hero.glb", "-o", "again.glb"]);
    assert_eq!(code(&again), 0, "{}", text(&again.stderr));
    assert_ne!(code(&posemill(&folder, &["measure", "again.glb", "--source", "hero_walk.glb"])), 2);
    // As has one whose take had the same name.
    fs::create_dir(folder.path().join("first")).unwrap();
    fs::create_dir(folder.path().join("second")).unwrap();
    for [take, result] in
        [["hero_walk.glb", "first/hero_walk.glb"], ["first/hero_walk.glb", "second/hero_walk.glb"]]
    {
        let made = posemill(&folder, &["retarget", take, "--onto", "hero.glb", "-o", result]);
        assert_eq!(code(&made), 0, "{}", text(&made.stderr));
    }
    let measured = posemill(&folder, &["measure", "second/hero_walk.glb", "--source", "first/hero_walk.glb"]);
    assert_ne!(code(&measured), 2, "{}", text(&measured.stderr));
}

#[test]
fn a_take_that_hovers_is_not_good_without_its_source() {
    let studio = studio();
    let hovering = data("damaged/walk.bvh");
    let output = posemill(&studio, &["measure", hovering.to_str().unwrap(), "walk.bvh", "--json"]);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let word = |k: usize| &document["results"][k]["verdict"]["word"];
    assert_eq!((word(0), word(1)), (&"over".into(), &"good".into()), "{document}");
}

#[test]
fn a_result_without_a_clip_does_not_stop_the_others() {
    let studio = studio();
    let output = posemill(&studio, &["measure", "hero.glb", "walk.bvh", "--json"]);
    assert_eq!(code(&output), 1, "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("`hero.glb` holds no motion"));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["results"][0]["file"], "walk.bvh");
}

#[test]
fn soles_without_skin_are_said_to_be_guesses_and_a_calibration_is_that_of_the_take() {
    let studio = studio();
    let run = |arguments: &[&str]| {
        let output = posemill(&studio, arguments);
        assert_eq!(code(&output), 0, "{}", text(&output.stderr));
        text(&output.stderr)
    };
    run(&["convert", "hero_walk.glb", "-o", "hero_walk.bvh"]);
    let said = run(&["measure", "hero_walk.bvh", "--source", "walk.bvh"]);
    assert!(said.contains("has no skin: soles are estimated from joints"), "{said}");
    run(&["calibrate", "walk.bvh", "-o", "pose.bvh"]);
    let calibrated = ["--set", "input.calibration.file=pose.bvh"];
    let said = run(&[&["measure", "hero_walk.glb", "--source", "walk.bvh"], &calibrated[..]].concat());
    assert!(!said.contains("has no skin"), "{said}");
}

#[test]
fn retargeted_feet_rest_where_the_copy_slides_and_nothing_else_is_done_to_legs() {
    let studio = studio();
    fs::copy(data("mannequin.glb"), studio.path().join("person.glb")).unwrap();
    let made = posemill(&studio, &["retarget", "walk.bvh", "--onto", "person.glb", "-o", "person_walk.glb"]);
    assert_eq!(code(&made), 0);
    let measured = |file: &str| -> Value {
        let output = posemill(&studio, &["measure", file, "--source", "walk.bvh", "--json"]);
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        document["results"][0]["metrics"].clone()
    };
    for file in ["hero_walk.glb", "person_walk.glb"] {
        let metrics = measured(file);
        for (name, part) in [("foot_skate_p95", 0.1), ("rest_slip_p95", 0.3)] {
            let [value, direct] = ["value", "copy"].map(|key| metric(&metrics, name)[key].as_f64().unwrap());
            assert!(value < part * direct, "{file} {name} {value} {direct}");
        }
    }
    // The robot's short legs have to bend otherwise, a person's have not.
    let metrics = measured("person_walk.glb");
    for (name, degrees) in [("limb_error_p95", 2.0), ("knee_error_max", 2.0), ("straight_leg_bend_p90", 0.2)]
    {
        let value = metric(&metrics, name)["value"].as_f64().unwrap().to_degrees();
        assert!(value < degrees, "{name} {value}");
    }
}

#[test]
fn a_take_measured_against_itself_is_no_distance_away() {
    let studio = studio();
    let output = posemill(&studio, &["measure", "walk.bvh", "--source", "walk.bvh", "--json"]);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let metrics = &document["results"][0]["metrics"];
    for name in ["mpjpe", "rotation_error", "san_error"] {
        assert_eq!(metric(metrics, name)["value"], 0.0, "{name}");
    }
    assert_eq!(metric(metrics, "jerk_ratio")["value"], 1.0);
}

#[test]
fn thresholds_are_exit_codes() {
    let studio = studio();
    let run = |expression: &str| posemill(&studio, &["measure", "walk.bvh", "--fail-on", expression]);
    assert_eq!(code(&run("jerk>1e9m/s^3")), 0);
    let passed = run("jerk > 0 m/s^3");
    assert_eq!(code(&passed), 1);
    assert!(text(&passed.stderr).contains("walk.bvh: `jerk` is "), "{}", text(&passed.stderr));
    // What cannot be measured cannot be good.
    let absent = run("mpjpe>1m");
    assert_eq!(code(&absent), 1);
    assert!(text(&absent.stderr).contains("`mpjpe` was not measured"), "{}", text(&absent.stderr));
    for (wrong, said) in [
        ("foot_skat>1", "there is no measure `foot_skat`, the nearest are `foot_skate`, "),
        ("foot_skate", "`foot_skate` is no threshold"),
        ("jerk>much", "`jerk>much` has no number behind `>`"),
    ] {
        let output = run(wrong);
        assert_eq!(code(&output), 2);
        assert!(text(&output.stderr).contains(said), "{}", text(&output.stderr));
    }
    assert_eq!(code(&posemill(&studio, &["measure", "nothing.bvh"])), 2);
}

#[test]
fn several_results_make_a_table_and_a_summary() {
    let studio = studio();
    let files = ["measure", "walk.bvh", "jump.bvh", "hero_walk.glb"];
    let table = text(&posemill(&studio, &files).stdout);
    assert!(table.starts_with("clip "), "{table}");
    assert!(
        table.contains("\nmeasure ") && table.contains("median") && table.contains("jump.bvh"),
        "{table}"
    );
    let output = posemill(&studio, &[&files[..], &["--json"]].concat());
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let jerk = metric(&document["summary"], "jerk");
    assert_eq!(jerk["clips"], 3);
    assert!(jerk["worst"].as_f64() >= jerk["median"].as_f64() && jerk["of"].is_string());
    // One bad file leaves the others alone.
    fs::write(studio.path().join("bad.bvh"), "HIERARCHY\nROOT").unwrap();
    let output = posemill(&studio, &["measure", "walk.bvh", "bad.bvh", "--json"]);
    assert_eq!(code(&output), 1);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["results"].as_array().unwrap().len(), 1);
}

const PIPELINE: &str = "[input]\nmotion = [\"*.bvh\"]\ncharacter = \"hero.glb\"\n\n\
    [[stage]]\nuse = \"contacts\"\n\n[[stage]]\nuse = \"retarget\"\n\n[[stage]]\nuse = \"limits\"\n";

#[test]
fn a_pipeline_with_a_report_measures_results_beside_their_direct_transfers() {
    let studio = studio();
    fs::write(studio.path().join("p.toml"), PIPELINE).unwrap();
    let output = posemill(&studio, &["run", "p.toml"]);
    assert_eq!(code(&output), 0, "{}", text(&output.stderr));
    let report = fs::read_to_string(studio.path().join("out/report.json")).unwrap();
    let report: Value = serde_json::from_str(&report).unwrap();
    let file = &report["files"][0];
    assert!(metric(&file["metrics"], "foot_skate_p95")["copy"].is_number());
    assert!(metric(&file["metrics"], "jerk_ratio")["value"].is_number());
    let stages: Vec<&str> =
        file["changes"].as_array().unwrap().iter().map(|c| c["stage"].as_str().unwrap()).collect();
    // `retarget` leaves another skeleton: there is nothing to compare.
    assert_eq!(stages, ["contacts", "limits"]);
    assert_eq!(file["changes"][0]["metres"]["max"], 0.0);
    let degrees = &file["changes"][1]["degrees"];
    assert!(degrees["max"].is_number() && degrees["mean"].is_number() && degrees["joint"].is_string());
    assert_eq!(metric(&report["summary"], "jerk")["clips"], 2);
    assert!(file.get("series").is_none());

    // A second run keeps the outputs and says the same.
    let again = posemill(&studio, &["run", "p.toml", "--json"]);
    let document: Value = serde_json::from_slice(&again.stdout).unwrap();
    assert_eq!((&document["up_to_date"], &document["files"][0]["metrics"]), (&2.into(), &file["metrics"]));
}

#[test]
fn a_pipeline_fails_on_what_its_file_says_made_now_or_before() {
    let studio = studio();
    fs::write(studio.path().join("p.toml"), PIPELINE).unwrap();
    let fails = ["run", "p.toml", "--set", "output.fail_on=[\"jerk>1m/s^3\"]"];
    for _ in 0..2 {
        let output = posemill(&studio, &fails);
        assert_eq!(code(&output), 1);
        assert!(text(&output.stderr).contains("`jerk` is "), "{}", text(&output.stderr));
    }
    let holds = ["run", "p.toml", "--set", "output.report=false", "--set", "output.fail_on=jerk>1e9m/s^3"];
    assert_eq!(code(&posemill(&studio, &holds)), 0);
    let wrong = posemill(&studio, &["run", "p.toml", "--set", "output.fail_on=[\"jerks>1\"]"]);
    assert_eq!(code(&wrong), 2);
    assert!(text(&wrong.stderr).contains("there is no measure `jerks`"), "{}", text(&wrong.stderr));
}

#[test]
fn every_stage_can_be_left_out() {
    let studio = studio();
    fs::write(studio.path().join("p.toml"), PIPELINE).unwrap();
    let without = ["run", "p.toml", "--set", "stage.limits.enabled=false"];
    assert_eq!(code(&posemill(&studio, &without)), 0);
    let report = fs::read_to_string(studio.path().join("out/report.json")).unwrap();
    assert!(!report.contains("limits_frames_outside"));
    let wrong = posemill(&studio, &["run", "p.toml", "--set", "stage.limits.enabled=maybe"]);
    assert_eq!(code(&wrong), 2);
    assert!(text(&wrong.stderr).contains("`enabled` must be true or false"), "{}", text(&wrong.stderr));
}

#[test]
fn a_floor_that_is_not_used_is_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let take = data("wave.bvh").display().to_string();
    let told =
        |arguments: &[&str]| text(&posemill(&folder, &[&["measure", &take], arguments].concat()).stderr);
    let said = "`--ground` is not used with `--source`";
    assert!(told(&["--source", &take, "--ground", "0.5"]).contains(said));
    assert!(!told(&["--ground", "0.5"]).contains(said) && !told(&["--source", &take]).contains(said));
}

#[test]
fn a_robots_motion_without_its_robot_is_not_judged_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let (walk, robot) = (data("walk.bvh").display().to_string(), data("humanoid.xml").display().to_string());
    let run = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_posemill")).args(arguments).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output
    };
    let document = |output: &Output| -> Value { serde_json::from_slice(&output.stdout).unwrap() };
    let (q, set) = (at("q.glb"), format!("input.robot={robot}"));
    let made = document(&run(&["retarget", &walk, "--onto", &robot, "-o", &q, "--json"]));
    assert_eq!(made["files"][0]["verdict"]["word"], "good");
    for source in [&[][..], &["--source", &walk]] {
        let bare = run(&[&["measure", &q, "--json"], source].concat());
        assert_eq!(document(&bare)["results"][0]["verdict"]["word"], "not judged");
        let said = String::from_utf8_lossy(&bare.stderr).into_owned();
        assert!(said.contains("without the robot") && !said.contains("has no skin"), "{said}");
        let whole = run(&[&["measure", &q, "--json", "--set", &set], source].concat());
        assert_eq!(document(&whole)["results"][0]["verdict"]["word"], "good");
        assert!(
            !String::from_utf8_lossy(&whole.stderr).contains("has no skin"),
            "soles are shapes of the robot"
        );
    }
}
