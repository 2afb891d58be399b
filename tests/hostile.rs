//! Files made to do harm, each below a megabyte: within 1.5 GB and five seconds of a processor each is answered with exit
//! code 1 and a message, or read where it is merely large. Nothing half-written is left, and nothing panics.
#![cfg(unix)]

mod hostile_files;
#[cfg(feature = "fbx")]
mod text_fbx;

use hostile_files::{Answer, Hostile, MEMORY, Use, hostile_files};
use rayon::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// Kilobytes of address space, and seconds of a processor: a machine of 2 GB that a batch shares with others.
const LIMITS: &str = "ulimit -v 1500000; ulimit -t 5; exec \"$0\" \"$@\"";

fn limited(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new("sh");
    command.current_dir(folder).args(["-c", LIMITS, env!("CARGO_BIN_EXE_posemill")]).args(arguments);
    command.env("RAYON_NUM_THREADS", "2").output().unwrap()
}

fn own(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(name)
}

/// An FBX file of our own, whose take is told to end in ten days.
fn long_fbx(folder: &Path, walk: &str) -> Option<Hostile> {
    if cfg!(not(feature = "fbx")) {
        return None;
    }
    let output = limited(folder, &["convert", walk, "-o", "walk.fbx"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut bytes = fs::read(folder.join("walk.fbx")).unwrap();
    let find =
        |word: &[u8], from: usize| from + bytes[from..].windows(word.len()).position(|w| w == word).unwrap();
    let mut at = 0;
    let mut places = Vec::new();
    while bytes[at..].windows(9).any(|w| w == b"LocalStop") {
        at = find(b"LocalStop", at) + 9;
        places.push(find(b"L", find(b"Time", find(b"KTime", at) + 5) + 4) + 1);
    }
    for place in places {
        bytes[place..place + 8].copy_from_slice(&(46_186_158_000i64 * 864_000).to_le_bytes());
    }
    let name = "a-take-of-ten-days.fbx";
    Some(Hostile { name, bytes, uses: &[Use::Inspect, Use::Convert, Use::Take], answer: MEMORY })
}

/// What is wrong with an answer.
fn fault(folder: &Path, out: &str, arguments: &[&str], answer: Answer) -> Option<String> {
    fs::create_dir(folder.join(out)).unwrap();
    let output = limited(folder, arguments);
    let said = String::from_utf8_lossy(&output.stderr);
    let code = output.status.code();
    let of_character = arguments.contains(&"--onto") && arguments[1].ends_with("walk.bvh");
    let right = match answer {
        // A character that cannot be read is a run that cannot start.
        Answer::Refused(words) => {
            code == Some(if of_character { 2 } else { 1 })
                && said.starts_with("error: ")
                && said.contains(words)
        }
        Answer::Read => code == Some(0),
    };
    let left = fs::read_dir(folder.join(out)).unwrap().count();
    let half_written = code != Some(0) && left > 0;
    let short: String = said.chars().take(300).collect();
    (!right || half_written || said.contains("panicked") || said.len() > 2000)
        .then(|| format!("{arguments:?}: {}, {left} files left, wanted {answer:?}: {short}", output.status))
}

/// A take of our own with a joint whose name is longer than a column of text can be.
fn long_name(walk: &str) -> Hostile {
    let text = fs::read_to_string(walk).unwrap().replace("mixamorig:Head", &"Head".repeat(17_000));
    Hostile {
        name: "a-name-that-is-no-column.bvh",
        bytes: text.into(),
        uses: &[Use::Inspect],
        answer: Answer::Read,
    }
}

#[test]
fn hostile_files_are_answered_within_bounds() {
    let folder = TempDir::new().unwrap();
    let (robot, walk) = (own("robot.glb").display().to_string(), own("walk.bvh").display().to_string());
    let mut files = hostile_files();
    files.extend(long_fbx(folder.path(), &walk));
    files.push(long_name(&walk));
    assert!(files.len() >= 40, "{} files", files.len());
    for file in &files {
        assert!(file.bytes.len() < 1_000_000, "{}: {} bytes", file.name, file.bytes.len());
        fs::write(folder.path().join(file.name), &file.bytes).unwrap();
    }
    let only = std::env::var("POSEMILL_HOSTILE").ok();
    let chosen = files.iter().filter(|f| only.as_ref().is_none_or(|only| f.name.contains(only.as_str())));
    let runs: Vec<_> = chosen.flat_map(|file| file.uses.iter().map(move |usage| (file, usage))).collect();
    let answer = |(number, (file, usage)): (usize, &(&Hostile, &Use))| {
        let out = format!("out-{number}");
        let [result, picture] = ["x.glb", "x.png"].map(|name| format!("{out}/{name}"));
        let arguments = match usage {
            Use::Inspect => vec!["inspect", file.name],
            Use::Convert => vec!["convert", file.name, "-o", &result],
            Use::Preview => vec!["preview", file.name, "-o", &picture],
            Use::Take => vec!["retarget", file.name, "--onto", &robot, "-o", &result],
            Use::Character => vec!["retarget", &walk, "--onto", file.name, "-o", &result],
        };
        let started = std::time::Instant::now();
        let fault = fault(folder.path(), &out, &arguments, file.answer);
        println!("{:6.2} s  {} {usage:?}", started.elapsed().as_secs_f64(), file.name);
        fault
    };
    // Two at a time, on any machine: each may use what the limits allow.
    let two = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let faults: Vec<String> = two.install(|| runs.par_iter().enumerate().filter_map(answer).collect());
    println!("{} files", files.len());
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn takes_beside_hostile_files_are_written() {
    let folder = TempDir::new().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("in")).unwrap();
    let files = hostile_files();
    files.iter().for_each(|file| fs::write(at("in").join(file.name), &file.bytes).unwrap());
    for good in ["walk.bvh", "wave.bvh", "robot.glb"] {
        fs::copy(own(good), at("in").join(good)).unwrap();
    }
    let output = Command::new(env!("CARGO_BIN_EXE_posemill"))
        .args(["convert", "in/*", "-o", "out/", "--jobs", "2", "--timeout", "60s", "--memory", "1500MB"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(!said.contains("panicked"), "{said}");
    for good in ["walk.glb", "wave.glb", "robot.glb"] {
        assert!(at("out").join(good).exists(), "{good}: {said}");
    }
    // What is refused as a take is refused here too, and leaves nothing.
    for file in files.iter().filter(|f| f.uses.contains(&Use::Convert) && f.answer != Answer::Read) {
        assert!(said.contains(&format!("error: in/{}: ", file.name)), "{}: {said}", file.name);
        assert!(!at("out").join(file.name).with_extension("glb").exists(), "{}", file.name);
    }
    println!("{}", said.lines().last().unwrap_or_default());
}
