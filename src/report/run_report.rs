//! Warnings, measurements and findings of a run as values, for users and scripts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Measures that stages made meaningless on purpose, by stage.
pub type NotJudged = BTreeMap<String, Vec<String>>;

/// A recoverable problem: what was found and changed, how often, and where first.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Warning {
    /// A stable identifier for scripts, such as `bvh-row-count`.
    pub code: &'static str,
    /// One sentence for users: what was found and what was done about it.
    pub message: String,
    /// The first location: `line 12`, `nodes[3]`, `frame 7, joint Hips`.
    pub first: String,
    /// Number of occurrences.
    pub count: usize,
    /// True for a guess that is almost certainly right: it is shown in verbose output only.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub sure: bool,
    /// The lines of a joint map that fix it, if any.
    #[serde(rename = "mend", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub fix: Option<String>,
}

/// Warnings in order of first occurrence; repetitions are counted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct Warnings(Vec<Warning>);

impl Warnings {
    /// No warnings.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a warning, or counts it if its code is present (the first message and location are kept).
    pub fn add(&mut self, code: &'static str, message: impl Into<String>, first: impl Into<String>) {
        self.add_or_count(code, message.into(), first.into(), false);
    }

    /// As [`Warnings::add`], for a guess that is almost certainly right.
    pub fn guess(&mut self, code: &'static str, message: impl Into<String>, first: impl Into<String>) {
        self.add_or_count(code, message.into(), first.into(), true);
    }

    fn add_or_count(&mut self, code: &'static str, message: String, first: String, sure: bool) {
        match self.0.iter_mut().find(|w| w.code == code) {
            Some(known) => known.count += 1,
            None => self.0.push(Warning { code, message, first, count: 1, sure, fix: None }),
        }
    }

    /// Adds a warning, or counts it if one with the same code and message is present.
    pub fn push(&mut self, warning: Warning) {
        match self.0.iter_mut().find(|w| w.code == warning.code && w.message == warning.message) {
            Some(known) => known.count += warning.count,
            None => self.0.push(warning),
        }
    }

    /// Adds all of `other`.
    pub fn extend(&mut self, other: Warnings) {
        for warning in other.0 {
            match self.0.iter_mut().find(|w| w.code == warning.code) {
                Some(known) => known.count += warning.count,
                None => self.0.push(warning),
            }
        }
    }

    /// Adds all of `other`, which come from `file`: warnings with the same code and message are counted, others are added
    /// with the file name in their location.
    pub fn extend_from(&mut self, other: Warnings, file: &str) {
        for mut warning in other.0 {
            match self.0.iter_mut().find(|w| w.code == warning.code && w.message == warning.message) {
                Some(known) => known.count += warning.count,
                None => {
                    let within = std::mem::take(&mut warning.first);
                    warning.first =
                        if within.is_empty() { file.to_owned() } else { format!("{file}: {within}") };
                    self.0.push(warning);
                }
            }
        }
    }

    /// The warnings in order of first occurrence.
    pub fn iter(&self) -> std::slice::Iter<'_, Warning> {
        self.0.iter()
    }

    /// Whether there is a warning with this code.
    pub fn has(&self, code: &str) -> bool {
        self.0.iter().any(|w| w.code == code)
    }

    /// Whether there are no warnings.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A number with a unit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Metric {
    /// A stable identifier for scripts, such as `foot_skate`.
    pub name: String,
    /// The value, in `unit`; null if it is not finite.
    #[schemars(with = "Option<f64>")]
    pub value: f64,
    /// The unit, such as `m`, `rad`, `m/s` or `frames`; `1` for ratios.
    pub unit: &'static str,
    /// The same measure for direct rotation transfer, if available for comparison; null if it is not finite.
    #[serde(rename = "copy", skip_serializing_if = "Option::is_none")]
    pub direct: Option<f64>,
    /// The same measure for the take itself on its own body, if defined; null if it is not finite.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub take: Option<f64>,
    /// The limit for a good clip, in `unit`, for measures that have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "f64")]
    pub at_most: Option<f64>,
    /// The stages that changed on purpose what is measured, or `robot`, for measures that are therefore not judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub not_judged: Option<String>,
    /// What is said of it, for measures with a limit: `good`, `as recorded`, `over` or `not judged`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub verdict: Option<&'static str>,
}

/// Size of a change: maximum over all frames and joints with its first location, and mean.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Largest {
    /// The maximum, in the unit of the change.
    pub max: f64,
    /// The mean over all frames and joints, in the same unit.
    pub mean: f64,
    /// The joint of the maximum.
    pub joint: String,
    /// The frame of the maximum, from 0.
    pub frame: usize,
}

/// The change made by a stage, measured between its input and output motion.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Change {
    /// The stage, with its number in the pipeline if ambiguous.
    pub stage: String,
    /// Displacement of joints in model space, metres.
    pub metres: Largest,
    /// Change of local joint rotations, degrees.
    pub degrees: Largest,
}

/// A capture error found in a take: kind, location, size, and whether it was fixed.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Finding {
    /// A stable identifier for scripts, such as `spike`.
    pub fault: &'static str,
    /// The joint, if the error concerns a single one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub joint: Option<String>,
    /// First frame, from 0, and exclusive end.
    pub frames: [usize; 2],
    /// The unit of `before` and `after`, such as `m`, `rad` or `frames`; `1` for ratios.
    pub unit: &'static str,
    /// Size before the fix, in `unit`.
    pub before: f64,
    /// Size after the fix, in `unit`.
    pub after: f64,
    /// Why it was not fixed, as text for the user; absent if it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub left: Option<String>,
}

