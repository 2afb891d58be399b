//! What somebody meets first: how good a result is said alike everywhere, all that is wrong with a pipeline at once, and
//! files that go through pipes.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(name)
}

fn posemill(folder: &Path, arguments: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_posemill"))
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    child.wait_with_output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn the_line_the_page_and_the_page_of_all_give_one_verdict() {
    let folder = TempDir::new().unwrap();
    // `repair` tells how near a take is to each fault, with limits of its own: that is no verdict.
    let text = format!(
        "[input]\nmotion = {:?}\ncharacter = {:?}\n[[stage]]\nuse = \"repair\"\n[[stage]]\nuse = \"contacts\"\n\
         [[stage]]\nuse = \"retarget\"\n[[stage]]\nuse = \"foot_lock\"\n",
        ["damaged/*.bvh", "squat.bvh", "turn.bvh", "wave.bvh"].map(|name| data(name).display().to_string()),
        data("mannequin.glb").display().to_string()
    );
    fs::write(folder.path().join("p.toml"), text).unwrap();
    let output = posemill(folder.path(), &["run", "p.toml"], b"");
    assert!(output.status.success(), "{}", stderr(&output));
    let mut counts = std::collections::BTreeMap::new();
    for line in stderr(&output).lines().filter(|line| line.starts_with("out/")) {
        let (name, verdict) = line.split_once("  ").unwrap();
        let page = fs::read_to_string(folder.path().join(name).with_extension("report.html")).unwrap();
        let word = verdict.split([':', ',']).next().unwrap();
        let class = if word == "as recorded" { "recorded" } else { word };
        assert!(page.contains(&format!("<span class=\"badge {class}\">{word}</span>")), "{line}");
        *counts.entry(word.to_owned()).or_insert(0) += 1;
    }
    let of = |word: &str| counts.get(word).copied().unwrap_or(0);
    assert!(of("good") > 0 && counts.values().sum::<i32>() > 3, "{}", stderr(&output));
    let page = fs::read_to_string(folder.path().join("out/report.html")).unwrap();
    for word in ["over", "as recorded"] {
        assert!(page.contains(&format!("<b>{}</b> {word}", of(word))), "{counts:?}");
    }
    let report = fs::read_to_string(folder.path().join("out/report.json")).unwrap();
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    let of_stage =
        |m: &serde_json::Value| m["name"].as_str().unwrap().starts_with("repair_") && m["at_most"].is_f64();
    let files = report["files"].as_array().unwrap();
    assert!(
        files.iter().any(|f| f["metrics"].as_array().unwrap().iter().any(of_stage)),
        "a stage told a measure with a limit of its own"
    );
}

/// The verdict and its numbers in a document.
fn verdict_of(value: &serde_json::Value) -> &serde_json::Value {
    assert!(value["verdict"]["word"].is_string(), "{value}");
    &value["verdict"]
}

#[test]
fn one_result_gets_one_verdict_from_every_front_end() {
    // The pipeline of the README, one without `contacts` whose keys are reduced, one that changes the take on purpose, and that of `retarget`.
    let stages = |names: &[&str]| names.iter().map(|n| format!("[[stage]]\nuse = {n}\n")).collect::<String>();
    let pipelines = [
        stages(&["\"contacts\"", "\"retarget\"", "\"foot_lock\""]),
        stages(&["\"retarget\"", "\"reduce\""]),
        stages(&["\"mirror\"", "\"retarget\"", "\"root_motion\"\nmode = \"in_place\""]),
        stages(&["\"repair\"", "\"contacts\"", "\"retarget\"", "\"foot_lock\""]),
    ];
    for (k, stages) in pipelines.iter().enumerate() {
        for (take, character) in [("walk", "robot"), ("jump", "mannequin"), ("wave", "robot")] {
            let folder = TempDir::new().unwrap();
            let (take, character) = (data(&format!("{take}.bvh")), data(&format!("{character}.glb")));
            let text = format!(
                "[input]\nmotion = {:?}\ncharacter = {:?}\n{stages}",
                take.display().to_string(),
                character.display().to_string()
            );
            fs::write(folder.path().join("p.toml"), text).unwrap();
            let json = |arguments: &[&str]| -> serde_json::Value {
                let output = posemill(folder.path(), arguments, b"");
                serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", stderr(&output)))
            };
            let ran = json(&["run", "p.toml", "--json"]);
            let wanted = verdict_of(&ran["files"][0]);
            let result = ran["files"][0]["outputs"][0].as_str().unwrap().to_owned();
            let measured = json(&["measure", &result, "--source", take.to_str().unwrap(), "--json"]);
            assert_eq!(verdict_of(&measured["results"][0]), wanted, "pipeline {k}, {take:?}");
            let report = fs::read_to_string(folder.path().join("out/report.json")).unwrap();
            let report: serde_json::Value = serde_json::from_str(&report).unwrap();
            assert_eq!(verdict_of(&report["files"][0]), wanted);
            let page = fs::read_to_string(folder.path().join(&result).with_extension("report.html")).unwrap();
            let word = wanted["word"].as_str().unwrap();
            assert!(page.contains(&format!(">{word}</span></h1>")), "{word}");
            if k == 3 {
                let (take, character) = (take.to_str().unwrap(), character.to_str().unwrap());
                let direct = json(&["retarget", take, "--onto", character, "-o", "direct.glb", "--json"]);
                assert_eq!(verdict_of(&direct["files"][0]), wanted);
            }
            // What a stage changes on purpose is shown as not judged.
            assert_eq!(wanted["not_judged"].as_u64().unwrap() > 10, k == 2, "{wanted}");
        }
    }
}

#[test]
fn everything_that_a_pipeline_names_wrongly_is_told_at_once() {
    let folder = TempDir::new().unwrap();
    fs::copy(data("robot.glb"), folder.path().join("hero.glb")).unwrap();
    fs::write(folder.path().join("times.csv"), "time,x,y,z\n0,1,2\n").unwrap();
    fs::write(
        folder.path().join("map.toml"),
        "target_roles.left_hand = \"Hand.X\"\n\n[[pair]]\nrole = \"left_fot\"\nsource = \"a\"\ntarget = \"Foot.L\"\n",
    )
    .unwrap();
    let text = "[input]\n\
        motion = [\"none.bvh\", \"takes/*.bvh\"]\n\
        character = \"hero.glb\"\n\
        skeleton = \"gone.asf\"\n\
        [[stage]]\nuse = \"retarget\"\nmap = \"map.toml\"\n\
        [[stage]]\nuse = \"ik\"\n\
        effectors = [{ joint = \"Hnd.L\", csv = \"times.csv\" }, { joint = \"left_hand\", follow = \"tail\" }, { joint = \"head\", csv = \"no.csv\" }]\n\
        [[stage]]\nuse = \"contacts\"\nfile = \"labels.csv\"\n";
    fs::write(folder.path().join("p.toml"), text).unwrap();
    let output = posemill(folder.path(), &["run", "p.toml"], b"");
    assert_eq!(output.status.code(), Some(2));
    let told = stderr(&output);
    for (what, place) in [
        ("error: the file `none.bvh` does not exist", "p.toml:2:11"),
        ("error: no file matches `takes/*.bvh`", "p.toml:2:23"),
        ("error: the file `gone.asf` cannot be read: no such file or directory", "p.toml:4:12"),
        ("error: the file `no.csv` cannot be read: no such file or directory", "p.toml:10:"),
        ("error: the file `labels.csv` cannot be read: no such file or directory", "p.toml:13:8"),
        ("error: there is no joint `Hand.X` in `hero`; did you mean `Hand.", "map.toml:1:26"),
        ("error: `left_fot` is no role", "map.toml:4:8"),
        ("error: stage 2 (`ik`): `Hnd.L` is neither a role nor a joint of `hero`", "p.toml:10:"),
        ("error: stage 2 (`ik`): `tail` is neither a role nor a joint of `hero`", "p.toml:10:"),
        ("error: stage 2 (`ik`): `times.csv`: line 2:", "p.toml:10:"),
    ] {
        let at = told.find(what).unwrap_or_else(|| panic!("{what} in\n{told}"));
        let next = told[at + 1..].find("\nerror: ").map_or(told.len(), |end| at + 1 + end);
        assert!(told[at..next].contains(place), "{what} stands at {place}:\n{told}");
    }
    assert_eq!(told.matches("error: ").count(), 10, "{told}");
    assert!(!folder.path().join("out").exists());

    // Together with what is wrong with the text itself.
    fs::write(folder.path().join("p.toml"), text.replace("file = ", "flie = ")).unwrap();
    let told = stderr(&posemill(folder.path(), &["run", "p.toml"], b""));
    let all =
        ["did you mean `file`?", "`none.bvh` does not exist", "no file matches", "`gone.asf`", "`no.csv`"];
    assert!(all.iter().all(|what| told.contains(what)), "{told}");
}

#[test]
fn faults_of_a_map_stand_in_the_map() {
    let folder = TempDir::new().unwrap();
    let onto = |map: &str| {
        let (walk, robot) = (data("walk.bvh"), data("robot.glb"));
        let arguments = [
            "retarget",
            walk.to_str().unwrap(),
            "--onto",
            robot.to_str().unwrap(),
            "--map",
            map,
            "-o",
            "x.glb",
        ];
        let output = posemill(folder.path(), &arguments, b"");
        (output.status.code(), stderr(&output))
    };
    fs::write(folder.path().join("map.toml"), "[[pair]]\nsource = \"a\"\ntarget = \"Hand.X\"\n").unwrap();
    let (code, told) = onto("map.toml");
    assert_eq!(code, Some(2));
    assert!(told.starts_with("error: there is no joint `Hand.X` in `robot`; did you mean `Hand."), "{told}");
    assert!(told.contains("--> map.toml:3:10\n") && !told.contains("--set"), "{told}");
    let (code, told) = onto("none.toml");
    assert_eq!(code, Some(2));
    assert_eq!(told, "error: the file `none.toml` does not exist\n  hint: write one with `posemill map`\n");
}

#[test]
fn an_option_that_is_a_key_is_told_how_to_set() {
    let folder = TempDir::new().unwrap();
    let told = |arguments: &[&str]| stderr(&posemill(folder.path(), arguments, b""));
    let retarget = ["retarget", "a.bvh", "--onto", "b.glb", "-o", "c.glb"];
    for (option, path) in [
        ("--units", "input.units"),
        ("--bvh-positions=add", "input.bvh_positions"),
        ("--report", "output.report"),
        ("--scale", "stage.retarget.scale"),
    ] {
        let told = told(&[&retarget[..], &[option]].concat());
        assert!(told.contains(&format!("tip: it is a key of the pipeline: `--set {path}=...`")), "{told}");
    }
    // Where there is no `--set`, or no such stage, none is spoken of.
    assert!(!told(&["convert", "a.bvh", "-o", "c.glb", "--scale"]).contains("--set"));
    assert!(!told(&["formats", "--units"]).contains("--set"));
    assert!(!told(&[&retarget[..], &["--colour"]].concat()).contains("key of the pipeline"));
}

/// Without `--onto` the command is told as it should be typed, with what was typed already.
#[test]
fn a_character_that_was_not_named_is_told_how_to_name() {
    let folder = TempDir::new().unwrap();
    for (typed, line) in [
        (&["take.bvh", "my hero.glb"][..], "take.bvh --onto 'my hero.glb' -o out/"),
        (
            &["take.bvh", "hero.VRM", "-o", "x.glb", "--merge"][..],
            "take.bvh --onto hero.VRM -o x.glb --merge",
        ),
        (&["take.glb"][..], "take.glb --onto hero.glb -o out/"),
        (&["a.bvh", "b.bvh", "-o", "moves/"][..], "a.bvh b.bvh --onto hero.glb -o moves/"),
        (&[][..], "take.bvh --onto hero.glb -o out/"),
    ] {
        let output = posemill(folder.path(), &[&["retarget"], typed].concat(), b"");
        assert_eq!(output.status.code(), Some(2));
        let told = stderr(&output);
        let tip = format!("tip: name the rigged character with `--onto`: `posemill retarget {line}`\n");
        assert!(told.contains(&tip), "{told}");
    }
}

#[test]
fn an_output_that_was_not_named_is_told_how_to_name() {
    let folder = TempDir::new().unwrap();
    let retarget = "name the rigged character with `--onto`";
    let output = "name the file or folder to write with `-o`";
    for (typed, tip) in [
        (
            &["retarget", "a.bvh", "hero.glb", "x.glb"][..],
            format!("{retarget}: `posemill retarget a.bvh --onto hero.glb -o x.glb`"),
        ),
        (
            &["retarget", "a.bvh", "--onto", "hero.glb"],
            format!("{output}: `posemill retarget a.bvh --onto hero.glb -o out/`"),
        ),
        (&["convert", "a.bvh"], format!("{output}: `posemill convert a.bvh -o out/`")),
        (&["convert", "a.bvh", "a.fbx"], format!("{output}: `posemill convert a.bvh -o a.fbx`")),
    ] {
        let told = stderr(&posemill(folder.path(), typed, b""));
        assert!(told.contains(&format!("tip: {tip}\n")), "{told}");
    }
    let told = stderr(&posemill(
        folder.path(),
        &["retarget", "a.bvh", "--character", "hero.glb", "-o", "x.glb"],
        b"",
    ));
    assert!(told.contains("tip: it is `--onto`\n"), "{told}");
    fs::write(folder.path().join("a.bvh"), "").unwrap();
    let told = stderr(&posemill(folder.path(), &["a.bvh"], b""));
    assert!(told.contains("tip: `posemill doctor a.bvh` says what it is and what to run next\n"), "{told}");
}

#[test]
fn a_file_that_is_no_pipeline_is_told_in_few_lines() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("p.toml"), "These are words.\n".repeat(500)).unwrap();
    let told = stderr(&posemill(folder.path(), &["run", "p.toml"], b""));
    assert!(told.contains("p.toml:1:7") && told.lines().count() < 30, "{told}");
    // Faults of a map come one by one, and not without end.
    let pairs = "[[pair]]\nsource = \"a\"\ntarget = \"none\"\n".repeat(100);
    fs::write(folder.path().join("map.toml"), pairs).unwrap();
    let text = format!(
        "[input]\nmotion = {:?}\ncharacter = {:?}\n[[stage]]\nuse = \"retarget\"\nmap = \"map.toml\"\n",
        data("walk.bvh"),
        data("robot.glb")
    );
    fs::write(folder.path().join("p.toml"), text).unwrap();
    let told = stderr(&posemill(folder.path(), &["run", "p.toml"], b""));
    assert_eq!(told.matches("there is no joint `none` in `robot`").count(), 20, "{told}");
    assert!(told.ends_with("and 80 more\n"), "{told}");
}

