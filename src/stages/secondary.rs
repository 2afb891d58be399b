//! Stage `secondary`: named chains such as tails, hair and straps swing.
//!
//! Units: hertz.

use super::stage::KeyFaults;
use super::{Setting, Stage, StageConfig, StageError};
use crate::model::{Character, JointId, Motion};
use crate::report::Report;
use crate::settle::{Swing, swing};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Swings named chains (a tail, hair, straps); the body does not change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SecondaryConfig {
    /// Names of the joints at which chains start; `*` matches any text.
    pub chains: Vec<String>,
    /// Natural frequency of a joint of a chain, in hertz. Higher is stiffer.
    pub frequency_hz: f64,
    /// Damping ratio; 0 swings forever, 1 (critical damping) does not swing back.
    pub swing_damping: f64,
    /// Share of gravity that acts on chains.
    pub swing_gravity: f64,
    /// Minimum number of simulation steps per second.
    pub step_hz: f64,
}

impl Default for SecondaryConfig {
    fn default() -> Self {
        let chains = Swing::default();
        Self {
            chains: Vec::new(),
            frequency_hz: chains.frequency,
            swing_damping: chains.damping,
            swing_gravity: chains.gravity,
            step_hz: 120.0,
        }
    }
}

impl StageConfig for SecondaryConfig {
    const NAME: &'static str = "secondary";

    /// Chains that swing rotate faster than the take.
    fn meaningless(&self) -> &'static [&'static str] {
        &["turn_ratio"]
    }

    fn validate(&self) -> Result<(), Vec<StageError>> {
        let mut faults = KeyFaults::default();
        faults.within("frequency_hz", self.frequency_hz, [0.05, 30.0]);
        faults.within("swing_damping", self.swing_damping, [0.0, 10.0]);
        faults.within("swing_gravity", self.swing_gravity, [-10.0, 10.0]);
        faults.within("step_hz", self.step_hz, [30.0, 2000.0]);
        faults.found()
    }

    fn resolve(&self, setting: &Setting) -> Result<Box<dyn Stage>, StageError> {
        Ok(Box::new(SecondaryStage { config: self.clone(), tops: self.tops(&setting.arriving)? }))
    }
}

impl SecondaryConfig {
    /// The joints that chains start at.
    fn tops(&self, character: &Character) -> Result<Vec<JointId>, StageError> {
        if self.chains.is_empty() {
            return Err(StageError::key(
                "chains",
                "`secondary` needs the joints at which chains start\n  hint: name them: `chains = [\"tail*\"]`",
            ));
        }
        let skeleton = character.skeleton();
        let mut tops = Vec::new();
        for pattern in &self.chains {
            let fits =
                |id: &JointId| matches(pattern, &skeleton.joint(*id).name) && skeleton.parent(*id).is_some();
            let found: Vec<JointId> = skeleton.ids().filter(fits).collect();
            if found.is_empty() {
                let text = format!(
                    "no joint below the root has the name `{pattern}`\n  hint: list the joints with `posemill inspect`"
                );
                return Err(StageError::key("chains", text));
            }
            tops.extend(found);
        }
        tops.sort();
        tops.dedup();
        Ok(tops)
    }
}

/// Whether `name` matches `pattern`, in which `*` matches any text.
fn matches(pattern: &str, name: &str) -> bool {
    let mut pieces = pattern.split('*');
    let Some(mut rest) = name.strip_prefix(pieces.next().unwrap_or("")) else { return false };
    let mut last = None;
    for piece in pieces {
        let Some(at) = rest.find(piece) else { return false };
        (rest, last) = (&rest[at + piece.len()..], Some(piece));
    }
    match last {
        None => rest.is_empty(),
        Some(piece) => name.ends_with(piece),
    }
}

/// The resolved stage.
#[derive(Debug)]
struct SecondaryStage {
    config: SecondaryConfig,
    tops: Vec<JointId>,
}

impl Stage for SecondaryStage {
    fn apply(&self, motion: Motion, report: &mut Report) -> Result<Motion, StageError> {
        let config = &self.config;
        let how = Swing {
            frequency: config.frequency_hz,
            damping: config.swing_damping,
            gravity: config.swing_gravity,
            step: 1.0 / config.step_hz,
        };
        let (swung, farthest) = swing(&motion, &self.tops, &how);
        report.measure("swing_largest_turn", farthest, "rad");
        Ok(swung)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_matches_any_text() {
        for (pattern, name, fits) in [
            ("tail", "tail", true),
            ("tail", "tail_1", false),
            ("tail*", "tail_1", true),
            ("*hair*.L", "back_hair_2.L", true),
            ("*hair*.L", "back_hair_2.R", false),
            ("*", "anything", true),
        ] {
            assert_eq!(matches(pattern, name), fits, "{pattern} {name}");
        }
    }
}
