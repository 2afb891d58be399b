//! What people ask of the program first: a part of a take, another rate, no travel, several files at once.

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

fn data(name: &str) -> String {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("data").join(name).display().to_string()
}

fn posemill(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_posemill")).args(arguments).current_dir(folder).output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {}", stderr(output)))
}

/// Frames, rate and duration of the clip in a file, and how far its hips travel along the ground, metres.
fn clip(folder: &Path, file: &str) -> (u64, f64, f64, f64) {
    let inspected = json(&posemill(folder, &["inspect", file, "--json"]));
    let clip = &inspected["clips"][0];
    let all = inspected["joints"].as_array().unwrap();
    let hips = all.iter().position(|joint| joint["role"] == "hips").unwrap();
    let joints = json(&posemill(folder, &["joints", file, "--json"]));
    let frames = joints["frames"].as_array().unwrap();
    let at = |f: usize, axis: usize| frames[f]["positions"][hips][axis].as_f64().unwrap();
    let last = frames.len() - 1;
    let travel = (at(last, 0) - at(0, 0)).hypot(at(last, 2) - at(0, 2));
    (
        clip["frames"].as_u64().unwrap(),
        clip["rate_hz"].as_f64().unwrap(),
        clip["duration_s"].as_f64().unwrap(),
        travel,
    )
}

#[test]
fn a_take_is_trimmed_resampled_and_kept_in_place() {
    let folder = TempDir::new().unwrap();
    let (take, hero) = (data("walk.bvh"), data("robot.glb"));
    let whole = clip(folder.path(), &take);
    for (command, onto, result) in
        [("retarget", vec!["--onto", hero.as_str()], "out.glb"), ("convert", vec![], "out.bvh")]
    {
        let run = |options: &[&str]| {
            let arguments = [&[command, take.as_str()], onto.as_slice(), &["-f", "-o", result], options];
            let output = posemill(folder.path(), &arguments.concat());
            assert_eq!(output.status.code(), Some(0), "{command} {options:?}: {}", stderr(&output));
            clip(folder.path(), result)
        };
        let plain = run(&[]);
        assert_eq!((plain.0, plain.1.round()), (whole.0, whole.1.round()), "{command}");
        assert!(plain.3 > 0.3, "{command}: the walk travels by {} m", plain.3);
        let trimmed = run(&["--trim", "0.5..1.5"]);
        assert!((trimmed.2 - 1.0).abs() < 1e-6, "{command}: {trimmed:?}");
        let resampled = run(&["--fps", "25"]);
        assert_eq!(resampled.1.round(), 25.0, "{command}: {resampled:?}");
        assert!((resampled.2 - whole.2).abs() < 0.04, "{command}: {resampled:?}");
        let still = run(&["--in-place"]);
        assert!(still.3 < 0.05, "{command}: travels by {} m", still.3);
        // The last frame of the take is a little before 1 s, so the result may end a frame earlier.
        let all = run(&["--trim", "..1", "--fps", "20", "--in-place"]);
        assert!(
            (0.949..1.001).contains(&all.2) && all.1.round() == 20.0 && all.3 < 0.05,
            "{command}: {all:?}"
        );
    }
}

