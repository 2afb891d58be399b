//! `report.json` and `report.html`: the results of a folder, for scripts and for people.

use super::batch_metrics::BatchMetrics;
use super::folder_page::FolderPage;
use super::job_outcome::JobOutcome;
use super::journal_line::OutputRecord;
use super::manifest::Manifest;
use super::outcome_spool::OutcomeSpool;
use super::output_origin::seen_from;
use crate::pipeline::{AtomicFile, FileHash, REPORT, REPORT_PAGE, WriteError, hash_of};
use serde_json::{Value, json};
use std::io::{self, Write};
use std::path::Path;

/// Writes both reports of a folder, unless every take was refused. They do not depend on whether outputs were made by this run or an earlier one.
/// One run at a time may do so ([`Manifest::one_at_a_time`]).
///
/// # Errors
/// A [`WriteError`] if one of them or the manifest cannot be written.
pub fn write_reports(
    folder: &Path,
    pipeline: &str,
    rows: &mut OutcomeSpool,
    manifest: &Manifest,
) -> Result<(), WriteError> {
    // A run all of whose takes were refused leaves the report of the run whose outputs are there.
    if folder.join(REPORT).exists() && rows.each().all(|outcome| outcome.is_ok_and(|o| o.refused)) {
        return Ok(());
    }
    let name = Path::new(pipeline).file_name().map(|n| n.to_string_lossy().into_owned());
    let mut page = FolderPage::new(name.unwrap_or_else(|| pipeline.to_owned()));
    let path = folder.join(REPORT);
    let mut draft = AtomicFile::new(&path)?;
    let mut write = || -> io::Result<()> {
        let mut measured = BatchMetrics::new()?;
        writeln!(draft, "{{\n  \"schema\": \"posemill.report/1\",")?;
        write!(draft, "  \"pipeline\": {},\n  \"files\": [", Value::from(pipeline))?;
        for (k, outcome) in rows.each().enumerate() {
            let outcome = outcome?;
            measured.add(k, &outcome)?;
            if let Some(page) = &mut page {
                page.add(folder, &outcome);
            }
            let comma = if k == 0 { "" } else { "," };
            write!(draft, "{comma}\n    {}", inset(&file(folder, &outcome), "    "))?;
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
    commit(draft, &path, manifest)?;
    let Some(page) = page else { return Ok(()) };
    let path = folder.join(REPORT_PAGE);
    let mut draft = AtomicFile::new(&path)?;
    page.write(folder, |number| rows.nth(number), &mut draft).map_err(|e| WriteError::of(&path, &e))?;
    commit(draft, &path, manifest)
}

/// Commits a report, unless the file has this content already.
fn commit(draft: AtomicFile, path: &Path, manifest: &Manifest) -> Result<(), WriteError> {
    let file = FileHash { path: path.to_string_lossy().into_owned(), blake3: draft.hash() };
    if hash_of(path).is_some_and(|found| found.blake3 == file.blake3) && manifest.lists(path, &file.blake3) {
        return Ok(());
    }
    manifest.intend(path, std::slice::from_ref(&file))?;
    draft.finish()?;
    let (planned, pipeline, pipeline_file) = (String::new(), String::new(), String::new());
    let (files, sources, origin, report) = (vec![file], Vec::new(), None, Value::Null);
    manifest.add(OutputRecord { files, planned, pipeline, pipeline_file, sources, origin, report }, None)
}

fn file(folder: &Path, outcome: &JobOutcome) -> Value {
    let mut row = json!({
        "inputs": outcome.inputs,
        "outputs": outcome.outputs,
        "warnings": outcome.warnings,
        "verdict": outcome.verdict,
        "metrics": outcome.metrics,
        "changes": outcome.changes,
        "findings": outcome.findings,
        "error": outcome.error,
    });
    if outcome.refused {
        row["refused"] = true.into();
    }
    // Inputs are as seen from the folder that a run was started in: later runs may start in another one.
    if let Some(take) = outcome.inputs.first().filter(|_| outcome.error.is_some()) {
        row["take"] = seen_from(folder, take).into();
    }
    row
}

/// Indented JSON, with `margin` before each line but the first.
fn inset(value: &Value, margin: &str) -> String {
    let text = serde_json::to_string_pretty(value).expect("a report is plain data");
    text.replace('\n', &format!("\n{margin}"))
}
