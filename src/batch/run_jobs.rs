//! Runs the jobs of a batch in parallel, isolated from each other.

use super::commit::Commit;
use super::job_outcome::{JobOutcome, JobStatus};
use super::jobs::Jobs;
use super::manifest::{ClaimState, Manifest, OutputState};
use super::path_ownership::PathOwnership;
use crate::pipeline::{self, CLIP_PAGE, Job, JobOutputs, Pipeline, RunError};
use rayon::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::SystemTime;

/// How the jobs of a batch treat the files that exist.
#[derive(Clone, Copy, Debug, Default)]
pub struct BatchOptions {
    /// Replace files even if they are up to date or were not written by this program.
    pub force: bool,
    /// Report what would be done; write nothing.
    pub dry_run: bool,
    /// Make all outputs in memory, write nothing, and compare them with the files.
    pub verify: bool,
}

/// Jobs and what they share.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    /// The pipeline of all jobs.
    pub pipeline: &'a Pipeline,
    /// The jobs.
    pub jobs: &'a Jobs,
    /// The manifest of the output folder; `None` for an output file that the user named.
    pub manifest: Option<&'a Manifest>,
    /// The owners of all files of the run.
    pub owners: &'a PathOwnership,
    /// How they run.
    pub options: BatchOptions,
    /// Jobs that have not begun when this becomes true are left out.
    pub stop: &'a AtomicBool,
}

/// Runs every job on the current thread pool, in this process; `done` gets the number and the outcome of each job when it
/// ends. Jobs that another run in the same folder has claimed come last: by then that run has finished them, or is gone.
///
/// Syncing a file to the disk is mostly waiting, so that the next takes are made meanwhile; a job ends when its files are
/// on the disk.
pub fn run_all(batch: &Batch<'_>, done: &(dyn Fn(usize, JobOutcome) + Sync)) {
    run_all_with(batch, &|job, to_folder| pipeline::make(batch.pipeline, job, to_folder), done);
}

/// Makes the outputs of one job, as [`pipeline::make`] does.
pub(super) type Make<'a> = dyn Fn(&Job, bool) -> Result<JobOutputs, RunError> + Sync + 'a;

/// As [`run_all`], with `make` in place of [`pipeline::make`].
pub(super) fn run_all_with(batch: &Batch<'_>, make: &Make<'_>, done: &(dyn Fn(usize, JobOutcome) + Sync)) {
    let elsewhere = Mutex::new(Vec::new());
    let waiting = &AtomicUsize::new(0);
    thread::scope(|disk| {
        let one = |number: usize, wait: bool| {
            let job = batch.jobs.get(number);
            let (outputs, when) = match isolated(|| Ok(make_one(batch, make, &job, wait))) {
                Ok(Ok(made)) => made,
                Ok(Err(Some(outcome))) => return done(number, *outcome),
                Ok(Err(None)) => {
                    return elsewhere.lock().unwrap_or_else(PoisonError::into_inner).push(number);
                }
                Err(panic) => return done(number, JobOutcome::failed(&job, &panic)),
            };
            let size = outputs.files().map(|file| file.1.len()).sum::<usize>().max(LEAST_WAITING);
            let commit = Arc::new(Mutex::new(Some(move || {
                let outcome = isolated(|| commit_one(batch, &job, outputs, when));
                done(number, outcome.unwrap_or_else(|error| JobOutcome::failed(&job, &error)));
            })));
            let room = |held: usize| Some(held + size).filter(|held| *held <= MOST_WAITING);
            if waiting.fetch_update(Ordering::Relaxed, Ordering::Relaxed, room).is_ok() {
                let shared = Arc::clone(&commit);
                let spawned = move || {
                    call_once(&shared);
                    waiting.fetch_sub(size, Ordering::Relaxed);
                };
                if thread::Builder::new().spawn_scoped(disk, spawned).is_ok() {
                    return;
                }
                waiting.fetch_sub(size, Ordering::Relaxed);
            }
            call_once(&commit);
        };
        (0..batch.jobs.len()).into_par_iter().with_max_len(1).for_each(|k| one(k, true));
        let mut rest = std::mem::take(&mut *elsewhere.lock().unwrap_or_else(PoisonError::into_inner));
        rest.sort_unstable();
        rest.par_iter().with_max_len(1).for_each(|&k| one(k, false));
    });
}

/// Most bytes of outputs that may wait for the disk: with [`LEAST_WAITING`] sixteen takes of some seconds, which the system
/// writes in nearly the time of one. With half of it jobs wait for the disk again; with double a batch uses 64 MB more.
const MOST_WAITING: usize = 64 << 20;
/// Bytes that each job that waits for the disk counts at least.
const LEAST_WAITING: usize = 4 << 20;

/// Calls the function unless it was called before.
fn call_once(work: &Mutex<Option<impl FnOnce()>>) {
    let work = work.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(work) = work {
        work();
    }
}

/// The result of `work`; a panic in it becomes an error.
pub(super) fn isolated<T>(work: impl FnOnce() -> Result<T, RunError>) -> Result<T, RunError> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| {
        let text = payload.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
        Err(RunError::Panic(text.unwrap_or("no message").to_owned()))
    })
}

/// The outcome of a job that has no outputs to commit; `None` if it is left for later.
type Ended = Option<Box<JobOutcome>>;

