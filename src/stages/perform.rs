//! Stage `perform`: a body performs the clip, so that hits, weak muscles and missing support show, and returns to it.
//!
//! Units: seconds, newton seconds, kilograms, metres per second, body weights.

use super::stage::KeyFaults;
use super::written_keys::listed;
use super::{Setting, Stage, StageConfig, StageError};
use crate::math::Vec3;
use crate::measure::AGAINST_THE_TAKE;
use crate::model::{Character, Motion, Rig, Role};
use crate::report::{Report, Series, Warning};
use crate::settle::{Blow, Hit, HitRecord, OnFall, PerformControls, PerformOptions, PerformedClip};
use crate::settle::{PerformingBody, perform};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One hit or push.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HitConfig {
    /// When it begins, in seconds from the first frame.
    #[schemars(range(min = 0))]
    pub time_s: f64,
    /// The part that is hit: `chest`, or a role such as `head` or `left_hand`.
    pub part: String,
    /// Its impulse in newton seconds, for a body of `input.mass_kg` (70), in model space: left, up, forward.
    pub impulse_n_s: Option<[f64; 3]>,
    /// Mass in kg of an object that hits with `velocity_m_s` and sticks; instead of an impulse.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub mass_kg: Option<f64>,
    /// The velocity of that object in metres per second, in model space: left, up, forward.
    pub velocity_m_s: Option<[f64; 3]>,
    /// How long it acts, in seconds: 0.03 is a punch, 0.2 a push.
    #[schemars(range(min = 0.001, max = 10))]
    pub duration_s: f64,
}

impl Default for HitConfig {
    fn default() -> Self {
        let (impulse_n_s, mass_kg, velocity_m_s) = (None, None, None);
        Self { time_s: 0.0, part: String::new(), impulse_n_s, mass_kg, velocity_m_s, duration_s: 0.03 }
    }
}

/// The help that keeps a disturbed body up.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "help is `any` or a number of body weights")]
pub enum AssistBound {
    /// As much as it takes.
    Word(UnboundedWord),
    /// In body weights.
    Weights(#[schemars(range(min = 0, max = 1000))] f64),
}

/// A bound that is none.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum UnboundedWord {
    /// As much as it takes.
    Any,
}

/// What happens to a body that falls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FallWord {
    /// It goes on as a ragdoll to the end of the clip.
    #[default]
    Ragdoll,
    /// The clip stays as it was, with a warning.
    Refuse,
}

/// Simulates a body that performs the clip and reacts to hits, pushes, weak muscles or missing support, then returns to it.
///
/// Physics acts only on deviations from the clip; undisturbed spans are returned bit for bit. The body has the proportions of the character, scaled to a leg of 0.86 m, and 70 kg or `input.mass_kg`;
/// impulses and masses are for that body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PerformConfig {
    /// Hits and pushes, such as `{ time_s = 1.2, part = "chest", impulse_n_s = [0, 0, -50] }`.
    pub hits: Vec<HitConfig>,
    /// Largest external stabilising force, in body weights; `any`: unlimited, the body never falls; 0: none.
    pub assist: AssistBound,
    /// Share (0 to 1) of the clip's force not explained by contacts that is applied externally; below 1, clips that are not
    /// physically plausible change.
    #[schemars(range(min = 0, max = 1))]
    pub residual: f64,
    /// Strength of the muscles, 1 as a person of that mass; weaker ones give way. Omitted: unbounded.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.05))]
    pub strength: Option<f64>,
    /// Time in which a deviation decays, in seconds.
    #[schemars(range(min = 0.1, max = 10))]
    pub recover_s: f64,
    /// What happens to a body that falls: `ragdoll` or `refuse` (the clip is not changed).
    pub on_fall: FallWord,
}

impl Default for PerformConfig {
    fn default() -> Self {
        let controls = PerformControls::default();
        Self {
            hits: Vec::new(),
            assist: AssistBound::Weights(controls.assist),
            residual: controls.residual,
            strength: None,
            recover_s: controls.recover,
            on_fall: FallWord::default(),
        }
    }
}

impl StageConfig for PerformConfig {
    const NAME: &'static str = "perform";

