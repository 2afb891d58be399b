//! Stage `repair`: detects and fixes capture errors.

use super::{Setting, Stage, StageConfig, StageError};
use crate::model::Motion;
use crate::repair::{Faults, repair_motion};
use crate::report::{Finding, Report, TakeChange};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Detects and fixes capture errors, each with its own test; a clean clip is returned unchanged, bit for bit.
///
/// The report lists what was fixed, what was detected but not fixed, and the highest value of every test relative to its
/// limit (1). Place it before `retarget`: the take must be tested on the skeleton it was recorded with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RepairConfig {
    /// Whether frozen frames, swapped sides, spikes, flips of single joints, jumps of the whole body and noise are fixed, and cuts
    /// reported.
    pub signal: bool,
    /// Whether a floor that rises, tilts or is at the wrong height, and a path that drifts or is wrongly scaled, are fixed; bodies
    /// on two legs only.
    pub floor: bool,
    /// Whether single contacts in which a foot slides are fixed.
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

/// The resolved stage.
#[derive(Debug)]
struct Repair {
    faults: Faults,
}

/// Whether the sentence on capture errors tells of it: cuts are reported by the stages that they affect, and an unknown floor is not an
/// error.
fn is_told(finding: &Finding) -> bool {
    !["cut", "floor"].contains(&finding.fault)
}

/// One sentence on what was fixed and what was not; `None` if there is neither.
fn summary(findings: &[Finding]) -> Option<String> {
    let counted = |left: bool| {
        let mut counts: Vec<(String, usize)> = Vec::new();
        let own = findings.iter().filter(|finding| finding.left.is_some() == left && is_told(finding));
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
        (fixed, left) if fixed.is_empty() && left.is_empty() => None,
        (fixed, left) if left.is_empty() => Some(format!("capture errors were fixed: {fixed}")),
        (fixed, left) if fixed.is_empty() => Some(format!("capture errors were not fixed: {left}")),
        (fixed, left) => Some(format!("capture errors were fixed: {fixed}; not fixed: {left}")),
    }
}

impl Stage for Repair {
    fn only_fixes(&self) -> bool {
        true
    }

    fn take_change(&self, _: &Motion) -> Option<TakeChange> {
        let Faults { signal, floor, legs } = self.faults;
        Some(TakeChange::Repaired { signal, floor, legs })
    }

    fn apply(&self, motion: Motion, report: &mut Report) -> Result<Motion, StageError> {
        let repaired = repair_motion(motion, &self.faults);
        if let Some(message) = summary(&repaired.findings) {
            let told = repaired.findings.iter().filter(|finding| is_told(finding));
            let first = told.map(|finding| finding.frames[0]).min().unwrap_or_default();
            report.warnings.add("take-faults", message, format!("frame {first}"));
        }
        report.findings.extend(repaired.findings);
        report.metrics.extend(repaired.nearest);
        Ok(repaired.motion)
    }
}