#[test]
fn stages_stand_ready_behind_retarget_and_results_in_a_folder_are_judged() {
    let folder = TempDir::new().unwrap();
    let robot = data("robot.glb");
    let retarget = |set: &str| {
        let takes = ["jump.bvh", "turn.bvh"].map(|take| data(take).to_str().unwrap().to_owned());
        let onto = ["--onto", robot.to_str().unwrap(), "-o", "out/", "--force", "--set", set];
        let arguments: Vec<&str> =
            ["retarget"].into_iter().chain(takes.iter().map(String::as_str)).chain(onto).collect();
        let output = posemill(folder.path(), &arguments, b"");
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        (stderr(&output), fs::read(folder.path().join("out/jump.glb")).unwrap())
    };
    let (told, plain) = retarget("stage.ground.enabled=false");
    // What is over says when.
    let line = |name: &str| told.lines().find(|l| l.starts_with(name)).unwrap_or_else(|| panic!("{told}"));
    for take in ["out/jump.glb", "out/turn.glb"] {
        let said = line(take);
        assert!(
            said.ends_with("  good") || (said.contains(" over: ") && said.contains(" s (frame ")),
            "{told}"
        );
    }
    for stage in ["ground", "limits", "loop"] {
        assert!(retarget(&format!("stage.{stage}.enabled=true")).1 != plain, "{stage} does nothing");
    }
}

