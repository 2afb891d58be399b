//! What `run`, `retarget` and `convert` share: planned work is done, shown and summed up.

use super::again::Again;
use super::bounds::{Bounds, Timeout};
use super::console::Console;
use super::exit::{Exit, Failure};
use super::made::{Made, shortly};
use super::recipe::Recipe;
use super::tally::{Tally, names, show_all_warnings};
use super::workers::Workers;
use crate::pipeline::{
    self, Batch, BatchOptions, Claims, Job, Jobs, Manifest, Memory, Outcome, Pipeline, Placement, REPORT,
    REPORT_PAGE, Rows, RunError, Status, write_reports,
};
use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rayon::ThreadPool;
use serde_json::{Value, json};
use std::io::IsTerminal;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};

/// The options of every command that writes outputs.
#[derive(Debug, Args)]
pub struct MillArguments {
    /// Override one key: `stage.retarget.scale=1.0`, `input.units=cm`, `output.formats=["glb","bvh"]`
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub sets: Vec<String>,
    /// How many files to work on at once, up to 1024 [default: one for each core]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=MOST_JOBS))]
    pub jobs: Option<u16>,
    /// Make every output anew and replace files that posemill did not write
    #[arg(long, short)]
    pub force: bool,
    /// Print what would be done, and do nothing
    #[arg(long, short = 'n')]
    pub dry_run: bool,
    /// Make everything again, write nothing, and say whether the outputs are just that
    #[arg(long, conflicts_with_all = ["force", "dry_run"])]
    pub verify: bool,
    /// How long each file may take, as `60s` or `5min`: what takes longer fails, and the others go on
    #[arg(long, value_name = "TIME")]
    pub timeout: Option<Timeout>,
    /// What the process that works on a file may take of memory, as `2GB`: what needs more fails, and the others go on
    /// (Linux)
    #[arg(long, value_name = "AMOUNT")]
    pub memory: Option<Memory>,
    /// Print one JSON document with what became of every file
    #[arg(long)]
    pub json: bool,
}

/// Threads have a price: thousands of them only wait for each other and for memory.
const MOST_JOBS: i64 = 1024;

/// A pipeline with its jobs and the place of its outputs.
#[derive(Debug)]
pub struct Work {
    /// What the pipeline is made from.
    pub recipe: Recipe,
    /// The pipeline.
    pub pipeline: Pipeline,
    /// What does one of its jobs again.
    pub again: Again,
    /// Its jobs.
    pub jobs: Jobs,
    /// Where outputs go.
    pub placement: Placement,
    /// Whether outputs are where their names say: else they only pass through there.
    pub named: bool,
    /// One sentence for each place where takes may be and could not be looked for.
    pub unseen: Vec<String>,
}

/// What `--clip` sets.
pub fn clip_set(clip: &str) -> String {
    format!("input.clip={}", toml::Value::String(clip.to_owned()))
}

