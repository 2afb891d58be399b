//! Hints: tries stages on a finished clip, as a pipeline would run them, and recommends those that bring the measure that they are for
//! within its limit, and no other measure over its own.

use crate::contacts::{ContactOptions, detect};
use crate::measure::{Assessment, Reading};
use crate::model::Motion;
use crate::report::{Hint, Report};
use crate::stages::{STAGES, Setting};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The stages that can help a measure.
const TRIES: &[(&str, &[&str])] = &[
    ("foot_slide_p95", &["foot_lock"]),
    ("rest_slip_p95", &["foot_lock"]),
    ("rest_drift", &["foot_lock"]),
    ("penetration_max", &["ground", "foot_lock"]),
    ("float_share", &["ground"]),
    ("body_skin_below_floor", &["ground"]),
    ("limit_violation_added", &["limits"]),
    ("arm_in_body", &["self_contact"]),
    ("arm_through_body", &["self_contact"]),
    ("self_contact_lost", &["self_contact"]),
    ("flight_error", &["flights"]),
];

/// A stage is still recommended if another measure worsens by up to this share of its limit, which nobody would see.
const WORSE: f64 = 0.25;

/// The hints for a `result` of a pipeline with the stages `present`, whose measures are `found`; `direct` is the direct transfer of
/// its take, and `judge` measures a motion that stands for the result.
pub(crate) fn hints(
    result: &Motion,
    direct: Option<&Motion>,
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
            let after =
                tried.entry(stage).or_insert_with(|| Some(readings(&judge(&with(stage, result, direct)?))));
            let Some(after) = after else { continue };
            let value = after.iter().find(|m| m.name == metric.name && !m.over()).map(|m| m.value);
            if let Some(value) = value.filter(|_| !harms(&before, after, &metric.name)) {
                let (measure, unit) = (metric.name.clone(), metric.unit);
                hints.push(Hint { measure, stage, unit, before: metric.value, after: value });
                break;
            }
        }
    }
    hints
}

/// Whether a measure other than `cured` is over its limit that was not before, or is worse than it was.
fn harms(before: &[Reading], after: &[Reading], cured: &str) -> bool {
    let was = |name: &str| before.iter().find(|m| m.name == name);
    let worse = |m: &Reading| {
        let part = was(&m.name).and_then(Reading::part).unwrap_or_default();
        m.part().is_some_and(|now| now > part + WORSE)
    };
    let crosses = |m: &Reading| m.over() && was(&m.name).is_none_or(|m| !m.over());
    after.iter().filter(|m| m.name != cured).any(|m| crosses(m) || worse(m))
}

/// The result after a stage with its default keys, compared with the direct transfer of its take; `None` where the stage cannot work on it.
fn with(stage: &str, result: &Motion, direct: Option<&Motion>) -> Option<Motion> {
    let written = STAGES.iter().find(|entry| entry.name == stage)?.read(&[]).ok()?;
    let setting = Setting::new(Arc::clone(&result.character), "");
    let labels = || detect(result, &ContactOptions { ground: Some(0.0), ..ContactOptions::default() });
    let contacts = Some(result.contacts.clone().unwrap_or_else(labels));
    let ready = written.resolve(&setting).ok()?;
    let direct = direct.filter(|direct| ready.needs_direct_transfer() && same_frames(direct, result));
    ready.apply_with_direct(Motion { contacts, ..result.clone() }, direct, &mut Report::default()).ok()
}

/// Whether two motions have the same joints and frames.
pub(super) fn same_frames(a: &Motion, b: &Motion) -> bool {
    let of = |motion: &Motion| (motion.clip.joints(), motion.clip.frames(), motion.clip.sample_rate);
    of(a) == of(b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::{self, ImportOptions};
    use crate::math::{Vec3, exp};
    use crate::measure::MetricContext;
    use crate::model::{Clip, Role};
    use crate::pipeline::{Pipeline, ReferenceMotion};
    use crate::report::Metric;

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
        let told = hints(&hovers, None, &found, &[], &judge);
        let [hint] = told.as_slice() else { panic!("{told:?}") };
        assert_eq!((hint.measure.as_str(), hint.stage), ("float_share", "ground"));
        assert!(hint.before > 0.9 && hint.after < 0.1, "{hint:?}");
        // The values are those of the clip with and without the stage.
        let after = judge(&with("ground", &hovers, None).unwrap());
        let value = after.metrics.iter().find(|m| m.name == "float_share").unwrap().value;
        assert_eq!(hint.after, value);
        // A pipeline that has the stage already is not told to have it, and a good clip nothing.
        assert_eq!(hints(&hovers, None, &found, &["ground"], &judge), []);
        assert_eq!(hints(&result, None, &judge(&result), &[], &judge), []);
    }

    #[test]
    fn no_stage_is_named_that_makes_something_else_worse() {
        let data = |name: &str| std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(name);
        let take = import::load(data("squat.bvh"), &ImportOptions::default()).unwrap().motion(0).unwrap();
        let result = Pipeline::standard(data("mannequin.glb")).unwrap().apply(take).unwrap().0;
        // What is said of the clip before and after is made up, so that every stage that can be named is asked for.
        let metric = |name: &str, value: f64| Metric {
            name: name.into(),
            value,
            at_most: Some(1.0),
            ..Metric::default()
        };
        for (measure, stages) in TRIES {
            let other = if *measure == "knee_pop" { "elbow_pop" } else { "knee_pop" };
            let made = |value: f64, side: f64| Assessment {
                metrics: vec![metric(measure, value), metric(other, side)],
                ..Assessment::default()
            };
            let told = |before: f64, after: [f64; 2]| -> Vec<&str> {
                let judge = |_: &Motion| made(after[0], after[1]);
                hints(&result, None, &made(2.0, before), &[], &judge).iter().map(|hint| hint.stage).collect()
            };
            assert_eq!(told(0.3, [0.5, 0.4]), &stages[..1], "{measure}: it helps");
            let none: [&str; 0] = [];
            assert_eq!(told(0.3, [1.5, 0.3]), none, "{measure}: not enough");
            assert_eq!(told(0.9, [0.5, 1.1]), none, "{measure}: something else is over");
            assert_eq!(
                told(0.3, [0.5, 0.6]),
                none,
                "{measure}: something else is worse, and within its limit"
            );
            assert_eq!(told(2.0, [0.5, 2.5]), none, "{measure}: something else was over and is worse");
        }
    }

    #[test]
    fn limits_are_tried_with_the_direct_transfer() {
        let data = |name: &str| std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(name);
        let take = import::load(data("squat.bvh"), &ImportOptions::default()).unwrap().motion(0).unwrap();
        let result = Pipeline::standard(data("mannequin.glb")).unwrap().apply(take).unwrap().0;
        // The performer holds the head where no neck goes.
        let head = result.character.rig.joint(Role::Head).unwrap();
        let mut performed = result.clone();
        for f in 0..result.clip.frames() {
            performed.clip.rotations_mut(f)[head.index()] *= exp(&(Vec3::y() * 2.5));
        }
        let changed = |direct: Option<&Motion>| {
            let after = with("limits", &performed, direct).unwrap();
            after
                .clip
                .all_rotations()
                .iter()
                .zip(&performed.clip.all_rotations())
                .map(|(a, b)| a.angle_to(b))
                .fold(0.0, f64::max)
        };
        assert!(changed(Some(&performed)) < 1e-6, "{}", changed(Some(&performed)));
        assert!(changed(None) > 0.3, "{}", changed(None));
    }
}