#[test]
fn a_stage_that_makes_no_sense_twice_is_told() {
    let folder = TempDir::new().unwrap();
    let text = "[input]\nmotion = \"a.bvh\"\ncharacter = \"b.glb\"\n\
                [[stage]]\nuse = \"retarget\"\n[[stage]]\nuse = \"contacts\"\n[[stage]]\nuse = \"retarget\"\n";
    fs::write(folder.path().join("p.toml"), text).unwrap();
    let told = stderr(&posemill(folder.path(), &["run", "p.toml"], b""));
    let said = "error: stage 3 (`retarget`) is the second `retarget`: a pipeline has one target character\n --> p.toml:9:7";
    assert!(told.contains(said) && told.contains("help: leave one of them out"), "{told}");
}

#[test]
fn a_file_of_a_pipeline_in_another_folder_is_seen_from_there() {
    let folder = TempDir::new().unwrap();
    let studio = folder.path().join("studio");
    fs::create_dir(&studio).unwrap();
    fs::copy(data("walk.bvh"), studio.join("walk.bvh")).unwrap();
    let made = posemill(&studio, &["calibrate", "walk.bvh", "-o", "walk.pose.bvh"], b"");
    assert!(made.status.success(), "{}", stderr(&made));
    let text = "[input]\nmotion = \"walk.bvh\"\ncalibration = { file = \"walk.pose.bvh\" }\n[output]\nreport = false\n";
    fs::write(studio.join("p.toml"), text).unwrap();
    let output = posemill(folder.path(), &["run", "studio/p.toml"], b"");
    assert!(output.status.success() && studio.join("out/walk.glb").exists(), "{}", stderr(&output));
}

