//! What the report of a folder lists: the outcomes of the run, and the other outputs that the folder holds.

use super::file_times::short;
use super::job_outcome::{JobOutcome, JobStatus};
use super::jobs::Jobs;
use super::journal_index::LineOffset;
use super::journal_line::{JournalLine, OutputRecord};
use super::manifest::Manifest;
use super::outcome_spool::OutcomeSpool;
use crate::pipeline::{Job, TakeFile};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};
use std::io;
use std::path::PathBuf;

/// The outcomes of a run with those of the existing outputs that it did not plan, by other runs and in other shares, in the order of
/// their takes. `None` if there are no others, and if all takes of the run were refused: what is there stays as it was reported.
///
/// # Errors
/// The error of the system if the temporary files of the outcomes cannot be read or written.
pub(super) fn of_folder(
    own: &mut OutcomeSpool,
    jobs: &Jobs,
    manifest: &Manifest,
) -> io::Result<Option<OutcomeSpool>> {
    let others = others(jobs, manifest);
    if others.is_empty() || own.each().all(|outcome| outcome.is_ok_and(|outcome| outcome.refused)) {
        return Ok(None);
    }
    let mut all = OutcomeSpool::new(0)?;
    let mut others = others.into_iter().peekable();
    for outcome in own.each() {
        let outcome = outcome?;
        let before = |take: &PathBuf| outcome.inputs.first().is_some_and(|own| take < own);
        while let Some(other) = others.next_if(|((take, _), _)| before(take)) {
            all.push(&made_before(other, manifest))?;
        }
        all.push(&outcome)?;
    }
    others.try_for_each(|other| all.push(&made_before(other, manifest)))?;
    Ok(Some(all))
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
    let takes = vec![TakeFile { relative: take.clone(), path: take }];
    let job = Job { takes, outputs: Vec::new(), collision: None };
    let files = records.iter().flat_map(|record| &record.files);
    let outputs = files.map(|file| manifest.folder.join(&file.path)).collect();
    let report = records.first().map(|record| &record.report);
    JobOutcome { outputs, ..JobOutcome::new(&job, JobStatus::UpToDate, report) }
}
