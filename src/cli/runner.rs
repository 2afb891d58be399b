//! What `run`, `retarget` and `convert` share: their options, and a run with its messages.

use super::console::Console;
use super::counters::{Counters, names, show_all_warnings};
use super::exit::{Exit, Failure};
use super::output_summary::{OutputSummary, short_path};
use super::planned_run::PlannedRun;
use super::run_document::{plan_lines, print_json};
use crate::batch::{
    BatchError, BatchOptions, JOB_THREAD, JobLimits, JobOutcome, JobStatus, OutcomeSpool, PlannedBatch,
    RunOptions, Timeout, WorkerProgram, report_folders, run_batches,
};
use crate::pipeline::{Memory, REPORT_PAGE};
use crate::report::io_reason;
use clap::Args;
use indicatif::ProgressBar;
use std::borrow::Cow;
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The options of every command that writes outputs.
#[derive(Debug, Default, Args)]
pub struct RunnerArguments {
    /// Override one key: `stage.retarget.scale=1.0`, `input.units=cm`, `output.formats=["glb","bvh"]` (keys: `posemill stages --reference`)
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub sets: Vec<String>,
    /// Number of files to work on at once, up to 1024 [default: one for each core]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=MOST_JOBS))]
    pub jobs: Option<u16>,
    /// Make every output again, and replace files that posemill did not write
    #[arg(long, short)]
    pub force: bool,
    /// Print what would be done; write nothing
    #[arg(long, short = 'n')]
    pub dry_run: bool,
    /// Rebuild in memory and check that the files on disk are identical; write nothing
    #[arg(long, conflicts_with_all = ["force", "dry_run"])]
    pub verify: bool,
    /// Time limit per file, e.g. `60s` or `5min`; a file that exceeds it fails, the rest continue
    #[arg(long, value_name = "TIME")]
    pub timeout: Option<Timeout>,
    /// Memory limit per file, e.g. `2GB`; a file that exceeds it fails, the rest continue (Linux)
    #[arg(long, value_name = "AMOUNT")]
    pub memory: Option<Memory>,
    /// Print the result for every file as one JSON document
    #[arg(long)]
    pub json: bool,
}

/// Most files at once: thousands of threads mostly wait for each other and for memory.
const MOST_JOBS: i64 = 1024;

/// The override of `--clip`.
pub fn clip_set(clip: &str) -> String {
    format!("input.clip={}", toml::Value::String(clip.to_owned()))
}

/// Does all of `runs` and prints the results.
pub fn run_all(
    command: &str,
    runs: &[PlannedRun],
    arguments: &RunnerArguments,
    console: &Console,
    print_output: impl FnOnce() -> Result<(), Failure>,
) -> Result<Exit, Failure> {
    let options = options(runs, arguments, console)?;
    let stop = super::stop::flag();
    silence_jobs();
    let bar = progress(runs, console);
    let jobs = runs.iter().map(|r| r.jobs.len()).sum();
    let heard = Mutex::new((Counters::default(), OutputSummary::of(jobs), HashSet::new()));
    // The number of a job counts on from run to run.
    let first: Vec<usize> = (0..runs.len()).map(|k| runs[..k].iter().map(|r| r.jobs.len()).sum()).collect();
    let done = |number: usize, job: usize, outcome: &JobOutcome| {
        let run = &runs[number];
        let outcome = &*with_aliases(outcome, &run.repro.aliases);
        let job = first[number] + job;
        let mut heard = heard.lock().unwrap_or_else(PoisonError::into_inner);
        let (counters, summary, said) = &mut *heard;
        let error = outcome.error.as_ref().map(|error| format!("{}: {error}", names(&outcome.inputs)));
        // The same of a take for each of several characters is one error.
        if let Some(error) = error.filter(|error| said.insert(error.clone())) {
            bar.suspend(|| console.error(error));
        }
        counters.add(job, outcome, &run.pipeline.fail_on);
        summary.add(job, outcome, run.jobs.destination().folder());
        bar.inc(1);
    };
    let batches: Vec<PlannedBatch> = runs.iter().map(PlannedRun::batch).collect();
    let mut kept = run_batches(&batches, &options, &stop, &done)?;
    bar.finish_and_clear();
    let (counters, summary, _) = heard.into_inner().unwrap_or_else(PoisonError::into_inner);
    let results = Results { command, runs, arguments, console, counters: &counters, summary: &summary };
    // Nothing is written before standard output has it.
    print_output()?;
    results.print(&mut kept)?;
    Ok(results.exit())
}

/// The outcome with the name of standard input in place of the temporary file that it was copied to.
fn with_aliases<'o>(outcome: &'o JobOutcome, aliases: &[(PathBuf, String)]) -> Cow<'o, JobOutcome> {
    let is_alias = |input: &PathBuf| aliases.iter().any(|(file, _)| file == input);
    if !outcome.inputs.iter().any(is_alias) {
        return Cow::Borrowed(outcome);
    }
    let mut named = outcome.clone();
    named
        .inputs
        .iter_mut()
        .filter(|input| is_alias(input))
        .for_each(|input| *input = "standard input".into());
    Cow::Owned(named)
}

