//! `posemill doctor`: each kind of file is called what it is, its faults are those of the commands, and the commands it prints work
//! when they are copied.

use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

fn data(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("data").join(name)
}

fn posemill(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_posemill")).args(arguments).current_dir(folder).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// A folder with files: names with the text of each, or `@NAME` for a copy of `data/NAME`.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    for (name, content) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        match content.strip_prefix('@') {
            Some(sample) => _ = fs::copy(data(sample), path).unwrap(),
            None => fs::write(path, content).unwrap(),
        }
    }
    folder
}

/// The exit code and the document about files of a folder.
fn doctor(folder: &Path, files: &[&str]) -> (Option<i32>, Value) {
    let output = posemill(folder, &[&["doctor", "--json"], files].concat());
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["schema"], "posemill.doctor/1");
    (output.status.code(), document)
}

/// What the document says about one file.
fn about<'a>(document: &'a Value, file: &str) -> &'a Value {
    let mut files = document["files"].as_array().unwrap().iter();
    files.find(|found| found["file"] == file).unwrap_or_else(|| panic!("{file}: {document:#}"))
}

/// Runs a command line as a shell does.
fn run_copied(folder: &Path, line: &str) {
    let rest = line.strip_prefix("posemill ").unwrap();
    let script = format!("\"$0\" {rest}");
    let output = Command::new("sh")
        .args(["-c", &script, env!("CARGO_BIN_EXE_posemill")])
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(output.status.success(), "{line}\n{}", text(&output.stderr));
}

const PIPELINE: &str =
    "[input]\nmotion = \"takes/*.bvh\"\ncharacter = \"hero.glb\"\n[[stage]]\nuse = \"retarget\"\n";
const FACE: &str =
    "Timecode,BlendShapeCount,EyeBlinkLeft,JawOpen\n00:00:00:00,2,0.1,0.2\n00:00:00:01,2,0.2,0.3\n";

#[test]
fn every_kind_of_file_is_called_what_it_is_and_every_command_works_when_copied() {
    let folder = folder(&[
        ("takes/a walk.bvh", "@walk.bvh"),
        ("takes/it's [1].bvh", "@wave.bvh"),
        ("hero.glb", "@robot.glb"),
        ("g1.xml", "@humanoid.xml"),
        ("p.toml", PIPELINE),
        ("empty.toml", "[package]\nname = \"x\"\n"),
        ("notes.txt", "nothing"),
        (".hidden.bvh", "nothing"),
    ]);
    let here = folder.path();
    assert!(posemill(here, &["map", "takes/a walk.bvh", "hero.glb", "-o", "map.toml"]).status.success());
    assert!(posemill(here, &["convert", "takes/a walk.bvh", "-o", "arrays.npz"]).status.success());
    let made = ["retarget", "takes/a walk.bvh", "--onto", "hero.glb", "-o", "made.glb"];
    assert!(posemill(here, &made).status.success());
    let made = ["retarget", "takes/a walk.bvh", "--onto", "g1.xml", "-o", "g1/", "--format", "mjlab"];
    assert!(posemill(here, &made).status.success());
    let scene = Path::new(env!("CARGO_MANIFEST_DIR")).join("pipelines/chain.toml");
    fs::copy(scene, here.join("scene.toml")).unwrap();

    let (exit, document) = doctor(here, &["."]);
    assert_eq!(exit, Some(0), "{document:#}");
    for (file, kind) in [
        ("takes/a walk.bvh", "take"),
        ("takes/it's [1].bvh", "take"),
        ("hero.glb", "character"),
        ("g1.xml", "robot"),
        ("p.toml", "pipeline"),
        ("map.toml", "map"),
        ("scene.toml", "scene"),
        ("arrays.npz", "arrays"),
        ("g1/a walk.npz", "arrays"),
        ("made.glb", "result"),
        ("empty.toml", "unknown"),
        ("notes.txt", "unknown"),
    ] {
        assert_eq!(about(&document, file)["kind"], kind, "{file}");
    }
    let files = document["files"].as_array().unwrap();
    assert!(files.iter().all(|found| found["file"] != ".hidden.bvh"), "{document:#}");
    assert_eq!(document["next"], "posemill run p.toml");
    let with_map = "posemill retarget arrays.npz --onto hero.glb --map map.toml -o out/";
    assert_eq!(about(&document, "map.toml")["next"], with_map);
    let walk = about(&document, "takes/a walk.bvh");
    assert_eq!(walk["next"], "posemill retarget 'takes/a walk.bvh' --onto hero.glb -o out/");
    // Beside its take a result has the verdict that it had when it was made.
    assert_eq!(about(&document, "made.glb")["next"], "posemill measure made.glb --source 'takes/a walk.bvh'");
    let mut ran = 0;
    for (k, found) in files.iter().enumerate().filter(|(_, found)| found["next"].is_string()) {
        // Each has a folder of its own: one take goes onto several bodies.
        let line = found["next"].as_str().unwrap().replace("-o out/", &format!("-o out{k}/"));
        run_copied(here, &line);
        ran += 1;
    }
    assert_eq!(ran, 10, "{document:#}");
}

