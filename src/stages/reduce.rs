//! Stage `reduce`: sets the tolerance for key reduction on export.
//!
//! Clips stay uniformly sampled; the exporter chooses the keys and keeps every joint within the tolerance of the clip.
//! Units: metres.

use super::{Setting, Stage, StageConfig, StageError};
use crate::model::Motion;
use crate::report::Report;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Marks keys the exporter may omit: without them no joint deviates by more than the tolerance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ReduceConfig {
    /// Largest deviation of any joint, in metres. 0 omits only keys that change nothing.
    #[schemars(range(min = 0))]
    pub tolerance_m: f64,
}

impl Default for ReduceConfig {
    fn default() -> Self {
        Self { tolerance_m: 0.001 }
    }
}

impl StageConfig for ReduceConfig {
    const NAME: &'static str = "reduce";
    const ONCE: Option<&'static str> = Some("the first leaves the keys that matter");

    /// Players go in straight lines from key to key: at a key the jerk is that of the corner.
    fn meaningless(&self) -> &'static [&'static str] {
        &["jerk_ratio", "knee_jerk_ratio", "foot_jerk_ratio"]
    }

    fn validate(&self) -> Result<(), Vec<StageError>> {
        let metres = self.tolerance_m;
        if metres >= 0.0 && metres.is_finite() {
            return Ok(());
        }
        Err(vec![StageError::key("tolerance_m", format!("a tolerance of {metres} m is not 0 m or more"))])
    }

    fn resolve(&self, _setting: &Setting) -> Result<Box<dyn Stage>, StageError> {
        Ok(Box::new(Reduce { tolerance: self.tolerance_m }))
    }
}

#[derive(Debug)]
struct Reduce {
    tolerance: f64,
}

impl Stage for Reduce {
    fn apply(&self, mut motion: Motion, _report: &mut Report) -> Result<Motion, StageError> {
        motion.clip.tolerance = Some(self.tolerance);
        Ok(motion)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::scenes::{run, walker};
    use super::*;

    #[test]
    fn only_the_tolerance_changes() {
        for frames in [0, 1, 20] {
            let motion = walker(frames);
            let mut reduced = run(&ReduceConfig { tolerance_m: 0.002 }, motion.clone()).unwrap();
            assert_eq!(reduced.clip.tolerance, Some(0.002));
            reduced.clip.tolerance = None;
            assert_eq!(reduced, motion);
        }
    }

    #[test]
    fn a_negative_tolerance_is_refused() {
        let faults = ReduceConfig { tolerance_m: -1.0 }.validate().unwrap_err();
        assert_eq!(faults[0].to_string(), "a tolerance of -1 m is not 0 m or more");
    }
}
