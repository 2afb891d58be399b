//! `report.json` and `report.html`: what every output of a folder was made with, for scripts and for people.

use super::batch::Outcome;
use super::drawn::Overview;
use super::line::{FileHash, Record, hash_of};
use super::manifest::Manifest;
use super::quality::Measured;
use super::rows::Rows;
use super::write::{Draft, WriteError};
use serde_json::{Value, json};
use std::io::{self, Write};
use std::path::Path;

/// The name of the report for scripts, in the folder of the outputs.
pub const REPORT: &str = "report.json";
/// The name of the report for people, beside it.
pub const REPORT_PAGE: &str = "report.html";

/// Writes both reports of a folder, the same whether outputs were made now or before.
///
/// # Errors
/// A [`WriteError`] where one of them or the manifest cannot be written.
pub fn write_reports(
    folder: &Path,
    pipeline: &str,
    rows: &mut Rows,
    manifest: &Manifest,
) -> Result<(), WriteError> {
    let name = Path::new(pipeline).file_name().map(|n| n.to_string_lossy().into_owned());
    let mut page = Overview::new(name.unwrap_or_else(|| pipeline.to_owned()));
    // Of several runs in one folder the last one is right about both.
    manifest.one_at_a_time(|| {
        let path = folder.join(REPORT);
        let mut draft = Draft::new(&path)?;
        let mut write = || -> io::Result<()> {
            let mut measured = Measured::new()?;
            writeln!(draft, "{{\n  \"schema\": \"posemill.report/1\",")?;
            write!(draft, "  \"pipeline\": {},\n  \"files\": [", Value::from(pipeline))?;
            for (k, outcome) in rows.each().enumerate() {
                let outcome = outcome?;
                measured.add(k, &outcome)?;
                if let Some(page) = &mut page {
                    page.add(folder, &outcome);
                }
                let comma = if k == 0 { "" } else { "," };
                write!(draft, "{comma}\n    {}", inset(&file(&outcome), "    "))?;
            }
            let mut summary = Vec::new();
            for (mut line, worst) in measured.summary()? {
                let inputs = rows.nth(worst)?.inputs;
                line.of = inputs.iter().map(|p| p.display().to_string()).collect::<Vec<_>>().join(", ");
                summary.push(line);
            }
            let summary = inset(&json!(summary), "  ");
            writeln!(draft, "\n  ],\n  \"summary\": {summary}\n}}")
        };
        write().map_err(|e| WriteError::of(&path, &e))?;
        put(draft, &path, manifest)?;
        let Some(page) = page else { return Ok(()) };
        let path = folder.join(REPORT_PAGE);
        let mut draft = Draft::new(&path)?;
        page.write(folder, |number| rows.nth(number), &mut draft).map_err(|e| WriteError::of(&path, &e))?;
        put(draft, &path, manifest)
    })
}

/// Puts a report in its place, unless just that is there.
fn put(draft: Draft, path: &Path, manifest: &Manifest) -> Result<(), WriteError> {
    let file = FileHash { path: path.to_string_lossy().into_owned(), blake3: draft.hash() };
    if hash_of(path).is_some_and(|there| there.blake3 == file.blake3) && manifest.lists(path, &file.blake3) {
        return Ok(());
    }
    manifest.intend(path, std::slice::from_ref(&file))?;
    draft.finish()?;
    let (planned, pipeline) = (String::new(), String::new());
    manifest
        .add(Record { files: vec![file], planned, pipeline, sources: Vec::new(), report: Value::Null }, None)
}

fn file(outcome: &Outcome) -> Value {
    json!({
        "inputs": outcome.inputs,
        "outputs": outcome.outputs,
        "warnings": outcome.warnings,
        "metrics": outcome.metrics,
        "changes": outcome.changes,
        "findings": outcome.findings,
        "error": outcome.error,
    })
}

/// JSON for people, its lines after the first behind `margin`.
fn inset(value: &Value, margin: &str) -> String {
    let text = serde_json::to_string_pretty(value).expect("a report is plain data");
    text.replace('\n', &format!("\n{margin}"))
}
