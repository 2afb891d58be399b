//! The verdict on a clip from measures and their limits: good, as recorded, over, or not judged.
//!
//! A measure over its limit is excused by the take alone: what the direct transfer does wrong is wrong in the result too. A
//! measure without a value for the take cannot be excused. A measure that a stage made meaningless on purpose is not judged.

use super::catalogue::find;
#[cfg(feature = "cli")]
use super::units::shown;
use crate::report::Metric;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

/// A result up to this many times the value of the take is not worse than the take: 5 % is below what can be seen in any
/// measure of the catalogue, and above what the precision of files changes.
const AS_MUCH: f64 = 1.05;

/// Every word of [`Judgement::word`].
const WORDS: [&str; 4] = [
    Judgement::NotJudged.word(),
    Judgement::Good.word(),
    Judgement::AsRecorded.word(),
    Judgement::Over.word(),
];

/// What is said of a measure, and of a clip by its worst measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Judgement {
    /// There is no limit to be held against, or a stage changed on purpose what is measured.
    NotJudged,
    /// Within the limit.
    Good,
    /// Over the limit, and no worse than the take itself.
    AsRecorded,
    /// Over the limit, and worse than the take.
    Over,
}

impl Judgement {
    /// The word for people, the same everywhere.
    pub const fn word(self) -> &'static str {
        match self {
            Judgement::NotJudged => "not judged",
            Judgement::Good => "good",
            Judgement::AsRecorded => "as recorded",
            Judgement::Over => "over",
        }
    }

    /// The word for style sheets: without spaces.
    pub const fn class(self) -> &'static str {
        match self {
            Judgement::NotJudged => "unjudged",
            Judgement::Good => "good",
            Judgement::AsRecorded => "recorded",
            Judgement::Over => "over",
        }
    }
}

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
    pub direct: Option<f64>,
    /// The same measure of the take itself.
    pub take: Option<f64>,
    /// The value that a good clip does not exceed.
    pub at_most: Option<f64>,
    /// The stages that made the measure meaningless.
    pub not_judged: Option<String>,
}

impl From<&Metric> for Reading {
    fn from(m: &Metric) -> Self {
        Self {
            name: m.name.clone(),
            value: m.value,
            unit: m.unit.to_owned(),
            direct: m.direct,
            take: m.take,
            at_most: m.at_most,
            not_judged: m.not_judged.clone(),
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
            direct: value.get("copy").and_then(Value::as_f64),
            take: value.get("take").and_then(Value::as_f64),
            at_most: value.get("at_most").and_then(Value::as_f64),
            not_judged: value.get("not_judged").and_then(Value::as_str).map(str::to_owned),
        })
    }

    /// The limit by which a result is judged: that of a measure of the catalogue. Values that stages report about takes, such
    /// as how near a take came to a fault, are not judged.
    pub fn limit(&self) -> Option<f64> {
        self.at_most.filter(|_| find(&self.name).is_some())
    }

    /// What is said of it. NaN is over.
    pub fn judgement(&self) -> Judgement {
        let Some(limit) = self.limit() else { return Judgement::NotJudged };
        if self.not_judged.is_some() {
            return Judgement::NotJudged;
        }
        let as_recorded = self.take.is_some_and(|take| self.value <= AS_MUCH * take);
        match self.value {
            value if value <= limit => Judgement::Good,
            _ if as_recorded => Judgement::AsRecorded,
            _ => Judgement::Over,
        }
    }

    /// Whether it exceeds its limit and is worse than the take.
    pub fn over(&self) -> bool {
        self.judgement() == Judgement::Over
    }

    /// The value over its limit, for measures that are judged: above 1 exceeds it.
    pub fn part(&self) -> Option<f64> {
        let limit = self.limit()?;
        Some(match (limit > 0.0, self.judgement()) {
            (_, Judgement::NotJudged) => return None,
            (true, _) if self.value.is_finite() => self.value / limit,
            (_, Judgement::Over) => f64::INFINITY,
            _ => 0.0,
        })
    }
}

/// Adds the word of each measure that has a limit, for documents.
pub fn add_words(metrics: &mut [Metric]) {
    for metric in metrics {
        let reading = Reading::from(&*metric);
        metric.verdict = reading.limit().map(|_| reading.judgement().word());
    }
}

/// The numbers of measures by judgement: the only definition of a good clip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verdict<'a> {
    /// Measures that are held against a limit.
    pub judged: usize,
    /// Measures over it and worse than the take.
    pub over: usize,
    /// Measures over it and no worse than the take.
    pub as_recorded: usize,
    /// Measures with a limit that a stage made meaningless.
    pub not_judged: usize,
    /// The measure furthest over its limit among those with the clip's judgement, the first of several; `None` for a good clip.
    pub worst: Option<&'a Reading>,
}

