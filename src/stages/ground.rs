//! Stage `ground`: places the motion on a ground of given height and keeps the body out of the floor.

use super::{Setting, Stage, StageConfig, StageError};
use crate::contacts::{self, ContactOptions};
use crate::legs::place_on_ground;
use crate::model::Motion;
use crate::report::Report;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Places the motion on the ground: removes floating, sinking and slow drift, and keeps feet, knees and hands out of the
/// floor.
///
/// Uses the contact labels of the stage `contacts`; without them contacts are detected. Place it after `retarget` and before
/// `foot_lock`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct GroundConfig {
    /// Height of the ground in metres; 0 is the origin of the world.
    pub height_m: f64,
}

impl StageConfig for GroundConfig {
    const NAME: &'static str = "ground";

    fn validate(&self) -> Result<(), Vec<StageError>> {
        let h = self.height_m;
        match h.is_finite() {
            true => Ok(()),
            false => Err(vec![StageError::key(
                "height_m",
                format!("`height_m` is {h}, allowed is a finite number"),
            )]),
        }
    }

    fn resolve(&self, _: &Setting) -> Result<Box<dyn Stage>, StageError> {
        Ok(Box::new(GroundStage { height: self.height_m }))
    }
}

/// The resolved stage.
#[derive(Debug)]
struct GroundStage {
    height: f64,
}

impl Stage for GroundStage {
    fn apply(&self, motion: Motion, report: &mut Report) -> Result<Motion, StageError> {
        let labelled = motion.contacts.is_some();
        let found =
            motion.contacts.clone().unwrap_or_else(|| contacts::detect(&motion, &ContactOptions::default()));
        let (mut result, work) = place_on_ground(motion, &found, self.height);
        if !labelled {
            result.contacts = None;
        }
        report.measure("ground_lifted_mean", work.lifted, "m");
        report.measure("ground_drift", work.drift, "m");
        report.measure("ground_knees_lifted_most", work.knees, "m");
        report.measure("ground_limbs_lifted_most", work.limbs, "m");
        Ok(result)
    }
}
