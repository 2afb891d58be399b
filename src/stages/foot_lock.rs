//! Stage `foot_lock`: removes foot sliding during labelled contacts.

use super::{Setting, Stage, StageConfig, StageError};
use crate::legs::{Settings, remove_foot_sliding};
use crate::model::{Motion, Role};
use crate::report::Report;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Removes foot sliding during labelled contacts that the take itself does not have.
///
/// Unchanged: frames without contact labels, and feet that slide no more than they did when `contacts` ran. Feet keep their
/// heights and orientations. Feet that are labelled in a file do not slide at all, unless the contact
/// moves faster than 0.1 leg lengths per second on average.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FootLockConfig {
    /// Allow the sliding that the take has; `false` removes that too, for generated motion whose feet skate.
    pub as_take: bool,
}

impl Default for FootLockConfig {
    fn default() -> Self {
        Self { as_take: true }
    }
}

impl StageConfig for FootLockConfig {
    const NAME: &'static str = "foot_lock";

    fn resolve(&self, _: &Setting) -> Result<Box<dyn Stage>, StageError> {
        Ok(Box::new(FootLock { as_take: self.as_take }))
    }
}

/// The resolved stage.
#[derive(Debug)]
struct FootLock {
    as_take: bool,
}

impl Stage for FootLock {
    fn apply(&self, mut motion: Motion, report: &mut Report) -> Result<Motion, StageError> {
        // The feet of a robot were locked together with all of its hinges.
        if motion.character.robot.is_some() {
            return Ok(motion);
        }
        if motion.contacts.is_none() {
            report.warnings.add(
                "foot-lock-contacts",
                "the motion has no contact labels, so no foot is locked: put the stage `contacts` before `foot_lock`",
                "foot_lock",
            );
        }
        if !self.as_take {
            motion.contacts = motion.contacts.map(|contacts| contacts.sliding(|_, _| 0.0));
        }
        let (result, feet, pelvis) = remove_foot_sliding(motion, &Settings::default());
        for foot in &feet {
            let name = |what: &str| format!("foot_lock_{}_{what}", Role::Foot(foot.side));
            report.measure(name("held"), foot.pinned as f64, "frames");
            report.measure(name("moved_most"), foot.largest_move, "m");
            report.measure(name("moved_most_at"), foot.largest_move_frame as f64, "frame");
            report.measure(name("moved_mean"), foot.mean, "m");
        }
        let most = pelvis.iter().copied().enumerate().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((0, 0.0));
        report.measure("foot_lock_pelvis_moved_most", most.1, "m");
        report.measure("foot_lock_pelvis_moved_most_at", most.0 as f64, "frame");
        Ok(result)
    }
}
