//! The program as it is started from a shell: files in, files out, all threads, files in the page cache.

use crate::take::{Channels, part, text};
use crate::timing::seconds;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A folder for this row, empty.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("summary").join(name);
    // It is not there the first time.
    fs::remove_dir_all(&folder).ok();
    fs::create_dir_all(&folder).expect("the build's folder can be written to");
    folder
}

fn written(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, text).expect("the build's folder can be written to");
    path
}

fn run(arguments: &[&dyn AsRef<OsStr>]) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_posemill"));
    command.args(arguments.iter().map(|a| a.as_ref())).stdout(Stdio::null());
    let output = command.stderr(Stdio::piped()).output().expect("the program was built with this bench");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn long_take(folder: &Path) -> PathBuf {
    written(folder, "take.bvh", &text(60, 10_000, Channels::Rotations))
}

/// Seconds.
pub fn bvh_to_glb() -> [f64; 2] {
    let folder = folder("bvh_to_glb");
    let (take, out) = (long_take(&folder), folder.join("take.glb"));
    seconds(|| run(&[&"convert", &take, &"--force", &"-o", &out]))
}

/// Seconds.
pub fn glb_to_bvh() -> [f64; 2] {
    let folder = folder("glb_to_bvh");
    let (take, glb, out) = (long_take(&folder), folder.join("take.glb"), folder.join("again.bvh"));
    run(&[&"convert", &take, &"-o", &glb]);
    seconds(|| run(&[&"convert", &glb, &"--force", &"-o", &out]))
}

/// Seconds. Lengths of 424 to 2,016 frames, parts of one take.
pub fn batch() -> [f64; 2] {
    let folder = folder("batch");
    let long = text(31, 2_016, Channels::Rotations);
    let takes: Vec<PathBuf> = (0..200)
        .map(|k| written(&folder, &format!("take{k:03}.bvh"), &part(&long, 0, 424 + 8 * (61 * k % 200))))
        .collect();
    let out = folder.join("out/");
    let mut arguments: Vec<&dyn AsRef<OsStr>> = vec![&"convert", &"--force", &"-o", &out];
    arguments.extend(takes.iter().map(|take| take as &dyn AsRef<OsStr>));
    seconds(|| run(&arguments))
}

/// Milliseconds.
pub fn version() -> [f64; 2] {
    seconds(|| run(&[&"--version"])).map(|s| s * 1e3)
}

/// Milliseconds.
pub fn onto_mannequin() -> [f64; 2] {
    let (folder, data) = (folder("onto_mannequin"), Path::new(env!("CARGO_MANIFEST_DIR")).join("data"));
    let walk = fs::read_to_string(data.join("walk.bvh")).expect("it is shipped");
    let take = written(&folder, "walk.bvh", &part(&walk, 0, 100));
    let (hero, out) = (data.join("mannequin.glb"), folder.join("walk.glb"));
    seconds(|| run(&[&"retarget", &take, &"--onto", &hero, &"--force", &"-o", &out])).map(|s| s * 1e3)
}
