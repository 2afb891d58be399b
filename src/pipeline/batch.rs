//! Many jobs, in parallel and isolated: one broken take leaves the others alone.

use super::claims::Claims;
use super::drawn::WorstCourse;
use super::jobs::{Job, Jobs};
use super::manifest::{Manifest, State};
use super::plan::Pipeline;
use super::put::Place;
use super::run::{self, Made, RunError};
use rayon::prelude::*;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Value, json};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

/// How a batch is run.
#[derive(Clone, Copy, Debug, Default)]
pub struct BatchOptions {
    /// Replace what is there, whoever wrote it and however fresh it is.
    pub force: bool,
    /// Only say what would be done.
    pub dry_run: bool,
    /// Make everything, write nothing, and compare with what is there.
    pub verify: bool,
}

/// Jobs and what they share.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    /// The pipeline of all of them.
    pub pipeline: &'a Pipeline,
    /// The jobs.
    pub jobs: &'a Jobs,
    /// That of the folder of the outputs; `None` for outputs that the user named.
    pub manifest: Option<&'a Manifest>,
    /// Whose each file is.
    pub claims: &'a Claims,
    /// How they are run.
    pub options: BatchOptions,
    /// Jobs that were not begun when this becomes true are left.
    pub stop: &'a AtomicBool,
}

/// How a job ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Outputs were written.
    Written,
    /// Outputs were there and up to date.
    UpToDate,
    /// Outputs were made again, and are what is there.
    Verified,
    /// Outputs would have been written, were this not a dry run.
    Planned,
    /// Nothing was written.
    Failed,
    /// The batch was stopped before this job.
    Left,
}

/// What became of one job.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Outcome {
    /// The takes.
    #[serde(serialize_with = "readable")]
    pub inputs: Vec<PathBuf>,
    /// How it ended.
    pub status: Status,
    /// The files that are there, or would be.
    #[serde(serialize_with = "readable")]
    pub outputs: Vec<PathBuf>,
    /// Warnings, as [`crate::report::Warnings`] serialises them.
    pub warnings: Value,
    /// Measurements, as [`crate::report::Metric`] serialises them.
    pub metrics: Value,
    /// What each stage changed, as [`crate::report::Change`] serialises it.
    pub changes: Value,
    /// Faults of the take, mended or left, as [`crate::report::Finding`] serialises them.
    pub findings: Value,
    /// How the measure nearest to its limit, or furthest beyond it, went over the frames.
    pub worst_course: Option<WorstCourse>,
    /// Why it failed.
    pub error: Option<String>,
}

/// Paths as people see them: JSON has no place for names that are not UTF-8.
fn readable<S: Serializer>(paths: &[PathBuf], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(paths.iter().map(|p| p.to_string_lossy()))
}

/// Runs every job on the current thread pool; `done` hears of each when it ends, with its number. What another run in the
/// same folder works on comes last: by then it is done, or that run is no more.
pub fn run_all(batch: &Batch<'_>, done: &(dyn Fn(usize, Outcome) + Sync)) {
    run_all_with(batch, &|job, record| run::make(batch.pipeline, job, record), done);
}

/// Makes everything of one job, as [`run::make`] does.
pub(crate) type Make<'a> = dyn Fn(&Job, bool) -> Result<Made, RunError> + Sync + 'a;

/// [`run_all`], where `make` says how and where a job is made.
pub(crate) fn run_all_with(batch: &Batch<'_>, make: &Make<'_>, done: &(dyn Fn(usize, Outcome) + Sync)) {
    let elsewhere = Mutex::new(Vec::new());
    let one = |number: usize, wait: bool| {
        let job = &batch.jobs.get(number);
        let outcome = isolated(|| Ok(run_one(batch, make, job, wait)));
        match outcome.unwrap_or_else(|panic| Some(failed(job, &panic))) {
            Some(outcome) => done(number, outcome),
            None => elsewhere.lock().unwrap_or_else(PoisonError::into_inner).push(number),
        }
    };
    (0..batch.jobs.len()).into_par_iter().with_max_len(1).for_each(|k| one(k, true));
    let mut rest = std::mem::take(&mut *elsewhere.lock().unwrap_or_else(PoisonError::into_inner));
    rest.sort_unstable();
    rest.par_iter().with_max_len(1).for_each(|&k| one(k, false));
}

