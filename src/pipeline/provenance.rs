//! What a glTF output records about how it was made (`asset.extras.posemill`), independent of time and place.

use super::file_hash::FileHash;
use super::plan::Pipeline;
use crate::report::{NotJudged, Report, TakeChange};
use serde_json::{Value, json};

/// The record of the outputs of a job.
pub(super) fn of_job(pipeline: &Pipeline, sources: &[FileHash], report: &Report) -> String {
    let inputs: Vec<_> = sources.iter().map(|s| json!({ "name": s.path, "blake3": s.blake3 })).collect();
    let version = env!("CARGO_PKG_VERSION");
    let record = json!({ "version": version, "pipeline": pipeline.fingerprint, "inputs": inputs });
    with_stages(record, &report.not_judged, &report.take_changes)
}

/// The record of a motion that stages made outside of a job: what measuring it later needs for the same verdict. Empty if no stage made it.
pub fn provenance(not_judged: &NotJudged, take_changes: &[TakeChange]) -> String {
    if not_judged.is_empty() && take_changes.is_empty() {
        return String::new();
    }
    with_stages(json!({ "version": env!("CARGO_PKG_VERSION") }), not_judged, take_changes)
}

fn with_stages(mut record: Value, not_judged: &NotJudged, take_changes: &[TakeChange]) -> String {
    if !not_judged.is_empty() {
        record["not_judged"] = json!(not_judged);
    }
    if take_changes.iter().any(|change| *change != TakeChange::Retargeted) {
        record["take_changes"] = json!(take_changes);
    }
    record.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

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
