//! The command line as scripts see it: exit codes, what goes to stdout and stderr, what lies on the disk.

use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

/// Two joints, a turn of the root, three frames.
const TAKE: &str = "HIERARCHY\nROOT hips\n{\n  OFFSET 0 0 0\n  \
    CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation\n  \
    JOINT head\n  {\n    OFFSET 0 0.5 0\n    CHANNELS 3 Zrotation Xrotation Yrotation\n    \
    End Site\n    {\n      OFFSET 0 0.25 0\n    }\n  }\n}\n\
    MOTION\nFrames: 3\nFrame Time: 0.025\n\
    0 1 0 0 0 0 0 0 0\n0 1 0.1 10 0 0 0 5 0\n0 1 0.2 20 0 0 0 10 0\n";

/// A folder with takes and a pipeline over them.
fn studio(takes: &[&str]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for take in takes {
        write(&folder, take, TAKE);
    }
    write(&folder, "p.toml", "[input]\nmotion = [\"takes/**/*.bvh\"]\n");
    folder
}

fn write(folder: &TempDir, name: &str, text: &str) {
    let path = folder.path().join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn posemill(folder: &TempDir, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_posemill"));
    command.args(arguments).current_dir(folder.path()).env_remove("NO_COLOR").env("TERM", "dumb");
    command.output().unwrap()
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Names of everything below a folder, sorted, but for what runs tell each other by: their lock, and the sizes and times
/// that they have seen.
fn tree(folder: &Path) -> Vec<String> {
    fn walk(root: &Path, at: &Path, names: &mut Vec<String>) {
        for entry in fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            if path.ends_with(".posemill.lock") || path.ends_with(".posemill.seen") {
                continue;
            }
            match path.is_dir() {
                true => walk(root, &path, names),
                false => names.push(path.strip_prefix(root).unwrap().display().to_string()),
            }
        }
    }
    let mut names = Vec::new();
    walk(folder, folder, &mut names);
    names.sort();
    names
}

#[test]
fn a_run_names_outputs_after_takes_and_keeps_sub_folders() {
    let studio = studio(&["takes/a.bvh", "takes/day one/b.bvh"]);
    let output = posemill(&studio, &["run", "p.toml", "--verbose"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert_eq!(stdout(&output), "");
    assert!(stderr(&output).ends_with("2 written\n"), "{}", stderr(&output));
    let out = studio.path().join("out");
    assert_eq!(
        tree(&out),
        [
            ".posemill.jsonl",
            "a.glb",
            "a.report.html",
            "day one/b.glb",
            "day one/b.report.html",
            "report.html",
            "report.json",
        ]
    );
}

#[test]
fn paths_in_a_pipeline_start_from_its_folder_and_those_of_options_from_the_current_one() {
    let studio = studio(&["takes/a.bvh", "other/c.bvh"]);
    fs::create_dir(studio.path().join("elsewhere")).unwrap();
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_posemill"));
        command.args(arguments).current_dir(studio.path().join("elsewhere")).output().unwrap()
    };
    assert_eq!(code(&run(&["run", "../p.toml"])), 0);
    assert!(studio.path().join("out/a.glb").exists());
    assert_eq!(code(&run(&["run", "../p.toml", "--input", "../other/*.bvh", "--output", "here"])), 0);
    assert_eq!(
        tree(&studio.path().join("elsewhere")),
        ["here/.posemill.jsonl", "here/c.glb", "here/c.report.html", "here/report.html", "here/report.json"]
    );
}

#[test]
fn what_is_up_to_date_is_skipped_until_something_changes() {
    let studio = studio(&["takes/a.bvh", "takes/b.bvh"]);
    let run = |arguments: &[&str]| {
        let output = posemill(&studio, &[&["run", "p.toml", "--json"], arguments].concat());
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        let json = json(&output);
        (json["written"].as_u64().unwrap(), json["up_to_date"].as_u64().unwrap())
    };
    assert_eq!(run(&[]), (2, 0));
    let state =
        || tree(studio.path()).iter().map(|f| fs::read(studio.path().join(f)).unwrap()).collect::<Vec<_>>();
    let before = state();
    assert_eq!(run(&[]), (0, 2));
    assert_eq!(state(), before, "a second run changes no byte, neither of the report nor of the manifest");
    write(&studio, "takes/b.bvh", &TAKE.replace("0 1 0.2 20", "0 1 0.2 30"));
    assert_eq!(run(&[]), (1, 1));
    fs::remove_file(studio.path().join("out/a.glb")).unwrap();
    assert_eq!(run(&[]), (1, 1));
    assert_eq!(run(&["--set", "input.units=m"]), (2, 0));
    assert_eq!(run(&["--set", "input.units=m", "--force"]), (2, 0));
}

#[test]
fn the_same_bytes_come_out_for_any_number_of_threads() {
    let takes: Vec<String> = (0..12).map(|k| format!("takes/{k}.bvh")).collect();
    let studio = studio(&takes.iter().map(String::as_str).collect::<Vec<_>>());
    let bytes = |jobs: &str| {
        let output = posemill(&studio, &["run", "p.toml", "--force", "--jobs", jobs]);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        let out = studio.path().join("out");
        tree(&out).iter().map(|f| fs::read(out.join(f)).unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(bytes("1"), bytes("7"));
}

#[test]
fn a_broken_take_leaves_the_others_alone() {
    let studio = studio(&["takes/a.bvh", "takes/c.bvh"]);
    write(&studio, "takes/b.bvh", "this is no motion");
    let output = posemill(&studio, &["run", "p.toml", "--quiet"]);
    assert_eq!(code(&output), 1);
    assert!(stderr(&output).starts_with("error: takes/b.bvh: "), "{}", stderr(&output));
    let out = studio.path().join("out");
    assert_eq!(
        tree(&out),
        [".posemill.jsonl", "a.glb", "a.report.html", "c.glb", "c.report.html", "report.html", "report.json",]
    );
    let report: Value = serde_json::from_slice(&fs::read(out.join("report.json")).unwrap()).unwrap();
    assert_eq!(report["schema"], "posemill.report/1");
    assert_eq!(report["files"][0]["error"], Value::Null);
    assert!(report["files"][1]["error"].is_string());
}

#[test]
fn a_take_that_breaks_later_leaves_the_old_output() {
    let studio = studio(&["takes/a.bvh"]);
    assert_eq!(code(&posemill(&studio, &["run", "p.toml"])), 0);
    let before = fs::read(studio.path().join("out/a.glb")).unwrap();
    write(&studio, "takes/a.bvh", "this is no motion");
    assert_eq!(code(&posemill(&studio, &["run", "p.toml"])), 1);
    assert_eq!(fs::read(studio.path().join("out/a.glb")).unwrap(), before);
}

#[test]
fn files_of_others_are_never_replaced_without_force() {
    let studio = studio(&["takes/a.bvh", "takes/b.bvh"]);
    write(&studio, "out/a.glb", "mine");
    let output = posemill(&studio, &["run", "p.toml"]);
    assert_eq!(code(&output), 1);
    let expected = "error: takes/a.bvh: `out/a.glb` was not written by posemill, or was changed since\n  \
        hint: replace it with `--force`\n";
    assert!(stderr(&output).contains(expected), "{}", stderr(&output));
    assert_eq!(fs::read(studio.path().join("out/a.glb")).unwrap(), b"mine");
    write(&studio, "out/b.glb", "touched up by hand");
    assert_eq!(code(&posemill(&studio, &["run", "p.toml"])), 1);
    assert_eq!(fs::read(studio.path().join("out/b.glb")).unwrap(), b"touched up by hand");
    assert_eq!(code(&posemill(&studio, &["run", "p.toml", "--force"])), 0);
    assert_ne!(fs::read(studio.path().join("out/a.glb")).unwrap(), b"mine");
    assert_eq!(code(&posemill(&studio, &["run", "p.toml"])), 0);
}

#[test]
fn a_report_of_somebody_else_stops_the_run_before_it_starts() {
    let studio = studio(&["takes/a.bvh"]);
    write(&studio, "out/report.json", "{}");
    let output = posemill(&studio, &["run", "p.toml"]);
    assert_eq!(code(&output), 2);
    assert_eq!(tree(&studio.path().join("out")), ["report.json"]);
    assert_eq!(code(&posemill(&studio, &["run", "p.toml", "--set", "output.report=false"])), 0);
    assert_eq!(fs::read(studio.path().join("out/report.json")).unwrap(), b"{}");
}

#[test]
fn a_manifest_with_a_torn_last_line_is_mended() {
    let studio = studio(&["takes/a.bvh", "takes/b.bvh"]);
    assert_eq!(code(&posemill(&studio, &["run", "p.toml"])), 0);
    let path = studio.path().join("out/.posemill.jsonl");
    let whole = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("{whole}{{\"files\":[{{\"pa")).unwrap();
    fs::remove_file(studio.path().join("out/b.glb")).unwrap();
    assert_eq!(code(&posemill(&studio, &["run", "p.toml"])), 0);
    assert_eq!(fs::read_to_string(&path).unwrap(), whole);
}

#[test]
fn a_dry_run_says_what_would_be_done_and_does_nothing() {
    let studio = studio(&["takes/a.bvh", "takes/b.bvh"]);
    let before = tree(studio.path());
    let output = posemill(&studio, &["run", "p.toml", "--dry-run"]);
    assert_eq!(code(&output), 0);
    assert_eq!(stdout(&output), "write out/a.glb from takes/a.bvh\nwrite out/b.glb from takes/b.bvh\n");
    assert_eq!(stderr(&output), "2 takes to be written\n");
    assert_eq!(tree(studio.path()), before);
    assert_eq!(code(&posemill(&studio, &["run", "p.toml"])), 0);
    fs::remove_file(studio.path().join("out/b.glb")).unwrap();
    let output = posemill(&studio, &["run", "p.toml", "-n"]);
    assert_eq!(stdout(&output), "keep out/a.glb from takes/a.bvh\nwrite out/b.glb from takes/b.bvh\n");
    // Takes are counted, of which several files may be made; paths have no detours.
    let text = fs::read_to_string(studio.path().join("p.toml")).unwrap();
    fs::create_dir(studio.path().join("pipes")).unwrap();
    let text = text.replace("takes/", "../takes/").replace("hero.glb", "../hero.glb");
    fs::write(studio.path().join("pipes/p.toml"), text).unwrap();
    let both = ["--set", "output.formats=[\"glb\", \"bvh\"]", "--set", "output.dir=../both"];
    let output = posemill(&studio, &[&["run", "pipes/p.toml", "-n"], &both[..]].concat());
    assert!(stdout(&output).starts_with("write both/a.glb from takes/a.bvh\n"), "{}", stdout(&output));
    assert_eq!((stdout(&output).lines().count(), stderr(&output).as_str()), (4, "2 takes to be written\n"));
}

#[test]
fn a_folder_in_place_of_files_is_answered_with_globs_for_what_it_holds() {
    let studio = studio(&["takes/a.bvh", "takes/deep/b.bvh"]);
    write(&studio, "takes/hero.GLB", "");
    write(&studio, "takes/notes.txt", "");
    let output = posemill(&studio, &["convert", "takes/", "-o", "out/"]);
    let expected = "error: `takes` is a folder, with 1 `.GLB`, 2 `.bvh`\n  \
        hint: write 'takes/**/*.GLB' 'takes/**/*.bvh'\n";
    assert_eq!((code(&output), stderr(&output)), (2, expected.to_owned()));
    fs::create_dir(studio.path().join("empty")).unwrap();
    let output = posemill(&studio, &["convert", "empty", "-o", "out/"]);
    let said = stderr(&output);
    assert!(
        said.starts_with("error: `empty` is a folder, without files of a format that is read\n"),
        "{said}"
    );
}

#[test]
fn nothing_starts_where_the_pipeline_is_faulty() {
    let studio = studio(&["takes/a.bvh"]);
    let no_start = |arguments: &[&str], expected: &str| {
        let output = posemill(&studio, arguments);
        assert_eq!(code(&output), 2, "{arguments:?}");
        assert_eq!(stdout(&output), "");
        assert_eq!(stderr(&output), expected, "{arguments:?}");
        assert!(!studio.path().join("out").exists());
    };
    no_start(
        &["run", "p.toml", "--set", "output.format=bvh"],
        "error: [output]: unknown key `format`, known are `dir`, `formats`, `preview`, `report`, \
         `fail_on`, `contacts`, `forces`, `replace_animations`, `fbx`, `npz`, `points`, `csv`, `robot`, `vrma`\n --> --set:1:8\n  |\n1 | output.format=bvh\n  |        ^^^^^^ did you mean \
         `formats`?\n",
    );
    no_start(
        &["run", "none.toml"],
        "error: the file `none.toml` cannot be read: no such file or directory\n",
    );
    no_start(&["run", "p.toml", "--input", "x/*.bvh"], "error: no file matches `x/*.bvh`\n");
    no_start(
        &["run", "p.toml", "--input", "takes"],
        "error: `takes` is a folder, with 1 `.bvh`\n  hint: write 'takes/**/*.bvh'\n",
    );
    write(&studio, "empty.toml", "");
    no_start(
        &["run", "empty.toml"],
        "error: empty.toml: [input] names no motion\n  hint: write `motion = [\"takes/**/*.bvh\"]` or pass \
         `--input`\n",
    );
    no_start(
        &["run", "p.toml", "p.toml"],
        "error: `p.toml` and `p.toml` would both write `out/a.glb`\n  hint: give them different folders\n",
    );
    write(&studio, "hero.toml", "[input]\nmotion = \"takes/a.bvh\"\ncharacter = \"hero.glb\"\n");
    no_start(
        &["run", "hero.toml"],
        "error: hero.toml: no stage retargets the motion onto `hero.glb`\n |\n = help: add a stage: [[stage]] \
         use = \"retarget\"\n\nerror: the file `hero.glb` cannot be read: no such file or directory\n --> hero.toml:3:13\n  \
         |\n3 | character = \"hero.glb\"\n  |             ^^^^^^^^^^\n",
    );
    assert_eq!(code(&posemill(&studio, &["fly"])), 2);
    assert_eq!(code(&posemill(&studio, &["run"])), 2);
}

#[test]
fn a_named_file_is_replaced_and_a_folder_is_filled() {
    let studio = studio(&["takes/a.bvh", "takes/b.bvh"]);
    write(&studio, "x.glb", "old");
    assert_eq!(code(&posemill(&studio, &["convert", "takes/a.bvh", "-o", "x.glb"])), 0);
    assert_ne!(fs::read(studio.path().join("x.glb")).unwrap(), b"old");
    assert_eq!(code(&posemill(&studio, &["convert", "takes/a.bvh", "-o", "one/"])), 0);
    assert_eq!(tree(&studio.path().join("one")), [".posemill.jsonl", "a.glb"]);
    let many = ["convert", "takes/*.bvh", "-o", "many", "--format", "bvh"];
    assert_eq!(code(&posemill(&studio, &many)), 0);
    assert_eq!(tree(&studio.path().join("many")), [".posemill.jsonl", "a.bvh", "b.bvh"]);
    assert_eq!(code(&posemill(&studio, &["convert", "takes/b.bvh", "-o", "one"])), 0);
    assert!(studio.path().join("one/b.glb").exists());
}

#[test]
fn a_file_for_each_clip_where_a_format_holds_one() {
    let studio = studio(&["takes/a.bvh", "takes/b.bvh"]);
    let robot = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/robot.glb");
    let walk = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/walk.bvh");
    let wave = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/wave.bvh");
    let [robot, walk, wave] = [&robot, &walk, &wave].map(|p| p.to_str().unwrap());
    let merged = ["retarget", walk, wave, "--onto", robot, "--merge", "-o", "moves.glb"];
    assert_eq!(code(&posemill(&studio, &merged)), 0);
    let apart = ["convert", "moves.glb", "-o", "apart/", "--format", "bvh"];
    assert_eq!(code(&posemill(&studio, &apart)), 0);
    let files = [".posemill.jsonl", "moves.walk.bvh", "moves.wave.bvh"];
    assert_eq!(tree(&studio.path().join("apart")), files);
    let again = posemill(&studio, &apart);
    assert_eq!(stderr(&again), "1 up to date\n");
    fs::remove_file(studio.path().join("apart/moves.wave.bvh")).unwrap();
    let made = "apart/moves.walk.bvh\napart/moves.wave.bvh\n1 written\n";
    assert_eq!(stderr(&posemill(&studio, &apart)), made);
    assert_eq!(tree(&studio.path().join("apart")), files);
    let one = posemill(&studio, &["convert", "moves.glb", "-o", "one.bvh"]);
    assert!(
        code(&one) == 1 && stderr(&one).contains("`--clip NAME` (here `walk`, `wave`)"),
        "{}",
        stderr(&one)
    );
}

#[test]
fn what_was_made_is_told_with_how_good_it_is() {
    let studio = studio(&["takes/a.bvh", "takes/b.bvh"]);
    let data = |name: &str| format!("{}/data/{name}", env!("CARGO_MANIFEST_DIR"));
    let [robot, jump, walk] = ["robot.glb", "jump.bvh", "walk.bvh"].map(data);
    let told = |arguments: &[&str]| {
        let output = posemill(&studio, arguments);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        stderr(&output)
    };
    let one = told(&["retarget", &jump, "--onto", &robot, "-o", "out/jump.glb"]);
    // A verdict on one result needs no report; the unit that was guessed is told to those who ask.
    assert!(one.starts_with("out/jump.glb  ") && one.ends_with("\n1 written\n"), "{one}");
    assert!([" good\n", " over: ", " as recorded: "].iter().any(|word| one.contains(word)), "{one}");
    let verbose = told(&["--verbose", "retarget", &jump, "--onto", &robot, "-o", "out/jump.glb"]);
    assert!(verbose.contains("units are metres"), "{verbose}");
    // A fault is named with its measure, its limit, and where.
    let off = ["--set", "stage.foot_lock.enabled=false", "--set", "stage.retarget.scale=3.0"];
    let over =
        told(&[&["retarget", walk.as_str(), "--onto", &robot, "-o", "out/far.glb"], &off[..]].concat());
    assert!(over.contains(" over: ") && over.contains("(at most "), "{over}");
    // Several: each is named and judged as it is alone, and nothing is said of what nobody measured.
    let two = told(&["retarget", &jump, &walk, "--onto", &robot, "-o", "two/"]);
    let (of_one, of_two) = (one.lines().next().unwrap(), two.lines().collect::<Vec<_>>());
    assert!(of_two.len() == 3 && of_two[0] == of_one.replace("out/", "two/"), "{two}");
    assert!(of_two[1].starts_with("two/walk.glb  ") && of_two[2] == "2 written", "{two}");
    assert_eq!(told(&["convert", &jump, &walk, "-o", "bare/"]), "bare/jump.glb\nbare/walk.glb\n2 written\n");
    let report =
        ["retarget", jump.as_str(), "--onto", &robot, "-o", "told.glb", "--set", "output.report=true"];
    assert!(told(&report).contains("\nreport: told.report.html\n"));
    // Many: one line a folder.
    let take = fs::read(studio.path().join("takes/a.bvh")).unwrap();
    for k in 0..20 {
        fs::write(studio.path().join(format!("takes/t{k}.bvh")), &take).unwrap();
    }
    let many = told(&["convert", "takes/*.bvh", "-o", "many/"]);
    assert!(many.ends_with("\nmany/  22 files\n22 written\n"), "{many}");
}

#[test]
fn a_file_goes_through_a_pipe() {
    let studio = studio(&["takes/a.bvh"]);
    let pass = |format: &str, bytes: &[u8]| {
        let mut child = Command::new(env!("CARGO_BIN_EXE_posemill"))
            .args(["convert", "-", "-o", "-", "--format", format])
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .current_dir(studio.path())
            .spawn()
            .unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), bytes).unwrap();
        child.wait_with_output().unwrap()
    };
    assert_eq!(code(&posemill(&studio, &["convert", "takes/a.bvh", "-o", "a.glb"])), 0);
    let through = pass("glb", TAKE.as_bytes());
    assert_eq!(code(&through), 0);
    // The same but for the name of the take.
    let file = fs::read(studio.path().join("a.glb")).unwrap();
    assert!(through.stdout.starts_with(b"glTF") && through.stdout.len().abs_diff(file.len()) < 64);
    let back = pass("bvh", &through.stdout);
    assert!(code(&back) == 0 && back.stdout.starts_with(b"HIERARCHY"));
    let bad = pass("glb", b"some words");
    assert!(code(&bad) == 1 && bad.stdout.is_empty() && stderr(&bad).contains("its format is not known"));
    let untold = posemill(&studio, &["convert", "takes/a.bvh", "-o", "-"]);
    assert!(code(&untold) == 2 && stderr(&untold).contains("`--format glb`"), "{}", stderr(&untold));
    assert_eq!(tree(studio.path()), ["a.glb", "p.toml", "takes/a.bvh"]);
}

#[test]
fn outputs_that_make_no_sense_are_refused() {
    let studio = studio(&["takes/a.bvh", "takes/b.bvh", "more/a.bvh"]);
    let refused = |arguments: &[&str], expected: &str| {
        let output = posemill(&studio, arguments);
        assert_eq!((code(&output), stderr(&output).as_str()), (2, expected), "{arguments:?}");
    };
    refused(
        &["convert", "takes/a.bvh", "-o", "x.obj"],
        &format!(
            "error: `x.obj` has no extension of a format that can be written\n  hint: end it with {}, or with `/` for a folder\n",
            posemill::export::FORMATS.iter().map(|f| format!("`.{}`", f.name)).collect::<Vec<_>>().join(", ")
        ),
    );
    refused(
        &["convert", "takes/a.bvh", "-o", "takes/a.bvh"],
        "error: `takes/a.bvh` is an input of this run\n  hint: name another output\n",
    );
    refused(&["convert", "none.bvh", "-o", "x.glb"], "error: the file `none.bvh` does not exist\n");
    let output = posemill(&studio, &["convert", "takes/*.bvh", "-o", "x.glb"]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).starts_with("error: 2 takes cannot all go to the file `x.glb`\n"));
}