/// Does all of `works` and says what became of it.
///
/// # Errors
/// A [`Failure`] where the thread pool cannot be built, or a manifest or report not be written.
pub fn mill(
    command: &str,
    works: &[Work],
    arguments: &MillArguments,
    console: &Console,
) -> Result<Exit, Failure> {
    let bounds = Bounds { timeout: arguments.timeout, memory: arguments.memory };
    if bounds.memory.is_some() && !cfg!(target_os = "linux") {
        let message =
            "`--memory` is kept on Linux only\n`--set input.memory=2GB` bounds what reading a file takes";
        return Err(Failure::Argument(message.to_owned()));
    }
    let pool = pool(arguments.jobs.map_or(0, usize::from))?;
    let writes = !arguments.dry_run && !arguments.verify;
    for work in works.iter().filter(|w| w.pipeline.report && !arguments.force && writes) {
        if let Placement::Folder(folder) = &work.placement
            && let manifest = Manifest::look(folder)
            && let reports = [REPORT, REPORT_PAGE].map(|name| folder.join(name))
            && let Some(foreign) = reports.into_iter().find(|r| !manifest.may_replace(r))
        {
            return Err(Failure::Argument(RunError::Foreign(foreign).to_string()));
        }
    }
    let stop = super::stop::flag();
    let claims = Claims::of(works.iter().map(|w| &w.jobs));
    let bar = progress(works.iter().map(|w| w.jobs.len()).sum(), console);
    let mut tally = Tally::default();
    let mut made = Made::of(works.iter().map(|w| w.jobs.len()).sum());
    let mut kept = Vec::with_capacity(works.len());
    let mut first = 0;
    for work in works {
        let manifest = match &work.placement {
            Placement::Folder(folder) if writes => Some(Manifest::open(folder)?),
            Placement::Folder(folder) => Some(Manifest::look(folder)),
            Placement::File(_) => None,
        };
        let told = arguments.json || console.verbose || work.pipeline.report || arguments.dry_run;
        let rows = told.then(|| Rows::new(work.jobs.len())).transpose().map_err(|e| spool_fault(&e))?;
        // A take that is alone has no other beside it to take along.
        let apart = !arguments.dry_run && (work.jobs.len() > 1 || bounds.are_told());
        let workers = apart.then(|| workers(work, bounds, pool.current_num_threads())).transpose()?;
        let stages = work.pipeline.stage_names();
        let heard = Mutex::new((&mut tally, &mut made, rows, None));
        let done = |job: usize, outcome: Outcome| {
            if let Some(error) = &outcome.error {
                bar.suspend(|| console.error(format!("{}: {error}", names(&outcome.inputs))));
            }
            let mut heard = heard.lock().unwrap_or_else(PoisonError::into_inner);
            let (tally, made, rows, fault) = &mut *heard;
            tally.add(first + job, &outcome, &work.pipeline.fail_on);
            made.add(first + job, &outcome, work.placement.folder(), &stages);
            if let Some(Err(e)) = rows.as_mut().map(|rows| rows.put(job, &outcome)) {
                *fault = Some(e);
            }
            bar.inc(1);
        };
        let options =
            BatchOptions { force: arguments.force, dry_run: arguments.dry_run, verify: arguments.verify };
        let (pipeline, jobs, manifest) = (&work.pipeline, &work.jobs, manifest.as_ref());
        let (claims, stop) = (&claims, &*stop);
        let batch = Batch { pipeline, jobs, manifest, claims, options, stop };
        let make = |job: &Job, record: bool| match workers.as_ref().filter(|w| w.want(job, pipeline)) {
            Some(workers) => workers.make(job, record),
            None => pipeline::make(pipeline, job, record),
        };
        pool.install(|| pipeline::run_all_with(&batch, &make, &done));
        let (_, _, mut rows, fault) = heard.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(fault) = fault {
            return Err(spool_fault(&fault));
        }
        if let (Placement::Folder(folder), Some(manifest), true) = (&work.placement, manifest, writes) {
            if let Some(rows) = rows.as_mut().filter(|_| pipeline.report && !stop.load(Ordering::Relaxed)) {
                write_reports(folder, &pipeline.name, rows, manifest)?;
            }
            manifest.finish()?;
        }
        first += jobs.len();
        kept.push(rows);
    }
    bar.finish_and_clear();

    tally.passed().for_each(|sentence| console.error(sentence));
    let unseen: Vec<&String> = works.iter().flat_map(|w| &w.unseen).collect();
    unseen.iter().for_each(|line| console.error(line));
    for rows in kept.iter_mut().flatten().filter(|_| console.verbose) {
        for outcome in rows.each() {
            show_all_warnings(&outcome.map_err(|e| spool_fault(&e))?, console);
        }
    }
    if arguments.json {
        print_json(command, works, &mut kept, &tally, console).map_err(|e| spool_fault(&e))?;
    } else if arguments.dry_run {
        for outcome in kept.iter_mut().flatten().flat_map(Rows::each) {
            console.data(&plan_lines(&outcome.map_err(|e| spool_fault(&e))?).concat());
        }
    }
    if !console.verbose {
        tally.show_warnings(console);
    }
    let left = tally.count(Status::Left) > 0;
    if left {
        console.note("stopped before the end\nhint: the same command goes on where it was left");
    }
    let pages =
        works.iter().filter(|w| writes && w.pipeline.report && !left).filter_map(|w| w.placement.folder());
    let pages = pages.map(|folder| format!("report: {}", shortly(&folder.join(REPORT_PAGE))));
    if works.iter().all(|w| w.named) {
        made.lines().into_iter().chain(pages).for_each(|line| console.note(line));
    }
    console.note(&tally);
    let good =
        tally.count(Status::Failed) == 0 && tally.passed().next().is_none() && unseen.is_empty() && !left;
    Ok(if good { Exit::Good } else { Exit::SomeFailed })
}