#[test]
fn a_result_is_measured_beside_its_take_and_not_another_of_its_name() {
    let folder =
        folder(&[("a/walk.bvh", "@wave.bvh"), ("b/walk.bvh", "@walk.bvh"), ("hero.glb", "@robot.glb")]);
    let made = ["retarget", "b/walk.bvh", "--onto", "hero.glb", "-o", "made.glb"];
    assert!(posemill(folder.path(), &made).status.success());
    let (_, document) = doctor(folder.path(), &["."]);
    assert_eq!(about(&document, "made.glb")["next"], "posemill measure made.glb --source b/walk.bvh");
}

#[test]
fn takes_of_a_folder_go_onto_the_character_in_one_command() {
    let folder =
        folder(&[("t/a.bvh", "@walk.bvh"), ("t/b.bvh", "@jump.bvh"), ("hero.glb", "@mannequin.glb")]);
    let (_, document) = doctor(folder.path(), &["t", "hero.glb"]);
    let line = "posemill retarget t/a.bvh t/b.bvh --onto hero.glb -o out/";
    assert_eq!(document["next"], line);
    run_copied(folder.path(), line);
    assert!(folder.path().join("out/b.glb").exists());
    // Without a character, the take is made a file that other programs open.
    let (_, document) = doctor(folder.path(), &["t/a.bvh"]);
    assert_eq!(document["next"], "posemill convert t/a.bvh -o out/");
    let page = text(&posemill(folder.path(), &["doctor", "t", "hero.glb"]).stdout);
    assert!(page.ends_with(&format!("\nnext: {line}\n")), "{page}");
}

#[test]
fn bad_files_have_their_message_and_do_not_end_the_run() {
    let folder = folder(&[
        ("a.bvh", "HIERARCHY"),
        ("b.glb", "x"),
        ("p.toml", "[input]\nmotion = \"none*.bvh\"\nspeed = 2\n"),
        ("q.toml", "[input]\nmotion = \"none*.bvh\"\n"),
        ("report.txt", "x"),
        ("scene.toml", "[simulation]\nstep = \"x\"\n"),
        ("table.csv", "x,y\n1,2\n"),
        ("w.bvh", "@walk.bvh"),
    ]);
    let here = folder.path();
    let (exit, document) = doctor(here, &[".", "missing.bvh"]);
    assert_eq!(exit, Some(1));
    for (file, kind, message) in [
        ("missing.bvh", "unreadable", "does not exist"),
        ("a.bvh", "unreadable", "line 1"),
        ("b.glb", "unreadable", "neither `glTF` nor a JSON object begins here"),
        ("p.toml", "pipeline", "unknown key `speed`"),
        ("q.toml", "pipeline", "no file matches `none*.bvh`"),
        ("scene.toml", "scene", "scene.toml:2"),
    ] {
        let found = about(&document, file);
        assert_eq!(found["kind"], kind, "{found:#}");
        assert!(found["error"].as_str().unwrap().contains(message), "{found:#}");
        assert!(found["next"].is_null(), "{found:#}");
    }
    // Nothing could start.
    assert_eq!(doctor(here, &["missing.bvh"]).0, Some(2));
    // Files of other programs are none of the user's faults, unless they are named.
    for file in ["report.txt", "table.csv"] {
        assert!(about(&document, file)["error"].is_null());
        let (exit, document) = doctor(here, &[file]);
        assert!(exit == Some(1) && about(&document, file)["error"].is_string(), "{document:#}");
    }
    assert_eq!(about(&document, "w.bvh")["kind"], "take");
}