#[test]
fn takes_come_from_standard_input_and_results_go_to_standard_output() {
    let folder = TempDir::new().unwrap();
    let walk = fs::read(data("walk.bvh")).unwrap();
    let robot = data("robot.glb").display().to_string();
    let piped = ["retarget", "-", "--onto", &robot, "-o", "-", "--format", "glb"];
    let piped = posemill(folder.path(), &piped, &walk);
    assert!(piped.status.success() && piped.stdout.starts_with(b"glTF"), "{}", stderr(&piped));
    for (arguments, said) in [
        (&["inspect", "-", "--json"][..], "\"format\": \"bvh\""),
        (&["joints", "-", "--frames", "0", "--json"], "posemill.joints/1"),
        (&["map", "-", &robot], "[[pair]]"),
        (&["measure", "-", "--json"], "posemill.measure/1"),
    ] {
        let output = posemill(folder.path(), arguments, &walk);
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success() && told.contains(said), "{arguments:?}: {}{told}", stderr(&output));
    }
    let broken = posemill(folder.path(), &["inspect", "-"], b"nothing");
    assert!(stderr(&broken).starts_with("error: `standard input`"), "{}", stderr(&broken));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn every_command_has_a_page_of_its_own() {
    let folder = TempDir::new().unwrap();
    let page = posemill(folder.path(), &["man", "retarget"], b"");
    let text = String::from_utf8_lossy(&page.stdout).into_owned();
    assert!(page.status.success() && text.contains("posemill\\-retarget"), "{text}");
    assert_eq!(text.matches(".TH ").count(), 1);
    let whole = posemill(folder.path(), &["man"], b"").stdout;
    let whole = String::from_utf8_lossy(&whole).into_owned();
    assert!(whole.matches(".TH ").count() > 12 && !whole.contains("posemill\\-worker"));
    let none = posemill(folder.path(), &["man", "retarte"], b"");
    let said = "error: there is no command `retarte`; did you mean `retarget`?\n";
    assert!(none.status.code() == Some(2) && stderr(&none).starts_with(said), "{}", stderr(&none));
}

#[test]
fn a_unit_that_gives_nobody_s_legs_is_doubted() {
    let folder = TempDir::new().unwrap();
    let walk = data("walk.bvh").display().to_string();
    let told = |units: &str| {
        let set = format!("input.units={units}");
        stderr(&posemill(folder.path(), &["convert", &walk, "-o", "walk.glb", "--set", &set], b""))
    };
    let wrong = told("m");
    let said = "by `input.units` the legs are ";
    assert!(wrong.contains(said) && wrong.contains("centimetres would make them 0."), "{wrong}");
    assert!(!told("cm").contains(said));
}
