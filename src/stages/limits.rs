//! Stage `limits`: joints outside the published ranges of motion come back to the nearest rotation inside.

use super::{Setting, Stage, StageConfig, StageError};
use crate::ik::Mechanism;
use crate::math::same_hemisphere;
use crate::model::{Character, JointId, Motion};
use crate::report::Report;
use crate::retarget::calibration_pose;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Brings every joint with a role inside its range of motion.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LimitsConfig {
    /// How much of the way back is gone, 0 to 1: 1 keeps the limits exactly, less leaves some of the performance.
    pub strength: f64,
    /// Roles that are left alone, such as `left_hand`.
    pub except: Vec<String>,
}

impl Default for LimitsConfig {
    fn default() -> Self {
        Self { strength: 1.0, except: Vec::new() }
    }
}

impl StageConfig for LimitsConfig {
    const NAME: &'static str = "limits";

    fn validate(&self) -> Result<(), Vec<StageError>> {
        let mut faults = Vec::new();
        if !(0.0..=1.0).contains(&self.strength) {
            let text = format!("`strength` is {}, allowed is 0 to 1", self.strength);
            faults.push(StageError::key("strength", text));
        }
        for word in &self.except {
            if let Err(fault) = word.parse::<crate::model::Role>() {
                faults.push(StageError::key("except", fault));
            }
        }
        if faults.is_empty() { Ok(()) } else { Err(faults) }
    }

    fn resolve(&self, setting: &Setting) -> Result<Box<dyn Stage>, StageError> {
        let rig = &setting.arriving.rig;
        let mechanism = body(&setting.arriving);
        let named: Vec<String> = self.except.clone();
        let limited = |id: &JointId| {
            mechanism.limit(*id).is_some() && rig.role(*id).is_some_and(|r| !named.contains(&r.to_string()))
        };
        let joints = rig.skeleton().ids().filter(limited).collect();
        Ok(Box::new(LimitsStage { mechanism, joints, strength: self.strength }))
    }
}

/// The mechanism of a character with the published ranges, measured from its bind pose, else from its rest pose.
pub(super) fn body(character: &Character) -> Mechanism {
    Mechanism::humanoid(&character.rig, &calibration_pose(character))
}

/// The stage, ready.
#[derive(Debug)]
struct LimitsStage {
    mechanism: Mechanism,
    joints: Vec<JointId>,
    strength: f64,
}

impl Stage for LimitsStage {
    fn apply(&self, mut motion: Motion, report: &mut Report) -> Result<Motion, StageError> {
        let skeleton = self.mechanism.skeleton();
        let (mut frames, mut worst, mut touched) = (0, 0.0_f64, vec![false; skeleton.len()]);
        for frame in 0..motion.clip.frames() {
            let mut outside = false;
            for &id in &self.joints {
                let mut local = motion.clip.local(skeleton, frame, id);
                let excess = self.mechanism.excess(id, &local);
                if excess <= 1e-9 {
                    continue;
                }
                (outside, touched[id.index()], worst) = (true, true, worst.max(excess));
                let inside = self.mechanism.limited(id, &local).rotation;
                local.rotation = crate::math::slerp(&local.rotation, &inside, self.strength);
                let before = frame.checked_sub(1).map(|f| motion.clip.rotations(f)[id.index()]);
                let rotations = motion.clip.rotations_mut(frame);
                rotations[id.index()] = same_hemisphere(local.rotation, &before.unwrap_or(local.rotation));
            }
            frames += usize::from(outside);
        }
        follow(&mut motion);
        report.measure("limits_frames_outside", frames as f64, "frames");
        report.measure("limits_joints_outside", touched.iter().filter(|t| **t).count() as f64, "joints");
        report.measure("limits_worst_excess", worst, "rad");
        Ok(motion)
    }
}

/// Keeps consecutive rotations of every joint in one hemisphere, after single frames have changed.
pub(super) fn follow(motion: &mut Motion) {
    for frame in 1..motion.clip.frames() {
        for j in 0..motion.clip.joints() {
            let before = motion.clip.rotations(frame - 1)[j];
            let here = &mut motion.clip.rotations_mut(frame)[j];
            *here = same_hemisphere(*here, &before);
        }
    }
}
