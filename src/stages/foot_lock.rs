//! Stage `foot_lock`: feet stay where they rest.

use super::{Setting, Stage, StageConfig, StageError};
use crate::feet::plant;
use crate::model::{Motion, Role};
use crate::report::Report;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Keeps feet where the contact labels say that they rest, and out of the floor elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FootLockConfig {}

impl StageConfig for FootLockConfig {
    const NAME: &'static str = "foot_lock";

    fn resolve(&self, _: &Setting) -> Result<Box<dyn Stage>, StageError> {
        Ok(Box::new(FootLock))
    }
}

/// The stage, ready.
#[derive(Debug)]
struct FootLock;

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
        let (result, work) = plant(&motion);
        for foot in &work.feet {
            let name = |what: &str| format!("foot_lock_{}_{what}", Role::Foot(foot.side));
            report.measure(name("moved_most"), foot.shift.0, "m");
            report.measure(name("moved_most_at"), foot.shift.1 as f64, "frame");
            report.measure(name("moved_mean"), foot.mean_shift, "m");
            report.measure(name("turned_most"), foot.turn.0, "rad");
            report.measure(name("turned_most_at"), foot.turn.1 as f64, "frame");
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