    /// A disturbed body does not do what the take does.
    fn meaningless(&self) -> &'static [&'static str] {
        if self.disturbs() { AGAINST_THE_TAKE } else { &[] }
    }

    fn validate(&self) -> Result<(), Vec<StageError>> {
        let mut faults = KeyFaults(self.hits.iter().flat_map(HitConfig::faults).collect());
        let assist = if let AssistBound::Weights(weights) = self.assist { weights } else { 0.0 };
        faults.within("assist", assist, [0.0, 1e3]);
        faults.within("residual", self.residual, [0.0, 1.0]);
        faults.within("strength", self.strength.unwrap_or(1.0), [0.05, f64::INFINITY]);
        faults.within("recover_s", self.recover_s, [0.1, 10.0]);
        faults.found()
    }

    fn resolve(&self, setting: &Setting) -> Result<Box<dyn Stage>, StageError> {
        let rig = &setting.arriving.rig;
        for hit in &self.hits {
            let found = hit.role(&setting.arriving).is_some_and(|role| rig.joint(role).is_some());
            if !found {
                let parts: Vec<String> = std::iter::once("chest".to_owned())
                    .chain(rig.assignments().map(|(role, _)| role.to_string()))
                    .collect();
                let known = listed(parts.iter().map(String::as_str));
                let text = format!("the character has no part `{}`\n  hint: name one of {known}", hit.part);
                return Err(StageError::key("hits", text));
            }
        }
        Ok(Box::new(PerformStage { config: self.clone() }))
    }
}

impl PerformConfig {
    /// Whether anything is asked that may change a clip.
    fn disturbs(&self) -> bool {
        let weak = self.strength.is_some_and(f64::is_finite);
        self.hits.iter().any(|hit| hit.impulse() > 0.0) || weak || self.residual < 1.0
    }
}

impl HitConfig {
    /// The magnitude of the impulse, newton seconds.
    fn impulse(&self) -> f64 {
        let thrown = self.mass_kg.zip(self.velocity_m_s).map(|(mass, velocity)| Vec3::from(velocity) * mass);
        self.impulse_n_s.map(Vec3::from).or(thrown).map_or(0.0, |impulse| impulse.norm())
    }

    /// The errors that can be found without a rig.
    fn faults(&self) -> Vec<StageError> {
        let mut faults = KeyFaults::default();
        let mut need = |good: bool, text: String| faults.need(good, "hits", text);
        let part = &self.part;
        need(
            part == "chest" || part.parse::<Role>().is_ok(),
            format!(
                "`part` of a hit is `{part}`, which is no part of a body\n  hint: name one: `part = \"chest\"`"
            ),
        );
        let thrown = (self.mass_kg.is_some(), self.velocity_m_s.is_some());
        need(
            matches!((self.impulse_n_s.is_some(), thrown), (true, (false, false)) | (false, (true, true))),
            format!("the hit on `{part}` needs `impulse_n_s`, or `mass_kg` and `velocity_m_s`"),
        );
        let numbers = self.impulse_n_s.iter().chain(&self.velocity_m_s).flatten();
        need(
            numbers.chain(&self.mass_kg).all(|x| x.is_finite()),
            format!("a number of the hit on `{part}` is not finite"),
        );
        need(
            self.impulse() <= MOST_IMPULSE || !self.impulse().is_finite(),
            format!("the hit on `{part}` has {:.0} N s, allowed is at most {MOST_IMPULSE}", self.impulse()),
        );
        need(
            self.mass_kg.is_none_or(|mass| mass > 0.0),
            format!("`mass_kg` of the hit on `{part}` must be above 0"),
        );
        need(
            self.time_s >= 0.0 && self.time_s.is_finite(),
            format!("`time_s` of the hit on `{part}` is {}, allowed is 0 and more", self.time_s),
        );
        need(
            (0.001..=10.0).contains(&self.duration_s),
            format!("`duration_s` of the hit on `{part}` is {}, allowed is 0.001 to 10", self.duration_s),
        );
        faults.0
    }

    /// The role that is hit.
    fn role(&self, character: &Character) -> Option<Role> {
        hit_role(&self.part, &character.rig)
    }

    /// The hit on a body.
    fn on(&self, character: &Character, body: &PerformingBody) -> Option<Hit> {
        let joint = character.rig.joint(self.role(character)?)?;
        let part = body.part_of(character.skeleton(), joint)?;
        let along = if self.part == "chest" { CHEST } else { MIDDLE };
        let (of_body, at) = body.in_body(part, &(part.bone * along));
        let thrown = self.mass_kg.zip(self.velocity_m_s);
        let blow = match (self.impulse_n_s, thrown) {
            (Some(impulse), _) => Blow::Impulse(Vec3::from(impulse)),
            (_, Some((mass, velocity))) => Blow::Thrown { mass, velocity: Vec3::from(velocity) },
            _ => return None,
        };
        let (time, part, duration) = (self.time_s, self.part.clone(), self.duration_s);
        Some(Hit { time, part, body: of_body, at, blow, duration })
    }
}

/// The largest impulse of a hit, newton seconds: that of a train at 100 km/h on a person. More throws bodies out of sight.
pub(super) const MOST_IMPULSE: f64 = 2000.0;

/// The role of a part that is hit: `chest` is the highest joint of the spine, else of the trunk.
pub(super) fn hit_role(part: &str, rig: &Rig) -> Option<Role> {
    if part == "chest" {
        return rig.chain(Role::Spine).last().map_or(Some(Role::Hips), |id| rig.role(*id));
    }
    part.parse().ok()
}