#[test]
fn what_was_mended_in_a_take_is_said_and_stands_in_the_report() {
    let folder = studio(&[]);
    let take = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/damaged/walk.bvh");
    fs::copy(take, folder.path().join("walk.bvh")).unwrap();
    write(&folder, "p.toml", "[input]\nmotion = [\"walk.bvh\"]\n[[stage]]\nuse = \"repair\"\n");
    let output = posemill(&folder, &["run", "p.toml"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(stderr(&output).contains("walk.bvh: capture errors were fixed: "), "{}", stderr(&output));
    let report: Value =
        serde_json::from_slice(&fs::read(folder.path().join("out/report.json")).unwrap()).unwrap();
    let findings = report["files"][0]["findings"].as_array().unwrap();
    assert!(findings.iter().any(|f| f["fault"] == "spike" && f.get("left").is_none()), "{findings:?}");
}

#[test]
fn files_of_the_wrong_kind_are_told_what_they_are() {
    let studio = studio(&["takes/a.bvh"]);
    write(&studio, "note.txt", "some words");
    write(&studio, "scene.toml", "name = \"fall\"\n[simulation]\nstep = 0.01\n[[body]]\nname = \"a\"\n");
    let said = |arguments: &[&str]| {
        let output = posemill(&studio, arguments);
        (code(&output), stderr(&output))
    };
    assert_eq!(
        said(&["inspect", "takes"]),
        (2, "error: `takes` is a folder, with 1 `.bvh`\n  hint: write 'takes/**/*.bvh'\n".to_owned())
    );
    let (exit, text) = said(&["inspect", "note.txt"]);
    assert!(exit == 1 && text.contains("`note.txt`: its format is not known\n"), "{text}");
    let (exit, text) = said(&["run", "scene.toml"]);
    assert!(exit == 2 && text.contains("this is a scene: use `posemill simulate`"), "{text}");
    assert_eq!(text.matches("error:").count(), 1, "{text}");
    write(&studio, "in/p.toml", "[input]\nmotion = [\"takes/*.bvh\"]\n");
    let text = said(&["run", "in/p.toml"]).1;
    assert_eq!(
        text,
        "error: no file matches `takes/*.bvh`, seen from `in`\n --> in/p.toml:2:11\n  |\n2 | motion = [\"takes/*.bvh\"]\n  \
         |           ^^^^^^^^^^^^^\n"
    );
}

#[test]
fn a_warning_is_only_the_same_where_it_says_the_same() {
    let studio = studio(&["takes/a.bvh", "takes/b.bvh"]);
    write(&studio, "takes/large.bvh", &TAKE.replace("OFFSET 0 0.5 0", "OFFSET 0 50 0"));
    let said = |arguments: &[&str]| {
        let output = posemill(&studio, arguments);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        stderr(&output)
    };
    let text = said(&["convert", "takes/a.bvh", "takes/b.bvh", "-o", "same/"]);
    assert!(text.contains("    the same in 1 more file; `--verbose` shows it\n"), "{text}");
    let text = said(&["convert", "takes/a.bvh", "takes/large.bvh", "-o", "other/"]);
    assert!(text.contains("    1 more warning of this kind; `--verbose` shows it\n"), "{text}");
}

#[cfg(unix)]
#[test]
fn outputs_have_the_rights_of_any_new_file_and_no_part_is_left() {
    use std::os::unix::fs::PermissionsExt;
    let studio = studio(&["a.bvh"]);
    assert_eq!(code(&posemill(&studio, &["convert", "a.bvh", "-o", "x.glb"])), 0);
    let mode = |name: &str| fs::metadata(studio.path().join(name)).unwrap().permissions().mode();
    assert_eq!(mode("x.glb"), mode("a.bvh"));
    assert_eq!(tree(studio.path()), ["a.bvh", "p.toml", "x.glb"]);
}

#[test]
fn joints_are_listed_with_the_names_of_the_file_and_in_metres() {
    let studio = studio(&["a.bvh"]);
    let arguments = ["joints", "a.bvh", "--json", "--frames", "0,last", "--set", "input.units=m"];
    let output = posemill(&studio, &arguments);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let document = json(&output);
    assert_eq!(document["schema"], "posemill.joints/1");
    assert_eq!(document["file"], "a.bvh");
    assert_eq!(document["metres_per_unit"], 1.0);
    assert_eq!(document["joints"][0]["name"], "hips");
    assert_eq!(document["joints"][0]["parent"], -1);
    assert_eq!(document["joints"][1]["name"], "head");
    assert_eq!(document["joints"][1]["parent"], 0);
    let frames = document["frames"].as_array().unwrap();
    assert_eq!(frames.len(), 2);
    assert_eq!((&frames[1]["frame"], frames[1]["time"].as_f64()), (&Value::from(2), Some(0.05)));
    for frame in frames {
        let position =
            |j: usize| -> Vec<f64> { serde_json::from_value(frame["positions"][j].clone()).unwrap() };
        let (a, b) = (position(0), position(1));
        let squared: f64 = a.iter().zip(&b).map(|(a, b)| (a - b) * (a - b)).sum();
        assert!((squared.sqrt() - 0.5).abs() < 1e-9);
    }
    let output = posemill(&studio, &["joints", "a.bvh", "--csv", "--frames", "1"]);
    let rows: Vec<String> = stdout(&output).lines().map(str::to_owned).collect();
    assert_eq!((rows[0].as_str(), rows.len()), ("frame,time,joint,x,y,z", 3));
    assert!(rows[2].starts_with("1,0.025,head,"));
    let output = posemill(&studio, &["joints", "a.bvh"]);
    assert_eq!(stdout(&output).lines().filter(|l| l.starts_with("frame ")).count(), 3);
}

#[test]
fn of_several_clips_the_one_that_was_added_is_meant() {
    let studio = studio(&[]);
    let made = |name: &str| format!("{}/data/{name}", env!("CARGO_MANIFEST_DIR"));
    let (turn, walk) = (made("turn.bvh"), made("walk.bvh"));
    let onto = |take: &str, character: &str, out: &str| {
        let output = posemill(&studio, &["retarget", take, "--onto", character, "-o", out]);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
    };
    let clip = |file: &str| json(&posemill(&studio, &["joints", file, "--json"]))["clip"].clone();
    onto(&turn, &made("robot.glb"), "turned.glb");
    // A character with an animation of its own, as somebody else would have written it.
    let mut bytes = fs::read(studio.path().join("turned.glb")).unwrap();
    let mark = b"\"posemill\":true";
    let at = bytes.windows(mark.len()).position(|w| w == mark).unwrap();
    bytes[at + 1] = b'x';
    fs::write(studio.path().join("hero.glb"), bytes).unwrap();
    assert_eq!(clip("hero.glb"), "turn");
    onto(&walk, "hero.glb", "both.glb");
    assert_eq!(clip("both.glb"), "walk");
}

#[test]
fn what_is_not_in_a_file_is_named_with_what_is() {
    let studio = studio(&["a.bvh"]);
    let output = posemill(&studio, &["joints", "a.bvh", "--frames", "3"]);
    let expected = "error: there is no frame `3`\n  hint: frames are 0 to 2, or `last`\n";
    assert_eq!((code(&output), stderr(&output).as_str()), (2, expected));
    let output = posemill(&studio, &["joints", "a.bvh", "--clip", "7"]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).starts_with("error: there is no clip `7`\n  hint: its clip is "));
    let output = posemill(&studio, &["inspect", "none.bvh"]);
    assert_eq!((code(&output), stderr(&output).as_str()), (2, "error: the file `none.bvh` does not exist\n"));
    let output = posemill(&studio, &["map", "a.bvh", "none.glb"]);
    assert_eq!((code(&output), stderr(&output).as_str()), (2, "error: the file `none.glb` does not exist\n"));
    write(&studio, "bad.bvh", "this is no motion");
    let output = posemill(&studio, &["inspect", "bad.bvh"]);
    assert_eq!(code(&output), 1);
    assert!(stderr(&output).starts_with("error: `bad.bvh`: "));
}

#[test]
fn inspect_shows_the_tree_and_the_clips() {
    let studio = studio(&["a.bvh"]);
    let output = posemill(&studio, &["inspect", "a.bvh", "--json"]);
    let document = json(&output);
    assert_eq!(document["schema"], "posemill.inspect/1");
    assert_eq!(document["format"], "bvh");
    assert_eq!(document["clips"][0]["frames"], 3);
    assert!(document["joints"].as_array().unwrap().iter().any(|j| j["file_name"] == "head"));
    let page = stdout(&posemill(&studio, &["inspect", "a.bvh"]));
    assert!(page.contains("\n1 clip\n") && page.contains("3 frames at 40.000000 Hz"), "{page}");
}

#[test]
fn messages_are_coloured_on_request_only() {
    let studio = studio(&[]);
    let plain = posemill(&studio, &["inspect", "none.bvh"]);
    assert!(!stderr(&plain).contains('\x1b'));
    let coloured = posemill(&studio, &["--color", "always", "inspect", "none.bvh"]);
    assert!(stderr(&coloured).starts_with("\x1b[1;31merror\x1b[0m: "));
}

#[test]
fn shells_and_manual_readers_are_served() {
    let studio = studio(&[]);
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let output = posemill(&studio, &["completions", shell]);
        assert_eq!(code(&output), 0);
        assert!(stdout(&output).contains("retarget") && !stdout(&output).contains("worker"), "{shell}");
        assert!(stdout(&output).contains("dry-run") && stdout(&output).contains("quiet"), "{shell}");
    }
    let manual = stdout(&posemill(&studio, &["man"]));
    assert!(manual.contains(".TH posemill 1") && manual.contains("posemill\\-retarget"));
    assert!(!manual.contains("worker"), "commands that are not for people are not in the manual");
    let schema: Value = serde_json::from_str(&stdout(&posemill(&studio, &["stages", "--schema"]))).unwrap();
    // `robot = "NAME"` is allowed beside a table of options.
    let kinds = &schema["properties"]["output"]["properties"]["robot"]["anyOf"];
    assert_eq!(kinds[0]["type"], "string");
    assert!(kinds[1]["properties"]["layout"].is_object());
    let output = posemill(&studio, &["stages", "fly to the moon"]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).starts_with("error: there is no stage `fly to the moon`\n"));
}

