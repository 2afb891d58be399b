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
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
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
///
/// Bringing a file to the disk is mostly waiting, so that the next takes are made meanwhile; a job ends when its files are
/// there.
pub fn run_all(batch: &Batch<'_>, done: &(dyn Fn(usize, Outcome) + Sync)) {
    run_all_with(batch, &|job, record| run::make(batch.pipeline, job, record), done);
}

/// Makes everything of one job, as [`run::make`] does.
pub(crate) type Make<'a> = dyn Fn(&Job, bool) -> Result<Made, RunError> + Sync + 'a;

/// [`run_all`], where `make` says how and where a job is made.
pub(crate) fn run_all_with(batch: &Batch<'_>, make: &Make<'_>, done: &(dyn Fn(usize, Outcome) + Sync)) {
    let elsewhere = Mutex::new(Vec::new());
    let waiting = &AtomicUsize::new(0);
    thread::scope(|disk| {
        let one = |number: usize, wait: bool| {
            let job = batch.jobs.get(number);
            let (made, when) = match isolated(|| Ok(make_one(batch, make, &job, wait))) {
                Ok(Ok(made)) => made,
                Ok(Err(Some(outcome))) => return done(number, *outcome),
                Ok(Err(None)) => {
                    return elsewhere.lock().unwrap_or_else(PoisonError::into_inner).push(number);
                }
                Err(panic) => return done(number, failed(&job, &panic)),
            };
            let size = made.outputs.iter().flatten().map(|file| file.1.len()).sum::<usize>().max(LEAST);
            let put = Arc::new(Mutex::new(Some(move || {
                let put = isolated(|| put_one(batch, &job, made, when));
                done(number, put.unwrap_or_else(|error| failed(&job, &error)));
            })));
            let room = |held: usize| Some(held + size).filter(|held| *held <= MOST);
            if waiting.fetch_update(Ordering::Relaxed, Ordering::Relaxed, room).is_ok() {
                let beside = Arc::clone(&put);
                let put = move || {
                    once(&beside);
                    waiting.fetch_sub(size, Ordering::Relaxed);
                };
                if thread::Builder::new().spawn_scoped(disk, put).is_ok() {
                    return;
                }
                waiting.fetch_sub(size, Ordering::Relaxed);
            }
            once(&put);
        };
        (0..batch.jobs.len()).into_par_iter().with_max_len(1).for_each(|k| one(k, true));
        let mut rest = std::mem::take(&mut *elsewhere.lock().unwrap_or_else(PoisonError::into_inner));
        rest.sort_unstable();
        rest.par_iter().with_max_len(1).for_each(|&k| one(k, false));
    });
}

/// How many bytes of files may wait for the disk, and as how many each take counts at least: sixteen takes of some seconds,
/// which the system brings there nearly in the time of one. With half as many the disk is waited for again; at double a
/// batch takes 64 MB more.
const MOST: usize = 64 << 20;
const LEAST: usize = 4 << 20;

/// Does what nobody has done yet.
fn once(work: &Mutex<Option<impl FnOnce()>>) {
    let work = work.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(work) = work {
        work();
    }
}

/// What `work` does; a panic in it is an error.
pub(crate) fn isolated<T>(work: impl FnOnce() -> Result<T, RunError>) -> Result<T, RunError> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| {
        let text = payload.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
        Err(RunError::Panic(text.unwrap_or("no message").to_owned()))
    })
}

/// How a job ended that makes nothing; `None` where it is left for later.
type Ended = Option<Box<Outcome>>;

/// What a job makes and the moment before its takes were read, else how it ended; no end where another run works on it and
/// `wait` says to leave it for later.
fn make_one(batch: &Batch<'_>, make: &Make<'_>, job: &Job, wait: bool) -> Result<(Made, SystemTime), Ended> {
    let Batch { pipeline, manifest, options, stop, .. } = *batch;
    let ended = |outcome| Err(Some(Box::new(outcome)));
    if stop.load(Ordering::Relaxed) {
        return ended(Outcome { outputs: Vec::new(), ..outcome(job, Status::Left, None) });
    }
    if let Some(collision) = &job.collision {
        return ended(failed(job, &RunError::Collision(collision.clone())));
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
                    return ended(failed(job, &RunError::Foreign(path)));
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
            return ended(result);
        }
    }
    if options.dry_run {
        return ended(outcome(job, Status::Planned, None));
    }
    if let Some(manifest) = manifest.filter(|_| !options.verify) {
        match job.outputs.first().map(|o| manifest.claim(&o.1)) {
            Some(Ok(false)) if wait => return Err(None),
            Some(Err(error)) => return ended(failed(job, &error.into())),
            _ => {}
        }
    }
    make(job, manifest.is_some()).map(|made| (made, when)).or_else(|error| ended(failed(job, &error)))
}

/// What a job made, read at `when`, becomes its outputs.
fn put_one(batch: &Batch<'_>, job: &Job, made: Made, when: SystemTime) -> Result<Outcome, RunError> {
    let place = Place { manifest: batch.manifest, claims: batch.claims, force: batch.options.force };
    let outputs: Vec<PathBuf> = made.outputs.iter().flatten().map(|f| f.0.clone()).collect();
    let (report, status) = match batch.options.verify {
        true => (place.verify(&made)?, Status::Verified),
        false => (place.write(job, &batch.pipeline.fingerprint, made, when)?, Status::Written),
    };
    Ok(Outcome { outputs, ..outcome(job, status, Some(&report)) })
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
