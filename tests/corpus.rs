//! The corpus of damaged and odd files: exit code and first line of the message of each, as a table that is kept.
//!
//! `POSEMILL_UPDATE=1` writes the table anew; say why in the message of the commit.

mod development_data;

use development_data::data;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const READ: &[&str] = &["bvh", "fbx", "glb", "gltf", "vrm"];

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().and_then(|e| e.to_str()).is_some_and(|e| READ.contains(&e)) {
            found.push(path);
        }
    }
}

#[cfg(all(unix, feature = "fbx", feature = "meshopt"))]
#[test]
fn every_file_of_the_corpus_is_answered_as_before() {
    let Some(data) = data() else { return };
    let mut found = Vec::new();
    files(&data.join("corpus"), &mut found);
    found.sort();
    let mut table = String::new();
    for path in found {
        let file = path.strip_prefix(&data).unwrap().to_str().unwrap();
        // A processor's second and a gigabyte of addresses: what is taken of memory is far less.
        let limits = "ulimit -v 1000000; ulimit -t 2; exec \"$0\" \"$@\"";
        let mut command = Command::new("sh");
        command.current_dir(&data).args(["-c", limits, env!("CARGO_BIN_EXE_posemill"), "inspect", file]);
        let output = command.env("RAYON_NUM_THREADS", "2").output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        let code = output.status.code().unwrap_or_else(|| panic!("{file}: {}: {said}", output.status));
        assert!(code < 2 && !said.contains("panicked"), "{file}: {code}: {said}");
        table += &format!("{file}\t{code}\t{}\n", said.lines().next().unwrap_or("-"));
    }
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus.txt");
    if std::env::var_os("POSEMILL_UPDATE").is_some() {
        fs::write(&kept, &table).unwrap();
    }
    let before = fs::read_to_string(&kept).unwrap();
    let differs = before.lines().zip(table.lines()).find(|(a, b)| a != b);
    assert!(before == table, "the first line that differs: {differs:?}");
}
