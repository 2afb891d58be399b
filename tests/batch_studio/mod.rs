//! A folder with takes and a pipeline over them, and the program run in it.

#![allow(dead_code, reason = "each test uses a part")]

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

/// Two joints, a turn of the root, three frames.
pub const TAKE: &str = "HIERARCHY\nROOT hips\n{\n  OFFSET 0 0 0\n  \
    CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation\n  \
    JOINT head\n  {\n    OFFSET 0 0.5 0\n    CHANNELS 3 Zrotation Xrotation Yrotation\n    \
    End Site\n    {\n      OFFSET 0 0.25 0\n    }\n  }\n}\n\
    MOTION\nFrames: 3\nFrame Time: 0.025\n\
    0 1 0 0 0 0 0 0 0\n0 1 0.1 10 0 0 0 5 0\n0 1 0.2 20 0 0 0 10 0\n";

/// A folder with takes that were there long ago, and a pipeline over them without reports.
pub fn studio(takes: &[&str]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (k, take) in takes.iter().enumerate() {
        write(folder.path(), take, &TAKE.replace(" 20 0", &format!(" {k} 0")));
        age(&folder.path().join(take), -100);
    }
    pipeline(folder.path(), "report = false\n");
    folder
}

/// As many takes in two folders.
pub fn many(count: usize) -> TempDir {
    let takes: Vec<String> = (0..count).map(|k| format!("takes/{}/{k:04}.bvh", k % 2)).collect();
    studio(&takes.iter().map(String::as_str).collect::<Vec<_>>())
}

/// The pipeline with these lines in `[output]`.
pub fn pipeline(folder: &Path, output: &str) {
    write(folder, "p.toml", &format!("[input]\nmotion = [\"takes/**/*.bvh\"]\n[output]\n{output}"));
}

pub fn write(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Gives a file another time, in seconds from now.
pub fn age(path: &Path, seconds: i64) {
    let (now, step) = (SystemTime::now(), Duration::from_secs(seconds.unsigned_abs()));
    let time = if seconds < 0 { now - step } else { now + step };
    fs::File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
}

pub fn command(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_posemill"));
    command.current_dir(folder).env_remove("NO_COLOR").env_remove("RUST_BACKTRACE");
    command
}

/// What a command with these arguments did: its exit code, stdout and stderr.
pub fn posemill<S: AsRef<OsStr>>(folder: &Path, arguments: &[S]) -> (i32, String, String) {
    told(&command(folder).args(arguments).output().unwrap())
}

pub fn told(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
}

/// How a run ended, and how many outputs were written and were up to date.
pub fn counts(folder: &Path, arguments: &[&str]) -> (i32, u64, u64) {
    let (code, out, err) = posemill(folder, &[&["run", "p.toml", "--json"], arguments].concat());
    let json: serde_json::Value = serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {out}{err}"));
    (code, json["written"].as_u64().unwrap(), json["up_to_date"].as_u64().unwrap())
}

/// Every file below `out` and its content, but for the lock and the sizes and times that were seen.
pub fn outputs(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    fn walk(root: &Path, at: &Path, files: &mut BTreeMap<String, Vec<u8>>) {
        for entry in fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
            match path.is_dir() {
                true => walk(root, &path, files),
                false if name == ".posemill.lock" || name == ".posemill.seen" => {}
                false => drop(files.insert(name, fs::read(&path).unwrap())),
            }
        }
    }
    let mut files = BTreeMap::new();
    walk(&folder.join("out"), &folder.join("out"), &mut files);
    files
}
