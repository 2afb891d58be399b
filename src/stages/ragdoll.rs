//! Stage `ragdoll`: the character falls from a given time on.
//!
//! Units: seconds, metres, hertz, newton seconds.

use super::flights::labels;
use super::perform::{MOST_IMPULSE, hit_role};
use super::stage::KeyFaults;
use super::written_keys::listed;
use super::{Setting, Stage, StageConfig, StageError};
use crate::contacts::ground;
use crate::math::Vec3;
use crate::measure::AGAINST_THE_TAKE;
use crate::model::{Motion, Rig, Role};
use crate::report::Report;
use crate::settle::{Ragdoll, RagdollRelease, release_ragdoll};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Releases the character at a given time, or with a hit: it falls and comes to rest on its skin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RagdollConfig {
    /// Height of the floor in metres. Omitted: where the soles of this character rest, by contact labels, else by detected contacts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub floor_m: Option<f64>,
    /// Time at which the ragdoll starts, in seconds from the first frame.
    #[schemars(range(min = 0, max = 100_000))]
    pub let_go_s: f64,
    /// Duration of the simulation, in seconds.
    #[schemars(range(min = 0, max = 60))]
    pub fall_s: f64,
    /// The part that is hit at the start: `chest`, or a role such as `head` or `left_hand`. Omitted: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hit: Option<String>,
    /// Impulse of the hit in newton seconds, at most 2,000, for a body of `input.mass_kg` (70), in model space: left, up, forward.
    pub hit_impulse_n_s: [f64; 3],
    /// Resistance of the joints to rotation; 0: none.
    #[schemars(range(min = 0, max = 100))]
    pub resistance: f64,
    /// Coulomb friction coefficient of the floor.
    #[schemars(range(min = 0, max = 10))]
    pub friction: f64,
    /// Minimum number of simulation steps per second.
    #[schemars(range(min = 30, max = 2000))]
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
        let mut faults = KeyFaults::default();
        faults.within("let_go_s", self.let_go_s, [0.0, 1e5]);
        faults.within("fall_s", self.fall_s, [0.0, 60.0]);
        faults.within("resistance", self.resistance, [0.0, 100.0]);
        faults.within("friction", self.friction, [0.0, 10.0]);
        faults.within("step_hz", self.step_hz, [30.0, 2000.0]);
        if let Some(Err(fault)) =
            self.hit.as_ref().filter(|word| *word != "chest").map(|word| word.parse::<Role>())
        {
            faults.need(false, "hit", fault);
        }
        let impulse = Vec3::from(self.hit_impulse_n_s).norm();
        let key = "hit_impulse_n_s";
        faults.need(impulse.is_finite(), key, "`hit_impulse_n_s` must be three finite numbers");
        let text = format!("`hit_impulse_n_s` has {impulse:.0} N s, allowed is at most {MOST_IMPULSE}");
        faults.need(impulse <= MOST_IMPULSE || !impulse.is_finite(), key, text);
        match &self.hit {
            Some(part) if impulse == 0.0 => {
                let text = format!("the hit on `{part}` has no impulse\n  hint: set `hit_impulse_n_s`");
                faults.need(false, "hit", text);
            }
            None if impulse > 0.0 && impulse.is_finite() => {
                let text = "`hit_impulse_n_s` hits no part\n  hint: set `hit`, such as `hit = \"chest\"`";
                faults.need(false, key, text);
            }
            _ => {}
        }
        faults.finite("floor_m", self.floor_m);
        faults.found()
    }

    fn resolve(&self, setting: &Setting) -> Result<Box<dyn Stage>, StageError> {
        let character = &setting.arriving;
        let ragdoll = Ragdoll::of(character).ok_or_else(|| {
            let text = format!("no ragdoll can be made of `{}`", character.name);
            StageError::new(format!(
                "{text}: it has no hips with limbs\n  hint: list the detected roles with `posemill inspect`; add a name with `--set input.roles.words.WORD=PART`"
            ))
        })?;
        let hit = self.hit.as_ref().and_then(|word| hit_part(word, &ragdoll, &character.rig));
        if let Some(word) = self.hit.as_ref().filter(|_| hit.is_none()) {
            let parts = ragdoll.parts.iter().map(|part| part.role.to_string());
            let names: Vec<String> = std::iter::once("chest".to_owned()).chain(parts).collect();
            return Err(StageError::key(
                "hit",
                format!(
                    "the ragdoll has no part `{word}`\n  hint: name one of {}",
                    listed(names.iter().map(String::as_str))
                ),
            ));
        }
        Ok(Box::new(RagdollStage { config: self.clone(), hit }))
    }
}

/// The part of a ragdoll that a word names: a ragdoll has fewer parts of the trunk than the spine has joints.
fn hit_part(word: &str, ragdoll: &Ragdoll, rig: &Rig) -> Option<Role> {
    let role = hit_role(word, rig)?;
    let part = ragdoll.find(role).or_else(|| ragdoll.part_of(rig.joint(role)?))?;
    Some(ragdoll.parts[part].role)
}

/// The resolved stage.
#[derive(Debug)]
struct RagdollStage {
    config: RagdollConfig,
    /// The part that is hit.
    hit: Option<Role>,
}

impl Stage for RagdollStage {
    fn apply(&self, motion: Motion, report: &mut Report) -> Result<Motion, StageError> {
        let config = &self.config;
        let how = RagdollRelease {
            at: config.let_go_s,
            lasts: config.fall_s,
            hit: self.hit.map(|role| (role, Vec3::from(config.hit_impulse_n_s))),
            resistance: config.resistance,
            friction: config.friction,
            ground: config.floor_m.unwrap_or_else(|| ground(&motion, &labels(&motion))),
            step: (1.0 / config.step_hz).min(RagdollRelease::default().step),
        };
        let fallen = release_ragdoll(&motion, &how).ok_or_else(|| {
            let text = format!("`let_go_s` is {}, the motion ends before it", config.let_go_s);
            StageError::key("let_go_s", text)
        })?;
        if let Some((sunk, raised)) = fallen.sunk {
            let then = if raised { "it is raised out of it" } else { "what is in the floor may stay there" };
            let text = format!(
                "the body is {sunk:.2} m in the floor when it is released, and {then}\n  hint: \
                 set `floor_m` to the height that it stands on"
            );
            report.warnings.add("ragdoll-in-floor", text, "ragdoll");
        }
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
