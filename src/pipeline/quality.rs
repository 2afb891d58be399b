//! The outcomes of a batch become what they say together: the middle and the worst of every measure, and which results
//! passed a threshold.

use super::batch::{Outcome, Status};
use crate::measure::{Summary, Threshold, find, summaries};
use serde_json::Value;

/// One line for each measure over all outcomes that have it; counts and other notes of stages are left out.
pub fn summary(outcomes: &[Outcome]) -> Vec<Summary> {
    let named: Vec<(String, &Outcome)> = outcomes.iter().map(|o| (name(o), o)).collect();
    let measured = named.iter().flat_map(|(of, outcome)| {
        metrics(outcome)
            .filter(|m| find(m.0).is_some())
            .map(move |(name, unit, value)| (of.as_str(), name, unit, value))
    });
    summaries(measured)
}

/// One sentence for each result that is there and passed one of `thresholds`, or has no such measure.
pub fn passed(outcome: &Outcome, thresholds: &[Threshold]) -> Vec<String> {
    if matches!(outcome.status, Status::Failed | Status::Planned) {
        return Vec::new();
    }
    let sentence = |threshold: &Threshold| {
        let value = metrics(outcome).find(|m| m.0 == threshold.name).map(|m| m.2);
        match value {
            Some(value) if !threshold.is_passed_by(value) => None,
            Some(value) => {
                Some(format!("`{}` is {value:.6}, the run fails on `{threshold}`", threshold.name))
            }
            None => Some(format!("`{}` was not measured, the run fails on `{threshold}`", threshold.name)),
        }
    };
    thresholds.iter().filter_map(sentence).collect()
}

fn name(outcome: &Outcome) -> String {
    outcome.inputs.iter().map(|p| p.display().to_string()).collect::<Vec<_>>().join(", ")
}

/// Name, unit and value of every measurement; a value that is no number reads as such.
fn metrics(outcome: &Outcome) -> impl Iterator<Item = (&str, &str, f64)> {
    let text = |m: &Value, key: &str| m.get(key).and_then(Value::as_str).is_some();
    outcome.metrics.as_array().into_iter().flatten().filter(move |m| text(m, "name") && text(m, "unit")).map(
        |m| {
            let text = |key: &str| m.get(key).and_then(Value::as_str).unwrap_or_default();
            (text("name"), text("unit"), m.get("value").and_then(Value::as_f64).unwrap_or(f64::NAN))
        },
    )
}