/// Where a part is hit along its bone.
const MIDDLE: f64 = 0.5;
/// Where a chest is hit along the highest joint of the spine: at the height of the sternum.
const CHEST: f64 = 0.6;

/// The resolved stage.
#[derive(Debug)]
struct PerformStage {
    config: PerformConfig,
}

impl Stage for PerformStage {
    fn apply(&self, motion: Motion, report: &mut Report) -> Result<Motion, StageError> {
        let config = &self.config;
        if !config.disturbs() {
            return Ok(motion);
        }
        let ends = motion.clip.duration();
        if let Some(late) = config.hits.iter().find(|hit| hit.time_s >= ends) {
            let text = format!(
                "`time_s` of the hit on `{}` is {}, the motion ends before it",
                late.part, late.time_s
            );
            return Err(StageError::key("hits", text));
        }
        let Some((body, _)) = PerformingBody::of(&motion.character, &motion.clip) else {
            report.warnings.add(
                "perform-body",
                "bodies with hips and two legs perform clips only; this one is not changed",
                motion.character.name.clone(),
            );
            return Ok(motion);
        };
        if let Some(text) = body.doubtful_masses(&motion.character) {
            report.warnings.add("mass-shares", text, motion.character.name.clone());
        }
        let hits = config.hits.iter().filter_map(|hit| hit.on(&motion.character, &body)).collect();
        let controls = PerformControls {
            assist: if let AssistBound::Weights(weights) = config.assist { weights } else { f64::INFINITY },
            residual: config.residual,
            strength: config.strength.unwrap_or(f64::INFINITY),
            recover: config.recover_s,
            ..PerformControls::default()
        };
        let on_fall = match config.on_fall {
            FallWord::Ragdoll => OnFall::Ragdoll,
            FallWord::Refuse => OnFall::Refuse,
        };
        let Some(done) = perform(&motion, &PerformOptions { controls, hits, on_fall }) else {
            return Ok(motion);
        };
        write_report(&done, on_fall, report);
        Ok(done.motion)
    }
}

/// Writes what happened into a report.
fn write_report(done: &PerformedClip, on_fall: OnFall, report: &mut Report) {
    let skeleton = done.motion.character.skeleton();
    for (k, hit) in done.hits.iter().enumerate() {
        let name = |what: &str| format!("perform_hit_{}_{what}", k + 1);
        report.measure(name("peak"), hit.peak / done.scale, "m");
        report.measure(name("back_after"), hit.back_after, "s");
        report.measure(name("slip"), hit.slip / done.scale, "m");
        report.measure(name("help"), hit.help, "1");
        report.measure(name("help_lasts"), hit.help_lasts, "s");
        report.measure(name("strength"), hit.strength, "1");
        let far = &skeleton.joint(done.joints[hit.farthest]).name;
        let message = sentence(hit, far, done.scale);
        let first = format!("{:.2} s", hit.time);
        report.warnings.push(Warning {
            code: "perform-hit",
            message,
            first,
            count: 1,
            sure: true,
            fix: None,
        });
    }
    report.measure("perform_mass", done.mass, "kg");
    report.measure("perform_largest", done.largest / done.scale, "m");
    report.measure("perform_mean", done.mean / done.scale, "m");
    if done.bounded > 0.0 {
        report.measure("perform_at_full_strength", done.bounded, "1");
    }
    if let Some(time) = done.fell {
        let after = match on_fall {
            OnFall::Ragdoll => "it goes on as a ragdoll",
            OnFall::Refuse => "the clip is not changed",
        };
        let text = format!("the body falls; {after}\n  hint: `assist = \"any\"` keeps it up");
        report.warnings.add("perform-fell", text, format!("{time:.2} s"));
    }
    for (time, far) in &done.left {
        let text = format!("the body is still {:.1} cm from the clip", far / done.scale * 100.0);
        report.warnings.add("perform-left", text, format!("{time:.2} s"));
    }
    for (name, unit, values) in [
        ("perform_deviation", "m", &done.deviation),
        ("perform_help", "1", &done.help),
        ("perform_contact_force", "1", &done.contact_force),
    ] {
        let values = values.clone();
        report.series.push(Series { name: name.into(), unit, values, resting: Vec::new() });
    }
}

/// What a hit did, in words.
fn sentence(hit: &HitRecord, far: &str, scale: f64) -> String {
    let HitRecord { part, impulse, peak, back_after, help, help_lasts, .. } = hit;
    let peak = peak / scale * 100.0;
    let end = match (hit.fell, hit.back) {
        (true, _) => "the body falls".to_owned(),
        (false, true) => format!("back within 1 cm after {back_after:.2} s"),
        (false, false) => format!("not yet back after {back_after:.2} s"),
    };
    format!(
        "the hit on `{part}` ({impulse:.0} N s) moves `{far}` by {peak:.1} cm; {end}; help up to {help:.2} body weights for {help_lasts:.2} s"
    )
}
