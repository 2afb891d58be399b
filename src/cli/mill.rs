//! What `run`, `retarget` and `convert` share: planned work is done, shown and summed up.

use super::console::Console;
use super::exit::{Exit, Failure};
use crate::pipeline::{
    self, BatchOptions, Job, Manifest, Outcome, Pipeline, Placement, REPORT, REPORT_PAGE, RunError, Status,
    write_reports,
};
use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::{PoisonError, RwLock};

/// The options of every command that writes outputs.
#[derive(Debug, Args)]
pub struct MillArguments {
    /// Override one key: `stage.retarget.scale=1.0`, `input.units=cm`, `output.formats=["glb","bvh"]`
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub sets: Vec<String>,
    /// How many files to work on at once [default: one for each core]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,
    /// Make every output anew and replace files that posemill did not write
    #[arg(long, short)]
    pub force: bool,
    /// Print what would be done, and do nothing
    #[arg(long, short = 'n')]
    pub dry_run: bool,
    /// Print one JSON document with what became of every file
    #[arg(long)]
    pub json: bool,
}

/// A pipeline with its jobs and the place of its outputs.
#[derive(Debug)]
pub struct Work {
    /// The pipeline.
    pub pipeline: Pipeline,
    /// Its jobs.
    pub jobs: Vec<Job>,
    /// Where outputs go.
    pub placement: Placement,
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
    let threads = arguments.jobs.map_or(0, usize::from);
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|e| Failure::Argument(format!("the threads cannot be started: {e}")))?;
    // A panic inside a job is reported with the job; the default hook would print over the progress bar.
    if std::env::var_os("RUST_BACKTRACE").is_none() {
        std::panic::set_hook(Box::new(|_| {}));
    }
    for work in works.iter().filter(|w| w.pipeline.report && !arguments.force) {
        if let Placement::Folder(folder) = &work.placement
            && let manifest = Manifest::open(folder)
            && let reports = [REPORT, REPORT_PAGE].map(|name| folder.join(name))
            && let Some(foreign) = reports.into_iter().find(|r| !manifest.may_replace(r))
        {
            return Err(Failure::Argument(RunError::Foreign(foreign).to_string()));
        }
    }
    let bar = progress(works.iter().map(|w| w.jobs.len()).sum(), console);
    let done = |outcome: &Outcome| {
        if let Some(error) = &outcome.error {
            bar.suspend(|| console.error(format!("{}: {error}", names(&outcome.inputs))));
        }
        bar.inc(1);
    };
    let mut outcomes = Vec::new();
    for work in works {
        let options = BatchOptions { force: arguments.force, dry_run: arguments.dry_run };
        let manifest = match &work.placement {
            Placement::Folder(folder) => Some(RwLock::new(Manifest::open(folder))),
            Placement::File(_) => None,
        };
        let found =
            pool.install(|| pipeline::run_all(&work.pipeline, &work.jobs, manifest.as_ref(), options, &done));
        if let (Placement::Folder(folder), Some(manifest), false) =
            (&work.placement, manifest, arguments.dry_run)
        {
            let mut manifest = manifest.into_inner().unwrap_or_else(PoisonError::into_inner);
            if work.pipeline.report {
                write_reports(folder, &work.pipeline.name, &found, &mut manifest)?;
            }
            manifest.finish()?;
        }
        outcomes.push(found);
    }
    bar.finish_and_clear();
    let _ = std::panic::take_hook();

    let mut passed = false;
    for (work, found) in works.iter().zip(&outcomes) {
        for outcome in found {
            for sentence in pipeline::passed(outcome, &work.pipeline.fail_on) {
                console.error(format!("{}: {sentence}", names(&outcome.inputs)));
                passed = true;
            }
        }
    }
    let all: Vec<&Outcome> = outcomes.iter().flatten().collect();
    let count = |status| all.iter().filter(|o| o.status == status).count();
    let (written, fresh) = (count(Status::Written), count(Status::UpToDate));
    let (planned, failed) = (count(Status::Planned), count(Status::Failed));
    if arguments.json {
        let named = works.iter().map(|w| w.pipeline.name.as_str()).zip(&outcomes);
        let files: Vec<Value> =
            named.flat_map(|(name, o)| o.iter().map(|o| with_pipeline(name, o))).collect();
        console.json(&json!({
            "schema": format!("posemill.{command}/1"),
            "written": written, "up_to_date": fresh, "planned": planned, "failed": failed,
            "files": files,
        }));
    } else if arguments.dry_run {
        let lines: Vec<String> = all.iter().flat_map(|o| plan_lines(o)).collect();
        console.data(&lines.concat());
    }
    show_warnings(&all, console);
    let part = |n: usize, word: &str| (n > 0).then(|| format!("{n} {word}"));
    let parts = [
        part(written, "written"),
        part(planned, "to be written"),
        part(fresh, "up to date"),
        part(failed, "failed"),
    ];
    console.note(parts.into_iter().flatten().collect::<Vec<_>>().join(", "));
    Ok(if failed > 0 || passed { Exit::SomeFailed } else { Exit::Good })
}

