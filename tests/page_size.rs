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

/// The size of the page of a retargeted take.
fn page_size(take: &Path, character: &Path, options: &[&str]) -> u64 {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("out.glb");
    let [take, onto, output] = [take, character, &out].map(|path| path.display().to_string());
    let fixed = ["retarget", &take, "--onto", &onto, "-o", &output, "--set", "output.report=true"];
    posemill(&[&fixed, options].concat());
    let bytes = fs::metadata(out.with_extension("report.html")).unwrap().len();
    println!("{onto} {options:?}: {bytes} bytes");
    bytes
}

#[test]
fn pages_of_larger_characters_weigh_at_most_300_kilobytes() {
    let Some(data) = development_data::data() else { return };
    // 11.3 s at 30 Hz.
    let take = data.join("bvh/fair1/dab.bvh");
    let characters = [
        "gltf/quaternius/Casual_man.glb",
        "gltf/gdquest/mannequiny-0.3.0.glb",
        "gltf/raylib/robot.glb",
        "gltf/khronos/cesium_man.gltf",
        "derived/makehuman-base-default-rig.glb",
        "derived/rigify-human-deform.glb",
    ];
    for character in characters.map(|name| data.join(name)) {
        assert!(page_size(&take, &character, &[]) <= MOST);
    }
}

#[test]
fn pages_of_ten_seconds_weigh_at_most_300_kilobytes_at_any_rate() {
    let Some(data) = development_data::data() else { return };
    let take = data.join("bvh/cmu/01_01.bvh");
    // The largest surface, and the most joints that move.
    for character in ["makehuman-base-default-rig.glb", "rigify-human-deform.glb"] {
        for rate in ["30", "60", "120"] {
            let character = data.join("derived").join(character);
            assert!(page_size(&take, &character, &["--trim", "0..10", "--fps", rate]) <= MOST);
        }
    }
}