/// What `work` does; a panic in it is an error.
pub(crate) fn isolated<T>(work: impl FnOnce() -> Result<T, RunError>) -> Result<T, RunError> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| {
        let text = payload.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
        Err(RunError::Panic(text.unwrap_or("no message").to_owned()))
    })
}

/// One job from its takes to its outputs; `None` where another run works on it and `wait` says to leave it for later.
fn run_one(batch: &Batch<'_>, make: &Make<'_>, job: &Job, wait: bool) -> Option<Outcome> {
    let Batch { pipeline, manifest, claims, options, stop, .. } = *batch;
    if stop.load(Ordering::Relaxed) {
        return Some(Outcome { outputs: Vec::new(), ..outcome(job, Status::Left, None) });
    }
    if let Some(collision) = &job.collision {
        return Some(failed(job, &RunError::Collision(collision.clone())));
    }
    let when = SystemTime::now();
    if let (Some(manifest), Some(take)) = (manifest, job.takes.first())
        && !options.force
        && !options.verify
    {
        let state = |o: &(_, PathBuf)| manifest.state(&o.1, &pipeline.fingerprint, take);
        let mut kept = Vec::with_capacity(job.outputs.len());
        for state in job.outputs.iter().map(state) {
            match state {
                State::UpToDate(report, files) => kept.push((report, files)),
                State::Stale => {}
                // What is there may be just what would be written.
                State::Foreign(path) if options.dry_run => {
                    return Some(failed(job, &RunError::Foreign(path)));
                }
                State::Foreign(_) => {}
            }
        }
        if kept.len() == job.outputs.len() {
            let mut result = outcome(job, Status::UpToDate, kept.first().map(|k| &k.0));
            if !options.dry_run {
                // The same files as when they were made.
                result.outputs = kept.into_iter().flat_map(|k| k.1).collect();
            }
            return Some(result);
        }
    }
    if options.dry_run {
        return Some(outcome(job, Status::Planned, None));
    }
    if let Some(manifest) = manifest.filter(|_| !options.verify) {
        match job.outputs.first().map(|o| manifest.claim(&o.1)) {
            Some(Ok(false)) if wait => return None,
            Some(Err(error)) => return Some(failed(job, &error.into())),
            _ => {}
        }
    }
    let place = Place { manifest, claims, force: options.force };
    let made = make(job, manifest.is_some()).and_then(|made| {
        let outputs: Vec<PathBuf> = made.outputs.iter().flatten().map(|f| f.0.clone()).collect();
        let (report, status) = match options.verify {
            true => (place.verify(&made)?, Status::Verified),
            false => (place.write(job, &pipeline.fingerprint, made, when)?, Status::Written),
        };
        Ok(Outcome { outputs, ..outcome(job, status, Some(&report)) })
    });
    Some(made.unwrap_or_else(|error| failed(job, &error)))
}

fn outcome(job: &Job, status: Status, report: Option<&Value>) -> Outcome {
    let part = |name: &str| report.and_then(|r| r.get(name)).cloned().unwrap_or_else(|| json!([]));
    Outcome {
        inputs: job.takes.iter().map(|t| t.path.clone()).collect(),
        status,
        outputs: job.outputs.iter().map(|o| o.1.clone()).collect(),
        warnings: part("warnings"),
        metrics: part("metrics"),
        changes: part("changes"),
        findings: part("findings"),
        worst_course: report.and_then(|r| r.get("worst_course")).and_then(WorstCourse::of_json),
        error: None,
    }
}

fn failed(job: &Job, error: &RunError) -> Outcome {
    let mut result = outcome(job, Status::Failed, None);
    result.outputs.clear();
    result.error = Some(error.to_string());
    result
}
