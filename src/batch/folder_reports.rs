//! `report.json` and `report.html`: the results of a folder, for scripts and for people.

use super::batch_metrics::BatchMetrics;
use super::folder_page::FolderPage;
use super::job_outcome::{JobOutcome, as_text};
use super::journal_line::OutputRecord;
use super::manifest::Manifest;
use super::outcome_spool::OutcomeSpool;
use super::output_origin::seen_from;
use crate::measure::{Summary, VerdictMember};
use crate::pipeline::{AtomicFile, FileHash, REPORT, REPORT_PAGE, WriteError, hash_of};
use crate::report::{Change, Finding, Metric, Warning, json_text};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

const SCHEMA: &str = "posemill.report/1";

/// `report.json`: the results of a folder of outputs, the same whether they were made by the last run or an earlier one.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FolderReport<'a> {
    /// The name and version of this document.
    #[schemars(extend("const" = SCHEMA))]
    schema: &'static str,
    /// The pipeline file.
    pipeline: &'a str,
    /// The results, take by take.
    files: Vec<ReportedFile<'a>>,
    /// Each measure over all takes that have it.
    summary: Vec<Summary>,
}

/// The result of one take.
#[derive(Debug, Serialize, JsonSchema)]
struct ReportedFile<'a> {
    /// The paths of the takes, as seen from the folder in which the run was started.
    #[serde(serialize_with = "as_text")]
    #[schemars(with = "Vec<String>")]
    inputs: &'a [PathBuf],
    /// The files that exist now.
    #[serde(serialize_with = "as_text")]
    #[schemars(with = "Vec<String>")]
    outputs: &'a [PathBuf],
    /// Warnings, in order of first occurrence.
    #[schemars(with = "Vec<Warning>")]
    warnings: &'a Value,
    /// The verdict on the result by its measurements; null where nothing was measured.
    #[schemars(with = "Option<VerdictMember>")]
    verdict: &'a Value,
    /// Measurements, over all clips.
    #[schemars(with = "Vec<Metric>")]
    metrics: &'a Value,
    /// What each stage changed, in stage order.
    #[schemars(with = "Vec<Change>")]
    changes: &'a Value,
    /// Capture errors of the take, fixed or not.
    #[schemars(with = "Vec<Finding>")]
    findings: &'a Value,
    /// Why it failed; null if it did not.
    error: Option<&'a str>,
    /// True if it failed because its files belong to another pipeline, take or character, or to nobody that this program knows.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    refused: bool,
    /// The first take as seen from the folder of outputs, for takes that failed: later runs may start in another folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    take: Option<String>,
}

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
        // The lists are written item by item: a library of takes has a gigabyte of results.
        let document = FolderReport { schema: SCHEMA, pipeline, files: Vec::new(), summary: Vec::new() };
        let text = inset(&document, "");
        let head = text.strip_suffix("],\n  \"summary\": []\n}").expect("both lists are empty");
        write!(draft, "{head}")?;
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
        let summary = inset(&summary, "  ");
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

fn file<'a>(folder: &Path, outcome: &'a JobOutcome) -> ReportedFile<'a> {
    let failed = outcome.inputs.first().filter(|_| outcome.error.is_some());
    ReportedFile {
        inputs: &outcome.inputs,
        outputs: &outcome.outputs,
        warnings: &outcome.warnings,
        verdict: &outcome.verdict,
        metrics: &outcome.metrics,
        changes: &outcome.changes,
        findings: &outcome.findings,
        error: outcome.error.as_deref(),
        refused: outcome.refused,
        take: failed.map(|take| seen_from(folder, take)),
    }
}

/// Indented JSON, with `margin` before each line but the first.
fn inset(part: &impl Serialize, margin: &str) -> String {
    json_text(part).replace('\n', &format!("\n{margin}"))
}