#[test]
fn a_hint_is_called_one_once_and_a_line_to_copy_stands_alone() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let stick = "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 3 Zrotation Xrotation Yrotation\nEnd Site\n{\nOFFSET 0 1 0\n}\n}\n\
                 MOTION\nFrames: 1\nFrame Time: 0.1\n0 0 0\n";
    write("stick.bvh", stick);
    write("pointer.glb", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n");
    let said = |arguments: &[&str]| {
        let program = env!("CARGO_BIN_EXE_posemill");
        let output =
            std::process::Command::new(program).args(arguments).current_dir(folder.path()).output().unwrap();
        String::from_utf8(output.stderr).unwrap()
    };
    let pointer = said(&["inspect", "pointer.glb"]);
    assert!(pointer.contains("\n  hint: run `git lfs pull`"), "{pointer}");
    let hero = concat!(env!("CARGO_MANIFEST_DIR"), "/data/robot.glb");
    let map = said(&["map", "stick.bvh", hero]);
    assert!(map.contains("\n  hint: what was printed has these lines and the candidate joints"), "{map}");
    assert!(map.contains("\n    source_roles.hips: no joint fits\n"), "{map}");
}

/// A file that the project made.
fn made(name: &str) -> String {
    format!("{}/data/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn a_map_is_written_even_where_it_cannot_be_used_and_reads_back_filled_in() {
    let studio = studio(&["walk.bvh"]);
    let walk = fs::read_to_string(made("walk.bvh")).unwrap();
    let robot = made("robot.glb");
    write(&studio, "armless.bvh", &walk.replace("mixamorig:LeftForeArm", "qx0_twist"));
    let arguments = ["retarget", "armless.bvh", "--onto", &robot, "-o", "x.glb"];
    let output = posemill(&studio, &[&arguments[..], &["--json"]].concat());
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let told: Vec<Value> = json(&output)["files"][0]["warnings"].as_array().unwrap().clone();
    let told: Vec<&Value> = told.iter().filter(|w| w["code"] == "retarget-missing").collect();
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0]["mend"], "source_roles.left_lower_arm = \"qx0_twist\"");
    let text = stderr(&output);
    assert!(text.contains("\n    source_roles.left_lower_arm = \"qx0_twist\"\n"), "{text}");

    write(&studio, "mend.toml", told[0]["mend"].as_str().unwrap());
    let output = posemill(&studio, &[&arguments[..], &["--map", "mend.toml"]].concat());
    assert_eq!(code(&output), 0);
    assert!(!stderr(&output).contains("left_lower_arm"), "{}", stderr(&output));

    let output = posemill(&studio, &["map", "walk.bvh", &robot, "-o", "map.toml"]);
    assert_eq!(code(&output), 1);
    assert!(stderr(&output).contains("\n    source_roles.hips = \"hips\"\n"), "{}", stderr(&output));
    let map = fs::read_to_string(studio.path().join("map.toml")).unwrap();
    assert!(map.contains("\n# source_roles.hips = \"hips\"\n"), "{map}");
    let fits = "none fits: if one does, assign it as `source_roles.left_upper_leg`\n";
    assert!(map.contains(fits) && !map.contains("JOINT"), "{map}");
}

