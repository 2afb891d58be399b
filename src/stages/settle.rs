//! Stage `settle`: ballistic jumps and landings, ragdoll, or secondary motion of chains such as tails and hair.
//!
//! Units: seconds, metres, hertz, newton seconds.

use super::written_keys::listed;
use super::{Setting, Stage, StageConfig, StageError};
use crate::contacts;
use crate::math::Vec3;
use crate::measure::AGAINST_THE_TAKE;
use crate::model::{Character, Contacts, JointId, Motion, Role};
use crate::report::{Report, Series};
use crate::settle::{Ragdoll, RagdollRelease, Settled, Swing, release_ragdoll, settle_flights, swing};
use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

/// Kind of physics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SettleMode {
    /// Corrects flight phases and bodies that float.
    #[default]
    Flights,
    /// The character falls as a ragdoll.
    Ragdoll,
    /// Named chains swing; the body does not change.
    Secondary,
}

impl<'de> Deserialize<'de> for SettleMode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match String::deserialize(deserializer)?.as_str() {
            "flights" => Ok(Self::Flights),
            "ragdoll" => Ok(Self::Ragdoll),
            "secondary" => Ok(Self::Secondary),
            "track" => Err(D::Error::custom(
                "`track` was removed: it changed clean takes and fixed few errors\nuse \
                 `flights` for jumps and landings, the stages `repair`, `foot_lock`, `ground` and `limits` for the rest",
            )),
            other => Err(D::Error::unknown_variant(other, &["flights", "ragdoll", "secondary"])),
        }
    }
}

/// Corrects jumps and landings so that flight phases are ballistic, or simulates a ragdoll or secondary motion.
///
/// `flights`: jumps that are not ballistic are changed to parabolas under the gravity of the take, and floating bodies are
/// lowered; forces not explained by contacts are reported, not changed; a clip without such errors is returned unchanged.
/// `ragdoll`: the character falls from a given time on. `secondary`: named chains swing; the body does not change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SettleConfig {
    /// `flights` (jumps and landings), `ragdoll` (the character falls) or `secondary` (named chains only).
    pub mode: SettleMode,
    /// For `ragdoll`: height of the floor in metres. Omitted: the ground of the contact labels, else of detected contacts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub floor_m: Option<f64>,
    /// For `ragdoll`: time at which the ragdoll starts, in seconds from the first frame.
    pub let_go_s: f64,
    /// For `ragdoll`: duration of the simulation, in seconds.
    pub fall_s: f64,
    /// For `ragdoll`: the part that is hit at the start, such as `head` or `left_hand`. Omitted: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hit: Option<String>,
    /// For `ragdoll`: impulse of the hit in newton seconds, in model space: left, up, forward.
    pub hit_impulse_n_s: [f64; 3],
    /// For `ragdoll`: resistance of the joints to rotation; 0: none.
    pub resistance: f64,
    /// For `secondary`: names of the joints at which chains start; `*` matches any text.
    pub chains: Vec<String>,
    /// For `secondary`: natural frequency of a joint of a chain, in hertz. Higher is stiffer.
    pub frequency_hz: f64,
    /// For `secondary`: damping ratio; 0 swings forever, 1 (critical damping) does not swing back.
    pub swing_damping: f64,
    /// For `secondary`: share of gravity that acts on chains.
    pub swing_gravity: f64,
    /// For `ragdoll`: Coulomb friction coefficient of the floor.
    pub friction: f64,
    /// For `ragdoll` and `secondary`: minimum number of simulation steps per second.
    pub step_hz: f64,
}

impl Default for SettleConfig {
    fn default() -> Self {
        let (fall, chains) = (RagdollRelease::default(), Swing::default());
        Self {
            mode: SettleMode::default(),
            floor_m: None,
            let_go_s: fall.at,
            fall_s: fall.lasts,
            hit: None,
            hit_impulse_n_s: [0.0; 3],
            resistance: fall.resistance,
            chains: Vec::new(),
            frequency_hz: chains.frequency,
            swing_damping: chains.damping,
            swing_gravity: chains.gravity,
            friction: fall.friction,
            step_hz: 120.0,
        }
    }
}

impl StageConfig for SettleConfig {
    const NAME: &'static str = "settle";

    /// A ragdoll does nothing that the take does. Flights that are made ballistic lift the feet.
    fn meaningless(&self) -> &'static [&'static str] {
        match self.mode {
            SettleMode::Ragdoll => AGAINST_THE_TAKE,
            SettleMode::Flights | SettleMode::Secondary => &[],
        }
    }

    fn validate(&self) -> Result<(), Vec<StageError>> {
        let mut faults = Vec::new();
        let ranges = [
            ("let_go_s", self.let_go_s, 0.0, 1e5),
            ("fall_s", self.fall_s, 0.0, 60.0),
            ("resistance", self.resistance, 0.0, 100.0),
            ("frequency_hz", self.frequency_hz, 0.05, 30.0),
            ("swing_damping", self.swing_damping, 0.0, 10.0),
            ("swing_gravity", self.swing_gravity, -10.0, 10.0),
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
        if self.mode == SettleMode::Secondary && self.chains.is_empty() {
            faults.push(StageError::key(
                "chains",
                "`secondary` needs the joints at which chains start\nname them: `chains = [\"tail*\"]`",
            ));
        }
        if faults.is_empty() { Ok(()) } else { Err(faults) }
    }

    fn resolve(&self, setting: &Setting) -> Result<Box<dyn Stage>, StageError> {
        let character = &setting.arriving;
        let tops = self.tops(character)?;
        if self.mode == SettleMode::Ragdoll {
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
        }
        Ok(Box::new(SettleStage { config: self.clone(), tops }))
    }
}

