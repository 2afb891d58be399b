//! Counters of a run: outcomes by status, warnings by kind. Their size does not grow with the batch.

use super::console::{Console, place_and_times};
use super::output_summary::short_path;
use crate::batch::{JobOutcome, JobStatus, passed};
use crate::measure::Threshold;
use crate::report::counted;
use serde_json::Value;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

/// The outcomes of many jobs in numbers.
#[derive(Debug, Default)]
pub struct Counters {
    counts: BTreeMap<&'static str, usize>,
    kinds: BTreeMap<(String, usize), WarningKind>,
    /// Sentences about thresholds that a result exceeds, by job number.
    passed: BTreeMap<usize, Vec<String>>,
    /// Number of takes whose rest pose was estimated from their own motion, by folder and extension.
    estimated: BTreeMap<(PathBuf, OsString), usize>,
    /// Number of takes of planned jobs: a dry run lists their files, of which a take can have several.
    planned_takes: usize,
    /// Number of takes that were refused.
    refused: usize,
}

/// Warnings of one code that have the same rank among the warnings of that code in their file.
#[derive(Debug)]
struct WarningKind {
    /// The first job with it.
    job: usize,
    /// The line of that job.
    line: String,
    /// The hash of the message of that job.
    message: u64,
    /// Number of files by hash of the message.
    files: BTreeMap<u64, usize>,
}

impl Counters {
    /// Whether every take was refused: reports stay those of an earlier run.
    pub fn all_refused(&self) -> bool {
        self.refused > 0 && self.refused == self.counts.values().sum::<usize>()
    }

    /// Adds the outcome of the job with this number.
    pub fn add(&mut self, job: usize, outcome: &JobOutcome, fail_on: &[Threshold]) {
        *self.counts.entry(word_of(outcome.status)).or_default() += 1;
        let passed = passed(outcome, fail_on);
        if !passed.is_empty() {
            let of = names(&outcome.inputs);
            self.passed.insert(job, passed.iter().map(|sentence| format!("{of}: {sentence}")).collect());
        }
        self.refused += usize::from(outcome.refused);
        if outcome.status == JobStatus::Planned {
            self.planned_takes += outcome.inputs.len();
        }
        if outcome.status != JobStatus::Written {
            return;
        }
        let all = || outcome.warnings.as_array().into_iter().flatten();
        if let Some(take) = outcome.inputs.first()
            && all().any(|w| w.get("code").and_then(Value::as_str) == Some("rest-from-motion"))
        {
            let folder = take.parent().unwrap_or(Path::new("")).to_owned();
            let extension = take.extension().unwrap_or_default().to_owned();
            *self.estimated.entry((folder, extension)).or_default() += 1;
        }
        let mut ranks: BTreeMap<String, usize> = BTreeMap::new();
        let doubtful = |w: &&Value| w.get("sure") != Some(&Value::Bool(true));
        for warning in all().filter(doubtful) {
            let text = |key: &str| warning.get(key).and_then(Value::as_str).unwrap_or_default();
            let rank = ranks.entry(text("code").to_owned()).and_modify(|n| *n += 1).or_default();
            let mut hasher = DefaultHasher::new();
            text("message").hash(&mut hasher);
            let message = hasher.finish();
            let kind = self.kinds.entry((text("code").to_owned(), *rank)).or_insert_with(|| WarningKind {
                job: usize::MAX,
                line: String::new(),
                message,
                files: BTreeMap::new(),
            });
            *kind.files.entry(message).or_default() += 1;
            if job < kind.job {
                (kind.job, kind.line, kind.message) = (job, line(outcome, warning), message);
            }
        }
    }

    /// Number of jobs with this status.
    pub fn count(&self, status: JobStatus) -> usize {
        self.counts.get(word_of(status)).copied().unwrap_or(0)
    }

    /// The sentences about thresholds that results exceed, in the order of the jobs.
    pub fn passed(&self) -> impl Iterator<Item = &String> {
        self.passed.values().flatten()
    }

    /// For each folder with several takes whose rest poses were estimated one by one, how to use one pose for all. A run does not
    /// do so by itself: what is written for a take would then depend on the other takes of the run.
    fn one_pose_for_all(&self) -> impl Iterator<Item = String> {
        let several = self.estimated.iter().filter(|(_, takes)| **takes > 1);
        several.map(|((folder, extension), takes)| {
            let named = folder.file_name().unwrap_or("takes".as_ref()).to_string_lossy();
            let format = if extension == "bvh" { "bvh" } else { "glb" };
            let all = folder.join("*").with_extension(extension);
            format!(
                "the rest pose of {takes} takes was estimated from each alone\n  hint: if they have one skeleton, use one pose for all: \
                 `posemill calibrate '{}' -o {named}.pose.{format}`, then `--set input.calibration.file={named}.pose.{format}`",
                all.display()
            )
        })
    }