#[test]
fn take_and_character_swapped_is_guessed() {
    let studio = studio(&[]);
    let (walk, robot) = (made("walk.bvh"), made("robot.glb"));
    let output = posemill(&studio, &["retarget", &robot, "--onto", &walk, "-o", "x.glb"]);
    assert_eq!(code(&output), 1);
    let expected = format!(
        "error: {robot}: the file holds a skin and no motion, `{walk}` motion and no skin: take and character are \
         swapped\n  hint: try `posemill retarget {walk} --onto {robot}`\n"
    );
    assert!(stderr(&output).contains(&expected), "{}", stderr(&output));
    let output = posemill(&studio, &["map", &robot, &walk]);
    assert!(stderr(&output).contains("are take and character swapped?\n  hint: try `posemill map "));
    assert_eq!(code(&posemill(&studio, &["retarget", &walk, "--onto", &robot, "-o", "moves.glb"])), 0);
    let output = posemill(&studio, &["retarget", "moves.glb", "--onto", &walk, "-o", "x.bvh"]);
    assert_eq!(code(&output), 0);
    assert!(stderr(&output).contains("has no skin and the take has one: are the two swapped?"));
}

#[test]
fn of_several_clips_one_is_taken_by_name_or_number() {
    let studio = studio(&[]);
    let (walk, jump, robot) = (made("walk.bvh"), made("jump.bvh"), made("robot.glb"));
    let merged = ["retarget", &walk, &jump, "--onto", &robot, "--merge", "-o", "moves.glb"];
    assert_eq!(code(&posemill(&studio, &merged)), 0);
    let clips = |file: &str| -> Vec<Value> {
        let document = json(&posemill(&studio, &["inspect", file, "--json"]));
        let suffix = file.rsplit('.').next().unwrap();
        assert!(suffix.starts_with(document["format"].as_str().unwrap()), "{file}: {}", document["format"]);
        document["clips"].as_array().unwrap().iter().map(|c| c["name"].clone()).collect()
    };
    // In the order in which the takes are named.
    assert_eq!(clips("moves.glb"), ["walk", "jump"]);
    let output = posemill(&studio, &["convert", "moves.glb", "-o", "x.bvh"]);
    assert_eq!(code(&output), 1);
    assert!(
        stderr(&output).contains("`--clip NAME` (here `walk`, `jump`), or write GLB\n"),
        "{}",
        stderr(&output)
    );
    let duration = |file: &str, clip: usize| -> f64 {
        let document = json(&posemill(&studio, &["inspect", file, "--json"]));
        document["clips"][clip]["duration_s"].as_f64().unwrap()
    };
    for (wanted, clip) in [("walk", 0), ("1", 1)] {
        assert_eq!(code(&posemill(&studio, &["convert", "moves.glb", "-o", "x.bvh", "--clip", wanted])), 0);
        assert!((duration("x.bvh", 0) - duration("moves.glb", clip)).abs() < 1e-3, "{wanted}");
    }
    assert_eq!(code(&posemill(&studio, &["convert", "moves.glb", "-o", "one.glb", "--clip", "walk"])), 0);
    assert_eq!(clips("one.glb"), ["walk"]);
    for file in ["one.vrma", "one.usda", "one.usdc", "one.gltf"] {
        assert_eq!(code(&posemill(&studio, &["convert", "one.glb", "-o", file])), 0);
        assert_eq!(clips(file).len(), 1);
    }
    let mannequin = made("mannequin.glb");
    let onto = ["retarget", "moves.glb", "--onto", &mannequin, "-o", "man.glb", "--clip"];
    assert_eq!(code(&posemill(&studio, &[&onto[..], &["1"]].concat())), 0);
    assert_eq!(clips("man.glb"), ["jump"]);
    let output = posemill(&studio, &[&onto[..], &["walc"]].concat());
    assert_eq!(code(&output), 1);
    let expected = "error: moves.glb: there is no clip `walc`\n  hint: did you mean `walk`?\n";
    assert!(stderr(&output).contains(expected), "{}", stderr(&output));
}

