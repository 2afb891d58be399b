//! The outcomes of a batch become what they say together: the middle and the worst of every measure, and which results
//! passed a threshold.

use super::batch::{Outcome, Status};
use crate::measure::{Summary, Threshold, find, summaries};
use serde_json::Value;

/// The measures of a batch, outcome by outcome.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    of: Vec<String>,
    measures: Vec<(String, String)>,
    /// Whose, which measure, and the value.
    values: Vec<(u32, u32, f64)>,
}

impl Measured {
    /// Adds those of one outcome.
    pub fn add(&mut self, outcome: &Outcome) {
        let of = self.of.len() as u32;
        self.of.push(outcome.inputs.iter().map(|p| p.display().to_string()).collect::<Vec<_>>().join(", "));
        for (name, unit, value) in metrics(outcome).filter(|m| find(m.0).is_some()) {
            let known = self.measures.iter().position(|m| m.0 == name && m.1 == unit);
            let measure = known.unwrap_or_else(|| {
                self.measures.push((name.to_owned(), unit.to_owned()));
                self.measures.len() - 1
            });
            self.values.push((of, measure as u32, value));
        }
    }

    /// One line for each measure over all outcomes that have it; counts and other notes of stages are left out.
    pub fn summary(&self) -> Vec<Summary> {
        summaries(self.values.iter().map(|&(of, measure, value)| {
            let (name, unit) = &self.measures[measure as usize];
            (self.of[of as usize].as_str(), name.as_str(), unit.as_str(), value)
        }))
    }
}

/// One sentence for each result that is there and passed one of `thresholds`, or has no such measure.
pub fn passed(outcome: &Outcome, thresholds: &[Threshold]) -> Vec<String> {
    if matches!(outcome.status, Status::Failed | Status::Planned | Status::Left) {
        return Vec::new();
    }
    let sentence =
        |threshold: &Threshold| threshold.told(metrics(outcome).find(|m| m.0 == threshold.name).map(|m| m.2));
    thresholds.iter().filter_map(sentence).collect()
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
