//! The results of a run on standard output: the JSON document of `--json`, the lines of `--dry-run`.

use super::console::Console;
use super::counters::{Counters, names};
use super::output_summary::short_path;
use super::planned_run::PlannedRun;
use crate::batch::{JobOutcome, JobStatus, OutcomeSpool};
use serde_json::{Value, json};

/// Prints the document of `--json`, file by file.
pub fn print_json(
    command: &str,
    runs: &[PlannedRun],
    kept: &mut [Option<OutcomeSpool>],
    counters: &Counters,
    console: &Console,
) -> std::io::Result<()> {
    let head = json!({
        "schema": format!("posemill.{command}/1"),
        "written": counters.count(JobStatus::Written),
        "up_to_date": counters.count(JobStatus::UpToDate),
        "verified": counters.count(JobStatus::Verified),
        "planned": counters.count(JobStatus::Planned),
        "failed": counters.count(JobStatus::Failed),
        "left": counters.count(JobStatus::Left),
        "unseen": runs.iter().flat_map(|r| &r.unseen).collect::<Vec<_>>(),
    });
    let pretty = |value: &Value| serde_json::to_string_pretty(value).expect("plain data");
    let head = pretty(&head);
    console.data(head.trim_end_matches("\n}"));
    console.data(",\n  \"files\": [");
    let mut comma = "";
    for (run, outcomes) in runs.iter().zip(kept) {
        for outcome in outcomes.iter_mut().flat_map(OutcomeSpool::each) {
            let row = pretty(&with_pipeline(&run.pipeline.name, &outcome?)).replace('\n', "\n    ");
            console.data(&format!("{comma}\n    {row}"));
            comma = ",";
        }
    }
    console.data(if comma.is_empty() { "]\n}\n" } else { "\n  ]\n}\n" });
    Ok(())
}

fn with_pipeline(name: &str, outcome: &JobOutcome) -> Value {
    let mut value = json!({ "pipeline": name });
    if let (Value::Object(object), Value::Object(rest)) =
        (&mut value, serde_json::to_value(outcome).expect("an outcome is plain data"))
    {
        object.extend(rest);
    }
    value
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
