//! Jobs of a batch are isolated: what a stage does to one take never reaches another.

use posemill::batch::{
    Batch, BatchOptions, Destination, JobOutcome, JobStatus, Jobs, Manifest, PathOwnership, find_takes,
    run_all,
};
use posemill::model::Motion;
use posemill::pipeline::{Pipeline, PipelineConfig, RunError};
use posemill::report::Report;
use posemill::stages::{Setting, Stage, StageConfig, StageEntry, StageError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use tempfile::TempDir;

/// Fails in the way that the name of the clip says.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Stumble {}

#[derive(Debug)]
struct Stumbling;

impl StageConfig for Stumble {
    const NAME: &'static str = "stumble";

    fn resolve(&self, _: &Setting) -> Result<Box<dyn Stage>, StageError> {
        Ok(Box::new(Stumbling))
    }
}

impl Stage for Stumbling {
    fn apply(&self, mut motion: Motion, report: &mut Report) -> Result<Motion, StageError> {
        match motion.clip.name.as_str() {
            "panics" => panic!("index 7 of 3"),
            "fails" => return Err(StageError::new("too short to stumble\nstart earlier")),
            "breaks" => motion.clip.sample_rate = f64::NAN,
            name => report.measure(format!("{name} stumbles"), motion.clip.frames() as f64, "frames"),
        }
        Ok(motion)
    }
}

const TAKE: &str = "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 3 Zrotation Xrotation Yrotation\n\
    End Site\n{\nOFFSET 0 1 0\n}\n}\nMOTION\nFrames: 2\nFrame Time: 0.05\n0 0 0\n10 0 0\n";

/// The outcomes of takes of these names; `found` is called when the takes have been found and before any is read.
fn outcomes(folder: &TempDir, names: &[&str], out: &str, found: &dyn Fn()) -> Vec<JobOutcome> {
    for name in names {
        fs::write(folder.path().join(name).with_extension("bvh"), TAKE).unwrap();
    }
    let registry = [StageEntry::of::<Stumble>()];
    let text = "[[stage]]\nuse = \"stumble\"\n";
    let config = PipelineConfig::parse("p.toml", text, &[], &registry).unwrap();
    let takes = find_takes(folder.path(), &["*.bvh".to_owned()], None).unwrap().takes;
    let out = folder.path().join(out);
    let placement = if out.extension().is_some() { Destination::File(out) } else { Destination::Folder(out) };
    let jobs = Jobs::new(takes, &config.output.formats, &placement, &[]).unwrap();
    let pipeline = Pipeline::new(&config, Path::new(""), None).unwrap();
    let (owners, stop) = (PathOwnership::of(std::iter::once(&jobs)), AtomicBool::new(false));
    let options = BatchOptions::default();
    let batch =
        Batch { pipeline: &pipeline, jobs: &jobs, manifest: None, owners: &owners, options, stop: &stop };
    found();
    let ended = Mutex::new(BTreeMap::new());
    run_all(&batch, &|number, outcome| {
        let before = ended.lock().unwrap().insert(number, outcome);
        assert!(before.is_none(), "job {number} ended twice");
    });
    ended.into_inner().unwrap().into_values().collect()
}

#[test]
fn a_panic_an_error_and_a_broken_promise_fail_their_own_take_only() {
    let folder = tempfile::tempdir().unwrap();
    let found = outcomes(&folder, &["walks", "panics", "fails", "breaks", "runs"], "out", &|| ());
    let seen: Vec<(String, JobStatus, Option<&str>)> = found
        .iter()
        .map(|o| {
            let name = o.inputs[0].file_stem().unwrap().to_string_lossy().into_owned();
            (name, o.status, o.error.as_deref())
        })
        .collect();
    let row = |name: &str, status, error| (name.to_owned(), status, error);
    let broken = "stage 1 (`stumble`) broke the motion: sample rate NaN Hz from 0 s";
    let panicked =
        "internal error: index 7 of 3\n  hint: report this error; the other files are not affected";
    let mut expected = vec![
        row("breaks", JobStatus::Failed, Some(broken)),
        row("fails", JobStatus::Failed, Some("stage 1 (`stumble`): too short to stumble\nstart earlier")),
        row("panics", JobStatus::Failed, Some(panicked)),
        row("runs", JobStatus::Written, None),
        row("walks", JobStatus::Written, None),
    ];
    if !cfg!(debug_assertions) {
        expected[0] = row("breaks", seen[0].1, seen[0].2);
    }
    assert_eq!(seen, expected);
    assert_eq!(found[3].metrics[0]["name"], "runs stumbles");
    let there = |name: &str| folder.path().join("out").join(name).exists();
    assert!(there("runs.glb") && there("walks.glb") && !there("panics.glb") && !there("fails.glb"));
}

#[test]
fn a_take_that_vanishes_after_it_was_found_fails_alone() {
    let folder = tempfile::tempdir().unwrap();
    let vanishing = folder.path().join("c.bvh");
    let found = outcomes(&folder, &["a", "b", "c", "d"], "out", &|| fs::remove_file(&vanishing).unwrap());
    let seen: Vec<_> = found.iter().map(|outcome| (outcome.status, outcome.error.as_deref())).collect();
    let gone = format!("`{}` cannot be read: no such file or directory", vanishing.display());
    let written = (JobStatus::Written, None);
    assert_eq!(seen, [written, written, (JobStatus::Failed, Some(gone.as_str())), written]);
    assert!(!folder.path().join("out/c.glb").exists());
}

#[test]
fn takes_that_are_merged_are_named_after_their_files_and_fail_together() {
    let folder = tempfile::tempdir().unwrap();
    let merged = outcomes(&folder, &["walks", "runs"], "all.glb", &|| ());
    let names = merged[0].metrics.as_array().unwrap().iter().map(|m| m["name"].as_str().unwrap());
    let names: Vec<_> = names.filter(|name| name.ends_with(" stumbles")).collect();
    assert_eq!((merged.len(), names), (1, vec!["runs stumbles", "walks stumbles"]));
    let before = fs::read(folder.path().join("all.glb")).unwrap();
    let failed = outcomes(&folder, &["fails"], "all.glb", &|| ());
    assert_eq!(failed[0].status, JobStatus::Failed);
    assert_eq!(fs::read(folder.path().join("all.glb")).unwrap(), before);
}

#[test]
fn a_file_that_may_not_be_replaced_stays_even_when_the_take_is_fine() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.bvh"), TAKE).unwrap();
    let out = folder.path().join("out");
    let output = out.join("a.glb");
    fs::create_dir(&out).unwrap();
    fs::write(&output, "mine").unwrap();
    let config = PipelineConfig::parse("p.toml", "", &[], &[]).unwrap();
    let takes = find_takes(folder.path(), &["a.bvh".to_owned()], None).unwrap().takes;
    let jobs = Jobs::new(takes, &config.output.formats, &Destination::Folder(out.clone()), &[]).unwrap();
    let pipeline = Pipeline::new(&config, Path::new(""), None).unwrap();
    let (owners, stop) = (PathOwnership::of(std::iter::once(&jobs)), AtomicBool::new(false));
    let run = |force: bool| {
        let manifest = Manifest::open(&out).unwrap();
        let options = BatchOptions { force, ..BatchOptions::default() };
        let (pipeline, jobs, manifest) = (&pipeline, &jobs, Some(&manifest));
        let heard = Mutex::new(None);
        let batch = Batch { pipeline, jobs, manifest, owners: &owners, options, stop: &stop };
        run_all(&batch, &|_, outcome| *heard.lock().unwrap() = Some(outcome));
        heard.into_inner().unwrap().unwrap()
    };
    assert_eq!(run(false).error, Some(RunError::Foreign(output.clone()).to_string()));
    assert_eq!(fs::read(&output).unwrap(), b"mine");
    assert_eq!(run(true).status, JobStatus::Written);
    assert_ne!(fs::read(&output).unwrap(), b"mine");
    assert_eq!(run(false).status, JobStatus::UpToDate);
    stop.store(true, Ordering::Relaxed);
    assert_eq!(run(true).status, JobStatus::Left, "what was not begun before a stop is left");
}
