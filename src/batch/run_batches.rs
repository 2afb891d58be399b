//! Runs batches as a whole: manifests, worker processes, outcomes and the reports of folders.

use super::batch_error::BatchError;
use super::folder_outcomes::of_folder;
use super::folder_reports::write_reports;
use super::job_limits::WorkerProgram;
use super::job_outcome::JobOutcome;
use super::jobs::Jobs;
use super::manifest::Manifest;
use super::outcome_spool::OutcomeSpool;
use super::path_ownership::PathOwnership;
use super::pipeline_spec::PipelineSpec;
use super::repro_command::ReproCommand;
use super::run_jobs::{Batch, BatchOptions, run_all_with};
use super::worker_pool::WorkerPool;
use crate::pipeline::{self, Job, Pipeline, REPORT, REPORT_PAGE, RunError};
use rayon::ThreadPool;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// A pipeline with its jobs.
#[derive(Clone, Copy, Debug)]
pub struct PlannedBatch<'a> {
    /// The pipeline.
    pub pipeline: &'a Pipeline,
    /// Its jobs.
    pub jobs: &'a Jobs,
    /// What worker processes make the same pipeline from; without it jobs run in this process.
    pub spec: Option<&'a PipelineSpec>,
    /// The command that repeats one job, for messages about worker processes that ended.
    pub repro: Option<&'a ReproCommand>,
}

/// How batches run.
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// How jobs treat the files that exist.
    pub batch: BatchOptions,
    /// Jobs at a time; 0 for one for each core.
    pub threads: usize,
    /// Runs jobs that may use much memory in worker processes, and all of them if there are limits. `None` runs every job
    /// in this process, without limits.
    pub workers: Option<WorkerProgram>,
    /// Whether to return the outcomes.
    pub keep_outcomes: bool,
}

/// Runs all jobs of `batches`, one batch after the other, and calls `done` with the number of the batch, the number of the
/// job and its outcome when a job ends. Jobs that have not begun when `stop` becomes true are left out.
///
/// Returns the outcomes of each batch; `None` unless they are asked for or the batch has a report.
///
/// # Errors
/// A [`BatchError`]. Errors of single jobs are in their outcomes.
pub fn run_batches(
    batches: &[PlannedBatch<'_>],
    options: &RunOptions,
    stop: &AtomicBool,
    done: &(dyn Fn(usize, usize, &JobOutcome) + Sync),
) -> Result<Vec<Option<OutcomeSpool>>, BatchError> {
    check_limits(batches, options)?;
    let pool = job_threads(options.threads)?;
    check_reports(batches, options)?;
    let owners = PathOwnership::of(batches.iter().map(|b| b.jobs));
    let one = |(number, batch): (usize, &PlannedBatch<'_>)| {
        let run = BatchRun { batch, options, owners: &owners, stop, pool: &pool };
        run.run(&|job, outcome| done(number, job, outcome))
    };
    let mut spools: Vec<_> = batches.iter().enumerate().map(one).collect::<Result<_, _>>()?;
    if options.writes() && !stop.load(Ordering::Relaxed) {
        write_shared(batches, &mut spools)?;
    }
    Ok(spools)
}

/// One batch of a run.
struct BatchRun<'a> {
    batch: &'a PlannedBatch<'a>,
    options: &'a RunOptions,
    owners: &'a PathOwnership,
    stop: &'a AtomicBool,
    pool: &'a ThreadPool,
}

impl BatchRun<'_> {
    fn run(&self, done: &(dyn Fn(usize, &JobOutcome) + Sync)) -> Result<Option<OutcomeSpool>, BatchError> {
        let PlannedBatch { pipeline, jobs, .. } = *self.batch;
        let folder = jobs.destination().folder();
        let manifest = match folder {
            Some(folder) if self.options.writes() => {
                Some(Manifest::open(folder).map_err(BatchError::Folder)?)
            }
            Some(folder) => Some(Manifest::look(folder)),
            None => None,
        };
        let keep = self.options.keep_outcomes || pipeline.report;
        let spool = keep.then(|| OutcomeSpool::new(jobs.len())).transpose();
        let spool = Mutex::new((spool.map_err(|e| BatchError::spool(&e))?, None));
        let ended = |job: usize, outcome: JobOutcome| {
            done(job, &outcome);
            let mut spool = spool.lock().unwrap_or_else(PoisonError::into_inner);
            let (spool, fault) = &mut *spool;
            if let Some(Err(e)) = spool.as_mut().map(|spool| spool.put(job, &outcome)) {
                *fault = Some(e);
            }
        };
        let batch = Batch {
            pipeline,
            jobs,
            manifest: manifest.as_ref(),
            owners: self.owners,
            options: self.options.batch,
            stop: self.stop,
        };
        let workers = self.workers();
        let make = |job: &Job, to_folder: bool| match workers.as_ref().filter(|w| w.wants(job, pipeline)) {
            Some(workers) => workers.make(job, to_folder),
            None => pipeline::make(pipeline, job, to_folder),
        };
        self.pool.install(|| run_all_with(&batch, &make, &ended));
        let (mut spool, fault) = spool.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(fault) = fault {
            return Err(BatchError::spool(&fault));
        }
        if let (Some(folder), Some(manifest), true) = (folder, &manifest, self.options.writes()) {
            let reported = pipeline.report && !self.stop.load(Ordering::Relaxed);
            if let Some(spool) = spool.as_mut().filter(|_| reported) {
                // If several runs end at once, the last one's reports list the takes of all.
                manifest.one_at_a_time(|| {
                    let mut all = of_folder(spool, jobs, manifest).map_err(|e| BatchError::spool(&e))?;
                    let all = all.as_mut().unwrap_or(spool);
                    write_reports(folder, &pipeline.name, all, manifest).map_err(BatchError::from)
                })?;
            }
            manifest.finish()?;
        }
        Ok(spool)
    }

    /// The worker processes of the batch. A take that is alone in its batch needs no protection of others from it, so that
    /// it gets a process only to be limited.
    fn workers(&self) -> Option<WorkerPool<'_>> {
        let PlannedBatch { pipeline, jobs, spec, repro } = *self.batch;
        let program = self.options.workers.as_ref().filter(|_| !self.options.batch.dry_run)?;
        let wanted = jobs.len() > 1 || program.limits.are_set();
        let spec = spec.filter(|_| wanted)?;
        Some(WorkerPool::new(program, spec, pipeline, self.pool.current_num_threads(), repro))
    }
}