#[test]
fn a_wrong_part_or_rate_is_refused_with_an_example() {
    let folder = TempDir::new().unwrap();
    for (option, value, told) in [
        ("--trim", "2..1", "the start is after the end"),
        ("--trim", "-1..2", "write seconds: `0.5..2.5`, `2..` or `..3`"),
        ("--trim", "1", "write seconds"),
        ("--fps", "-30", "write a number above 0, e.g. 30 or 23.976"),
        ("--fps", "nan", "write a number above 0"),
    ] {
        let arguments = ["convert", &data("walk.bvh"), "-o", "out.glb", option, value];
        let output = posemill(folder.path(), &arguments);
        assert_eq!(output.status.code(), Some(2), "{option} {value}");
        assert!(stderr(&output).contains(told), "{option} {value}: {}", stderr(&output));
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn an_override_that_another_option_contradicts_is_refused() {
    let folder = TempDir::new().unwrap();
    let (walk, hero) = (data("walk.bvh"), data("robot.glb"));
    let retarget = ["retarget", &walk, "--onto", &hero, "-o", "out.glb"];
    for (option, set, told) in [
        (
            &["--fps", "60"][..],
            "stage.resample.rate_hz=24",
            "`--set stage.resample.rate_hz` and `--fps` set the same key",
        ),
        (
            &["--in-place"],
            "stage.root_motion.mode=extract",
            "`--set stage.root_motion.mode` and `--in-place` set",
        ),
        (&["--trim", "0..1"], "stage.trim.end_s=2", "`--set stage.trim.end_s` and `--trim` set"),
        (&["--clip", "0"], "input.clip=walk", "`--set input.clip` and `--clip` set"),
        (&[], "input.character=\"other.glb\"", "`--set input.character` does nothing: "),
        (&[], "input.motion=\"other.bvh\"", "`--set input.motion` does nothing: "),
    ] {
        let output = posemill(folder.path(), &[&retarget[..], option, &["--set", set]].concat());
        assert_eq!(output.status.code(), Some(2), "{set}");
        assert!(stderr(&output).contains(told), "{set}: {}", stderr(&output));
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn several_files_are_inspected_and_a_broken_one_hides_no_other() {
    let folder = TempDir::new().unwrap();
    let take = fs::read(data("walk.bvh")).unwrap();
    for (name, bytes) in [("a.bvh", &take[..]), ("B.BVH", &take[..]), ("c.bvh", b"HIERARCHY")] {
        fs::write(folder.path().join(name), bytes).unwrap();
    }
    let output = posemill(folder.path(), &["inspect", "*.bvh", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let documents = json(&output);
    let files: Vec<&Value> = documents.as_array().unwrap().iter().map(|d| &d["file"]).collect();
    assert_eq!(files, ["B.BVH", "a.bvh", "c.bvh"]);
    assert!(documents[2]["error"].as_str().unwrap().contains("c.bvh"), "{}", documents[2]);
    assert!(stderr(&output).contains("c.bvh"), "{}", stderr(&output));
    let pages = String::from_utf8(posemill(folder.path(), &["inspect", "a.bvh", "B.BVH"]).stdout).unwrap();
    assert!(pages.contains("a.bvh: bvh") && pages.contains("B.BVH: bvh"), "{pages}");
    // One file is one document, as before.
    assert!(json(&posemill(folder.path(), &["inspect", "a.bvh", "--json"])).is_object());
    let picture = posemill(folder.path(), &["inspect", "a.bvh", "B.BVH", "-o", "roles.png"]);
    assert_eq!(picture.status.code(), Some(2));
    assert!(stderr(&picture).contains("`roles.png` is a picture of one file, 2 are named"));
}

#[test]
fn stages_pictures_and_poses_have_documents_too() {
    let folder = TempDir::new().unwrap();
    let all = json(&posemill(folder.path(), &["stages", "--json"]));
    assert_eq!(all["schema"], "posemill.stages/1");
    let listed = posemill(folder.path(), &["stages"]).stdout.split(|b| *b == b'\n').count() - 1;
    assert_eq!(all["stages"].as_array().unwrap().len(), listed);
    let one = json(&posemill(folder.path(), &["stages", "resample", "--json"]));
    let stage = &one["stages"][0];
    assert!(stage["name"] == "resample" && stage["description"].is_string());
    assert!(stage["keys"]["rate_hz"].is_object() && stage["defaults"].is_object(), "{stage}");

    let (take, hero) = (data("walk.bvh"), data("robot.glb"));
    let drawn = posemill(folder.path(), &["preview", &take, &hero, "-o", "p.png", "--frames", "1", "--json"]);
    let drawn = json(&drawn);
    assert!(drawn["schema"] == "posemill.preview/1" && drawn["output"] == "p.png");
    assert_eq!(
        (&drawn["files"][0]["file"], &drawn["files"][0]["frames"]),
        (&take.clone().into(), &545.into())
    );
    assert_eq!(drawn["files"][1]["clip"], "rest");
    assert!(drawn["files"][0]["warnings"].is_array() && folder.path().join("p.png").is_file());

    let pose = json(&posemill(folder.path(), &["calibrate", &take, "-o", "p.bvh", "--json"]));
    assert!(pose["schema"] == "posemill.calibrate/1" && pose["takes"][0] == take.as_str());
    let joints = pose["joints"].as_array().unwrap();
    assert!(joints.len() > 15 && joints.iter().all(|j| j["joint"].is_string() && j["reason"].is_string()));
    assert!(joints.iter().all(|j| j["guess"] == (j["confidence"].as_f64().unwrap() < 0.45)));
}

#[test]
fn a_map_is_a_document_too() {
    let folder = TempDir::new().unwrap();
    let document = json(&posemill(folder.path(), &["map", &data("walk.bvh"), &data("robot.glb"), "--json"]));
    assert_eq!(document["schema"], "posemill.map/1");
    assert_eq!(document["usable"], true);
    let pairs = document["pairs"].as_array().unwrap();
    let hips = pairs.iter().find(|pair| pair["role"] == "hips").unwrap();
    assert!(hips["source"].is_string() && hips["target"].is_string() && hips["confidence"].is_f64());
    // A map that is not sufficient is told in the document and by the exit code.
    let bare = "HIERARCHY\nROOT stick\n{\n OFFSET 0 0 0\n CHANNELS 3 Zrotation Xrotation Yrotation\n End Site\n {\n  \
                OFFSET 0 1 0\n }\n}\nMOTION\nFrames: 2\nFrame Time: 0.1\n0 0 0\n0 0 0\n";
    fs::write(folder.path().join("stick.bvh"), bare).unwrap();
    let refused = posemill(folder.path(), &["map", "stick.bvh", &data("robot.glb"), "--json"]);
    assert_eq!(refused.status.code(), Some(1));
    let document = json(&refused);
    assert_eq!(document["usable"], false);
    assert!(document["refused"].is_string());
}

#[test]
fn without_arguments_the_program_shows_three_commands_to_begin_with() {
    let output = posemill(Path::new("."), &[]);
    assert_eq!(output.status.code(), Some(2));
    let shown = stderr(&output);
    let examples = shown.lines().filter(|line| line.starts_with("  posemill ")).count();
    assert_eq!(examples, 3, "{shown}");
}

#[test]
fn a_single_take_shows_its_stages_on_a_terminal_and_nothing_elsewhere() {
    let folder = TempDir::new().unwrap();
    let (take, hero) = (data("walk.bvh"), data("robot.glb"));
    let arguments = ["retarget", &take, "--onto", &hero, "-o", "out.glb", "--set", "output.report=true"];
    let piped = posemill(folder.path(), &arguments);
    assert_eq!(stderr(&piped), "out.glb  good\nreport: out.report.html\n1 written\n");
    let line = arguments.map(|word| format!("'{word}'")).join(" ");
    let line = format!("'{}' {line}", env!("CARGO_BIN_EXE_posemill"));
    // The program `script` runs a command on a terminal.
    let ran = Command::new("script")
        .args(["-q", "-e", "-c", &line, "/dev/null"])
        .env("TERM", "xterm")
        .current_dir(folder.path())
        .output();
    let Ok(ran) = ran else { return eprintln!("skipped: there is no program `script`") };
    let shown = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success(), "{shown}");
    assert!(shown.contains("stage ") && shown.contains(" of "), "{shown}");
    assert!(shown.contains("1 written"), "{shown}");
}

#[test]
fn completions_are_installed_by_one_command() {
    let folder = TempDir::new().unwrap();
    let home = folder.path().join("home");
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_posemill"));
        command.args(arguments).current_dir(folder.path()).env("HOME", &home);
        command.env_remove("XDG_DATA_HOME").env_remove("XDG_CONFIG_HOME").output().unwrap()
    };
    for (shell, path) in [
        ("bash", ".local/share/bash-completion/completions/posemill"),
        ("zsh", ".local/share/zsh/site-functions/_posemill"),
        ("fish", ".config/fish/completions/posemill.fish"),
    ] {
        let installed = run(&["completions", shell, "--install"]);
        assert!(installed.status.success() && installed.stdout.is_empty(), "{}", stderr(&installed));
        assert!(stderr(&installed).starts_with("wrote "), "{}", stderr(&installed));
        assert_eq!(fs::read(home.join(path)).unwrap(), run(&["completions", shell]).stdout, "{shell}");
    }
    let refused = run(&["completions", "elvish", "--install"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(
        stderr(&refused).starts_with("error: `elvish` has no folder for completions\n  hint: write them")
    );
}

#[test]
fn an_override_that_the_output_replaces_is_refused() {
    let folder = TempDir::new().unwrap();
    let (take, hero) = (data("walk.bvh"), data("robot.glb"));
    let made = |set: &str, output: &str| {
        posemill(folder.path(), &["retarget", &take, "--onto", &hero, "-o", output, "--set", set])
    };
    let refused = made("output.formats=[\"glb\", \"bvh\"]", "a.glb");
    assert_eq!(refused.status.code(), Some(2));
    let message = stderr(&refused);
    assert!(message.contains("does nothing: the extension of the output file is its format"), "{message}");
    assert!(message.contains("end `-o` with `/` for a folder with several formats"), "{message}");
    let message = stderr(&made("output.dir=there", "a/"));
    assert!(message.contains("`--set output.dir` does nothing: `-o` names the output"), "{message}");
    assert!(made("output.formats=[\"glb\", \"bvh\"]", "a/").status.success());
    assert!(folder.path().join("a/walk.bvh").is_file() && folder.path().join("a/walk.glb").is_file());
}

/// The walk, cut off after six of its frames.
fn cut_off() -> String {
    let text = fs::read_to_string(data("walk.bvh")).unwrap();
    let rows = text.find("Frame Time").unwrap();
    let end = text[rows..].match_indices('\n').nth(6).unwrap().0 + rows + 1;
    text[..end].to_owned()
}

#[test]
fn every_command_warns_about_a_take_that_was_cut_off() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("cut.bvh"), cut_off()).unwrap();
    let walk = data("walk.bvh");
    for arguments in [
        &["preview", "cut.bvh", "-o", "cut.png", "--size", "64"][..],
        &["measure", "cut.bvh"],
        &["measure", &walk, "--source", "cut.bvh"],
        &["calibrate", "cut.bvh", &walk, "-o", "cut.pose.bvh"],
        &["joints", "cut.bvh"],
        &["map", "cut.bvh", &data("robot.glb")],
    ] {
        let told = stderr(&posemill(folder.path(), arguments));
        assert!(told.contains("warning: ") && told.contains("cut.bvh"), "{arguments:?}: {told}");
        assert!(told.contains("6 rows follow"), "{arguments:?}: {told}");
    }
}

#[test]
fn inspect_and_measure_name_one_height() {
    let folder = TempDir::new().unwrap();
    let take = data("jump.bvh");
    let inspected = json(&posemill(folder.path(), &["inspect", &take, "--json"]));
    let measured = json(&posemill(folder.path(), &["measure", &take, "--json"]));
    let metrics = measured["results"][0]["metrics"].as_array().unwrap();
    let height = metrics.iter().find(|m| m["name"] == "height").unwrap()["value"].as_f64().unwrap();
    assert!((inspected["stature_m"].as_f64().unwrap() - height).abs() < 1e-9, "{inspected}");
    assert!(inspected["height_m"].as_f64().unwrap() < height - 0.1);
    let page = String::from_utf8(posemill(folder.path(), &["inspect", &take]).stdout).unwrap();
    assert!(page.contains(&format!(", {height:.3} m tall (soles to top of head), joints span ")), "{page}");
}

#[test]
fn a_map_is_made_of_files_that_are_read_as_told() {
    let folder = TempDir::new().unwrap();
    let text = fs::read_to_string(data("walk.bvh")).unwrap();
    fs::write(folder.path().join("a.bvh"), text.replace("RightHand", "RightQwxz")).unwrap();
    let map = |sets: &[&str]| {
        let output = posemill(folder.path(), &[&["map", "a.bvh", &data("robot.glb")], sets].concat());
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let told = map(&["--set", "input.roles.words.qwxz=hand"]);
    assert!(told.0 == Some(0) && told != map(&[]), "{}", told.1);
    assert_eq!(map(&["--set", "input.roles.words.qwxz=nothing"]).0, Some(2));
}

#[test]
fn a_take_in_place_of_a_pipeline_is_named() {
    let folder = TempDir::new().unwrap();
    fs::copy(data("walk.bvh"), folder.path().join("walk.bvh")).unwrap();
    let output = posemill(folder.path(), &["run", "walk.bvh"]);
    assert_eq!(output.status.code(), Some(2));
    let told = "error: `walk.bvh` is not a pipeline (TOML)\n  hint: did you mean `posemill retarget`?\n";
    assert_eq!(stderr(&output), told);
}

#[test]
fn joints_are_measured_in_the_bind_pose() {
    let folder = TempDir::new().unwrap();
    let bytes = fs::read(data("mannequin.glb")).unwrap();
    let end = 20 + u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    let mut document: Value = serde_json::from_slice(&bytes[20..end]).unwrap();
    // The nodes are saved with their legs raised: the skin is bound as before.
    for node in document["nodes"].as_array_mut().unwrap() {
        if node["name"].as_str().is_some_and(|name| name.starts_with("thigh_")) {
            node["rotation"] = serde_json::json!([-(0.5f64.sqrt()), 0.0, 0.0, 0.5f64.sqrt()]);
        }
    }
    let mut text = serde_json::to_vec(&document).unwrap();
    text.resize(text.len().next_multiple_of(4), b' ');
    let whole = (bytes.len() - end + 20 + text.len()) as u32;
    let mut made = [&bytes[..8], &whole.to_le_bytes(), &(text.len() as u32).to_le_bytes(), b"JSON"].concat();
    made.extend([&text, &bytes[end..]].concat());
    fs::write(folder.path().join("raised.glb"), made).unwrap();
    let height = |file: &str| {
        let document = json(&posemill(folder.path(), &["inspect", file, "--json"]));
        ["height_m", "stature_m"].map(|key| document[key].as_f64().unwrap())
    };
    let (raised, bound) = (height("raised.glb"), height(&data("mannequin.glb")));
    assert!(raised.iter().zip(bound).all(|(a, b)| (a - b).abs() < 1e-3), "{raised:?} {bound:?}");
}
