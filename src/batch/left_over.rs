//! Finds results whose takes are gone: tables and shards still have them.

use super::file_times::short;
use super::jobs::Jobs;
use super::journal_index::LineOffset;
use super::journal_line::JournalLine;
use super::manifest::Manifest;
use crate::pipeline::{Pipeline, TakeFile};
use crate::regular_file::is_there;
use std::collections::{BTreeSet, HashSet};
use std::path::Path;

/// The outputs of earlier runs of this pipeline file, relative to its folder and in order, whose takes are not there any more.
/// `jobs` are all jobs of the pipeline.
pub fn left_over(jobs: &Jobs, pipeline: &Pipeline) -> Vec<String> {
    let Some(folder) = jobs.destination().folder() else { return Vec::new() };
    let manifest = Manifest::look(folder);
    let (mut planned, mut folders) = (HashSet::new(), BTreeSet::new());
    for job in jobs.iter() {
        planned.extend(job.outputs.iter().map(|(_, output)| short(&[manifest.name(output).as_bytes()])));
        folders.extend(job.takes.iter().filter_map(searched).map(Path::to_owned));
    }
    let mut index = manifest.index();
    let others = index.records.iter().filter(|(id, _)| !planned.contains(*id)).map(|(_, offset)| *offset);
    let others: Vec<LineOffset> = others.collect();
    let mut found = BTreeSet::new();
    for line in others.into_iter().filter_map(|offset| index.line(offset)) {
        let Some(JournalLine::Record(record)) = JournalLine::decode(&line) else { continue };
        let (Some(file), Some(take)) = (record.files.first(), record.sources.first()) else { continue };
        let gone = !folders.iter().any(|folder| is_there(&folder.join(&take.path)));
        if gone && record.pipeline_file == pipeline.file_name() && manifest.folder.join(&file.path).exists() {
            found.insert(file.path.clone());
        }
    }
    if folders.is_empty() { Vec::new() } else { found.into_iter().collect() }
}

/// The folder in which a take was searched for.
fn searched(take: &TakeFile) -> Option<&Path> {
    take.path.ancestors().nth(take.relative.components().count())
}
