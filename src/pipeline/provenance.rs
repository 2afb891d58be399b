//! What a glTF output records about how it was made (`asset.extras.posemill`), independent of time and place.

use super::file_hash::FileHash;
use super::plan::Pipeline;
use crate::report::{NotJudged, Report, TakeChange};
use schemars::JsonSchema;
use serde::Serialize;

/// The record of what made a file.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct MadeBy {
    /// The version of the program.
    version: &'static str,
    /// The fingerprint of the pipeline, BLAKE3 in hexadecimal digits; absent for a motion that was saved from Python.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pipeline: Option<String>,
    /// The take and the files that it refers to; absent for a motion that was saved from Python.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<RecordedInput>")]
    inputs: Option<Vec<RecordedInput>>,
    /// Measures that stages made meaningless on purpose, by stage, or by `robot`: they are not judged.
    #[serde(skip_serializing_if = "NotJudged::is_empty")]
    not_judged: NotJudged,
    /// What stages did to the frames, in their order: the take is changed alike before both are compared.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    take_changes: Vec<TakeChange>,
}

/// A file that an output was made from.
#[derive(Debug, Serialize, JsonSchema)]
struct RecordedInput {
    /// The path, below the fixed part of its pattern.
    name: String,
    /// The hash of its content, BLAKE3 in hexadecimal digits.
    blake3: String,
}

/// The record of the outputs of a job.
pub(super) fn of_job(pipeline: &Pipeline, sources: &[FileHash], report: &Report) -> String {
    let input = |s: &FileHash| RecordedInput { name: s.path.clone(), blake3: s.blake3.clone() };
    MadeBy {
        pipeline: Some(pipeline.fingerprint.clone()),
        inputs: Some(sources.iter().map(input).collect()),
        ..MadeBy::of_stages(&report.not_judged, &report.take_changes)
    }
    .text()
}

/// The record of a motion that stages made outside of a job: what measuring it later needs for the same verdict. Empty if no stage made it.
pub fn provenance(not_judged: &NotJudged, take_changes: &[TakeChange]) -> String {
    if not_judged.is_empty() && take_changes.is_empty() {
        return String::new();
    }
    MadeBy::of_stages(not_judged, take_changes).text()
}

impl MadeBy {
    fn of_stages(not_judged: &NotJudged, take_changes: &[TakeChange]) -> Self {
        let comparable = take_changes.iter().any(|change| *change != TakeChange::Retargeted);
        Self {
            version: env!("CARGO_PKG_VERSION"),
            not_judged: not_judged.clone(),
            take_changes: if comparable { take_changes.to_vec() } else { Vec::new() },
            ..Self::default()
        }
    }

    fn text(&self) -> String {
        serde_json::to_string(self).expect("a record is plain data")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn a_motion_of_stages_has_a_record_and_one_of_a_file_has_none() {
        assert_eq!(provenance(&NotJudged::new(), &[]), "");
        let stages = NotJudged::from([("trim".to_owned(), vec!["jerk_ratio".to_owned()])]);
        let record: Value = serde_json::from_str(&provenance(&stages, &[TakeChange::Retargeted])).unwrap();
        assert_eq!(
            record,
            json!({ "version": env!("CARGO_PKG_VERSION"), "not_judged": { "trim": ["jerk_ratio"] } })
        );
        let mirrored = provenance(&NotJudged::new(), &[TakeChange::Mirrored]);
        assert!(mirrored.contains("\"take_changes\":["), "{mirrored}");
    }
}
