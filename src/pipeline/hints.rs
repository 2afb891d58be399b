//! Stages that help a finished clip: each is tried on the clip, and named only if what it is for gets better and nothing else
//! gets worse than it may be.

use crate::contacts::{ContactOptions, detect};
use crate::measure::{Assessment, Judgement, Reading, Verdict};
use crate::model::Motion;
use crate::report::{Hint, Report};
use crate::stages::{STAGES, Setting};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The stages that can help a measure.
const TRIES: &[(&str, &[&str])] = &[
    ("foot_slide_p95", &["foot_lock"]),
    ("rest_slip_p95", &["foot_lock"]),
    ("penetration_max", &["ground", "foot_lock"]),
    ("float_share", &["ground"]),
    ("body_skin_below_floor", &["ground"]),
    ("limit_violation_added", &["limits"]),
    ("arm_in_body", &["self_contact"]),
    ("self_contact_lost", &["self_contact"]),
    ("flight_error", &["settle"]),
];

/// The hints for a `result` of a pipeline with the stages `present`, whose measures are `found`; `judge` measures a motion that
/// stands for the result.
pub(crate) fn hints(
    result: &Motion,
    found: &Assessment,
    present: &[&str],
    judge: &dyn Fn(&Motion) -> Assessment,
) -> Vec<Hint> {
    let readings = |assessment: &Assessment| assessment.metrics.iter().map(Reading::from).collect::<Vec<_>>();
    let before = readings(found);
    let mut tried: BTreeMap<&str, Option<Vec<Reading>>> = BTreeMap::new();
    let mut hints = Vec::new();
    for metric in found.metrics.iter().filter(|m| Reading::from(*m).over()) {
        let stages = TRIES.iter().find(|t| t.0 == metric.name).map_or(&[][..], |t| t.1);
        for &stage in stages.iter().filter(|stage| !present.contains(stage)) {
            let after = tried.entry(stage).or_insert_with(|| Some(readings(&judge(&with(stage, result)?))));
            let Some(after) = after else { continue };
            let value = after.iter().find(|m| m.name == metric.name && !m.over()).map(|m| m.value);
            if let Some(value) = value.filter(|_| !harms(&before, after)) {
                let (measure, unit) = (metric.name.clone(), metric.unit);
                hints.push(Hint { measure, stage, unit, before: metric.value, after: value });
                break;
            }
        }
    }
    hints
}

/// Whether a measure is over its limit that was not before.
fn harms(before: &[Reading], after: &[Reading]) -> bool {
    let was = |name: &str| before.iter().find(|m| m.name == name).map(Reading::judgement);
    after.iter().any(|m| m.over() && was(&m.name) != Some(Judgement::Over))
        || Verdict::of(after).over >= Verdict::of(before).over
}

/// The result after a stage with its default keys; `None` where the stage cannot work on it.
fn with(stage: &str, result: &Motion) -> Option<Motion> {
    let written = STAGES.iter().find(|entry| entry.name == stage)?.read(&[]).ok()?;
    let setting = Setting::new(Arc::clone(&result.character), "");
    let labels = || detect(result, &ContactOptions { ground: Some(0.0), ..ContactOptions::default() });
    let contacts = Some(result.contacts.clone().unwrap_or_else(labels));
    let ready = written.resolve(&setting).ok()?;
    ready.apply(Motion { contacts, ..result.clone() }, &mut Report::default()).ok()
}
