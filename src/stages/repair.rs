//! Stage `repair`: faults of the recording are mended, and a take without any comes out bit for bit.

use super::{Setting, Stage, StageConfig, StageError};
use crate::model::Motion;
use crate::repair::{Faults, mend};
use crate::report::{Finding, Report};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Mends faults of the recording, each found by a test of its own; what has none comes out bit for bit.
///
/// The report says what was mended, what was seen and left, and how near every test came to its limit (1). To be placed
/// before `retarget`: it judges the take on the body that it was recorded with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RepairConfig {
    /// Looks for held frames, sides that changed places, spikes, steps of the whole body, cuts (told only) and noise.
    pub signal: bool,
    /// Looks for a floor that rises, leans or lies elsewhere, and for a path that drifts or is scaled: of bodies on two legs.
    pub floor: bool,
    /// Looks for single stances of feet that slide.
    pub legs: bool,
}

impl Default for RepairConfig {
    fn default() -> Self {
        let Faults { signal, floor, legs } = Faults::default();
        Self { signal, floor, legs }
    }
}

impl StageConfig for RepairConfig {
    const NAME: &'static str = "repair";

    fn resolve(&self, _: &Setting) -> Result<Box<dyn Stage>, StageError> {
        let &Self { signal, floor, legs } = self;
        Ok(Box::new(Repair { faults: Faults { signal, floor, legs } }))
    }
}

/// The stage, ready.
#[derive(Debug)]
struct Repair {
    faults: Faults,
}

/// What was mended and what was left, in a sentence; nothing where nothing was. Cuts are told by those who meet them, and
/// that a floor is not known is no fault.
fn told(findings: &[Finding]) -> Option<String> {
    let counted = |left: bool| {
        let mut counts: Vec<(String, usize)> = Vec::new();
        let own =
            findings.iter().filter(|f| f.left.is_some() == left && !["cut", "floor"].contains(&f.fault));
        for finding in own {
            match counts.iter_mut().find(|(name, _)| *name == finding.name()) {
                Some((_, count)) => *count += 1,
                None => counts.push((finding.name(), 1)),
            }
        }
        let word = |(name, count): &(String, usize)| match count {
            1 => name.clone(),
            n => format!("{name} ({n} times)"),
        };
        counts.iter().map(word).collect::<Vec<_>>().join(", ")
    };
    match (counted(false), counted(true)) {
        (mended, left) if mended.is_empty() && left.is_empty() => None,
        (mended, left) if left.is_empty() => Some(format!("faults of the recording were mended: {mended}")),
        (mended, left) if mended.is_empty() => Some(format!("faults of the recording were left: {left}")),
        (mended, left) => Some(format!("faults of the recording were mended: {mended}; left: {left}")),
    }
}

impl Stage for Repair {
    fn apply(&self, motion: Motion, report: &mut Report) -> Result<Motion, StageError> {
        let mended = mend(motion, &self.faults);
        if let Some(message) = told(&mended.findings) {
            let first = mended.findings.iter().map(|f| f.frames[0]).min().unwrap_or_default();
            report.warnings.add("take-faults", message, format!("frame {first}"));
        }
        report.findings.extend(mended.findings);
        report.metrics.extend(mended.nearest);
        Ok(mended.motion)
    }
}
