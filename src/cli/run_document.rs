//! The results of a run on standard output: the JSON document of `--json`, the lines of `--dry-run`.

use super::console::Console;
use super::counters::{Counters, names};
use super::output_summary::short_path;
use super::planned_run::PlannedRun;
use crate::batch::{JobOutcome, JobStatus, OutcomeSpool};
use crate::report::json_text;
use schemars::JsonSchema;
use serde::Serialize;

/// Names and versions of the document, by the command that prints it.
const SCHEMAS: [&str; 3] = ["posemill.run/1", "posemill.retarget/1", "posemill.convert/1"];

/// The results of `posemill run`, `retarget` or `convert`, take by take.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RunDocument<'a> {
    /// The name and version of this document.
    #[schemars(extend("enum" = SCHEMAS))]
    schema: String,
    /// Number of takes whose outputs were written.
    written: usize,
    /// Number of takes whose outputs existed and were up to date.
    up_to_date: usize,
    /// Number of takes whose outputs were made again in memory and are identical to the files (`--verify`).
    verified: usize,
    /// Number of takes whose outputs would have been written (`--dry-run`).
    planned: usize,
    /// Number of takes that failed.
    failed: usize,
    /// Number of takes that were not begun because the batch was stopped.
    left: usize,
    /// What the search for takes left out, such as folders that cannot be read: one message each.
    unseen: Vec<&'a String>,
    /// The results, in the order of the takes.
    files: Vec<RunFile<'a>>,
}

/// The result of one take.
#[derive(Debug, Serialize, JsonSchema)]
struct RunFile<'a> {
    /// The pipeline file, or the name of the pipeline of the command.
    pipeline: &'a str,
    #[serde(flatten)]
    outcome: &'a JobOutcome,
}

/// Prints the document of `--json`, file by file: a library of takes has a gigabyte of results.
pub fn print_json(
    command: &str,
    runs: &[PlannedRun],
    kept: &mut [Option<OutcomeSpool>],
    counters: &Counters,
    console: &Console,
) -> std::io::Result<()> {
    let head = RunDocument {
        schema: format!("posemill.{command}/1"),
        written: counters.count(JobStatus::Written),
        up_to_date: counters.count(JobStatus::UpToDate),
        verified: counters.count(JobStatus::Verified),
        planned: counters.count(JobStatus::Planned),
        failed: counters.count(JobStatus::Failed),
        left: counters.count(JobStatus::Left),
        unseen: runs.iter().flat_map(|r| &r.unseen).collect(),
        files: Vec::new(),
    };
    console.data(json_text(&head).strip_suffix("]\n}").expect("the last list is empty"));
    let mut comma = "";
    for (run, outcomes) in runs.iter().zip(kept) {
        for outcome in outcomes.iter_mut().flat_map(OutcomeSpool::each) {
            let file = RunFile { pipeline: &run.pipeline.name, outcome: &outcome? };
            console.data(&format!("{comma}\n    {}", json_text(&file).replace('\n', "\n    ")));
            comma = ",";
        }
    }
    console.data(if comma.is_empty() { "]\n}\n" } else { "\n  ]\n}\n" });
    Ok(())
}

/// The lines of `--dry-run` for one job.
pub fn plan_lines(outcome: &JobOutcome) -> Vec<String> {
    let word = match outcome.status {
        JobStatus::Planned => "write",
        JobStatus::UpToDate => "keep",
        JobStatus::Written | JobStatus::Verified | JobStatus::Failed | JobStatus::Left => return Vec::new(),
    };
    let from = names(&outcome.inputs);
    outcome.outputs.iter().map(|o| format!("{word} {} from {from}\n", short_path(o))).collect()
}
