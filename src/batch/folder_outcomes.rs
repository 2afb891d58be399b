//! What the report of a folder lists: the outcomes of the run, the other outputs that the folder holds, and takes that failed before.

use super::file_times::short;
use super::job_outcome::{JobOutcome, JobStatus};
use super::jobs::Jobs;
use super::journal_index::LineOffset;
use super::journal_line::{JournalLine, OutputRecord};
use super::manifest::Manifest;
use super::outcome_spool::OutcomeSpool;
use super::output_origin::seen_from;
use super::take_patterns::plain;
use crate::pipeline::{Job, REPORT, TakeFile};
use crate::regular_file::{is_there, open_regular};
use serde::Deserialize;
use serde::de::{Deserializer, SeqAccess, Visitor};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

/// The outcomes of a run with those of takes that it did not plan, by other runs and in other shares, in the order of the takes: outputs
/// that exist, and failures that the report of the folder lists. `None` if there are no others, and if all takes of the run were refused:
/// what is there stays as it was reported.
///
/// # Errors
/// The error of the system if the temporary files of the outcomes cannot be read or written.
pub(super) fn of_folder(
    own: &mut OutcomeSpool,
    jobs: &Jobs,
    manifest: &Manifest,
) -> io::Result<Option<OutcomeSpool>> {
    let made = others(jobs, manifest);
    let failed = failed_before(own, &made, manifest)?;
    let none = made.is_empty() && failed.is_empty();
    if none || own.each().all(|outcome| outcome.is_ok_and(|outcome| outcome.refused)) {
        return Ok(None);
    }
    let mut others: Vec<(PathBuf, Unplanned)> =
        made.into_iter().map(|other| (other.0.0.clone(), Unplanned::Made(other))).collect();
    others.extend(failed.into_iter().map(|(take, error)| (take, Unplanned::Failed(error))));
    others.sort_by(|a, b| a.0.cmp(&b.0));
    let mut all = OutcomeSpool::new(0)?;
    let mut others = others.into_iter().peekable();
    for outcome in own.each() {
        let outcome = outcome?;
        let before = |take: &PathBuf| outcome.inputs.first().is_some_and(|own| take < own);
        while let Some((take, other)) = others.next_if(|(take, _)| before(take)) {
            all.push(&other.outcome(take, manifest))?;
        }
        all.push(&outcome)?;
    }
    others.try_for_each(|(take, other)| all.push(&other.outcome(take, manifest)))?;
    Ok(Some(all))
}

/// What is known of a take that a run did not plan.
enum Unplanned {
    Made(OtherOutputs),
    /// Why it failed.
    Failed(String),
}

impl Unplanned {
    fn outcome(self, take: PathBuf, manifest: &Manifest) -> JobOutcome {
        match self {
            Self::Made(other) => made_before(other, manifest),
            Self::Failed(error) => {
                let error = Some(error);
                JobOutcome { error, ..JobOutcome::new(&job_of(take), JobStatus::Failed, None) }
            }
        }
    }
}

/// A report, of which only failures are kept: it may have a hundred thousand rows.
#[derive(Deserialize)]
struct ReportedFailures {
    #[serde(deserialize_with = "failures")]
    files: Vec<ReportedFailure>,
}

#[derive(Deserialize)]
struct ReportedFailure {
    inputs: Vec<PathBuf>,
    /// The first input as seen from the folder of the report; reports of earlier versions do not have it.
    take: Option<PathBuf>,
    error: Option<String>,
    #[serde(default)]
    refused: bool,
}

fn failures<'de, D: Deserializer<'de>>(rows: D) -> Result<Vec<ReportedFailure>, D::Error> {
    struct Failures;

    impl<'de> Visitor<'de> for Failures {
        type Value = Vec<ReportedFailure>;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("the rows of a report")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut rows: A) -> Result<Self::Value, A::Error> {
            let mut failed = Vec::new();
            while let Some(row) = rows.next_element::<ReportedFailure>()? {
                failed.extend(Some(row).filter(|row| row.error.is_some() && !row.refused));
            }
            Ok(failed)
        }
    }

    rows.deserialize_seq(Failures)
}

