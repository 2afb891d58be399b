//! Stage `limits`: brings joints back into their ranges of motion, smoothly over time.
//!
//! What the performer of the take did is no fault, so the direct transfer widens the ranges; feet and hands are returned to
//! where they were by IK, except on limbs whose range was set for this character.

use super::stage::{KeyFaults, idle};
use super::{Setting, Stage, StageConfig, StageError};
use crate::ik::Mechanism;
use crate::legs::keep_ends;
use crate::limits::{LimitOptions, keep_relative};
use crate::model::{Character, JointId, Motion, Role};
use crate::report::Report;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Brings every joint with a role into its range of motion.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LimitsConfig {
    /// Share of the excess that is removed, 0 to 1: 1 enforces the limits exactly, smaller values keep more of the
    /// performance.
    #[schemars(range(min = 0, max = 1))]
    pub strength: f64,
    /// Highest frequency of the correction, in hertz: lower values are smoother and start earlier before a limit.
    #[schemars(range(min = 0.5, max = 30))]
    pub cutoff_hz: f64,
    /// Roles that are not changed, such as `left_hand`.
    pub except: Vec<String>,
}

impl Default for LimitsConfig {
    fn default() -> Self {
        let LimitOptions { cutoff, strength } = LimitOptions::default();
        Self { strength, cutoff_hz: cutoff, except: Vec::new() }
    }
}

impl StageConfig for LimitsConfig {
    const NAME: &'static str = "limits";

    fn validate(&self) -> Result<(), Vec<StageError>> {
        let mut faults = KeyFaults::default();
        faults.within("strength", self.strength, [0.0, 1.0]);
        faults.within("cutoff_hz", self.cutoff_hz, [0.5, 30.0]);
        for fault in self.except.iter().filter_map(|word| word.parse::<Role>().err()) {
            faults.need(false, "except", format!("{fault}\n  hint: name one of {}", Role::WORDS));
        }
        faults.found()
    }

    fn resolve(&self, setting: &Setting) -> Result<Box<dyn Stage>, StageError> {
        let rig = &setting.arriving.rig;
        let mechanism = humanoid(&setting.arriving);
        let named: Vec<String> = self.except.clone();
        let wanted = |id: &JointId| rig.role(*id).is_some_and(|r| !named.contains(&r.to_string()));
        let lacks = |word: &&String| word.parse::<Role>().is_ok_and(|role| rig.joint(role).is_none());
        let unmatched = named.iter().filter(lacks).map(|word| format!("`{word}`")).collect();
        let joints = mechanism.joints_with_limits().filter(wanted).collect();
        let options = LimitOptions { cutoff: self.cutoff_hz, strength: self.strength };
        Ok(Box::new(LimitsStage { mechanism, joints, options, unmatched }))
    }
}

/// The mechanism of a character with the published ranges of motion, measured from its bind pose, else from its rest pose.
pub(super) fn humanoid(character: &Character) -> Mechanism {
    Mechanism::humanoid(&character.rig, &character.reference_pose())
}

/// The resolved stage.
#[derive(Debug)]
struct LimitsStage {
    mechanism: Mechanism,
    joints: Vec<JointId>,
    options: LimitOptions,
    /// The roles in `except` that the character does not have.
    unmatched: Vec<String>,
}

impl Stage for LimitsStage {
    fn needs_direct_transfer(&self) -> bool {
        true
    }

    fn apply(&self, motion: Motion, report: &mut Report) -> Result<Motion, StageError> {
        self.apply_with_direct(motion, None, report)
    }

    fn apply_with_direct(
        &self,
        before: Motion,
        direct: Option<&Motion>,
        report: &mut Report,
    ) -> Result<Motion, StageError> {
        if !self.unmatched.is_empty() {
            let roles = self.unmatched.join(", ");
            idle(report, &before, format!("`except` names roles that the character does not have: {roles}"));
        }
        if self.joints.is_empty() {
            let message = "`limits` changes nothing: no joint of the character has a range of motion and is not in `except`";
            idle(report, &before, message);
        }
        let direct_clip = direct.map(|direct| &direct.clip);
        let rig = &before.character.rig;
        // Toes of a retargeted foot bend as far as the floor asks for: back in their range they would be in it.
        let held = |id: JointId| direct.is_some() && matches!(rig.role(id), Some(Role::Toes(_)));
        let joints: Vec<JointId> = self.joints.iter().copied().filter(|id| !held(*id)).collect();
        let (motion, kept) =
            keep_relative(before.clone(), direct_clip, &self.mechanism, &joints, &self.options);
        let overridden = |id| rig.role(id).is_some_and(|role| rig.mobility_override(role).is_some());
        let motion = keep_ends(&before, motion, overridden);
        report.measure("limits_frames_outside", kept.frames as f64, "frames");
        report.measure("limits_joints_outside", kept.joints.len() as f64, "joints");
        report.measure("limits_worst_excess", kept.excess, "rad");
        report.measure("limits_largest_turn", kept.rotated, "rad");
        report.measure("limits_largest_roll", kept.rolled, "rad");
        report.measure("limits_joints_left", kept.left.len() as f64, "joints");
        for &id in &kept.left {
            let name = &self.mechanism.skeleton().joint(id).name;
            let message = "a joint exceeds the human range of motion by more than a person can and is not changed: \
                           name it in `except`, or set the character's own range in `[input.limits]`";
            report.warnings.add("limits_foreign", message, name.clone());
        }
        Ok(motion)
    }
}