/// A mesh without a skin, in a file of its own.
const TRIANGLE: &str = r#"{"asset":{"version":"2.0"},"scene":0,"scenes":[{"nodes":[0]}],"nodes":[{"name":"box","mesh":0}],
    "meshes":[{"primitives":[{"attributes":{"POSITION":0}}]}],
    "accessors":[{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3","min":[0,0,0],"max":[1,1,0]}],
    "bufferViews":[{"buffer":0,"byteLength":36}],"buffers":[{"byteLength":36,"uri":
    "data:application/octet-stream;base64,AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA"}]}"#;

/// A folder with a take, a pipeline and the robot as `.gltf`, with an unused first buffer whose file does not exist.
fn without_buffer(pipeline: &str) -> TempDir {
    let folder = folder(&[("r.glb", "@robot.glb"), ("w.bvh", "@walk.bvh"), ("p.toml", pipeline)]);
    let (here, hero) = (folder.path(), folder.path().join("hero.gltf"));
    assert!(posemill(here, &["convert", "r.glb", "-o", "hero.gltf"]).status.success());
    fs::remove_file(here.join("r.glb")).unwrap();
    let mut document: Value = serde_json::from_slice(&fs::read(&hero).unwrap()).unwrap();
    let lost = serde_json::json!({ "byteLength": 4, "uri": "gone.bin" });
    document["buffers"].as_array_mut().unwrap().insert(0, lost);
    for view in document["bufferViews"].as_array_mut().unwrap() {
        view["buffer"] = (view["buffer"].as_u64().unwrap() + 1).into();
    }
    fs::write(&hero, document.to_string()).unwrap();
    folder
}

/// Runs every command that `doctor` suggests for a folder; returns their number.
fn run_all_suggestions(folder: &Path) -> usize {
    let (_, document) = doctor(folder, &["."]);
    let of_files = document["files"].as_array().unwrap().iter().map(|found| &found["next"]);
    let next = of_files.chain([&document["next"]]).filter_map(Value::as_str);
    let lines: std::collections::BTreeSet<&str> = next.collect();
    for (k, line) in lines.iter().enumerate() {
        run_copied(folder, &line.replace("-o out/", &format!("-o out{k}/")));
    }
    lines.len()
}

#[test]
fn no_command_that_is_suggested_fails_whatever_the_files_lack() {
    let pipeline = |character: &str| {
        format!("[input]\nmotion = \"w.bvh\"\ncharacter = \"{character}\"\n[[stage]]\nuse = \"retarget\"\n")
    };
    let (of_box, of_hero) = (pipeline("box.gltf"), pipeline("hero.gltf"));
    let boxed = folder(&[("box.gltf", TRIANGLE), ("w.bvh", "@walk.bvh"), ("p.toml", &of_box)]);
    assert_eq!(run_all_suggestions(boxed.path()), 2);
    let (_, document) = doctor(boxed.path(), &["."]);
    assert_eq!(about(&document, "w.bvh")["next"], "posemill convert w.bvh -o out/");
    let error = about(&document, "p.toml")["error"].as_str().unwrap_or_default().to_owned();
    assert!(error.starts_with("w.bvh: ") && error.contains("the target `box` has no skeleton"), "{error}");

    let lost = without_buffer(&of_hero);
    assert_eq!(run_all_suggestions(lost.path()), 2);
    let (_, document) = doctor(lost.path(), &["."]);
    let missing = about(&document, "hero.gltf")["missing"].to_string();
    assert!(missing.contains("`buffers[0]`: its data is missing"), "{missing}");
    let error = about(&document, "p.toml")["error"].as_str().unwrap_or_default().to_owned();
    assert!(error.starts_with("the file of the character, `hero.gltf`: `buffers[0]`"), "{error}");

    // Another format than GLB needs no data of the document, and healthy files have all their commands.
    let text = of_hero.replace("[[stage]]", "[output]\nformats = [\"bvh\"]\n[[stage]]");
    assert_eq!(run_all_suggestions(without_buffer(&text).path()), 3);
    let healthy =
        folder(&[("hero.glb", "@robot.glb"), ("w.bvh", "@walk.bvh"), ("hurt.bvh", "@damaged/walk.bvh")]);
    assert_eq!(run_all_suggestions(healthy.path()), 4);
}

#[test]
fn no_command_that_is_suggested_fails_on_cut_or_changed_files() {
    for name in ["walk.bvh", "robot.glb", "mannequin.glb", "humanoid.xml", "reach.csv"] {
        let whole = fs::read(data(name)).unwrap();
        let suffix = name.split_once('.').unwrap().1;
        let folder = folder(&[("hero.glb", "@tailed.glb"), ("w.bvh", "@wave.bvh")]);
        for (share, cut) in [(2, "half"), (10, "tenth"), (1, "whole")] {
            fs::write(folder.path().join(format!("{cut}.{suffix}")), &whole[..whole.len() / share]).unwrap();
        }
        let mut changed = whole.clone();
        (0..changed.len()).step_by(997).for_each(|at| changed[at] ^= 1);
        fs::write(folder.path().join(format!("changed.{suffix}")), changed).unwrap();
        assert!(run_all_suggestions(folder.path()) > 1, "{name}");
    }
}

#[test]
fn what_is_doubtful_or_does_not_fit_is_said_with_the_reason_of_retarget() {
    let stick = "HIERARCHY\nROOT stick\n{\n OFFSET 0 0 0\n CHANNELS 3 Zrotation Xrotation Yrotation\n End Site\n {\n  \
                 OFFSET 0 1 0\n }\n}\nMOTION\nFrames: 2\nFrame Time: 0.1\n0 0 0\n0 0 0\n";
    let map = "source_roles.hips = \"nowhere\"\n";
    let folder = folder(&[
        ("stick.bvh", stick),
        ("hurt.bvh", "@damaged/walk.bvh"),
        ("face.csv", FACE),
        ("hero.glb", "@robot.glb"),
        ("map.toml", map),
    ]);
    let (exit, document) = doctor(folder.path(), &["."]);
    assert_eq!(exit, Some(0), "{document:#}");
    let refused = posemill(folder.path(), &["retarget", "stick.bvh", "--onto", "hero.glb", "-o", "x.glb"]);
    let reason = text(&refused.stderr).lines().next().unwrap().replace("error: stick.bvh: ", "");
    let stick = about(&document, "stick.bvh");
    let missing = stick["missing"].to_string();
    assert!(missing.contains(&reason), "{reason}: {missing}");
    assert_eq!(stick["next"], "posemill map stick.bvh hero.glb");
    let hurt = about(&document, "hurt.bvh")["doubtful"].to_string();
    assert!(hurt.contains("capture errors") && hurt.contains("spike"), "{hurt}");
    let map = about(&document, "map.toml");
    assert!(map["doubtful"].to_string().contains("there is no joint `nowhere`"), "{map:#}");
    assert!(map["next"].is_null());
    let face = about(&document, "face.csv");
    assert_eq!((&face["kind"], &face["next"]), (&"face".into(), &"posemill convert face.csv -o out/".into()));
    run_copied(folder.path(), "posemill convert face.csv -o out/");
}

/// A triangle without a skin is a character with one joint to the readers, and nothing that a take fits.
const PROP: &str = r#"{"asset": {"version": "2.0"}, "scenes": [{"nodes": [0]}], "nodes": [{"name": "box", "mesh": 0}],
    "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
    "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3", "min": [0, 0, 0], "max": [1, 1, 0]}],
    "bufferViews": [{"buffer": 0, "byteLength": 36}],
    "buffers": [{"byteLength": 36, "uri": "data:application/octet-stream;base64,AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA"}]}"#;