/// The takes that failed by the report of the folder, with their errors: those that still exist, that the run did not plan, and of which
/// nothing was made since.
fn failed_before(
    own: &mut OutcomeSpool,
    made: &[OtherOutputs],
    manifest: &Manifest,
) -> io::Result<BTreeMap<PathBuf, String>> {
    let report = open_regular(&manifest.folder.join(REPORT)).ok();
    let report = report.and_then(|(file, _)| serde_json::from_reader(BufReader::new(file)).ok());
    let rows = report.map_or_else(Vec::new, |report: ReportedFailures| report.files);
    let folder = &manifest.folder;
    // A take is the same if it is as seen from the folder of the report: runs start in any folder.
    let found = |row: ReportedFailure| {
        let take =
            row.take.map(|take| plain(&folder.join(take))).or_else(|| row.inputs.into_iter().next())?;
        is_there(&take).then_some((seen_from(folder, &take), (take, row.error?)))
    };
    let mut failed: BTreeMap<String, (PathBuf, String)> = rows.into_iter().filter_map(found).collect();
    if !failed.is_empty() {
        let mut since = |take: &Path| _ = failed.remove(&seen_from(folder, take));
        made.iter().for_each(|((take, _), _)| since(take));
        for outcome in own.each() {
            outcome?.inputs.iter().for_each(|take| since(take));
        }
    }
    Ok(failed.into_values().collect())
}

/// A job of one take, as it is shown in a report.
fn job_of(take: PathBuf) -> Job {
    let takes = vec![TakeFile { relative: take.clone(), path: take }];
    Job { takes, outputs: Vec::new(), collision: None }
}

/// The take and the pipeline of some outputs, and what is known of each: those with more files first, which the page is one of, then by
/// name; with the offset of its line.
type OtherOutputs = ((PathBuf, String), Vec<(Reverse<usize>, String, LineOffset)>);

/// The existing outputs of the folder that are not those of `jobs`.
fn others(jobs: &Jobs, manifest: &Manifest) -> Vec<OtherOutputs> {
    let mut planned = HashSet::new();
    for number in 0..jobs.len() {
        planned.extend(jobs.outputs(number).map(|(_, output)| short(&[manifest.name(&output).as_bytes()])));
    }
    let offsets: Vec<LineOffset> = {
        let index = manifest.refreshed();
        index.records.iter().filter(|(id, _)| !planned.contains(*id)).map(|(_, offset)| *offset).collect()
    };
    let mut found: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for offset in offsets {
        // Reports have records without sources.
        let Some(record) = record(manifest, offset) else { continue };
        let (Some(take), Some(main)) = (take(&record, manifest), record.files.first()) else { continue };
        if manifest.folder.join(&main.path).exists() {
            let output = (Reverse(record.files.len()), main.path.clone(), offset);
            found.entry((take, record.pipeline)).or_default().push(output);
        }
    }
    found.values_mut().for_each(|outputs| outputs.sort());
    found.into_iter().collect()
}

fn record(manifest: &Manifest, offset: LineOffset) -> Option<OutputRecord> {
    let line = manifest.index().line(offset)?;
    match JournalLine::decode(&line) {
        Some(JournalLine::Record(record)) => Some(record),
        _ => None,
    }
}

/// The path of the take; in records of earlier versions its name below its pattern.
fn take(record: &OutputRecord, manifest: &Manifest) -> Option<PathBuf> {
    let named = PathBuf::from(&record.sources.first()?.path);
    Some(record.origin.as_ref().map_or(named, |origin| origin.take_in(&manifest.folder)))
}

/// The outcome of the outputs of one take.
fn made_before(((take, _), outputs): OtherOutputs, manifest: &Manifest) -> JobOutcome {
    let records: Vec<OutputRecord> = outputs.iter().filter_map(|output| record(manifest, output.2)).collect();
    let files = records.iter().flat_map(|record| &record.files);
    let outputs = files.map(|file| manifest.folder.join(&file.path)).collect();
    let report = records.first().map(|record| &record.report);
    JobOutcome { outputs, ..JobOutcome::new(&job_of(take), JobStatus::UpToDate, report) }
}