#[test]
fn a_file_in_the_current_folder_is_read_with_what_lies_beside_it() {
    let studio = studio(&["a.bvh"]);
    assert_eq!(code(&posemill(&studio, &["convert", "a.bvh", "-o", "a.glb"])), 0);
    let glb = fs::read(studio.path().join("a.glb")).unwrap();
    let size = u32::from_le_bytes(glb[12..16].try_into().unwrap()) as usize;
    let mut json: Value = serde_json::from_slice(&glb[20..20 + size]).unwrap();
    json["buffers"][0]["uri"] = "my%20buffer.bin".into();
    write(&studio, "a.gltf", &json.to_string());
    fs::write(studio.path().join("my buffer.bin"), &glb[28 + size..]).unwrap();
    let output = posemill(&studio, &["joints", "a.gltf", "--csv"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert_eq!(stdout(&output), stdout(&posemill(&studio, &["joints", "a.glb", "--csv"])));
}

#[test]
fn what_is_missing_in_a_take_is_said_by_every_command_that_reads_it() {
    let studio = studio(&[]);
    write(&studio, "few.bvh", &TAKE.replace("Frames: 3", "Frames: 6"));
    let output = posemill(&studio, &["joints", "few.bvh"]);
    assert!(stderr(&output).contains("3 rows follow"), "{}", stderr(&output));
    let (head, _) = TAKE.split_once("Frames: 3").unwrap();
    write(&studio, "none.bvh", &format!("{head}Frames: 0\nFrame Time: 0.025\n"));
    let output = posemill(&studio, &["convert", "none.bvh", "-o", "none.glb"]);
    assert_eq!(code(&output), 0);
    assert!(stderr(&output).contains("rest pose alone"), "{}", stderr(&output));
}

#[test]
fn a_character_without_motion_is_a_take_of_one_frame_and_says_so() {
    let studio = studio(&[]);
    let robot = concat!(env!("CARGO_MANIFEST_DIR"), "/data/robot.glb");
    for name in ["q.bvh", "q.csv", "q.vrma", "q.npz"] {
        let output = posemill(&studio, &["convert", robot, "-o", name]);
        assert_eq!(code(&output), 0, "{name}: {}", stderr(&output));
        assert!(
            stderr(&output).contains("its rest pose is written as one frame"),
            "{name}: {}",
            stderr(&output)
        );
        let found: Value =
            serde_json::from_str(&stdout(&posemill(&studio, &["inspect", name, "--json"]))).unwrap();
        assert_eq!(found["clips"][0]["frames"], 1, "{name}");
    }
    // A character stays one where the format holds characters.
    let output = posemill(&studio, &["convert", robot, "-o", "q.fbx"]);
    assert!(code(&output) == 0 && !stderr(&output).contains("one frame"), "{}", stderr(&output));
}

#[test]
fn a_take_of_one_frame_keeps_its_rate() {
    let studio = studio(&[]);
    let (head, rows) = TAKE.split_once("Frames: 3").unwrap();
    let row = rows.lines().nth(2).unwrap();
    write(&studio, "one.bvh", &format!("{head}Frames: 1\nFrame Time: 0.0416667\n{row}\n"));
    for name in ["one.glb", "one.gltf", "one.fbx", "one.usda", "one.npz"] {
        assert_eq!(code(&posemill(&studio, &["convert", "one.bvh", "-o", name])), 0, "{name}");
        let found: Value =
            serde_json::from_str(&stdout(&posemill(&studio, &["inspect", name, "--json"]))).unwrap();
        let rate = found["clips"][0]["rate_hz"].as_f64().unwrap();
        assert!((rate - 24.0).abs() < 1e-3, "{name}: {rate}");
    }
}

#[test]
fn an_option_for_robots_is_not_ignored_silently_for_takes() {
    let studio = studio(&[]);
    let robot = concat!(env!("CARGO_MANIFEST_DIR"), "/data/humanoid.xml");
    write(&studio, "take.bvh", TAKE);
    let output = posemill(&studio, &["inspect", "take.bvh", "--onto", robot]);
    assert!(stderr(&output).contains("`--onto` is not used"), "{}", stderr(&output));
}

/// The walk with its legs spread at rest, and the feet square to the shins as captures define them: a take that was converted to
/// GLB moves a character as the take itself does.
#[test]
fn a_take_that_was_converted_to_glb_is_the_take() {
    let studio = tempfile::tempdir().unwrap();
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    let onto = data.join("mannequin.glb").display().to_string();
    for take in ["walk.bvh", "turn.bvh", "squat.bvh"] {
        let text = fs::read_to_string(data.join(take)).unwrap();
        write(&studio, "take.bvh", &text);
        let glb = ["convert", "take.bvh", "-o", "take.glb", "--force"];
        assert_eq!(code(&posemill(&studio, &glb)), 0);
        let places = ["take.bvh", "take.glb"].map(|source| {
            let made = ["retarget", source, "--onto", &onto, "-o", "made.glb", "--force", "--trim", "0..1"];
            let output = posemill(&studio, &made);
            assert_eq!(code(&output), 0, "{}", stderr(&output));
            let listed = stdout(&posemill(&studio, &["joints", "made.glb", "--csv"]));
            let numbers = listed.lines().skip(1).flat_map(|row| row.split(',').skip(3));
            numbers.map(|x| x.parse().unwrap()).collect::<Vec<f64>>()
        });
        assert_eq!(places[0].len(), places[1].len());
        let off = places[0].iter().zip(&places[1]).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(off < 1e-4, "{take}: {off} m");
    }
}
