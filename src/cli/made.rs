//! What was made and how good it is: a line for each output, or for each folder where there are many.

use crate::export;
use crate::measure::{Reading, Verdict, find, shown};
use crate::pipeline::{Outcome, Status};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Up to so many takes every output is named: more lines push what is told above them off the screen.
const MOST_NAMED: usize = 12;

/// What was made by jobs as they end.
#[derive(Debug)]
pub struct Made {
    /// Whether each output is named.
    each: bool,
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

impl Made {
    /// Nothing yet, of so many jobs.
    pub fn of(jobs: usize) -> Self {
        Self { each: jobs <= MOST_NAMED, lines: BTreeMap::new(), folders: BTreeMap::new() }
    }

    /// Adds what the job of this number made, somewhere below `folder` where it went to one.
    pub fn add(&mut self, job: usize, outcome: &Outcome, folder: Option<&Path>) {
        if outcome.status != Status::Written {
            return;
        }
        // What stages say of their takes and of themselves is no verdict on the result.
        let metrics = outcome.metrics.as_array().into_iter().flatten().filter_map(Reading::of_json);
        let readings: Vec<Reading> = metrics.filter(|r| find(&r.name).is_some()).collect();
        let outputs: Vec<&PathBuf> = outcome.outputs.iter().filter(|path| is_result(path)).collect();
        let Some(several) = folder.filter(|_| !self.each) else {
            let verdict = sentence(outcome, &readings).map_or(String::new(), |told| format!("  {told}"));
            let mut lines: Vec<String> =
                outputs.iter().map(|o| format!("{}{verdict}", o.display())).collect();
            // Pages in a folder have one that leads to them.
            let page = outcome.outputs.iter().find(|o| o.to_string_lossy().ends_with(".report.html"));
            lines.extend(page.filter(|_| folder.is_none()).map(|page| format!("report: {}", page.display())));
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
            format!("{}  {} {files}{told}", folder.join("").display(), counts.outputs)
        };
        self.lines.values().flatten().cloned().chain(self.folders.iter().map(folder)).collect()
    }
}

/// Whether a file is what was asked for, and not a picture, table or page beside it.
fn is_result(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let extension = path.extension().unwrap_or_default().to_string_lossy();
    export::FORMATS.iter().any(|f| f.name == extension) && !name.ends_with(".contacts.csv")
}

/// The verdict on a result, with the measure that is worst and where; nothing where nothing was measured.
fn sentence(outcome: &Outcome, readings: &[Reading]) -> Option<String> {
    let Verdict { judged, over } = Verdict::of(readings);
    let worst = readings.iter().filter(|r| r.over()).filter_map(|r| Some((r, r.part()?)));
    let Some((worst, _)) = worst.reduce(|a, b| if b.1 > a.1 { b } else { a }) else {
        return (judged > 0).then(|| "good".to_owned());
    };
    let limit =
        worst.at_most.map_or(String::new(), |limit| format!(" (at most {})", shown(limit, &worst.unit)));
    let place = outcome.worst_course.as_ref().and_then(|course| course.place(&worst.name));
    let place = place.map_or(String::new(), |(frame, of)| match of {
        "" => format!(" at frame {frame}"),
        of => format!(" at frame {frame}, {of}"),
    });
    Some(format!("{over} of {judged} over: {} {}{limit}{place}", worst.name, shown(worst.value, &worst.unit)))
}