impl Finding {
    /// The name of the error for users.
    pub fn name(&self) -> String {
        match self.fault {
            "held" => "held frames".to_owned(),
            "swap" => "swapped sides".to_owned(),
            other => other.replace('_', " "),
        }
    }
}

/// A stage that was tried on a finished clip and makes a measure better, without making another one worse than it may be.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hint {
    /// The measure.
    pub measure: String,
    /// The stage.
    pub stage: &'static str,
    /// The unit, as of [`Metric`].
    pub unit: &'static str,
    /// The value without the stage.
    pub before: f64,
    /// The value with it.
    pub after: f64,
}

/// A number with a unit for every frame of a clip.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Series {
    /// A stable identifier for scripts, such as `left_heel_height`.
    pub name: String,
    /// The unit, as of [`Metric`].
    pub unit: &'static str,
    /// One value for each frame.
    pub values: Vec<f64>,
    /// The intervals in which the measured part is in contact, as first frame and exclusive end.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub resting: Vec<[usize; 2]>,
}

/// One joint of the target and its source, as text.
#[derive(Clone, Debug, PartialEq)]
pub struct MappedJoint {
    /// The common role, such as `left_foot`; empty for joints paired by name only.
    pub role: String,
    /// The source joint; two joined by ` + ` if blended.
    pub source: String,
    /// The target joint.
    pub target: String,
    /// From 0 to 1.
    pub confidence: f64,
    /// The evidence.
    pub reason: String,
}

/// The joint map as text for users.
#[derive(Clone, Debug, PartialEq)]
pub struct Mapping {
    /// The source character.
    pub source: String,
    /// The target character.
    pub target: String,
    /// Every target joint that is driven, in joint order.
    pub joints: Vec<MappedJoint>,
    /// Unmapped source joints.
    pub source_only: Vec<String>,
    /// Target joints without a source, which keep their rest pose.
    pub target_only: Vec<String>,
}

/// What a stage did to the frames of a motion that can be done to its take too: then both are compared.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TakeChange {
    /// Frames were kept from a time to another, seconds from the first frame, both included; without an end to the last frame.
    Part {
        /// The first frame that is kept.
        from_s: f64,
        /// The last frame that is kept.
        to_s: Option<f64>,
    },
    /// Left and right were exchanged.
    Mirrored,
    /// Capture errors of these groups were fixed by the stage `repair`.
    Repaired {
        /// Those of single joints and frames.
        signal: bool,
        /// Those of floor and path.
        floor: bool,
        /// Those of single contacts.
        legs: bool,
    },
    /// The motion was transferred to another skeleton.
    Retargeted,
}

/// When the first frame is after the first one of the take, seconds.
pub fn cut_at_start(changes: &[TakeChange]) -> f64 {
    let start = |change: &TakeChange| match change {
        TakeChange::Part { from_s, .. } => *from_s,
        _ => 0.0,
    };
    changes.iter().map(start).sum()
}

/// Report of one run on one file.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Report {
    /// Warnings.
    pub warnings: Warnings,
    /// Measurements.
    pub metrics: Vec<Metric>,
    /// Measurements per frame.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub series: Vec<Series>,
    /// The change made by each stage, in stage order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
    /// Capture errors, in the order of the detectors.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// Measures that stages made meaningless on purpose, by stage, or by `robot` where the result is a robot's: they are not judged.
    #[serde(skip_serializing_if = "NotJudged::is_empty")]
    pub not_judged: NotJudged,
    /// What stages did to the frames of the last clip, in their order: the take is changed alike before both are compared.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub take_changes: Vec<TakeChange>,
    /// Stages that were tried and help.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<Hint>,
    /// Joint maps, each once. Not serialised: scripts use `posemill map`.
    #[serde(skip)]
    pub mappings: Vec<Mapping>,
}

impl Report {
    /// Adds a measurement.
    pub fn measure(&mut self, name: impl Into<String>, value: f64, unit: &'static str) {
        self.metrics.push(Metric { name: name.into(), value, unit, ..Metric::default() });
    }

    /// Adds a mapping unless present: takes of one skeleton share theirs.
    pub fn mapped(&mut self, mapping: &Mapping) {
        if !self.mappings.contains(mapping) {
            self.mappings.push(mapping.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_warnings_are_counted_at_their_first_place() {
        let mut warnings = Warnings::new();
        warnings.add("odd", "something odd", "line 3");
        warnings.add("odd", "something odd again", "line 9");
        let mut all = Warnings::new();
        all.extend(warnings.clone());
        all.extend(warnings);
        let only = all.iter().next().unwrap();
        assert_eq!((only.first.as_str(), only.count), ("line 3", 4));
    }

    #[test]
    fn different_messages_of_files_are_kept_apart() {
        let of = |message: &str| {
            let mut warnings = Warnings::new();
            warnings.add("unit", message, "line 1");
            warnings
        };
        let mut all = Warnings::new();
        for (file, message) in [("a", "metres"), ("b", "inches"), ("c", "metres")] {
            all.extend_from(of(message), file);
        }
        let found: Vec<_> = all.iter().map(|w| (w.message.as_str(), w.first.as_str(), w.count)).collect();
        assert_eq!(found, [("metres", "a: line 1", 2), ("inches", "b: line 1", 1)]);
    }
}
