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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::{self, ImportOptions};
    use crate::measure::MetricContext;
    use crate::model::Clip;
    use crate::pipeline::{Pipeline, ReferenceMotion};

    #[test]
    fn a_stage_is_named_only_if_it_was_tried_and_helps() {
        let data = |name: &str| std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(name);
        let take = import::load(data("walk.bvh"), &ImportOptions::default()).unwrap().motion(0).unwrap();
        let pipeline = Pipeline::standard(data("mannequin.glb")).unwrap();
        let result = pipeline.apply(take.clone()).unwrap().0;
        // The walk hovers by eight centimetres.
        let skeleton = result.character.skeleton();
        let raised = |frame: usize| {
            let mut pose = skeleton.rest_pose();
            result.clip.read_pose(frame, &mut pose);
            pose.local_mut()[0].translation.y += 0.08;
            pose
        };
        let poses: Vec<_> = (0..result.clip.frames()).map(raised).collect();
        let clip = Clip::from_poses("walk", result.clip.sample_rate, skeleton, &poses);
        let hovers = Motion { clip, ..result.clone() };
        let reference = ReferenceMotion::of(take, &hovers).unwrap();
        let context = MetricContext::new(&hovers.character);
        let judge = |motion: &Motion| reference.assess(&context, motion);
        let found = judge(&hovers);
        let told = hints(&hovers, &found, &[], &judge);
        let [hint] = told.as_slice() else { panic!("{told:?}") };
        assert_eq!((hint.measure.as_str(), hint.stage), ("float_share", "ground"));
        assert!(hint.before > 0.9 && hint.after < 0.1, "{hint:?}");
        // The values are those of the clip with and without the stage.
        let after = judge(&with("ground", &hovers).unwrap());
        let value = after.metrics.iter().find(|m| m.name == "float_share").unwrap().value;
        assert_eq!(hint.after, value);
        // A pipeline that has the stage already is not told to have it, and a good clip nothing.
        assert_eq!(hints(&hovers, &found, &["ground"], &judge), []);
        assert_eq!(hints(&result, &judge(&result), &[], &judge), []);
    }
}