/// Threads that jobs run on; 0 for one for each core.
///
/// # Errors
/// A [`Failure`] where they cannot be started.
pub fn pool(threads: usize) -> Result<ThreadPool, Failure> {
    let pool =
        rayon::ThreadPoolBuilder::new().num_threads(threads).thread_name(|k| format!("{WORKER}{k}")).build();
    quiet_workers();
    pool.map_err(|e| Failure::Argument(format!("the threads cannot be started: {e}")))
}

/// The processes for takes that may take much.
fn workers(work: &Work, bounds: Bounds, threads: usize) -> Result<Workers, Failure> {
    Workers::new(work.recipe.clone(), &work.pipeline, bounds, threads, work.again.clone()).map_err(|e| {
        Failure::Argument(format!("this program cannot be found again: {}", crate::report::io_reason(&e)))
    })
}

/// How the names of the threads begin that jobs run on.
const WORKER: &str = "mill-";

/// A panic inside a job is reported with the job; the default hook would print over the progress bar. Panics elsewhere
/// are told as ever.
fn quiet_workers() {
    if std::env::var_os("RUST_BACKTRACE").is_some() {
        return;
    }
    let tell = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !std::thread::current().name().is_some_and(|name| name.starts_with(WORKER)) {
            tell(panic);
        }
    }));
}

fn spool_fault(error: &std::io::Error) -> Failure {
    let folder = std::env::temp_dir();
    Failure::Argument(format!(
        "what became of the files cannot be kept in `{}`: {}\nset `TMPDIR` to a folder with room",
        folder.display(),
        crate::report::io_reason(error)
    ))
}

/// The document of `--json`, file by file.
fn print_json(
    command: &str,
    works: &[Work],
    kept: &mut [Option<Rows>],
    tally: &Tally,
    console: &Console,
) -> std::io::Result<()> {
    let head = json!({
        "schema": format!("posemill.{command}/1"),
        "written": tally.count(Status::Written),
        "up_to_date": tally.count(Status::UpToDate),
        "verified": tally.count(Status::Verified),
        "planned": tally.count(Status::Planned),
        "failed": tally.count(Status::Failed),
        "left": tally.count(Status::Left),
        "unseen": works.iter().flat_map(|w| &w.unseen).collect::<Vec<_>>(),
    });
    let pretty = |value: &Value| serde_json::to_string_pretty(value).expect("plain data");
    let head = pretty(&head);
    console.data(head.trim_end_matches("\n}"));
    console.data(",\n  \"files\": [");
    let mut comma = "";
    for (work, rows) in works.iter().zip(kept) {
        for outcome in rows.iter_mut().flat_map(Rows::each) {
            let row = pretty(&with_pipeline(&work.pipeline.name, &outcome?)).replace('\n', "\n    ");
            console.data(&format!("{comma}\n    {row}"));
            comma = ",";
        }
    }
    console.data(if comma.is_empty() { "]\n}\n" } else { "\n  ]\n}\n" });
    Ok(())
}

fn progress(length: usize, console: &Console) -> ProgressBar {
    let shown = !console.quiet && length > 1 && std::io::stderr().is_terminal();
    let target = if shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(Some(length as u64), target);
    let template = "{wide_bar} {pos}/{len} files, {eta} left";
    bar.with_style(ProgressStyle::with_template(template).expect("the template is a constant"))
}

fn with_pipeline(name: &str, outcome: &Outcome) -> Value {
    let mut value = json!({ "pipeline": name });
    if let (Value::Object(object), Value::Object(rest)) =
        (&mut value, serde_json::to_value(outcome).expect("an outcome is plain data"))
    {
        object.extend(rest);
    }
    value
}

fn plan_lines(outcome: &Outcome) -> Vec<String> {
    let word = match outcome.status {
        Status::Planned => "write",
        Status::UpToDate => "keep",
        Status::Written | Status::Verified | Status::Failed | Status::Left => return Vec::new(),
    };
    let from = names(&outcome.inputs);
    outcome.outputs.iter().map(|o| format!("{word} {} from {from}\n", o.display())).collect()
}
