//! Report pages of 10 seconds weigh at most 300 kB, whatever the character weighs.

mod development_data;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// What a page may weigh, bytes: it is then mailed and opened as a picture is.
const MOST: u64 = 300_000;

fn posemill(arguments: &[&str]) {
    let output = Command::new(env!("CARGO_BIN_EXE_posemill")).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn pages_of_the_demo_weigh_at_most_300_kilobytes() {
    let folder = TempDir::new().unwrap();
    let pipeline = Path::new(env!("CARGO_MANIFEST_DIR")).join("pipelines/demo.toml");
    let out = folder.path().display().to_string();
    posemill(&["run", &pipeline.display().to_string(), "--output", &out]);
    let folders = ["mannequin", "robot"].map(|name| fs::read_dir(folder.path().join(name)).unwrap());
    let pages = folders.into_iter().flatten().map(|entry| entry.unwrap().path());
    let pages = pages.filter(|path| path.to_string_lossy().ends_with(".report.html"));
    let sizes: Vec<(PathBuf, u64)> =
        pages.map(|path| (path.clone(), fs::metadata(path).unwrap().len())).collect();
    assert_eq!(sizes.len(), 10);
    for (path, bytes) in sizes {
        println!("{}: {bytes} bytes", path.display());
        assert!(bytes <= MOST, "{}: {bytes} bytes", path.display());
    }
}

#[test]
fn pages_of_larger_characters_weigh_at_most_300_kilobytes() {
    let Some(data) = development_data::data() else { return };
    let folder = TempDir::new().unwrap();
    // 11.3 s at 30 Hz.
    let take = data.join("bvh/fair1/dab.bvh").display().to_string();
    let characters = ["quaternius/Casual_man.glb", "gdquest/mannequiny-0.3.0.glb", "raylib/robot.glb"];
    for character in characters.map(|name| data.join("gltf").join(name)) {
        let out = folder.path().join(character.file_name().unwrap());
        let [onto, output] = [&character, &out].map(|path| path.display().to_string());
        posemill(&["retarget", &take, "--onto", &onto, "-o", &output, "--set", "output.report=true"]);
        let bytes = fs::metadata(out.with_extension("report.html")).unwrap().len();
        println!("{onto}: {bytes} bytes");
        assert!(bytes <= MOST, "{onto}: {bytes} bytes");
    }
}
