//! Warnings and measurements as values: what a run has to say, for people and for scripts.

use serde::Serialize;

/// A survivable fact: what was met and bent, how often, and where first.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Warning {
    /// A stable word for scripts, such as `bvh-row-count`.
    pub code: &'static str,
    /// One sentence for people: what was found and what was done about it.
    pub message: String,
    /// Where it was met first: `line 12`, `nodes[3]`, `frame 7, joint Hips`.
    pub first: String,
    /// How often it was met.
    pub count: usize,
    /// Whether there is little doubt about it: then it is told only to those who ask for everything.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub sure: bool,
    /// The lines of a joint map that mend it, where lines can.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mend: Option<String>,
}

/// What the system says, in the style of this program's messages: without the number, in lower case.
pub fn io_reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut letters = text.chars();
    let first = letters.next().map(|c| c.to_lowercase().to_string()).unwrap_or_default();
    first + letters.as_str()
}

/// The text as it may stand in a message or in a line of a file: control characters, and those that turn the writing
/// direction or end a line, are written as escapes, so that no name can add a line or command a terminal.
pub fn one_line(text: &str) -> String {
    let unsafe_here = |c: char| {
        c.is_control() || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
    };
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        match unsafe_here(c) {
            true => line.extend(c.escape_default()),
            false => line.push(c),
        }
    }
    line
}

/// The first sixty letters of a text from a file, as [`one_line`] has them: enough to find it by, whatever the file holds.
pub fn shortened(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => one_line(&text[..end]) + "...",
        None => one_line(text),
    }
}

/// A message of lines, in which nothing that a name smuggled in commands the terminal.
pub fn printable(text: &str) -> String {
    text.split('\n').map(one_line).collect::<Vec<_>>().join("\n")
}

/// Warnings in the order they were first met; repeated ones are counted, not repeated.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Warnings(Vec<Warning>);

impl Warnings {
    /// No warnings.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a fact, or counts it where the code was met before (the first message and place stay).
    pub fn add(&mut self, code: &'static str, message: impl Into<String>, first: impl Into<String>) {
        self.put(code, message.into(), first.into(), false);
    }

    /// Adds a guess about which there is little doubt, as [`Warnings::add`] does a fact.
    pub fn guess(&mut self, code: &'static str, message: impl Into<String>, first: impl Into<String>) {
        self.put(code, message.into(), first.into(), true);
    }

    fn put(&mut self, code: &'static str, message: String, first: String, sure: bool) {
        match self.0.iter_mut().find(|w| w.code == code) {
            Some(known) => known.count += 1,
            None => self.0.push(Warning { code, message, first, count: 1, sure, mend: None }),
        }
    }

    /// Adds a fact that stands beside others of its code, and is counted only where the same words were met before.
    pub fn tell(&mut self, warning: Warning) {
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

    /// Adds all of `other`, which were met in this file: what another file says in the same words is counted, what it says
    /// in other words stands beside.
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

    /// The warnings in the order they were first met.
    pub fn iter(&self) -> std::slice::Iter<'_, Warning> {
        self.0.iter()
    }

    /// Whether a warning of this code is there.
    pub fn has(&self, code: &str) -> bool {
        self.0.iter().any(|w| w.code == code)
    }

    /// Whether nothing was bent.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A number with a unit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Metric {
    /// A stable word for scripts, such as `foot_skate`.
    pub name: String,
    /// The value.
    pub value: f64,
    /// The unit: `m`, `rad`, `m/s`, `frames`; `1` for ratios.
    pub unit: &'static str,
    /// The same measure of the plain copy of the rotations, where there is one to compare with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub copy: Option<f64>,
    /// The same measure of the take itself, on its own body, where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub take: Option<f64>,
    /// The value that a good clip does not exceed, for measures that have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_most: Option<f64>,
}

/// How large a change is: the greatest of all frames and joints, their mean, and where the greatest was met first.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Largest {
    /// The greatest.
    pub max: f64,
    /// The mean over all frames and joints.
    pub mean: f64,
    /// The joint of the greatest.
    pub joint: String,
    /// Its frame.
    pub frame: usize,
}