/// The outputs of a job and the moment before its takes were read, otherwise how it ended; `None` if another run has
/// claimed it and `wait` asks to leave it for later.
fn make_one(
    batch: &Batch<'_>,
    make: &Make<'_>,
    job: &Job,
    wait: bool,
) -> Result<(JobOutputs, SystemTime), Ended> {
    let Batch { manifest, options, stop, .. } = *batch;
    let ended = |outcome| Err(Some(Box::new(outcome)));
    if stop.load(Ordering::Relaxed) {
        return ended(JobOutcome { outputs: Vec::new(), ..JobOutcome::new(job, JobStatus::Left, None) });
    }
    if let Some(collision) = &job.collision {
        return ended(JobOutcome::failed(job, &RunError::Collision(collision.clone())));
    }
    let when = SystemTime::now();
    if let Some(outcome) = up_to_date(batch, job) {
        return ended(outcome);
    }
    let claimed = match manifest.filter(|_| !options.dry_run && !options.verify) {
        // Another run may end between the two.
        Some(manifest) => manifest.one_at_a_time(|| match of_other_run(batch, job) {
            Some(error) => Err(error),
            None => claim(batch, manifest, job),
        }),
        None => of_other_run(batch, job).map_or(Ok(true), Err),
    };
    match claimed {
        Err(error) => return ended(JobOutcome::failed(job, &error)),
        Ok(_) if options.dry_run => return ended(JobOutcome::new(job, JobStatus::Planned, None)),
        Ok(false) if wait => return Err(None),
        Ok(_) => {}
    }
    let outputs = make(job, manifest.is_some());
    outputs.map(|outputs| (outputs, when)).or_else(|error| ended(JobOutcome::failed(job, &error)))
}

/// Claims the outputs of a job; `false` if another run works on them.
fn claim(batch: &Batch<'_>, manifest: &Manifest, job: &Job) -> Result<bool, RunError> {
    let outputs = job.outputs.iter().map(|(_, output)| output.as_path());
    match manifest.claim(outputs, batch.pipeline)? {
        ClaimState::Own => Ok(true),
        ClaimState::OtherPipeline(path, pipeline) if !batch.options.force => {
            Err(RunError::OtherPipeline { path, pipeline })
        }
        ClaimState::OtherRun | ClaimState::OtherPipeline(..) => Ok(false),
    }
}

/// The error of a job one of whose outputs another pipeline has made, or of another take or character.
fn of_other_run(batch: &Batch<'_>, job: &Job) -> Option<RunError> {
    let manifest = batch.manifest.filter(|_| !batch.options.force && !batch.options.verify)?;
    job.outputs.iter().find_map(|(_, output)| {
        if let Some(pipeline) = manifest.other_pipeline(output, batch.pipeline) {
            return Some(RunError::OtherPipeline { path: output.clone(), pipeline });
        }
        let take = job.takes.first()?;
        if let Some(other) = manifest.of_other_origin(output, take, batch.pipeline) {
            return Some(other);
        }
        // A page is named after its output without the format, and no page is that of another output.
        if !(batch.pipeline.report && batch.pipeline.every_page) {
            return None;
        }
        let page = output.with_extension(CLIP_PAGE);
        let beside = (output.as_path(), page.as_path());
        let other = manifest.other_beside(beside, None, batch.pipeline, batch.owners)?;
        Some(RunError::OtherPipeline { path: page, pipeline: other })
    })
}

/// The outcome of a job whose outputs are up to date, and of one that a dry run finds to be blocked by a foreign file.
fn up_to_date(batch: &Batch<'_>, job: &Job) -> Option<JobOutcome> {
    let Batch { pipeline, options, .. } = *batch;
    let manifest = batch.manifest.filter(|_| !options.force && !options.verify)?;
    let take = job.takes.first()?;
    let mut kept = Vec::with_capacity(job.outputs.len());
    for (_, output) in &job.outputs {
        match manifest.state(output, &pipeline.fingerprint, take) {
            OutputState::UpToDate(report, files) => kept.push((report, files)),
            OutputState::Foreign(path) if options.dry_run => {
                return Some(JobOutcome::failed(job, &RunError::Foreign(path)));
            }
            // A foreign file may have exactly the content that would be written.
            OutputState::Stale | OutputState::Foreign(_) => {}
        }
    }
    if kept.len() < job.outputs.len() {
        return None;
    }
    let mut outcome = JobOutcome::new(job, JobStatus::UpToDate, kept.first().map(|k| &k.0));
    // The same files as when they were made; a dry run names the main ones, of which each clip may have its own.
    let files = kept.into_iter().zip(&job.outputs).flat_map(|((_, files), (_, output))| {
        let apart = files.first() != Some(output);
        let main = move |file: &PathBuf| file == output || (apart && file.extension() == output.extension());
        files.into_iter().filter(move |file| !options.dry_run || main(file))
    });
    outcome.outputs = files.collect();
    Some(outcome)
}

/// Writes the outputs of a job whose takes were read after `when`, or compares them with the files.
fn commit_one(
    batch: &Batch<'_>,
    job: &Job,
    outputs: JobOutputs,
    when: SystemTime,
) -> Result<JobOutcome, RunError> {
    let commit = Commit { manifest: batch.manifest, owners: batch.owners, force: batch.options.force };
    let paths: Vec<PathBuf> = outputs.files().map(|f| f.0.clone()).collect();
    let (report, status) = match batch.options.verify {
        true => (commit.verify(&outputs)?, JobStatus::Verified),
        false => (commit.write(job, batch.pipeline, outputs, when)?, JobStatus::Written),
    };
    Ok(JobOutcome { outputs: paths, ..JobOutcome::new(job, status, Some(&report)) })
}