fn progress(length: usize, console: &Console) -> ProgressBar {
    let shown = !console.quiet && length > 1 && std::io::stderr().is_terminal();
    let target = if shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(Some(length as u64), target);
    let template = "{wide_bar} {pos}/{len} files, {eta} left";
    bar.with_style(ProgressStyle::with_template(template).expect("the template is a constant"))
}

fn names(paths: &[PathBuf]) -> String {
    paths.iter().map(|p| p.display().to_string()).collect::<Vec<_>>().join(", ")
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
        Status::Written | Status::Failed => return Vec::new(),
    };
    let from = names(&outcome.inputs);
    outcome.outputs.iter().map(|o| format!("{word} {} from {from}\n", o.display())).collect()
}

/// Warnings on stderr: with `--verbose` those of every file, else one line for each kind.
fn show_warnings(outcomes: &[&Outcome], console: &Console) {
    // By code and the how-manieth of that code in its file: the line of the first, its message, and how many files say
    // the same or something else there.
    let mut kinds: BTreeMap<(String, usize), (String, String, [usize; 2])> = BTreeMap::new();
    for outcome in outcomes.iter().filter(|o| o.status == Status::Written) {
        let of = names(&outcome.inputs);
        let mut met: BTreeMap<String, usize> = BTreeMap::new();
        for warning in outcome.warnings.as_array().into_iter().flatten() {
            let text = |key: &str| warning.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
            let (message, first) = (text("message"), text("first"));
            let place = if first.is_empty() { String::new() } else { format!(" ({first})") };
            let times = match warning.get("count").and_then(Value::as_u64) {
                Some(n) if n > 1 => format!(", {n} times"),
                _ => String::new(),
            };
            let mend = match text("mend") {
                none if none.is_empty() => none,
                lines if lines.starts_with("[[pair]]") => {
                    format!("\nhint: add to the map that `posemill map` writes:\n{lines}")
                }
                lines => format!(
                    "\nhint: write into a joint map, above its pairs, and pass it with `--map`:\n{lines}"
                ),
            };
            let line = format!("{of}: {message}{place}{times}{mend}");
            if console.verbose {
                console.warning(&line);
            }
            let nth = met.entry(text("code")).and_modify(|n| *n += 1).or_default();
            let kind = kinds.entry((text("code"), *nth)).or_insert((line, message.clone(), [0; 2]));
            kind.2[usize::from(kind.1 != message)] += 1;
        }
    }
    if !console.verbose {
        for (line, _, files) in kinds.into_values() {
            let more = match files {
                [1, 0] => String::new(),
                [2, 0] => "\nthe same in 1 more file; `--verbose` shows it".to_owned(),
                [n, 0] => format!("\nthe same in {} more files; `--verbose` shows them", n - 1),
                [1, 1] => "\n1 more warning of this kind; `--verbose` shows it".to_owned(),
                [n, k] => format!("\n{} more warnings of this kind; `--verbose` shows them", n + k - 1),
            };
            console.warning(line + &more);
        }
    }
}
