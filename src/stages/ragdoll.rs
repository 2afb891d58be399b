//! Stage `ragdoll`: the character falls from a given time on.
//!
//! Units: seconds, metres, hertz, newton seconds.

use super::flights::labels;
use super::written_keys::listed;
use super::{Setting, Stage, StageConfig, StageError};
use crate::math::Vec3;
use crate::measure::AGAINST_THE_TAKE;
use crate::model::{Motion, Role};
use crate::report::Report;
use crate::settle::{Ragdoll, RagdollRelease, release_ragdoll};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Releases the character at a given time, or with a hit: it falls and comes to rest on its skin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RagdollConfig {
    /// Height of the floor in metres. Omitted: the ground of the contact labels, else of detected contacts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub floor_m: Option<f64>,
    /// Time at which the ragdoll starts, in seconds from the first frame.
    pub let_go_s: f64,
    /// Duration of the simulation, in seconds.
    pub fall_s: f64,
    /// The part that is hit at the start, such as `head` or `left_hand`. Omitted: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hit: Option<String>,
    /// Impulse of the hit in newton seconds, in model space: left, up, forward.
    pub hit_impulse_n_s: [f64; 3],
    /// Resistance of the joints to rotation; 0: none.
    pub resistance: f64,
    /// Coulomb friction coefficient of the floor.
    pub friction: f64,
    /// Minimum number of simulation steps per second.
    pub step_hz: f64,
}

impl Default for RagdollConfig {
    fn default() -> Self {
        let fall = RagdollRelease::default();
        Self {
            floor_m: None,
            let_go_s: fall.at,
            fall_s: fall.lasts,
            hit: None,
            hit_impulse_n_s: [0.0; 3],
            resistance: fall.resistance,
            friction: fall.friction,
            step_hz: 120.0,
        }
    }
}

impl StageConfig for RagdollConfig {
    const NAME: &'static str = "ragdoll";

    /// A ragdoll does nothing that the take does.
    fn meaningless(&self) -> &'static [&'static str] {
        AGAINST_THE_TAKE
    }

    fn validate(&self) -> Result<(), Vec<StageError>> {
        let mut faults = Vec::new();
        let ranges = [
            ("let_go_s", self.let_go_s, 0.0, 1e5),
            ("fall_s", self.fall_s, 0.0, 60.0),
            ("resistance", self.resistance, 0.0, 100.0),
            ("friction", self.friction, 0.0, 10.0),
            ("step_hz", self.step_hz, 30.0, 2000.0),
        ];
        for (key, value, low, high) in ranges {
            if !(low <= value && value <= high) {
                faults.push(StageError::key(key, format!("`{key}` is {value}, allowed is {low} to {high}")));
            }
        }
        if let Some(Err(fault)) = self.hit.as_ref().map(|word| word.parse::<Role>()) {
            faults.push(StageError::key("hit", fault));
        }
        if !self.hit_impulse_n_s.iter().all(|x| x.is_finite()) {
            faults.push(StageError::key("hit_impulse_n_s", "`hit_impulse_n_s` must be three finite numbers"));
        }
        if let Some(x) = self.floor_m.filter(|x| !x.is_finite()) {
            faults.push(StageError::key("floor_m", format!("`floor_m` is {x}, allowed is a finite number")));
        }
        if faults.is_empty() { Ok(()) } else { Err(faults) }
    }

    fn resolve(&self, setting: &Setting) -> Result<Box<dyn Stage>, StageError> {
        let character = &setting.arriving;
        let ragdoll = Ragdoll::of(character).ok_or_else(|| {
            let text = format!("no ragdoll can be made of `{}`", character.name);
            StageError::new(format!(
                "{text}: it has no hips with limbs\n  hint: list the detected roles with `posemill inspect`; add a name with `--set input.roles.words.WORD=PART`"
            ))
        })?;
        let missing = self
            .hit
            .as_ref()
            .filter(|word| word.parse::<Role>().ok().is_none_or(|role| ragdoll.find(role).is_none()));
        if let Some(word) = missing {
            let names: Vec<String> = ragdoll.parts.iter().map(|part| part.role.to_string()).collect();
            return Err(StageError::key(
                "hit",
                format!(
                    "the ragdoll has no part `{word}`\nname one of {}",
                    listed(names.iter().map(String::as_str))
                ),
            ));
        }
        Ok(Box::new(RagdollStage { config: self.clone() }))
    }
}

/// The resolved stage.
#[derive(Debug)]
struct RagdollStage {
    config: RagdollConfig,
}

impl Stage for RagdollStage {
    fn apply(&self, motion: Motion, report: &mut Report) -> Result<Motion, StageError> {
        let config = &self.config;
        let role = config.hit.as_ref().and_then(|word| word.parse::<Role>().ok());
        let how = RagdollRelease {
            at: config.let_go_s,
            lasts: config.fall_s,
            hit: role.map(|role| (role, Vec3::from(config.hit_impulse_n_s))),
            resistance: config.resistance,
            friction: config.friction,
            ground: config.floor_m.unwrap_or_else(|| labels(&motion).ground),
            step: (1.0 / config.step_hz).min(RagdollRelease::default().step),
        };
        let fallen = release_ragdoll(&motion, &how).ok_or_else(|| {
            let text = format!("`let_go_s` is {}, the motion ends before it", config.let_go_s);
            StageError::key("let_go_s", text)
        })?;
        let grown = fallen.energy.windows(2).map(|w| w[1] - w[0]).fold(0.0, f64::max);
        report.measure("ragdoll_from", fallen.from as f64, "frame");
        report.measure("ragdoll_penetration", fallen.penetration, "m");
        report.measure("ragdoll_self_penetration", fallen.overlap, "m");
        report.measure("ragdoll_limit_excess", fallen.excess, "rad");
        report.measure("ragdoll_energy_at_start", fallen.energy[0], "J");
        report.measure("ragdoll_energy_grown_at_most", grown, "J");
        match fallen.rests_after {
            Some(time) => report.measure("ragdoll_rests_after", time, "s"),
            None => report.warnings.add(
                "ragdoll-restless",
                "the simulation ends before the body is at rest",
                "ragdoll",
            ),
        }
        Ok(fallen.motion)
    }
}
