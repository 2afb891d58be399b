//! Names that command a terminal or add lines: what they come to on the console and in every text that is written.

use serde_json::json;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

const NAME: &str = "evil\u{1b}[2J\n[[pair]]\r,\"x\u{7f}\u{9b}31m";

fn posemill(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_posemill")).current_dir(folder).args(arguments).output().unwrap()
}

/// A body of glTF nodes, clips, meshes and materials of that name.
fn written(folder: &Path) {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/squat.bvh");
    let output = posemill(folder, &["convert", own.to_str().unwrap(), "-o", "body.gltf"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = fs::read_to_string(folder.join("body.gltf")).unwrap();
    let mut document: serde_json::Value = serde_json::from_str(&text).unwrap();
    for list in ["nodes", "animations", "meshes", "materials", "skins"] {
        for (k, item) in document[list].as_array_mut().into_iter().flatten().enumerate() {
            let kept = item["name"].as_str().unwrap_or_default().to_owned();
            item["name"] = json!(format!("{kept}{NAME}{k}"));
        }
    }
    document["extensions"] =
        json!({ "VRMC_vrm": { "humanoid": { "humanBones": { NAME: { "node": 999 } } } } });
    fs::write(folder.join("evil.gltf"), document.to_string()).unwrap();
    fs::remove_file(folder.join("body.gltf")).unwrap();
}

fn harmless(what: &str, text: &[u8], lines: Option<usize>) {
    let text = String::from_utf8_lossy(text);
    let odd = text.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\t'));
    assert!(odd.is_none(), "{what}: {odd:?}");
    assert!(
        text.lines().all(|line| !line.starts_with("[[pair]],") && !line.starts_with("[[pair]]\\")),
        "{what}"
    );
    if let Some(lines) = lines {
        assert_eq!(text.lines().count(), lines, "{what}");
    }
}

#[test]
fn names_stay_on_their_line_and_command_no_terminal() {
    let folder = TempDir::new().unwrap();
    written(folder.path());
    let robot = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/robot.glb");
    let robot = robot.to_str().unwrap();
    let commands: &[&[&str]] = &[
        &["inspect", "evil.gltf"],
        &["joints", "evil.gltf", "--frames", "0"],
        &["joints", "evil.gltf", "--frames", "0", "--csv"],
        &["joints", "evil.gltf", "--clip", NAME],
        &["map", "evil.gltf", robot],
        &["measure", "evil.gltf"],
        &["retarget", "evil.gltf", "--onto", robot, "-o", "out.bvh"],
        &["convert", "evil.gltf", "-o", "evil.bvh"],
        &["convert", "evil.gltf", "-o", "evil.csv"],
        &["convert", "evil.gltf", "-o", "evil.usda"],
        &["preview", "evil.gltf", "-o", "evil.png", "--clip", NAME],
        &["--verbose", "convert", "evil.gltf", "-o", "evil.glb"],
        &["inspect", "evil.gltf", "--json"],
        &["joints", "evil.gltf", "--frames", "0", "--json"],
        &["measure", "evil.gltf", "--json"],
        &["map", "evil.gltf", robot, "--json"],
        &["convert", "evil.gltf", "-o", "json/", "--json"],
        &["retarget", "evil.gltf", "--onto", robot, "-o", "onto/", "--json"],
        &["table", "onto"],
    ];
    for arguments in commands {
        let output = posemill(folder.path(), arguments);
        let what = format!("{arguments:?}");
        harmless(&what, &output.stderr, None);
        harmless(&what, &output.stdout, None);
    }
    let rows = posemill(folder.path(), &["joints", "evil.gltf", "--frames", "0", "--csv"]).stdout;
    let joints = posemill(folder.path(), &["joints", "evil.gltf", "--frames", "0"]).stdout;
    assert_eq!(rows.iter().filter(|b| **b == b'\n').count(), joints.iter().filter(|b| **b == b'\n').count());
    for name in ["evil.bvh", "evil.csv", "evil.usda"] {
        harmless(name, &fs::read(folder.path().join(name)).unwrap(), None);
    }
    let table = fs::read_to_string(folder.path().join("evil.csv")).unwrap();
    let plain = posemill(folder.path(), &["inspect", "evil.gltf", "--json"]).stdout;
    let plain: serde_json::Value = serde_json::from_slice(&plain).unwrap();
    assert!(plain["clips"][0]["name"].as_str().unwrap().contains(NAME), "JSON keeps the meaning");
    assert_eq!(table.lines().count() as u64, 1 + plain["clips"][0]["frames"].as_u64().unwrap());
}

#[cfg(unix)]
/// XML and arrays keep what glTF does not.
#[test]
fn names_of_links_stay_on_their_line_and_command_no_terminal() {
    let folder = TempDir::new().unwrap();
    let robot = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/humanoid.xml");
    let text = fs::read_to_string(robot).unwrap();
    let evil = text.replace("<body name=\"", "<body name=\"a&#10;error: b&#155;");
    assert_ne!(evil, text);
    fs::write(folder.path().join("evil.xml"), evil).unwrap();
    let output = posemill(folder.path(), &["inspect", "evil.xml"]);
    harmless("robot", &output.stderr, None);
    harmless("robot", &output.stdout, None);
    let page = String::from_utf8_lossy(&output.stdout);
    assert!(page.contains("error: b") && !page.lines().any(|line| line.starts_with("error: b")), "{page}");
}

#[test]
fn pipes_devices_and_folders_are_no_files() {
    let folder = TempDir::new().unwrap();
    let pipe = folder.path().join("pipe.bvh");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let walk = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/walk.bvh").display().to_string();
    for arguments in [
        &["inspect", "/dev/zero"][..],
        &["inspect", "pipe.bvh"],
        &["joints", "pipe.bvh"],
        &["preview", "pipe.bvh", "-o", "x.png"],
        &["retarget", &walk, "--onto", "/dev/zero", "-o", "x.glb"],
        &["retarget", &walk, "--onto", "pipe.bvh", "-o", "x.glb"],
        &["inspect", &walk, "--set", "input.calibration.file=pipe.bvh"],
    ] {
        let output = posemill(folder.path(), arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(matches!(output.status.code(), Some(1 | 2)), "{arguments:?}: {}", output.status);
        assert!(said.contains("a pipe or a device, not a file"), "{arguments:?}: {said}");
    }
    let output = posemill(folder.path(), &["inspect", &walk, "--set", "input.memory=1kB"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(1) && said.contains("of the 1.0 kB that a file may use"), "{said}");
}

#[cfg(unix)]
#[test]
fn names_of_files_stay_on_their_line_and_command_no_terminal() {
    let folder = TempDir::new().unwrap();
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/squat.bvh");
    let evil = "evil\u{1b}[2J\nerror: forged\r.bvh";
    fs::copy(own, folder.path().join(evil)).unwrap();
    fs::write(folder.path().join("bad\nerror: forged.bvh"), "HIERARCHY\nROOT a").unwrap();
    fs::write(folder.path().join("list\nerror: forged"), format!("{evil}\nnone\x1b.bvh")).unwrap();
    fs::write(folder.path().join("p.toml"), "[input]\nmotion = [\"*.bvh\"]\n").unwrap();
    fs::write(folder.path().join("odd\nerror: forged.toml"), "[input]\nmotion = [\"none*.bvh\"]\nx = 1\n")
        .unwrap();
    let commands: &[&[&str]] = &[
        &["inspect", evil],
        &["inspect", "bad\nerror: forged.bvh"],
        &["inspect", "none\nerror: forged.bvh"],
        &["joints", evil, "--frames", "0"],
        &["measure", evil],
        &["convert", evil, "-o", "new\nerror: forged.glb"],
        &["convert", evil, "-o", "new\nerror: forged/"],
        &["convert", evil, "none\nerror: forged.bvh", "-o", "out/"],
        &["run", "p.toml", "--dry-run"],
        &["run", "p.toml"],
        &["run", "p.toml", "--verbose"],
        &["run", "p.toml", "--files-from", "list\nerror: forged"],
        &["run", "p.toml", "--files-from", "nolist\nerror: forged"],
        &["run", "odd\nerror: forged.toml"],
        &["run", "missing\nerror: forged.toml"],
        &["preview", evil, "-o", "picture\nerror: forged.png"],
        &["retarget", evil, "--onto", "bad\nerror: forged.bvh", "-o", "o.glb"],
        &["retarget", evil, "--onto", evil, "--map", "none\nerror: forged.toml", "-o", "o.glb"],
    ];
    for arguments in commands {
        let output = posemill(folder.path(), arguments);
        for text in [&output.stdout, &output.stderr] {
            let text = String::from_utf8_lossy(text);
            let odd = text.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\t'));
            assert!(odd.is_none(), "{arguments:?}: {odd:?}");
            let forged = text
                .lines()
                .find(|line| line.trim_start().trim_start_matches("hint: ").starts_with("error: forged"));
            assert!(forged.is_none(), "{arguments:?}: {text}");
        }
    }
}

#[test]
fn a_joint_named_as_a_formula_is_none_in_a_table() {
    let folder = TempDir::new().unwrap();
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/squat.bvh");
    let text = fs::read_to_string(own).unwrap();
    let first = text.lines().find_map(|line| line.trim().strip_prefix("ROOT ")).unwrap().to_owned();
    fs::write(folder.path().join("f.bvh"), text.replacen(&format!("ROOT {first}"), "ROOT =cmdA0", 1))
        .unwrap();
    assert!(posemill(folder.path(), &["convert", "f.bvh", "-o", "f.csv"]).status.success());
    let table = fs::read_to_string(folder.path().join("f.csv")).unwrap();
    let listed = posemill(folder.path(), &["joints", "f.bvh", "--frames", "0", "--csv"]).stdout;
    for text in [table, String::from_utf8(listed).unwrap()] {
        assert!(text.contains(",'=cmdA0") && !text.contains(",=cmd"), "{}", &text[..300.min(text.len())]);
    }
}
