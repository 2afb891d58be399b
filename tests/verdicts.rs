//! The verdict on results that were judged by eye: `tests/verdicts.txt`.
//!
//! `cargo test --test verdicts -- --nocapture` prints every disagreement.

mod development_data;

use development_data::data;
use rayon::prelude::*;
use std::path::{Path, PathBuf};
use std::process::Command;

const LIST: &str = include_str!("verdicts.txt");
/// Faults that are called good or as recorded.
const FALSE_GOOD: usize = 0;
/// Good results that are called over: three of 60 when this was written; five were allowed.
const FALSE_ALARMS: usize = 5;

/// One line of the list.
struct Judged<'a> {
    fault: bool,
    take: PathBuf,
    clip: &'a str,
    character: PathBuf,
    settings: &'a str,
    seen: &'a str,
}

fn judged(data: &Path) -> Vec<Judged<'static>> {
    let place = |name: &str| match name.strip_prefix("data/") {
        Some(own) => Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(own),
        None => data.join(name),
    };
    let line = |line: &'static str| {
        let [label, take, clip, character, settings, seen] =
            line.split(" | ").collect::<Vec<_>>().try_into().expect("six columns");
        assert!(["good", "fault"].contains(&label), "{line}");
        let (take, character) = (place(take), place(character));
        Judged { fault: label == "fault", take, clip, character, settings, seen }
    };
    LIST.lines().filter(|l| !l.is_empty() && !l.starts_with('#')).map(line).collect()
}

fn posemill() -> Command {
    Command::new(env!("CARGO_BIN_EXE_posemill"))
}

/// Whether the verdict on a result is "over", with the verdict in words.
fn verdict(pair: &Judged, out: &Path) -> (bool, String) {
    let mut retarget = posemill();
    retarget.arg("retarget").arg(&pair.take).arg("--onto").arg(&pair.character).arg("-o").arg(out);
    retarget.args(["-f", "-q", "--replace-animations"]);
    if pair.clip != "-" {
        retarget.args(["--clip", pair.clip]);
    }
    for set in pair.settings.split(' ').filter(|s| *s != "-") {
        retarget.args(["--set", set]);
    }
    let ran = retarget.output().unwrap();
    assert!(out.exists(), "{}: {}", pair.take.display(), String::from_utf8_lossy(&ran.stderr));
    let measured = posemill().arg("measure").arg(out).arg("--source").arg(&pair.take).arg("--json").output();
    let report: serde_json::Value = serde_json::from_slice(&measured.unwrap().stdout).unwrap();
    let verdict = &report["results"][0]["verdict"];
    let word = verdict.as_str().or(verdict["word"].as_str()).expect("a verdict").to_owned();
    (word == "over", word)
}

#[test]
fn the_verdict_is_that_of_the_eye() {
    let Some(data) = data() else { return };
    let pairs = judged(&data);
    assert_eq!(pairs.len(), 60);
    let folder = tempfile::tempdir().unwrap();
    let all: Vec<(bool, String)> = pairs
        .par_iter()
        .enumerate()
        .map(|(k, pair)| verdict(pair, &folder.path().join(format!("{k}.glb"))))
        .collect();
    let (mut missed, mut alarms) = (0, 0);
    for (pair, (over, word)) in pairs.iter().zip(&all).filter(|(pair, (over, _))| pair.fault != *over) {
        println!("{} onto {}: {word}; {}", pair.take.display(), pair.character.display(), pair.seen);
        missed += usize::from(!over);
        alarms += usize::from(*over);
    }
    println!("{missed} faults called good, {alarms} false alarms");
    assert!(
        missed == FALSE_GOOD && alarms <= FALSE_ALARMS,
        "{missed} faults called good, {alarms} false alarms"
    );
}
