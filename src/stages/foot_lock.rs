//! Stage `foot_lock`: feet stay where they rest.

use super::limits::body;
use super::{Setting, Stage, StageConfig, StageError};
use crate::feet::{Options, Ranges, plant, plant_within};
use crate::ik::Mechanism;
use crate::model::{JointId, Motion, Role};
use crate::report::Report;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Keeps feet where the contact labels say that they rest, and out of the floor elsewhere.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FootLockConfig {
    /// How long, at most, a foot takes to leave a place and to come to the next, in seconds. Shorter keeps more of a
    /// swing as it was performed, longer is smoother.
    pub blend_s: f64,
    /// The most that the hips move up or down so that both feet reach, as a part of the leg: 0 leaves them where they
    /// are, and lets feet slip instead.
    pub hips_most: f64,
    /// Whether a foot at rest gives way where it would take an ankle, toes, a knee or a thigh out of a range that they
    /// keep as they arrive: its ball stays, heel or side rise and no longer count as resting. Without it feet lie as
    /// flat as the labels say, whatever that asks of an ankle.
    pub keep_limits: bool,
}

impl Default for FootLockConfig {
    fn default() -> Self {
        let Options { blend, pelvis } = Options::default();
        Self { blend_s: blend, hips_most: pelvis, keep_limits: true }
    }
}

impl StageConfig for FootLockConfig {
    const NAME: &'static str = "foot_lock";

    fn validate(&self) -> Result<(), Vec<StageError>> {
        let mut faults = Vec::new();
        if !(self.blend_s >= 0.0 && self.blend_s.is_finite()) {
            faults.push(StageError::key("blend_s", format!("{} s is below 0", self.blend_s)));
        }
        if !(0.0..=1.0).contains(&self.hips_most) {
            let text = format!("`hips_most` is {}, allowed is 0 to 1", self.hips_most);
            faults.push(StageError::key("hips_most", text));
        }
        if faults.is_empty() { Ok(()) } else { Err(faults) }
    }

    fn resolve(&self, setting: &Setting) -> Result<Box<dyn Stage>, StageError> {
        let options = Options { blend: self.blend_s, pelvis: self.hips_most };
        let ranges = self.keep_limits.then(|| {
            let mechanism = body(&setting.arriving);
            let joints = mechanism.joints_with_limits().collect();
            (mechanism, joints)
        });
        Ok(Box::new(FootLock { options, ranges }))
    }
}

/// The stage, ready.
#[derive(Debug)]
struct FootLock {
    options: Options,
    ranges: Option<(Mechanism, Vec<JointId>)>,
}

impl Stage for FootLock {
    fn apply(&self, motion: Motion, report: &mut Report) -> Result<Motion, StageError> {
        if motion.contacts.is_none() {
            report.warnings.add(
                "foot-lock-contacts",
                "nothing is known about contacts, so no foot is locked: put the stage `contacts` before",
                "foot_lock",
            );
        }
        let skeleton = motion.character.skeleton();
        let (result, work) = match &self.ranges {
            Some((mechanism, joints)) => plant_within(&motion, &self.options, &Ranges { mechanism, joints }),
            None => plant(&motion, &self.options),
        };
        for foot in &work.feet {
            let name = |what: &str| format!("foot_lock_{}_{what}", Role::Foot(foot.side));
            report.measure(name("moved_most"), foot.shift.0, "m");
            report.measure(name("moved_most_at"), foot.shift.1 as f64, "frame");
            report.measure(name("moved_mean"), foot.mean_shift, "m");
            report.measure(name("turned_most"), foot.turn.0, "rad");
            report.measure(name("turned_most_at"), foot.turn.1 as f64, "frame");
            report.measure(name("gave_way"), foot.gave_way.0 as f64, "frames");
            report.measure(name("unreached"), foot.unreached.0 as f64, "frames");
            if foot.unreached.0 > 0 {
                let joint = &skeleton.joint(foot.joint).name;
                report.warnings.add(
                    "foot-lock-unreached",
                    format!(
                        "a leg is too short for its lock in {} frames, by up to {:.3} m",
                        foot.unreached.0, foot.short
                    ),
                    format!("frame {}, joint `{joint}`", foot.unreached.1),
                );
            }
        }
        report.measure("foot_lock_pelvis_moved_most", work.pelvis.0, "m");
        report.measure("foot_lock_pelvis_moved_most_at", work.pelvis.1 as f64, "frame");
        report.measure("foot_lock_pelvis_moved_mean", work.mean_pelvis, "m");
        Ok(result)
    }
}
