//! Many jobs, in parallel and isolated: one broken take leaves the others alone.

use super::manifest::{Manifest, Record, State};
use super::plan::{Job, Pipeline};
use super::run::{self, RunError};
use crate::page::{WorstCourse, worst_course};
use rayon::prelude::*;
use serde::Serialize;
use serde_json::{Value, json};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

/// How a batch is run.
#[derive(Clone, Copy, Debug, Default)]
pub struct BatchOptions {
    /// Replace what is there, whoever wrote it and however fresh it is.
    pub force: bool,
    /// Only say what would be done.
    pub dry_run: bool,
}

/// How a job ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Outputs were written.
    Written,
    /// Outputs were there and up to date.
    UpToDate,
    /// Outputs would have been written, were this not a dry run.
    Planned,
    /// Nothing was written.
    Failed,
}

/// What became of one job.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    /// The takes.
    pub inputs: Vec<PathBuf>,
    /// How it ended.
    pub status: Status,
    /// The files that are there, or would be.
    pub outputs: Vec<PathBuf>,
    /// Warnings, as [`crate::report::Warnings`] serialises them.
    pub warnings: Value,
    /// Measurements, as [`crate::report::Metric`] serialises them.
    pub metrics: Value,
    /// What each stage changed, as [`crate::report::Change`] serialises it.
    pub changes: Value,
    /// How the measure nearest to its limit, or furthest beyond it, went over the frames.
    pub worst_course: Option<WorstCourse>,
    /// Why it failed.
    pub error: Option<String>,
}

/// Runs every job on the current thread pool; outcomes come in the order of the jobs. `manifest` is that of the
/// output folder, `None` for outputs that the user named. `done` hears of each job when it ends.
pub fn run_all(
    pipeline: &Pipeline,
    jobs: &[Job],
    manifest: Option<&RwLock<Manifest>>,
    options: BatchOptions,
    done: &(dyn Fn(&Outcome) + Sync),
) -> Vec<Outcome> {
    let one = |job: &Job| {
        let isolated = catch_unwind(AssertUnwindSafe(|| run_one(pipeline, job, manifest, options)));
        let outcome = isolated.unwrap_or_else(|payload| {
            let text = payload.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
            failed(job, &RunError::Panic(text.unwrap_or("no message").to_owned()))
        });
        done(&outcome);
        outcome
    };
    jobs.par_iter().with_max_len(1).map(one).collect()
}

fn run_one(
    pipeline: &Pipeline,
    job: &Job,
    manifest: Option<&RwLock<Manifest>>,
    options: BatchOptions,
) -> Outcome {
    if let Some(manifest) = manifest.filter(|_| !options.force) {
        let takes: Vec<PathBuf> = job.takes.iter().map(|t| t.path.clone()).collect();
        let state = |o: &(_, PathBuf)| read(manifest).state(&o.1, &pipeline.fingerprint, &takes);
        let states: Vec<State> = job.outputs.iter().map(state).collect();
        if let Some(k) = states.iter().position(|s| *s == State::Foreign) {
            return failed(job, &RunError::Foreign(job.outputs[k].1.clone()));
        }
        let fresh = |s: State| match s {
            State::UpToDate(report, files) => Some((report, files)),
            State::Stale | State::Foreign => None,
        };
        if let Some(kept) = states.into_iter().map(fresh).collect::<Option<Vec<_>>>() {
            let mut result = outcome(job, Status::UpToDate, kept.first().map(|k| &k.0));
            if !options.dry_run {
                // The same files as when they were made.
                result.outputs = kept.into_iter().flat_map(|k| k.1).collect();
            }
            return result;
        }
    }
    if options.dry_run {
        return outcome(job, Status::Planned, None);
    }
    let may_replace = |path: &Path| match manifest {
        _ if options.force => true,
        Some(manifest) => read(manifest).may_replace(path),
        // The user named the output: it, and what is named after it, is replaced.
        None => {
            let name = |p: &Path| p.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let stem = job.outputs[0].1.with_extension("");
            !path.exists() || name(path).starts_with(&name(&stem))
        }
    };
    let made = match run::run(pipeline, job, manifest.is_some(), &may_replace) {
        Ok(made) => made,
        Err(error) => return failed(job, &error),
    };
    let mut report = serde_json::to_value(&made.report).expect("a report is plain data");
    // Courses over time are for whoever draws them now; a record of thousands of takes has room for a coarse one each.
    if let Some(parts) = report.as_object_mut() {
        parts.shift_remove("series");
        if let Some(worst) = worst_course(&made.report) {
            parts.insert("worst_course".into(), json!(worst));
        }
    }
    let mut result = outcome(job, Status::Written, Some(&report));
    result.outputs = made.outputs.iter().flatten().map(|f| PathBuf::from(&f.path)).collect();
    if let Some(manifest) = manifest {
        for (files, (_, planned)) in made.outputs.into_iter().zip(&job.outputs) {
            // Clips that a format holds one at a time went to files of their own.
            let apart = files.first().is_some_and(|f| Path::new(&f.path) != planned);
            let planned = if apart { planned.to_string_lossy().into_owned() } else { String::new() };
            let (pipeline, sources) = (pipeline.fingerprint.clone(), made.sources.clone());
            let record = Record { files, planned, pipeline, sources, report: report.clone() };
            let mut manifest = manifest.write().unwrap_or_else(PoisonError::into_inner);
            if let Err(error) = manifest.add(record) {
                return failed(job, &error.into());
            }
        }
    }
    result
}

/// A panic elsewhere leaves the manifest whole: records are only ever inserted.
fn read(manifest: &RwLock<Manifest>) -> RwLockReadGuard<'_, Manifest> {
    manifest.read().unwrap_or_else(PoisonError::into_inner)
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