#[test]
fn no_take_is_compared_with_props() {
    let props: Vec<String> = (0..12).map(|k| format!("{k}.gltf")).collect();
    let mut files: Vec<(&str, &str)> = props.iter().map(|name| (name.as_str(), PROP)).collect();
    files.push(("t.bvh", "@walk.bvh"));
    let (_, document) = doctor(folder(&files).path(), &["."]);
    let take = about(&document, "t.bvh");
    assert_eq!((&take["missing"], &take["next"]), (&json!([]), &json!("posemill convert t.bvh -o out/")));
    // Props are not tried before a robot.
    files.push(("robot.xml", "@humanoid.xml"));
    let (_, document) = doctor(folder(&files).path(), &["."]);
    assert_eq!(about(&document, "t.bvh")["next"], "posemill retarget t.bvh --onto robot.xml -o out/");
    assert!(about(&document, "0.gltf")["about"].as_str().unwrap().ends_with(" 1 mesh part"));
}

#[test]
fn tables_beside_results_and_targets_are_called_what_they_are() {
    let folder = folder(&[
        ("reach.csv", "@reach.csv"),
        ("out/a.contacts.csv", "x"),
        ("out/a.forces.csv", "x"),
        ("out/a.forces.npz", "x"),
        ("out/report.json", "{}"),
    ]);
    let (exit, document) = doctor(folder.path(), &["."]);
    assert_eq!(exit, Some(0), "{document:#}");
    let targets = about(&document, "reach.csv");
    assert_eq!((&targets["kind"], &targets["next"]), (&"targets".into(), &Value::Null));
    assert_eq!(targets["about"], "181 rows of time, x, y, z; for `csv` of the stage `ik`");
    for file in ["out/a.contacts.csv", "out/a.forces.csv", "out/a.forces.npz", "out/report.json"] {
        assert_eq!(about(&document, file)["kind"], "report", "{file}");
    }
    let page = text(&posemill(folder.path(), &["doctor", "."]).stdout);
    for line in [
        "reach.csv: table of targets: 181 rows",
        "out/a.contacts.csv: contact labels\n",
        "out/a.forces.csv: forces\n",
        "out/a.forces.npz: forces\n",
        "out/report.json: report\n",
    ] {
        assert!(page.contains(line), "{line}: {page}");
    }
    assert_eq!(doctor(folder.path(), &["reach.csv"]).0, Some(0));
}

