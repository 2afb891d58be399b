//! The verdict on a clip from measures and their limits: good, over limits, or not judged.

use super::catalogue::find;
use crate::report::Metric;
use serde_json::Value;

/// A result up to this many times the value of the take or its direct transfer is not worse than that.
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
    /// The same measure of the direct transfer.
    pub copy: Option<f64>,
    /// The same measure of the take itself.
    pub take: Option<f64>,
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
            take: m.take,
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
            take: value.get("take").and_then(Value::as_f64),
            at_most: value.get("at_most").and_then(Value::as_f64),
        })
    }

    /// The limit by which a result is judged: that of a measure of the catalogue. Values that stages report about takes, such
    /// as how near a take came to a fault, are not judged.
    pub fn limit(&self) -> Option<f64> {
        self.at_most.filter(|_| find(&self.name).is_some())
    }

    /// Whether it exceeds its limit; NaN does. A fault that the take itself or its direct transfer has as well is not blamed on the
    /// result.
    pub fn over(&self) -> bool {
        self.limit().is_some_and(|limit| (self.value > limit && !self.as_before()) || self.value.is_nan())
    }

    /// Whether it exceeds its limit, and the take itself or its direct transfer does as much.
    fn inherited(&self) -> bool {
        self.limit().is_some_and(|limit| self.value > limit) && self.as_before()
    }

    fn as_before(&self) -> bool {
        [self.copy, self.take].into_iter().flatten().any(|other| self.value <= AS_MUCH * other)
    }

    /// The value over its limit, for measures that have one: above 1 is over.
    pub fn part(&self) -> Option<f64> {
        let limit = self.limit()?;
        Some(match (limit > 0.0, self.over()) {
            (true, _) if self.value.is_finite() => self.value / limit,
            (_, true) => f64::INFINITY,
            _ => 0.0,
        })
    }
}

/// The numbers of measures with a limit and over it: the only definition of a good clip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verdict<'a> {
    /// Measures with a limit.
    pub judged: usize,
    /// Measures over it.
    pub over: usize,
    /// Measures that exceed it no more than those of the take or of its direct transfer do.
    pub inherited: usize,
    /// The measure furthest over its limit; the first of several.
    pub worst: Option<&'a Reading>,
}

impl<'a> Verdict<'a> {
    /// The verdict on a clip with these measures.
    pub fn of(measures: &'a [Reading]) -> Self {
        let judged = measures.iter().filter(|m| m.limit().is_some()).count();
        let over = measures.iter().filter(|m| m.over());
        let further = |a: &'a Reading, b: &'a Reading| if b.part() > a.part() { b } else { a };
        let inherited = measures.iter().filter(|m| m.inherited()).count();
        Self { judged, over: over.clone().count(), inherited, worst: over.reduce(further) }
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
        match (self.judged, self.over) {
            (judged, 0) if self.inherited > 0 => format!(
                "{} of {judged} measures with a limit are within it; the take or its direct transfer exceeds the rest as much.",
                judged - self.inherited
            ),
            (0, _) => "No measure of this clip has a limit to be held against.".to_owned(),
            (1, 0) => "The one measure with a limit is within it.".to_owned(),
            (judged, 0) => format!("All {judged} measures with a limit are within it."),
            (judged, 1) => format!("1 of {judged} measures is over its limit."),
            (judged, over) => format!("{over} of {judged} measures are over their limits."),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measure(value: f64, at_most: Option<f64>) -> Reading {
        Reading { name: "foot_skate_p95".into(), value, unit: "m".into(), copy: None, take: None, at_most }
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
        let as_before = Reading { take: Some(2.0), ..measure(2.0, Some(1.0)) };
        assert_eq!(
            sentence(&[measure(1.0, Some(1.0)), as_before]),
            "1 of 2 measures with a limit are within it; the take or its direct transfer exceeds the rest as much."
        );
        assert!(measure(f64::NAN, Some(1.0)).over() && measure(1e-9, Some(0.0)).over());
        let taken = |take: f64| Reading { take: Some(take), ..measure(1.1, Some(1.0)) };
        assert!(taken(0.5).over() && !taken(1.1).over());
        let copied = |copy: f64| Reading { copy: Some(copy), ..measure(1.1, Some(1.0)) };
        assert!(
            copied(0.5).over() && !copied(1.1).over(),
            "a fault that the take came with is not the result's"
        );
        assert_eq!(measure(3.0, Some(2.0)).part(), Some(1.5));
        let of_stage = Reading { name: "repair_spike".into(), ..measure(3.0, Some(1.0)) };
        assert!(!of_stage.over() && of_stage.part().is_none(), "how near a take is to a fault is no verdict");
        let all = [measure(2.0, Some(1.0)), of_stage, measure(3.0, Some(1.0))];
        assert_eq!(Verdict::of(&all), Verdict { judged: 2, over: 2, inherited: 0, worst: Some(&all[2]) });
        assert_eq!(measure(3.0, Some(0.0)).part(), Some(f64::INFINITY));
    }

    #[test]
    fn a_report_read_back_says_the_same() {
        let metric = Metric {
            name: "foot_skate_p95".into(),
            value: 0.5,
            unit: "m",
            copy: Some(0.7),
            take: Some(0.2),
            at_most: Some(0.6),
        };
        let read = Reading::of_json(&serde_json::to_value(&metric).unwrap());
        assert_eq!(read, Some(Reading::from(&metric)));
        assert_eq!(Reading::of_json(&serde_json::json!({})), None);
    }
}
