//! The result of a job, as scripts and reports get it.

use crate::measure::{Reading, Verdict, VerdictMember};
use crate::pipeline::{Job, RunError, WorstSeries};
use crate::report::{Change, Finding, Metric, Warning};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Value, json};
use std::path::PathBuf;

/// How a job ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum JobStatus {
    /// Outputs were written.
    Written,
    /// Outputs existed and were up to date.
    UpToDate,
    /// Outputs were made again in memory and are identical to the files.
    Verified,
    /// Outputs would have been written; this was a dry run.
    Planned,
    /// Nothing was written.
    Failed,
    /// The batch was stopped before this job.
    Left,
}

/// The result of one job.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct JobOutcome {
    /// The paths of the takes.
    #[serde(serialize_with = "as_text")]
    #[schemars(with = "Vec<String>")]
    pub inputs: Vec<PathBuf>,
    /// How it ended.
    pub status: JobStatus,
    /// The files that exist now, or that a dry run would write.
    #[serde(serialize_with = "as_text")]
    #[schemars(with = "Vec<String>")]
    pub outputs: Vec<PathBuf>,
    /// Warnings, in order of first occurrence.
    #[schemars(with = "Vec<Warning>")]
    pub warnings: Value,
    /// Measurements, over all clips.
    #[schemars(with = "Vec<Metric>")]
    pub metrics: Value,
    /// The verdict on the result by these measurements; null where nothing was measured.
    #[serde(default)]
    #[schemars(with = "Option<VerdictMember>")]
    pub verdict: Value,
    /// What each stage changed, in stage order.
    #[schemars(with = "Vec<Change>")]
    pub changes: Value,
    /// Capture errors of the take, fixed or not.
    #[schemars(with = "Vec<Finding>")]
    pub findings: Value,
    /// Time series of the measure that exceeds its limit most, or comes nearest to it; null if it has none.
    #[serde(rename = "worst_course")]
    pub worst_series: Option<WorstSeries>,
    /// Why it failed; null if it did not.
    pub error: Option<String>,
    /// True if it failed because its files belong to another pipeline, take or character, or to nobody that this program knows.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub refused: bool,
}

/// Paths as text, with replacement characters: JSON cannot hold names that are not UTF-8.
pub(super) fn as_text<S: Serializer>(paths: &[PathBuf], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(paths.iter().map(|p| p.to_string_lossy()))
}

/// The verdict on a result with these measurements; null where nothing was measured.
fn verdict_of(metrics: &Value) -> Value {
    let metrics = metrics.as_array().into_iter().flatten();
    let readings: Vec<Reading> = metrics.filter_map(Reading::of_json).collect();
    let verdict = Verdict::of(&readings);
    if verdict.judged + verdict.not_judged > 0 { verdict.json() } else { Value::Null }
}

impl JobOutcome {
    /// The outcome of a job with this report.
    pub(super) fn new(job: &Job, status: JobStatus, report: Option<&Value>) -> Self {
        let part = |name: &str| report.and_then(|r| r.get(name)).cloned().unwrap_or_else(|| json!([]));
        Self {
            inputs: job.takes.iter().map(|t| t.path.clone()).collect(),
            status,
            outputs: job.outputs.iter().map(|o| o.1.clone()).collect(),
            warnings: part("warnings"),
            verdict: verdict_of(&part("metrics")),
            metrics: part("metrics"),
            changes: part("changes"),
            findings: part("findings"),
            worst_series: report.and_then(|r| r.get("worst_course")).and_then(WorstSeries::of_json),
            error: None,
            refused: false,
        }
    }

    /// The outcome of a job that failed.
    pub(super) fn failed(job: &Job, error: &RunError) -> Self {
        let refused = matches!(
            error,
            RunError::OtherPipeline { .. }
                | RunError::OtherOrigin { .. }
                | RunError::Foreign(_)
                | RunError::Shared { .. }
        );
        let error = Some(error.to_string());
        Self { outputs: Vec::new(), error, refused, ..Self::new(job, JobStatus::Failed, None) }
    }
}