impl SettleConfig {
    /// The joints that chains start at.
    fn tops(&self, character: &Character) -> Result<Vec<JointId>, StageError> {
        if self.mode != SettleMode::Secondary {
            return Ok(Vec::new());
        }
        let skeleton = character.skeleton();
        let mut tops = Vec::new();
        for pattern in &self.chains {
            let fits =
                |id: &JointId| matches(pattern, &skeleton.joint(*id).name) && skeleton.parent(*id).is_some();
            let found: Vec<JointId> = skeleton.ids().filter(fits).collect();
            if found.is_empty() {
                let text = format!(
                    "no joint below the root has the name `{pattern}`\nlist the joints with `posemill inspect`"
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
struct SettleStage {
    config: SettleConfig,
    tops: Vec<JointId>,
}

impl Stage for SettleStage {
    fn apply(&self, motion: Motion, report: &mut Report) -> Result<Motion, StageError> {
        match self.config.mode {
            SettleMode::Flights => Ok(self.flights(motion, report)),
            SettleMode::Ragdoll => self.fall(motion, report),
            SettleMode::Secondary => Ok(self.swing(motion, report)),
        }
    }
}

impl SettleStage {
    /// The contact labels of the motion, else detected ones, shifted to the requested floor.
    fn labels(&self, motion: &Motion) -> Contacts {
        let found = || contacts::detect(motion, &contacts::ContactOptions::default());
        let labels = motion.contacts.clone().unwrap_or_else(found);
        let up = self.config.floor_m.map_or(0.0, |floor| floor - labels.ground);
        labels.changed(|f| f, |height| height + up)
    }

    fn flights(&self, motion: Motion, report: &mut Report) -> Motion {
        let Some(settled) = settle_flights(&motion, &self.labels(&motion)) else {
            let text =
                "flight phases are detected on bodies with two legs and feet only; this one is not changed";
            report.warnings.add("settle-body", text, motion.character.name.clone());
            return motion;
        };
        let Settled { motion: changed, findings, metrics, unexplained } = settled;
        report.findings.extend(findings);
        report.metrics.extend(metrics);
        let name = "settle_unexplained_force".into();
        report.series.push(Series { name, unit: "1", values: unexplained, resting: Vec::new() });
        changed.unwrap_or(motion)
    }

    fn fall(&self, motion: Motion, report: &mut Report) -> Result<Motion, StageError> {
        let config = &self.config;
        let role = config.hit.as_ref().and_then(|word| word.parse::<Role>().ok());
        let how = RagdollRelease {
            at: config.let_go_s,
            lasts: config.fall_s,
            hit: role.map(|role| (role, Vec3::from(config.hit_impulse_n_s))),
            resistance: config.resistance,
            friction: config.friction,
            ground: self.labels(&motion).ground,
            step: (1.0 / config.step_hz).min(RagdollRelease::default().step),
        };
        let fallen = release_ragdoll(&motion, &how).ok_or_else(|| {
            let text = format!("`let_go_s` is {}, the motion ends before it", config.let_go_s);
            StageError::key("let_go_s", text)
        })?;
        let grown = fallen.energy.windows(2).map(|w| w[1] - w[0]).fold(0.0, f64::max);
        report.measure("ragdoll_from", fallen.from as f64, "frame");
        report.measure("ragdoll_penetration", fallen.penetration, "m");
        report.measure("ragdoll_limit_excess", fallen.excess, "rad");
        report.measure("ragdoll_energy_at_start", fallen.energy[0], "J");
        report.measure("ragdoll_energy_grown_at_most", grown, "J");
        match fallen.rests_after {
            Some(time) => report.measure("ragdoll_rests_after", time, "s"),
            None => report.warnings.add(
                "ragdoll-restless",
                "the simulation ends before the body is at rest",
                "settle",
            ),
        }
        Ok(fallen.motion)
    }

    fn swing(&self, motion: Motion, report: &mut Report) -> Motion {
        let config = &self.config;
        let how = Swing {
            frequency: config.frequency_hz,
            damping: config.swing_damping,
            gravity: config.swing_gravity,
            step: 1.0 / config.step_hz,
        };
        let (swung, farthest) = swing(&motion, &self.tops, &how);
        report.measure("swing_largest_turn", farthest, "rad");
        swung
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_removed_mode_names_its_replacement() {
        let error = toml::from_str::<SettleConfig>("mode = \"track\"").unwrap_err().to_string();
        assert!(error.contains("`track` was removed") && error.contains("`flights`"), "{error}");
        let error = toml::from_str::<SettleConfig>("mode = \"flight\"").unwrap_err().to_string();
        assert!(error.contains("unknown variant `flight`, expected one of `flights`"), "{error}");
        let config: SettleConfig = toml::from_str("mode = \"ragdoll\"").unwrap();
        assert_eq!(config.mode, SettleMode::Ragdoll);
    }

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
