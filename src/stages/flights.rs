//! Stage `flights`: missing flight phases and floating bodies.
//!
//! Units: metres, body weights.

use super::{Setting, Stage, StageConfig, StageError};
use crate::contacts;
use crate::model::{Contacts, Motion};
use crate::report::{Report, Series};
use crate::settle::{Settled, settle_flights};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Restores missing flight phases and lowers floating bodies.
///
/// A flight phase that is missing (a straight line between take-off and landing) becomes a parabola under the gravity of the take,
/// and bodies that float are lowered. Other flights are not changed; `flight_error` measures them. Forces not explained by contacts
/// are reported. A clip without such errors is returned unchanged, bit for bit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FlightsConfig {}

impl StageConfig for FlightsConfig {
    const NAME: &'static str = "flights";

    fn resolve(&self, _: &Setting) -> Result<Box<dyn Stage>, StageError> {
        Ok(Box::new(FlightsStage))
    }
}

/// The resolved stage.
#[derive(Debug)]
struct FlightsStage;

impl Stage for FlightsStage {
    fn apply(&self, motion: Motion, report: &mut Report) -> Result<Motion, StageError> {
        let Some(settled) = settle_flights(&motion, &labels(&motion)) else {
            let text =
                "flight phases are detected on bodies with two legs and feet only; this one is not changed";
            report.warnings.add("flights-body", text, motion.character.name.clone());
            return Ok(motion);
        };
        let Settled { motion: changed, findings, metrics, unexplained } = settled;
        report.findings.extend(findings);
        report.metrics.extend(metrics);
        let name = "unexplained_force".into();
        report.series.push(Series { name, unit: "1", values: unexplained, resting: Vec::new() });
        Ok(changed.unwrap_or(motion))
    }
}

/// The contact labels of a motion, else detected ones.
pub(super) fn labels(motion: &Motion) -> Contacts {
    let found = || contacts::detect(motion, &contacts::ContactOptions::default());
    motion.contacts.clone().unwrap_or_else(found)
}