/// The verdict on a clip, by the numbers of measures behind it.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct VerdictMember<'a> {
    /// `good`, `as recorded`, `over` or `not judged`.
    #[schemars(extend("enum" = WORDS))]
    word: &'static str,
    /// Number of measures that are held against a limit.
    judged: usize,
    /// Number of measures over it and worse than the take.
    over: usize,
    /// Number of measures over it and no worse than the take.
    as_recorded: usize,
    /// Number of measures with a limit that a stage made meaningless on purpose.
    not_judged: usize,
    /// The measure furthest over its limit; null of a good clip.
    worst: Option<&'a str>,
}

impl<'a> Verdict<'a> {
    /// The verdict on a clip with these measures.
    pub fn of(measures: &'a [Reading]) -> Self {
        let limited = || measures.iter().filter(|m| m.limit().is_some());
        let count = |judgement| limited().filter(|m| m.judgement() == judgement).count();
        let further = |a: &'a Reading, b: &'a Reading| if b.part() > a.part() { b } else { a };
        let furthest = |judgement| limited().filter(|m| m.judgement() == judgement).reduce(further);
        let not_judged = count(Judgement::NotJudged);
        Self {
            judged: limited().count() - not_judged,
            over: count(Judgement::Over),
            as_recorded: count(Judgement::AsRecorded),
            not_judged,
            worst: furthest(Judgement::Over).or_else(|| furthest(Judgement::AsRecorded)),
        }
    }

    /// What is said of the clip.
    pub fn judgement(self) -> Judgement {
        match self {
            Verdict { judged: 0, .. } => Judgement::NotJudged,
            Verdict { over: 1.., .. } => Judgement::Over,
            Verdict { as_recorded: 1.., .. } => Judgement::AsRecorded,
            _ => Judgement::Good,
        }
    }

    /// A word for scripts and style sheets, and one for people.
    pub fn words(self) -> (&'static str, &'static str) {
        (self.judgement().class(), self.judgement().word())
    }

    /// One line: the word, and the measure behind it with its limit, its value in the take and its `place`.
    #[cfg(feature = "cli")]
    pub(crate) fn line(self, place: Option<&str>) -> String {
        let Some(worst) = self.worst else {
            let word = self.judgement().word();
            return match (self.judged, self.not_judged) {
                (0, _) => format!("{word}: no measure with a limit applies"),
                (_, 0) => word.to_owned(),
                (judged, not) => {
                    format!("{word} ({judged} measures judged, {not} not: stages change them on purpose)")
                }
            };
        };
        let number = if self.over > 0 { self.over } else { self.as_recorded };
        let shown = |value: f64| shown(value, &worst.unit);
        let limit = worst.at_most.map(|limit| format!("at most {}", shown(limit)));
        let take = worst.take.map(|take| format!("take {}", shown(take)));
        let references: Vec<String> = limit.into_iter().chain(take).collect();
        format!(
            "{}: {number} of {} judged measures; worst {} {} ({}){}",
            self.judgement().word(),
            self.judged,
            worst.name,
            shown(worst.value),
            references.join(", "),
            place.map_or(String::new(), |place| format!(" {place}"))
        )
    }

    /// As a member of documents.
    pub fn json(self) -> Value {
        json!(VerdictMember {
            word: self.judgement().word(),
            judged: self.judged,
            over: self.over,
            as_recorded: self.as_recorded,
            not_judged: self.not_judged,
            worst: self.worst.map(|worst| worst.name.as_str()),
        })
    }

