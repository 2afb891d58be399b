//! Stage `secondary`: named chains such as tails, hair and straps swing.
//!
//! Units: hertz.

use super::stage::KeyFaults;
use super::{Setting, Stage, StageConfig, StageError};
use crate::model::{Character, JointId, Motion};
use crate::report::{Report, nearest, one_line};
use crate::settle::{Swing, swing};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Swings named chains (a tail, hair, straps); the body does not change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SecondaryConfig {
    /// Names of the joints at which chains start; `*` matches any text.
    pub chains: Vec<String>,
    /// Natural frequency of a chain on its first joint, in hertz. Higher is stiffer.
    #[schemars(range(min = 0.05, max = 30))]
    pub frequency_hz: f64,
    /// Damping ratio; 0 swings forever, 1 (critical damping) does not swing back.
    #[schemars(range(min = 0, max = 10))]
    pub swing_damping: f64,
    /// Share of gravity that acts on chains.
    #[schemars(range(min = -10, max = 10))]
    pub swing_gravity: f64,
    /// Minimum number of simulation steps per second.
    #[schemars(range(min = 30, max = 2000))]
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

    fn foresee(&self, character: &Character, _: &Path) -> Vec<(String, StageError)> {
        let unknown = |pattern: &String| Some((pattern.clone(), starts(pattern, character).err()?));
        self.chains.iter().filter_map(unknown).collect()
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
        let found: Result<Vec<_>, _> = self.chains.iter().map(|pattern| starts(pattern, character)).collect();
        let mut tops = found?.concat();
        tops.sort();
        tops.dedup();
        Ok(tops)
    }
}

/// The joints below the root whose names match `pattern`.
///
/// # Errors
/// There is none.
fn starts(pattern: &str, character: &Character) -> Result<Vec<JointId>, StageError> {
    let skeleton = character.skeleton();
    let below_root = || skeleton.ids().filter(|id| skeleton.parent(*id).is_some());
    let fits = |id: &JointId| matches(pattern, &skeleton.joint(*id).name);
    let found: Vec<JointId> = below_root().filter(fits).collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let names = below_root().map(|id| skeleton.joint(id).name.as_str());
    let hint = match nearest(&pattern.replace('*', ""), names) {
        Some(near) => format!("the nearest name is `{}`", one_line(near)),
        None => "list the joints with `posemill inspect`".to_owned(),
    };
    let text = format!("no joint below the root has the name `{}`\n  hint: {hint}", one_line(pattern));
    Err(StageError::key("chains", text))
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