impl RunOptions {
    /// Whether files are written.
    fn writes(&self) -> bool {
        !self.batch.dry_run && !self.batch.verify
    }
}

/// Refuses limits that would not be kept.
fn check_limits(batches: &[PlannedBatch<'_>], options: &RunOptions) -> Result<(), BatchError> {
    let Some(program) = options.workers.as_ref().filter(|w| w.limits.are_set()) else { return Ok(()) };
    if program.limits.memory.is_some() && !cfg!(target_os = "linux") {
        return Err(BatchError::NoMemoryLimit);
    }
    if batches.iter().any(|b| b.spec.is_none()) {
        return Err(BatchError::NoSpec);
    }
    Ok(())
}

/// Refuses reports that would replace files that this program did not write.
fn check_reports(batches: &[PlannedBatch<'_>], options: &RunOptions) -> Result<(), BatchError> {
    if options.batch.force || !options.writes() {
        return Ok(());
    }
    let shared = shared_folders(batches).into_iter().map(|group| group.0);
    let reported = batches.iter().filter(|b| b.pipeline.report);
    let own = reported.filter_map(|b| b.jobs.destination().folder().map(Path::to_owned));
    for folder in own.chain(shared) {
        let manifest = Manifest::look(&folder);
        let reports = [REPORT, REPORT_PAGE].map(|name| folder.join(name));
        if let Some(foreign) = reports.into_iter().find(|r| !manifest.may_replace(r)) {
            return Err(BatchError::Report(RunError::Foreign(foreign)));
        }
    }
    Ok(())
}

/// Beginning of the names of the threads that jobs run on.
pub(crate) const JOB_THREAD: &str = "job-";

/// Threads that jobs run on; 0 for one for each core.
pub(crate) fn job_threads(threads: usize) -> Result<ThreadPool, BatchError> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
    let pool = pool.thread_name(|k| format!("{JOB_THREAD}{k}")).build();
    pool.map_err(|e| BatchError::Threads(e.to_string()))
}

/// Parent folders that several batches of a pipeline with a report share, each with the indices of those batches.
fn shared_folders(batches: &[PlannedBatch<'_>]) -> Vec<(PathBuf, Vec<usize>)> {
    let mut found: Vec<(&Path, &str, Vec<usize>)> = Vec::new();
    for (number, batch) in batches.iter().enumerate().filter(|(_, batch)| batch.pipeline.report) {
        let Some(above) = batch.jobs.destination().folder().and_then(Path::parent) else { continue };
        let name = batch.pipeline.name.as_str();
        match found.iter_mut().find(|group| (group.0, group.1) == (above, name)) {
            Some(group) => group.2.push(number),
            None => found.push((above, name, vec![number])),
        }
    }
    let shared = found.into_iter().filter(|group| group.2.len() > 1);
    shared.map(|(above, _, numbers)| (above.to_owned(), numbers)).collect()
}

/// The folders whose report shows all results of these batches.
#[cfg(feature = "cli")]
pub(crate) fn report_folders(batches: &[PlannedBatch<'_>]) -> Vec<PathBuf> {
    let shared = shared_folders(batches);
    let alone = |number: &usize| !shared.iter().any(|group| group.1.contains(number));
    let own = (0..batches.len()).filter(alone).filter(|number| batches[*number].pipeline.report);
    let own = own.filter_map(|number| batches[number].jobs.destination().folder().map(Path::to_owned));
    shared.iter().map(|group| group.0.clone()).chain(own).collect()
}

/// Writes the report of each folder above several; `spools` are the outcomes of the batches.
fn write_shared(batches: &[PlannedBatch<'_>], spools: &mut [Option<OutcomeSpool>]) -> Result<(), BatchError> {
    for (folder, numbers) in shared_folders(batches) {
        let manifest = Manifest::open(&folder)?;
        manifest.one_at_a_time(|| {
            let mut all = together(batches, &numbers, spools).map_err(|e| BatchError::spool(&e))?;
            write_reports(&folder, &batches[numbers[0]].pipeline.name, &mut all, &manifest)
                .map_err(BatchError::from)
        })?;
        manifest.finish()?;
    }
    Ok(())
}

/// The outcomes of several batches, with what else their folders hold.
fn together(
    batches: &[PlannedBatch<'_>],
    numbers: &[usize],
    spools: &mut [Option<OutcomeSpool>],
) -> io::Result<OutcomeSpool> {
    let mut folders = Vec::with_capacity(numbers.len());
    for &number in numbers {
        let (jobs, own) = (batches[number].jobs, spools[number].as_mut());
        let (Some(folder), Some(own)) = (jobs.destination().folder(), own) else { continue };
        folders.push((number, of_folder(own, jobs, &Manifest::look(folder))?));
    }
    let mut all = OutcomeSpool::new(0)?;
    for (number, whole) in &mut folders {
        for outcome in whole.as_mut().or(spools[*number].as_mut()).into_iter().flat_map(OutcomeSpool::each) {
            all.push(&outcome?)?;
        }
    }
    Ok(all)
}
