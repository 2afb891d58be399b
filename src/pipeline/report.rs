//! `report.json` and `report.html`: what every output of a folder was made with, for scripts and for people.

use super::batch::Outcome;
use super::manifest::{Manifest, Record, hash_of};
use super::quality::summary;
use super::write::{self, WriteError};
use crate::page::{BatchPage, BatchRow, Reading, batch_page};
use serde_json::{Value, json};
use std::path::Path;

/// The name of the report for scripts, in the folder of the outputs.
pub const REPORT: &str = "report.json";
/// The name of the report for people, beside it.
pub const REPORT_PAGE: &str = "report.html";
/// The ending of the page beside each output.
pub const CLIP_PAGE: &str = "report.html";

/// Writes both reports of a folder, the same whether outputs were made now or before.
///
/// # Errors
/// A [`WriteError`] where one of them or the manifest cannot be written.
pub fn write_reports(
    folder: &Path,
    pipeline: &str,
    outcomes: &[Outcome],
    manifest: &mut Manifest,
) -> Result<(), WriteError> {
    let file = |o: &Outcome| {
        json!({
            "inputs": o.inputs,
            "outputs": o.outputs,
            "warnings": o.warnings,
            "metrics": o.metrics,
            "changes": o.changes,
            "error": o.error,
        })
    };
    let files: Vec<Value> = outcomes.iter().map(file).collect();
    let summary = summary(outcomes);
    let report =
        json!({ "schema": "posemill.report/1", "pipeline": pipeline, "files": files, "summary": summary });
    let text = serde_json::to_string_pretty(&report).expect("a report is plain data") + "\n";
    let rows = outcomes.iter().map(|o| row(folder, o)).collect();
    let name = Path::new(pipeline).file_name().map(|n| n.to_string_lossy().into_owned());
    let page = batch_page(&BatchPage { title: name.unwrap_or_else(|| pipeline.to_owned()), rows });
    for (name, text) in [(REPORT, text), (REPORT_PAGE, page)] {
        let path = folder.join(name);
        write::whole(&path, text.as_bytes())?;
        let files = hash_of(&path).into_iter().collect();
        manifest.add(Record {
            files,
            planned: String::new(),
            pipeline: String::new(),
            sources: Vec::new(),
            report: Value::Null,
        })?;
    }
    Ok(())
}

fn row(folder: &Path, outcome: &Outcome) -> BatchRow {
    let relative =
        |path: &Path| path.strip_prefix(folder).unwrap_or(path).to_string_lossy().replace('\\', "/");
    let page = outcome.outputs.first().map(|o| o.with_extension(CLIP_PAGE)).filter(|p| p.exists());
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    BatchRow {
        name: outcome.outputs.first().or(outcome.inputs.first()).map_or_else(String::new, |p| relative(p)),
        page: page.map(|p| relative(&p)),
        error: outcome.error.clone(),
        warnings: list(&outcome.warnings).len(),
        measures: list(&outcome.metrics).iter().filter_map(Reading::of_json).collect(),
        worst_course: outcome.worst_course.clone(),
    }
}
