//! The summary of a run: a line with the verdict for each output, or for each folder if there are many.

use crate::batch::{JobOutcome, JobStatus};
use crate::export;
use crate::measure::{Reading, Verdict};
use crate::report::Shown;
use std::collections::BTreeMap;
use std::path::{Component, MAIN_SEPARATOR, Path, PathBuf};

/// Most jobs for which every output has a line: more lines push earlier messages off the screen.
pub const MOST_NAMED: usize = 12;

/// The outputs of jobs, as they end.
#[derive(Debug)]
pub struct OutputSummary {
    /// Whether each output has a line.
    each: bool,
    /// By job number.
    lines: BTreeMap<usize, Vec<String>>,
    folders: BTreeMap<PathBuf, Counts>,
}

/// The outputs in one folder.
#[derive(Debug, Default)]
struct Counts {
    outputs: usize,
    /// Number of takes by verdict.
    takes: BTreeMap<&'static str, usize>,
}

impl OutputSummary {
    /// The summary of so many jobs, before they end.
    pub fn of(jobs: usize) -> Self {
        Self { each: jobs <= MOST_NAMED, lines: BTreeMap::new(), folders: BTreeMap::new() }
    }

    /// Adds the outcome of the job with this number; `folder` is its output folder, if any.
    pub fn add(&mut self, job: usize, outcome: &JobOutcome, folder: Option<&Path>) {
        if outcome.status != JobStatus::Written {
            return;
        }
        let metrics = outcome.metrics.as_array().into_iter().flatten();
        let readings: Vec<Reading> = metrics.filter_map(Reading::of_json).collect();
        let outputs: Vec<&PathBuf> = outcome.outputs.iter().filter(|path| is_result(path)).collect();
        let Some(several) = folder.filter(|_| !self.each) else {
            let verdict =
                sentence(outcome, &readings).map_or(String::new(), |verdict| format!("  {verdict}"));
            let mut lines: Vec<String> =
                outputs.iter().map(|o| format!("{}{verdict}", short_path(o))).collect();
            // Pages in a folder are linked from the page of the folder.
            let page = outcome.outputs.iter().find(|o| o.to_string_lossy().ends_with(".report.html"));
            lines.extend(
                page.filter(|_| folder.is_none()).map(|page| format!("report: {}", short_path(page))),
            );
            self.lines.insert(job, lines);
            return;
        };
        let counts = self.folders.entry(several.to_owned()).or_default();
        counts.outputs += outputs.len();
        let verdict = Verdict::of(&readings);
        if verdict.judged > 0 {
            *counts.takes.entry(verdict.words().1).or_default() += 1;
        }
    }

    /// The lines, in the order of the jobs.
    pub fn lines(&self) -> Vec<String> {
        let folder = |(folder, counts): (&PathBuf, &Counts)| {
            let takes: Vec<String> = counts.takes.iter().map(|(word, n)| format!("{n} {word}")).collect();
            let files = if counts.outputs == 1 { "file" } else { "files" };
            let verdicts = if takes.is_empty() { String::new() } else { format!("  {}", takes.join(", ")) };
            format!("{}  {} {files}{verdicts}", short_path(&folder.join("")), counts.outputs)
        };
        self.lines.values().flatten().cloned().chain(self.folders.iter().map(folder)).collect()
    }
}

/// The path without `..`: `in/../out` is `out`, unless `in` is a link.
pub fn short_path(path: &Path) -> String {
    let mut short = PathBuf::new();
    for part in path.components() {
        let named = matches!(short.components().next_back(), Some(Component::Normal(_)));
        match part {
            Component::ParentDir if named && !short.is_symlink() => {
                short.pop();
            }
            part => short.push(part),
        }
    }
    // Keeps the slash after a folder.
    if path.to_string_lossy().ends_with(MAIN_SEPARATOR) {
        short.push("");
    }
    short.shown()
}

/// Whether a file is an output, and not a preview, table or page next to it.
fn is_result(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let extension = path.extension().unwrap_or_default().to_string_lossy();
    let table = [".contacts.csv", ".forces.csv", ".forces.npz"].iter().any(|end| name.ends_with(end));
    export::FORMATS.iter().any(|f| f.name == extension) && !table
}

/// The verdict on a result, with the worst measure and its place; `None` if nothing was measured.
fn sentence(outcome: &JobOutcome, readings: &[Reading]) -> Option<String> {
    let verdict = Verdict::of(readings);
    let series = outcome.worst_series.as_ref();
    let place = verdict.worst.and_then(|worst| series?.place(&worst.name));
    (verdict.judged > 0).then(|| verdict.line(place.as_deref()))
}