impl PlannedRun {
    fn batch(&self) -> PlannedBatch<'_> {
        let (pipeline, jobs) = (&self.pipeline, &self.jobs);
        PlannedBatch { pipeline, jobs, spec: Some(&self.spec), repro: Some(&self.repro) }
    }
}

/// How the batches run.
fn options(
    runs: &[PlannedRun],
    arguments: &RunnerArguments,
    console: &Console,
) -> Result<RunOptions, Failure> {
    let &RunnerArguments { force, dry_run, verify, .. } = arguments;
    let limits = JobLimits { timeout: arguments.timeout, memory: arguments.memory };
    let separate = !dry_run && (limits.are_set() || runs.iter().any(|r| r.jobs.len() > 1));
    let own_program = || {
        std::env::current_exe().map_err(|e| {
            Failure::Argument(format!("the path of this program cannot be found: {}", io_reason(&e)))
        })
    };
    Ok(RunOptions {
        batch: BatchOptions { force, dry_run, verify },
        threads: arguments.jobs.map_or(0, usize::from),
        workers: match separate || limits.memory.is_some() {
            true => Some(WorkerProgram { path: own_program()?, limits }),
            false => None,
        },
        keep_outcomes: arguments.json || console.verbose || dry_run,
    })
}

/// The results of all runs.
struct Results<'a> {
    command: &'a str,
    runs: &'a [PlannedRun],
    arguments: &'a RunnerArguments,
    console: &'a Console,
    counters: &'a Counters,
    summary: &'a OutputSummary,
}

impl Results<'_> {
    fn unseen(&self) -> impl Iterator<Item = &String> {
        self.runs.iter().flat_map(|r| &r.unseen)
    }

    fn stopped(&self) -> bool {
        self.counters.count(JobStatus::Left) > 0
    }

    fn print(&self, kept: &mut [Option<OutcomeSpool>]) -> Result<(), Failure> {
        let Self { console, counters, arguments, .. } = *self;
        let spool = |e: std::io::Error| Failure::from(BatchError::spool(&e));
        counters.passed().for_each(|sentence| console.error(sentence));
        self.unseen().for_each(|line| console.error(line));
        for outcomes in kept.iter_mut().flatten().filter(|_| console.verbose) {
            for outcome in outcomes.each() {
                show_all_warnings(&outcome.map_err(spool)?, console);
            }
        }
        if arguments.json {
            print_json(self.command, self.runs, kept, counters, console).map_err(spool)?;
        } else if arguments.dry_run {
            for outcome in kept.iter_mut().flatten().flat_map(OutcomeSpool::each) {
                console.data(&plan_lines(&outcome.map_err(spool)?).concat());
            }
        }
        if !console.verbose {
            counters.show_warnings(console);
        }
        let stopped = self.stopped();
        if stopped {
            console.note(
                "stopped before the end\n  hint: run the same command to continue with the remaining files",
            );
        }
        let writes = !arguments.dry_run && !arguments.verify;
        if self.runs.iter().all(|r| r.named) {
            let batches: Vec<PlannedBatch> = self.runs.iter().map(PlannedRun::batch).collect();
            let reported = writes && !stopped && !counters.all_refused();
            let folders = report_folders(&batches).into_iter().filter(|_| reported);
            let pages = folders.map(|folder| format!("report: {}", short_path(&folder.join(REPORT_PAGE))));
            // What to open comes first, before a line for each output.
            pages.chain(self.summary.lines()).for_each(|line| console.note(line));
        }
        console.note(counters);
        Ok(())
    }

    fn exit(&self) -> Exit {
        let good = self.counters.count(JobStatus::Failed) == 0
            && self.counters.passed().next().is_none()
            && self.unseen().next().is_none()
            && !self.stopped();
        if good { Exit::Good } else { Exit::SomeFailed }
    }
}

/// A panic in a job is reported with the job; the default hook would print over the progress bar. Panics in other threads
/// are printed as usual.
pub fn silence_jobs() {
    if std::env::var_os("RUST_BACKTRACE").is_some() {
        return;
    }
    let default = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !std::thread::current().name().is_some_and(|name| name.starts_with(JOB_THREAD)) {
            default(panic);
        }
    }));
}

/// Files of a batch, or the steps of a single one. Nothing but on a terminal.
fn progress(runs: &[PlannedRun], console: &Console) -> ProgressBar {
    let length: usize = runs.iter().map(|r| r.jobs.len()).sum();
    let template = match length {
        0 | 1 => "{spinner} {wide_msg} {elapsed}",
        _ => "{wide_bar} {pos}/{len} files, {eta} left",
    };
    let bar = console.progress(length, template);
    if !bar.is_hidden() && length == 1 {
        for run in runs {
            let bar = bar.clone();
            run.pipeline.steps.listen(move |step| bar.set_message(step.to_string()));
        }
        bar.enable_steady_tick(TICK);
    }
    bar
}

/// Time between two pictures of the progress of a single file: the seconds that it counts are seen to go on.
const TICK: Duration = Duration::from_millis(200);