    /// Prints one line for each kind of warning, on stderr.
    pub fn show_warnings(&self, console: &Console) {
        for kind in self.kinds.values() {
            let same = kind.files.get(&kind.message).copied().unwrap_or(0);
            let other = kind.files.values().sum::<usize>() - same;
            let more = match [same, other] {
                [1, 0] => String::new(),
                [2, 0] => "\nthe same in 1 more file; `--verbose` shows it".to_owned(),
                [n, 0] => format!("\nthe same in {} more files; `--verbose` shows them", n - 1),
                [1, 1] => "\n1 more warning of this kind; `--verbose` shows it".to_owned(),
                [n, k] => format!("\n{} more warnings of this kind; `--verbose` shows them", n + k - 1),
            };
            console.warning(kind.line.clone() + &more);
        }
        self.one_pose_for_all().for_each(|line| console.warning(line));
    }
}

/// Prints every warning of an outcome that this run wrote, on stderr.
pub fn show_all_warnings(outcome: &JobOutcome, console: &Console) {
    let written = outcome.status == JobStatus::Written;
    for warning in outcome.warnings.as_array().into_iter().flatten().filter(|_| written) {
        console.warning(line(outcome, warning));
    }
}

fn line(outcome: &JobOutcome, warning: &Value) -> String {
    let of = names(&outcome.inputs);
    let text = |key: &str| warning.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let message = text("message");
    let place = place_and_times(&text("first"), warning.get("count").and_then(Value::as_u64).unwrap_or(1));
    let fix = match text("mend") {
        none if none.is_empty() => none,
        lines if lines.starts_with("[[pair]]") => {
            format!("\n  hint: add to the map that `posemill map` writes:\n{lines}")
        }
        lines => {
            format!("\n  hint: write into a joint map, above its pairs, and pass it with `--map`:\n{lines}")
        }
    };
    format!("{of}: {message}{place}{fix}")
}

/// Paths as text for messages.
pub fn names(paths: &[PathBuf]) -> String {
    paths.iter().map(|p| short_path(p)).collect::<Vec<_>>().join(", ")
}

/// The word of a status in the last line of a run.
fn word_of(status: JobStatus) -> &'static str {
    match status {
        JobStatus::Written => "written",
        JobStatus::Planned => "to be written",
        JobStatus::Verified => "verified",
        JobStatus::UpToDate => "up to date",
        JobStatus::Failed => "failed",
        JobStatus::Left => "left",
    }
}

/// The order of the statuses in that line.
const ORDER: [JobStatus; 6] = [
    JobStatus::Written,
    JobStatus::Planned,
    JobStatus::Verified,
    JobStatus::UpToDate,
    JobStatus::Failed,
    JobStatus::Left,
];

impl std::fmt::Display for Counters {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let part =
            |status: &JobStatus| Some((self.count(*status), word_of(*status))).filter(|part| part.0 > 0);
        let text = |(n, word): (usize, &str)| match word == word_of(JobStatus::Planned) {
            true => format!("{} {word}", counted(self.planned_takes, "take")),
            false => format!("{n} {word}"),
        };
        let parts: Vec<String> = ORDER.iter().filter_map(part).map(text).collect();
        f.write_str(&parts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// A take that was written, with one warning.
    fn written(take: &str, code: &str) -> JobOutcome {
        JobOutcome {
            inputs: vec![PathBuf::from(take)],
            status: JobStatus::Written,
            outputs: Vec::new(),
            warnings: json!([{ "code": code, "message": "text", "first": "", "count": 1, "sure": true }]),
            metrics: json!([]),
            verdict: Value::Null,
            changes: json!([]),
            findings: json!([]),
            worst_series: None,
            error: None,
            refused: false,
        }
    }

    #[test]
    fn several_takes_with_estimated_rest_poses_are_told_how_to_use_one_pose() {
        let mut counters = Counters::default();
        for (job, (take, code)) in [
            ("lab/b.bvh", "rest-from-motion"),
            ("lab/a.bvh", "rest-from-motion"),
            ("lab/good.bvh", "bvh-unit"),
            ("other/lone.bvh", "rest-from-motion"),
        ]
        .into_iter()
        .enumerate()
        {
            counters.add(job, &written(take, code), &[]);
        }
        let told: Vec<String> = counters.one_pose_for_all().collect();
        assert_eq!(
            told,
            [
                "the rest pose of 2 takes was estimated from each alone\n  hint: if they have one skeleton, use one pose for all: \
                 `posemill calibrate 'lab/*.bvh' -o lab.pose.bvh`, then `--set input.calibration.file=lab.pose.bvh`"
            ]
        );
    }
}
