//! Measurements and their limits become a verdict: good, over the limits, or not judged.

use crate::report::Metric;
use serde_json::Value;

/// A result fails as much as the plain copy up to so many times its value.
const AS_MUCH: f64 = 1.05;

/// A measurement as pages show it, whether it was made now or read from an earlier report.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// A stable word, such as `foot_skate`.
    pub name: String,
    /// The value.
    pub value: f64,
    /// The unit, as of [`Metric`].
    pub unit: String,
    /// The same measure of the plain copy of the rotations.
    pub copy: Option<f64>,
    /// The value that a good clip does not exceed.
    pub at_most: Option<f64>,
}

impl From<&Metric> for Reading {
    fn from(m: &Metric) -> Self {
        Self {
            name: m.name.clone(),
            value: m.value,
            unit: m.unit.to_owned(),
            copy: m.copy,
            at_most: m.at_most,
        }
    }
}

impl Reading {
    /// A measurement as [`Metric`] serialises it; `None` for anything else.
    pub fn of_json(value: &Value) -> Option<Self> {
        Some(Self {
            name: value.get("name")?.as_str()?.to_owned(),
            value: value.get("value").and_then(Value::as_f64).unwrap_or(f64::NAN),
            unit: value.get("unit")?.as_str()?.to_owned(),
            copy: value.get("copy").and_then(Value::as_f64),
            at_most: value.get("at_most").and_then(Value::as_f64),
        })
    }

    /// Whether it exceeds its limit; a value that is no number does. What the plain copy of the take fails as much is not
    /// blamed on the result.
    pub fn over(&self) -> bool {
        let inherited = self.copy.is_some_and(|copy| self.value <= AS_MUCH * copy);
        self.at_most.is_some_and(|limit| (self.value > limit && !inherited) || self.value.is_nan())
    }

    /// The value as a part of its limit, for those that have one: above 1 is over.
    pub fn part(&self) -> Option<f64> {
        let limit = self.at_most?;
        Some(match (limit > 0.0, self.over()) {
            (true, _) if self.value.is_finite() => self.value / limit,
            (_, true) => f64::INFINITY,
            _ => 0.0,
        })
    }
}

/// Whether one of the measurements is over its limit.
pub fn is_over(metrics: &[Metric]) -> bool {
    metrics.iter().any(|m| Reading::from(m).over())
}

/// How many measures have a limit, and how many are over it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// How many have one.
    pub judged: usize,
    /// How many are over it.
    pub over: usize,
}

impl Verdict {
    /// The verdict on a clip with these measures.
    pub fn of(measures: &[Reading]) -> Self {
        let judged = measures.iter().filter(|m| m.at_most.is_some()).count();
        Self { judged, over: measures.iter().filter(|m| m.over()).count() }
    }

    /// A word for scripts and style sheets, and one for people.
    pub fn words(self) -> (&'static str, &'static str) {
        match self {
            Verdict { judged: 0, .. } => ("unjudged", "not judged"),
            Verdict { over: 0, .. } => ("good", "good"),
            _ => ("over", "over limits"),
        }
    }

    /// One sentence.
    pub fn sentence(self) -> String {
        match self {
            Verdict { judged: 0, .. } => "No measure of this clip has a limit to be held against.".to_owned(),
            Verdict { over: 0, judged: 1 } => "The one measure with a limit is within it.".to_owned(),
            Verdict { over: 0, judged } => format!("All {judged} measures with a limit are within it."),
            Verdict { over: 1, judged } => format!("1 of {judged} measures is over its limit."),
            Verdict { over, judged } => format!("{over} of {judged} measures are over their limits."),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measure(value: f64, at_most: Option<f64>) -> Reading {
        Reading { name: "foot_skate".into(), value, unit: "m".into(), copy: None, at_most }
    }

    #[test]
    fn a_clip_is_good_when_nothing_is_over() {
        let sentence = |all: &[Reading]| Verdict::of(all).sentence();
        assert_eq!(Verdict::of(&[measure(9.0, None)]).words().0, "unjudged");
        assert_eq!(
            sentence(&[measure(1.0, Some(1.0)), measure(0.0, Some(0.0))]),
            "All 2 measures with a limit are within it."
        );
        assert_eq!(
            sentence(&[measure(1.1, Some(1.0)), measure(0.0, Some(1.0))]),
            "1 of 2 measures is over its limit."
        );
        assert!(measure(f64::NAN, Some(1.0)).over() && measure(1e-9, Some(0.0)).over());
        let beside = |copy: f64| Reading { copy: Some(copy), ..measure(1.1, Some(1.0)) };
        assert!(
            beside(0.5).over() && !beside(1.1).over(),
            "a fault that the take came with is not the result's"
        );
        assert_eq!(measure(3.0, Some(2.0)).part(), Some(1.5));
        assert_eq!(measure(3.0, Some(0.0)).part(), Some(f64::INFINITY));
    }

    #[test]
    fn a_report_read_back_says_the_same() {
        let metric =
            Metric { name: "foot_skate".into(), value: 0.5, unit: "m", copy: Some(0.7), at_most: Some(0.6) };
        let read = Reading::of_json(&serde_json::to_value(&metric).unwrap());
        assert_eq!(read, Some(Reading::from(&metric)));
        assert_eq!(Reading::of_json(&serde_json::json!({})), None);
    }
}
