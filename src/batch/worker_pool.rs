//! Worker processes: a job that ends its process, by a crash or by its limits, fails alone.
//!
//! A worker makes outputs in memory and sends them back; this process writes them as if it had made them itself, so that
//! the outputs do not depend on where they were made. A worker that is idle takes the next job. It ends when its standard
//! input is closed, which happens however this process ends.

use super::job_limits::{JobLimits, WorkerProgram};
use super::pipeline_spec::PipelineSpec;
use super::repro_command::ReproCommand;
use super::worker_process::{NoReply, WorkerProcess};
use super::worker_protocol::{JobRequest, WorkerReply};
use crate::memory_budget::MemoryBudget;
use crate::pipeline::{Job, JobOutputs, Pipeline, RunError};
use crate::regular_file::open_regular;
use crate::report::io_reason;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// Bytes that reading the takes of a job may use from which the job gets a worker process; this is the allowance of a file
/// of 7 MB. Below it eight jobs at a time stay within a machine of 8 GB, so that none can be refused memory. At half of it
/// every take of some minutes would cross a pipe for nothing; at double eight takes can end a batch.
const SEPARATE_FROM: u64 = 1_000_000_000;

/// Most threads of one worker: the last takes of a batch use several cores, but the stack of each thread counts towards
/// the memory limit.
const MOST_THREADS: usize = 4;

/// The worker processes of one batch.
#[derive(Debug)]
pub(super) struct WorkerPool<'a> {
    program: PathBuf,
    spec: &'a PipelineSpec,
    fingerprint: &'a str,
    limits: JobLimits,
    threads: usize,
    repro: Option<&'a ReproCommand>,
    idle: Mutex<Vec<WorkerProcess>>,
}

impl<'a> WorkerPool<'a> {
    /// Workers for jobs of `pipeline`, which `spec` makes; each has as many `threads` as the run, up to [`MOST_THREADS`].
    pub(super) fn new(
        program: &WorkerProgram,
        spec: &'a PipelineSpec,
        pipeline: &'a Pipeline,
        threads: usize,
        repro: Option<&'a ReproCommand>,
    ) -> Self {
        Self {
            program: program.path.clone(),
            spec,
            fingerprint: &pipeline.fingerprint,
            limits: program.limits,
            threads: threads.min(MOST_THREADS),
            repro,
            idle: Mutex::default(),
        }
    }

    /// Whether the job needs a worker: it is limited, or reading its takes may use much memory.
    pub(super) fn wants(&self, job: &Job, pipeline: &Pipeline) -> bool {
        let may_use = |path: &PathBuf| {
            let length = open_regular(path).map_or(0, |(_, size)| size);
            // The size of a `.gltf` says nothing about the files that it refers to; the work of an FBX is a product of numbers in
            // it, and a C library reads it.
            let extension = path.extension().unwrap_or_default();
            match ["gltf", "fbx"].iter().any(|e| extension.eq_ignore_ascii_case(e)) {
                true => SEPARATE_FROM,
                false => MemoryBudget::new(length, pipeline.import.memory).left(),
            }
        };
        self.limits.are_set()
            || job.takes.iter().map(|take| may_use(&take.path)).sum::<u64>() >= SEPARATE_FROM
    }

    /// Makes the outputs of one job, as [`crate::pipeline::make`] does.
    pub(super) fn make(&self, job: &Job, to_folder: bool) -> Result<JobOutputs, RunError> {
        let lost = |reason: String| {
            let repro = self.repro.map(|repro| repro.line(job, self.limits));
            RunError::Lost { reason, repro }
        };
        let used = self.idle().pop();
        if let Some(worker) = used {
            match self.ask(worker, job, to_folder) {
                // An earlier job may be the cause: try once more in a new process.
                Err(NoReply::Ended(_)) => {}
                Err(NoReply::TookLong(reason)) => return Err(lost(reason)),
                Ok(result) => return result,
            }
        }
        let worker = self.start()?;
        match self.ask(worker, job, to_folder) {
            Err(NoReply::Ended(reason) | NoReply::TookLong(reason)) => Err(lost(reason)),
            Ok(result) => result,
        }
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<WorkerProcess>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a process, which begins to load the pipeline.
    fn start(&self) -> Result<WorkerProcess, RunError> {
        let started = WorkerProcess::start(&self.program, self.threads, self.limits.memory);
        let mut worker = started.map_err(|e| RunError::NoWorker(io_reason(&e)))?;
        // If the process has ended already, reading its reply reports that.
        let _ = worker.send(self.spec);
        Ok(worker)
    }

    /// Has one job done. The worker becomes idle again unless it has to be replaced.
    fn ask(
        &self,
        mut worker: WorkerProcess,
        job: &Job,
        to_folder: bool,
    ) -> Result<Result<JobOutputs, RunError>, NoReply> {
        if !worker.ready {
            match worker.reply(self.limits)? {
                WorkerReply::Ready(fingerprint) if fingerprint == self.fingerprint => worker.ready = true,
                WorkerReply::Failed(message) => return Ok(Err(RunError::Reported(message))),
                _ => return Ok(Err(RunError::Changed)),
            }
        }
        let _ = worker.send(&JobRequest::new(job, to_folder));
        let result = match worker.reply(self.limits)? {
            WorkerReply::Made(outputs) => Ok(outputs),
            WorkerReply::Failed(message) => Err(RunError::Reported(message)),
            WorkerReply::Ready(_) => Err(RunError::Changed),
        };
        self.idle().push(worker);
        Ok(result)
    }
}
