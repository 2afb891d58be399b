//! Stage `self_contact`: detects body parts that penetrate each other and pushes arms out.

use super::{Setting, Stage, StageConfig, StageError};
use crate::body::CharacterBody;
use crate::model::Motion;
use crate::placement::PushOut;
use crate::report::{Report, Series};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Detects body parts that penetrate each other, by capsules fitted to the skin, and pushes arms out of the body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SelfContactConfig {
    /// Whether hands and forearms are moved out of the body; otherwise penetration is only reported.
    pub push_out: bool,
}

impl Default for SelfContactConfig {
    fn default() -> Self {
        Self { push_out: true }
    }
}

impl StageConfig for SelfContactConfig {
    const NAME: &'static str = "self_contact";

    fn resolve(&self, setting: &Setting) -> Result<Box<dyn Stage>, StageError> {
        Ok(Box::new(SelfContactStage {
            ready: PushOut::new(&CharacterBody::new(&setting.arriving)),
            push_out: self.push_out,
        }))
    }
}

/// The resolved stage.
#[derive(Debug)]
struct SelfContactStage {
    ready: PushOut,
    push_out: bool,
}

impl Stage for SelfContactStage {
    fn apply(&self, mut motion: Motion, report: &mut Report) -> Result<Motion, StageError> {
        let mut inside = self.ready.inside(&motion);
        report.measure("self_contact_frames", inside.frames() as f64, "frames");
        report.measure("self_contact_pairs", inside.pairs.len() as f64, "pairs");
        report.measure("self_contact_depth", inside.deepest(), "m");
        if self.push_out {
            let (moved, placed) = self.ready.apply(motion);
            motion = moved;
            inside = self.ready.inside(&motion);
            report.measure("self_contact_frames_left", inside.frames() as f64, "frames");
            report.measure("self_contact_depth_left", inside.deepest(), "m");
            report.measure("self_contact_push", placed.largest, "m");
        }
        for (parts, depth) in &inside.pairs {
            report.measure(format!("self_contact_{}_{}", parts[0], parts[1]), *depth, "m");
        }
        let (name, resting) = ("self_contact_depth".into(), Vec::new());
        report.series.push(Series { name, unit: "m", values: inside.depths, resting });
        Ok(motion)
    }
}
