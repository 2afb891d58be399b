//! What was made and how good it is: a line for each output, or for each folder where there are many.

use crate::batch::{JobOutcome, JobStatus};
use crate::export;
use crate::measure::{Reading, Verdict, remedy, shown};
use std::collections::BTreeMap;
use std::path::{Component, MAIN_SEPARATOR, Path, PathBuf};

/// Up to so many takes every output is named: more lines push what is told above them off the screen.
pub const MOST_NAMED: usize = 12;

/// What was made by jobs as they end.
#[derive(Debug)]
pub struct OutputSummary {
    /// Whether each output is named.
    each: bool,
    /// Whether there is one job, whose verdict comes with what to try.
    alone: bool,
    /// By the number of the job.
    lines: BTreeMap<usize, Vec<String>>,
    folders: BTreeMap<PathBuf, Counts>,
}

/// What lies in one folder.
#[derive(Debug, Default)]
struct Counts {
    outputs: usize,
    /// Of how many takes, by the word of their verdict.
    takes: BTreeMap<&'static str, usize>,
}

impl OutputSummary {
    /// Nothing yet, of so many jobs.
    pub fn of(jobs: usize) -> Self {
        Self { each: jobs <= MOST_NAMED, alone: jobs == 1, lines: BTreeMap::new(), folders: BTreeMap::new() }
    }

    /// Adds what the job of this number made, with the stages of its pipeline, somewhere below `folder` where
    /// it went to one.
    pub fn add(&mut self, job: usize, outcome: &JobOutcome, folder: Option<&Path>, stages: &[&str]) {
        if outcome.status != JobStatus::Written {
            return;
        }
        let metrics = outcome.metrics.as_array().into_iter().flatten();
        let readings: Vec<Reading> = metrics.filter_map(Reading::of_json).collect();
        let outputs: Vec<&PathBuf> = outcome.outputs.iter().filter(|path| is_result(path)).collect();
        let Some(several) = folder.filter(|_| !self.each) else {
            let verdict = sentence(outcome, &readings).map_or(String::new(), |told| format!("  {told}"));
            let mut lines: Vec<String> =
                outputs.iter().map(|o| format!("{}{verdict}", short_path(o))).collect();
            let worst = Verdict::of(&readings).worst.filter(|_| self.alone);
            lines.extend(worst.and_then(|w| remedy(&w.name, stages)).map(|what| format!("  hint: {what}")));
            // Pages in a folder have one that leads to them.
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
            let told = if takes.is_empty() { String::new() } else { format!("  {}", takes.join(", ")) };
            format!("{}  {} {files}{told}", short_path(&folder.join("")), counts.outputs)
        };
        self.lines.values().flatten().cloned().chain(self.folders.iter().map(folder)).collect()
    }
}

/// The path as somebody would type it: `in/../out` is `out`, unless `in` leads elsewhere.
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
    // The end of a folder's name stays.
    if path.to_string_lossy().ends_with(MAIN_SEPARATOR) {
        short.push("");
    }
    short.display().to_string()
}

/// Whether a file is what was asked for, and not a picture, table or page beside it.
fn is_result(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let extension = path.extension().unwrap_or_default().to_string_lossy();
    export::FORMATS.iter().any(|f| f.name == extension) && !name.ends_with(".contacts.csv")
}

/// The verdict on a result, with the measure that is worst and where; nothing where nothing was measured.
fn sentence(outcome: &JobOutcome, readings: &[Reading]) -> Option<String> {
    let Verdict { judged, over, worst, .. } = Verdict::of(readings);
    let Some(worst) = worst else { return (judged > 0).then(|| "good".to_owned()) };
    let limit =
        worst.at_most.map_or(String::new(), |limit| format!(" (at most {})", shown(limit, &worst.unit)));
    let place = outcome.worst_course.as_ref().and_then(|course| course.place(&worst.name));
    let place = place.map_or(String::new(), |place| format!(" {place}"));
    Some(format!("{over} of {judged} over: {} {}{limit}{place}", worst.name, shown(worst.value, &worst.unit)))
}