#[test]
fn of_a_large_folder_twelve_files_are_read_and_the_rest_is_counted() {
    let names: Vec<String> = (0..15).map(|k| format!("t/{k:02}.bvh")).collect();
    let mut files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "@wave.bvh")).collect();
    files.push(("hero.glb", "@robot.glb"));
    let folder = folder(&files);
    let (_, document) = doctor(folder.path(), &["."]);
    assert_eq!(document["files"].as_array().unwrap().len(), 13);
    assert_eq!(document["not_read"][0]["files"], 3);
    assert_eq!(document["next"], "posemill retarget 't/*.bvh' --onto hero.glb -o out/");
    // Files that are named are read, however many.
    let (_, document) = doctor(folder.path(), &["t/*.bvh"]);
    assert_eq!(document["files"].as_array().unwrap().len(), 15);
    let page = text(&posemill(folder.path(), &["doctor"]).stdout);
    assert!(page.contains("3 more `.bvh` files in `t`, not read\n"), "{page}");
}

#[test]
fn files_of_no_format_are_one_line_and_a_single_unreadable_one_is_named() {
    let files = [("a.rs", "fn main() {}"), ("b.md", "# text"), ("c", "text"), ("d.csv", "a,b\n1,x\n")];
    let made = folder(&files);
    let page = text(&posemill(made.path(), &["doctor", "."]).stdout);
    assert!(page.contains("3 other files (md, rs)\n"), "{page}");
    assert!(page.contains("d.csv: "), "{page}");
}