/// What a stage changed, by comparing the motion before with the motion after.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// The stage, with its number in the pipeline where that is not clear.
    pub stage: String,
    /// How far joints moved in model space, metres.
    pub metres: Largest,
    /// How far joints turned against their parents, degrees.
    pub degrees: Largest,
}

/// A fault of a take that was looked for and found: what, where, how large, and what became of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// A stable word for scripts, such as `spike`.
    pub fault: &'static str,
    /// The joint, where it is the fault of one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub joint: Option<String>,
    /// The first frame and the one behind the last.
    pub frames: [usize; 2],
    /// The unit of `before` and `after`, as of [`Metric`].
    pub unit: &'static str,
    /// How large it was.
    pub before: f64,
    /// How large it is now.
    pub after: f64,
    /// Why it was left as it is, for people; none where it was mended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left: Option<String>,
}

impl Finding {
    /// The fault in words for people.
    pub fn name(&self) -> String {
        match self.fault {
            "held" => "held frames".to_owned(),
            "swap" => "swapped sides".to_owned(),
            other => other.replace('_', " "),
        }
    }
}

/// A number with a unit for every frame of a clip.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Series {
    /// A stable word for scripts, such as `left_heel_height`.
    pub name: String,
    /// The unit, as of [`Metric`].
    pub unit: &'static str,
    /// One value for each frame.
    pub values: Vec<f64>,
    /// The frames in which the part that is measured rests, as first frame and the one behind the last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub resting: Vec<[usize; 2]>,
}

/// One joint of the target and what drives it, in words.
#[derive(Clone, Debug, PartialEq)]
pub struct MappedJoint {
    /// The role that both play, such as `left_foot`; empty for joints paired by name alone.
    pub role: String,
    /// The joint of the source; two joined by ` + ` where they are blended.
    pub source: String,
    /// The joint of the target.
    pub target: String,
    /// From 0 to 1.
    pub confidence: f64,
    /// Why.
    pub reason: String,
}

/// What was mapped to what, in words: the joint map as people read it.
#[derive(Clone, Debug, PartialEq)]
pub struct Mapping {
    /// The source character.
    pub source: String,
    /// The target character.
    pub target: String,
    /// Every target joint that is driven, in joint order.
    pub joints: Vec<MappedJoint>,
    /// Source joints that drive nothing.
    pub source_only: Vec<String>,
    /// Target joints that rest.
    pub target_only: Vec<String>,
}

/// All that one run over one file has to say.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Report {
    /// What was bent.
    pub warnings: Warnings,
    /// What was measured.
    pub metrics: Vec<Metric>,
    /// What was measured in every frame.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub series: Vec<Series>,
    /// What each stage changed, in the order of the stages.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
    /// Faults of the take, in the order in which they were looked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// What was mapped to what, each mapping once. For people only: scripts read it from `posemill map`.
    #[serde(skip)]
    pub mappings: Vec<Mapping>,
}

impl Report {
    /// Adds a measurement.
    pub fn measure(&mut self, name: impl Into<String>, value: f64, unit: &'static str) {
        self.metrics.push(Metric { name: name.into(), value, unit, copy: None, take: None, at_most: None });
    }

    /// Adds a mapping, unless it is there: takes of one skeleton share theirs.
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
    fn names_stay_on_their_line() {
        assert_eq!(one_line("a\nb\u{1b}[2J\u{202e}\u{85}ü 左"), "a\\nb\\u{1b}[2J\\u{202e}\\u{85}ü 左");
    }

    #[test]
    fn what_files_say_in_other_words_is_told_apart() {
        let of = |message: &str| {
            let mut warnings = Warnings::new();
            warnings.add("unit", message, "line 1");
            warnings
        };
        let mut all = Warnings::new();
        for (file, message) in [("a", "metres"), ("b", "inches"), ("c", "metres")] {
            all.extend_from(of(message), file);
        }
        let told: Vec<_> = all.iter().map(|w| (w.message.as_str(), w.first.as_str(), w.count)).collect();
        assert_eq!(told, [("metres", "a: line 1", 2), ("inches", "b: line 1", 1)]);
    }
}