    /// One sentence.
    pub fn sentence(self) -> String {
        let (judged, over, recorded) = (self.judged, self.over, self.as_recorded);
        let mut text = match (judged, over, recorded) {
            (0, ..) => "No measure of this clip has a limit to be held against.".to_owned(),
            (1, 0, 0) => "The one measure with a limit is within it.".to_owned(),
            (_, 0, 0) => format!("All {judged} measures with a limit are within it."),
            (_, 0, _) => {
                format!(
                    "{} of {judged} measures with a limit are within it; the take exceeds the rest as much.",
                    judged - recorded
                )
            }
            (_, 1, _) => format!("1 of {judged} measures is over its limit and worse than the take."),
            _ => format!("{over} of {judged} measures are over their limits and worse than the take."),
        };
        if self.not_judged > 0 {
            text += &format!(
                " {} more are not judged: stages changed on purpose what they measure.",
                self.not_judged
            );
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measure(value: f64, at_most: Option<f64>) -> Reading {
        Reading {
            name: "foot_skate_p95".into(),
            value,
            unit: "m".into(),
            direct: None,
            take: None,
            at_most,
            not_judged: None,
        }
    }

    #[test]
    fn a_clip_is_good_when_every_measure_is_within_its_limit() {
        let sentence = |all: &[Reading]| Verdict::of(all).sentence();
        assert_eq!(Verdict::of(&[measure(9.0, None)]).words(), ("unjudged", "not judged"));
        let good = [measure(1.0, Some(1.0)), measure(0.0, Some(0.0))];
        assert_eq!(sentence(&good), "All 2 measures with a limit are within it.");
        assert_eq!((Verdict::of(&good).words().1, Verdict::of(&good).worst), ("good", None));
        let over = [measure(1.1, Some(1.0)), measure(0.0, Some(1.0))];
        assert_eq!(sentence(&over), "1 of 2 measures is over its limit and worse than the take.");
        assert!(measure(f64::NAN, Some(1.0)).over() && measure(1e-9, Some(0.0)).over());
        assert_eq!(measure(3.0, Some(2.0)).part(), Some(1.5));
        assert_eq!(measure(3.0, Some(0.0)).part(), Some(f64::INFINITY));
        let of_stage = Reading { name: "repair_spike".into(), ..measure(3.0, Some(1.0)) };
        assert!(!of_stage.over() && of_stage.part().is_none(), "how near a take is to a fault is no verdict");
        let all = [measure(2.0, Some(1.0)), of_stage, measure(3.0, Some(1.0))];
        let verdict = Verdict::of(&all);
        assert_eq!((verdict.judged, verdict.over, verdict.worst), (2, 2, Some(&all[2])));
    }

    #[test]
    fn only_the_take_excuses_and_what_it_has_is_as_recorded() {
        let taken = |take: f64| Reading { take: Some(take), ..measure(2.1, Some(1.0)) };
        let words = [2.1, 2.001, 1.9].map(|take| taken(take).judgement());
        assert_eq!(words, [Judgement::AsRecorded, Judgement::AsRecorded, Judgement::Over]);
        let direct = Reading { direct: Some(9.0), ..measure(2.1, Some(1.0)) };
        assert!(direct.over(), "the direct transfer excuses nothing");
        assert_eq!(Reading { take: Some(9.0), ..measure(0.5, Some(1.0)) }.judgement(), Judgement::Good);
        let all = [measure(1.0, Some(1.0)), taken(2.1)];
        let verdict = Verdict::of(&all);
        assert_eq!((verdict.words(), verdict.worst), (("recorded", "as recorded"), Some(&all[1])));
        assert_eq!(
            verdict.sentence(),
            "1 of 2 measures with a limit are within it; the take exceeds the rest as much."
        );
        assert_eq!(verdict.json()["as_recorded"], 1);
    }

    #[test]
    fn what_a_stage_changed_on_purpose_is_not_judged() {
        let mirrored = Reading { not_judged: Some("mirror".into()), ..measure(9.0, Some(1.0)) };
        assert_eq!((mirrored.judgement(), mirrored.part()), (Judgement::NotJudged, None));
        let all = [measure(1.0, Some(1.0)), mirrored];
        let verdict = Verdict::of(&all);
        assert_eq!((verdict.judgement(), verdict.judged, verdict.not_judged), (Judgement::Good, 1, 1));
        assert!(
            verdict
                .sentence()
                .ends_with("1 more are not judged: stages changed on purpose what they measure.")
        );
        assert_eq!(Verdict::of(&all[1..]).judgement(), Judgement::NotJudged);
    }

    #[cfg(feature = "cli")]
    #[test]
    fn the_line_of_a_verdict_counts_what_was_judged() {
        let not_judged = Reading { not_judged: Some("mirror".into()), ..measure(9.0, Some(1.0)) };
        let line = |all: &[Reading]| Verdict::of(all).line(None);
        let good = measure(1.0, Some(1.0));
        assert_eq!(line(std::slice::from_ref(&good)), "good");
        let some = line(&[good.clone(), not_judged.clone()]);
        assert_eq!(some, "good (1 measures judged, 1 not: stages change them on purpose)");
        assert_eq!(line(std::slice::from_ref(&not_judged)), "not judged: no measure with a limit applies");
        let over = line(&[good, measure(2.0, Some(1.0))]);
        assert!(over.starts_with("over: 1 of 2 judged measures; worst foot_skate_p95 "), "{over}");
    }

    #[test]
    fn a_report_read_back_says_the_same() {
        let metric = Metric {
            name: "foot_skate_p95".into(),
            value: 0.5,
            unit: "m",
            direct: Some(0.7),
            take: Some(0.2),
            at_most: Some(0.6),
            not_judged: Some("mirror".into()),
            verdict: None,
        };
        let read = Reading::of_json(&serde_json::to_value(&metric).unwrap());
        assert_eq!(read, Some(Reading::from(&metric)));
        assert_eq!(Reading::of_json(&serde_json::json!({})), None);
    }
}
