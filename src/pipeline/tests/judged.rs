//! What stages make of the reference by which a result is judged: the direct transfer, and the measures that are left.

use crate::export::{ExportOptions, Format, save};
use crate::import::{self, ImportOptions};
use crate::kinematics::cuts;
use crate::math::{Vec3, exp, smoothstep};
use crate::measure::{Judgement, MetricContext, Reading, Verdict};
use crate::model::{Character, Motion, RobotMotion, Role, Side};
use crate::pipeline::{Pipeline, PipelineConfig, ReferenceMotion, assess_alone, provenance};
use crate::report::{Metric, NotJudged, Report, TakeChange};
use crate::stages::STAGES;
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(name)
}

fn take(name: &str) -> Motion {
    import::load(data(name), &ImportOptions::default()).unwrap().motion(0).unwrap()
}

/// The motion and the report after these stages, on the mannequin if one retargets.
fn reported(take: &Motion, stages: &[&str]) -> (Motion, Report) {
    let retargets = stages.iter().any(|stage| stage.contains("retarget"));
    let stages: String = stages.iter().map(|stage| format!("[[stage]]\nuse = {stage}\n")).collect();
    let config = PipelineConfig::parse("p.toml", &stages, &[], STAGES).unwrap();
    let character = data("mannequin.glb");
    let pipeline = Pipeline::new(&config, Path::new(""), character.to_str().filter(|_| retargets)).unwrap();
    pipeline.apply(take.clone()).unwrap()
}

/// The motion after these stages.
fn after(take: &Motion, stages: &[&str]) -> Motion {
    reported(take, stages).0
}

/// The squat with its left knee bent backwards at the beginning, as its performer did it.
fn backwards() -> Motion {
    let mut take = take("squat.bvh");
    let knee = take.character.rig.joint(Role::LowerLeg(Side::Left)).unwrap();
    let squat = take.clone();
    for f in 0..squat.clip.frames().min(120) {
        let world = squat.model_pose(f).joint(knee).rotation;
        let forwards = exp(&(Vec3::x() * (-0.8 * (1.0 - smoothstep(f as f64 / 119.0)))));
        take.clip.rotations_mut(f)[knee.index()] *= world.inverse() * forwards * world;
    }
    take
}

#[test]
fn limits_after_a_change_of_frames_or_sides_allow_what_the_performer_did() {
    let take = backwards();
    let (retarget, limits) = ("\"retarget\"", "\"limits\"");
    for stage in ["\"mirror\"", "\"trim\"\nstart_s = 0.1", "\"resample\"\nrate_hz = 25"] {
        let [before, behind] =
            [[retarget, limits, stage], [retarget, stage, limits]].map(|s| after(&take, &s));
        let apart = before
            .clip
            .all_rotations()
            .iter()
            .zip(&behind.clip.all_rotations())
            .map(|(a, b)| a.angle_to(b))
            .fold(0.0, f64::max);
        assert!(apart < 0.02, "{stage}: {apart} rad");
    }
    // Without the direct transfer the stage would not.
    let plain = after(&take, &[retarget]);
    let limited = after(&plain, &[limits]);
    assert!(
        plain
            .clip
            .all_rotations()
            .iter()
            .zip(&limited.clip.all_rotations())
            .map(|(a, b)| a.angle_to(b))
            .fold(0.0, f64::max)
            > 0.1
    );
}

#[test]
fn a_take_that_needs_no_repair_is_judged_by_all_measures() {
    let report = Pipeline::standard(data("mannequin.glb")).unwrap().apply(take("walk.bvh")).unwrap().1;
    assert!(report.findings.iter().all(|finding| finding.left.is_some()), "{:?}", report.findings);
    assert!(report.not_judged.is_empty(), "{:?}", report.not_judged);
}

#[test]
fn a_result_that_was_cut_or_mirrored_is_judged_beside_the_take_cut_or_mirrored() {
    let take = take("walk.bvh");
    let (retarget, lock) = ("\"retarget\"", "\"foot_lock\"");
    let (trim, frames, mirror) =
        ("\"trim\"\nstart_s = 0.5\nend_s = 2.0", "\"trim\"\nstart_frame = 20\nend_frame = 80", "\"mirror\"");
    let readings = |report: &Report| report.metrics.iter().map(Reading::from).collect::<Vec<_>>();
    let whole = readings(&reported(&take, &[retarget, lock]).1);
    let all = Verdict::of(&whole).judged;
    assert!(all > 15 && Verdict::of(&whole).judgement() == Judgement::Good, "{all}");
    // A part of a walk is no loop, which is a measure less.
    let good = |readings: &[Reading]| {
        let verdict = Verdict::of(readings);
        verdict.judgement() == Judgement::Good && verdict.not_judged == 0 && verdict.judged + 1 >= all
    };
    for stages in [
        vec![trim, retarget, lock],
        vec![retarget, lock, trim],
        vec![retarget, lock, "\"resample\"\nrate_hz = 24", frames],
        vec![mirror, retarget, lock],
        vec![retarget, lock, mirror, trim],
    ] {
        let (result, report) = reported(&take, &stages);
        assert!(good(&readings(&report)), "{stages:?} {:?}", report.metrics);
        // Later, beside the whole take, the verdict is the same, and damage is seen.
        let reference = ReferenceMotion::changed(take.clone(), &result, &report.take_changes).unwrap();
        assert!(reference.frames().abs_diff(result.clip.frames()) <= 1, "{stages:?}");
        let context = MetricContext::new(&result.character);
        let measured = |motion: &Motion| -> Vec<Reading> {
            reference.assess(&context, motion).metrics.iter().map(Reading::from).collect()
        };
        assert!(good(&measured(&result)), "{stages:?}");
        let hips = result.character.rig.joint(Role::Hips).unwrap();
        let knee = result.character.rig.joint(Role::LowerLeg(Side::Left)).unwrap();
        let changed = |change: &dyn Fn(&mut Motion, usize)| {
            let mut motion = result.clone();
            (0..motion.clip.frames()).for_each(|frame| change(&mut motion, frame));
            Verdict::of(&measured(&motion)).judgement()
        };
        let over = |change: &dyn Fn(&mut Motion, usize)| {
            assert_eq!(changed(change), Judgement::Over, "{stages:?}");
        };
        over(&|motion, frame| motion.clip.rotations_mut(frame)[knee.index()] *= exp(&(Vec3::x() * 1.0)));
        over(&|motion, frame| motion.clip.rotations_mut(frame)[hips.index()] *= exp(&(Vec3::x() * 3.0)));
        let (count, joints) = (result.clip.frames(), result.clip.joints());
        over(&|motion, frame| {
            let last = count - 1 - frame;
            let source = result.clip.all_rotations()[last * joints..][..joints].to_vec();
            motion.clip.rotations_mut(frame).copy_from_slice(&source);
        });
    }
}

#[test]
fn a_take_that_was_cut_by_hand_is_not_cut_again() {
    let take = take("walk.bvh");
    let (result, report) = reported(&take, &["\"trim\"\nstart_s = 1.0", "\"retarget\""]);
    assert_eq!(report.take_changes[0], TakeChange::Part { from_s: 1.0, to_s: None });
    let cut = take.part(take.clip.frames() - result.clip.frames()..take.clip.frames());
    let reference = ReferenceMotion::changed(cut, &result, &report.take_changes).unwrap();
    assert_eq!(reference.frames(), result.clip.frames());
}

/// The motion as a GLB with this record, which is read with or without a robot.
fn stored(result: &Motion, not_judged: &NotJudged, robot: Option<&str>) -> Motion {
    let options = ExportOptions { made_by: provenance(not_judged, &[]), ..ExportOptions::default() };
    let bytes =
        save(std::slice::from_ref(result), Format::of("glb").unwrap(), &options).unwrap().0.remove(0).bytes;
    let options = ImportOptions { robot: robot.map(data), ..ImportOptions::default() };
    import::from_bytes(&bytes, "walk", Some("glb"), None, &options).unwrap().motion(0).unwrap()
}

/// Also where some of the measures came after it, and where the record names the stage, as it did.
#[test]
fn an_older_result_of_a_robot_is_not_judged_without_its_robot() {
    let (result, report) = Pipeline::standard(data("humanoid.xml")).unwrap().apply(take("walk.bvh")).unwrap();
    let later = ["sole_tilt_p50", "finger_error_p95"];
    let mut known = report.not_judged["robot"].clone();
    known.retain(|name| !later.contains(&name.as_str()));
    for by in ["robot", "retarget"] {
        let bare = stored(&result, &NotJudged::from([(by.to_owned(), known.clone())]), None);
        let alone = assess_alone(&MetricContext::new(&bare.character), &bare, 0.0);
        let beside = ReferenceMotion::of(take("walk.bvh"), &bare).unwrap();
        let beside = beside.assess(&MetricContext::new(&bare.character), &bare);
        for metric in alone.metrics.iter().chain(&beside.metrics).filter(|metric| metric.at_most.is_some()) {
            assert!(metric.not_judged.is_some(), "{by}: {}", metric.name);
        }
        assert!(alone.metrics.iter().chain(&beside.metrics).any(|metric| metric.at_most.is_some()));
    }
}

/// A robot is judged by its own measures, also where its motion went through a file that knows nothing of robots.
#[test]
fn a_robots_result_is_judged_by_the_measures_of_robots() {
    let mut pipeline = Pipeline::standard(data("humanoid.xml")).unwrap();
    pipeline.verdict = true;
    let (result, report) = pipeline.apply(take("walk.bvh")).unwrap();
    let names = ["robot_out_of_range_max", "robot_penetration_max", "robot_hinge_speed_max"];
    let recorded = &report.not_judged["robot"];
    assert!(["float_share", "skin_stretch"].iter().all(|name| recorded.iter().any(|known| known == name)));
    assert!(names.iter().all(|name| !recorded.iter().any(|known| known == name)));

    // Beside its take, by the limits that it has when it is measured later.
    let limited = |metrics: &[Metric]| {
        let found = metrics.iter().map(Reading::from).filter(|m| m.limit().is_some());
        found.map(|m| (m.name.clone(), m.limit(), m.judgement())).collect::<Vec<_>>()
    };
    let later = |result: &Motion| {
        let reference = ReferenceMotion::of(take("walk.bvh"), result).unwrap();
        limited(&reference.assess(&MetricContext::new(&result.character), result).metrics)
    };
    assert_eq!(limited(&report.metrics), later(&result));
    let against = ["limb_error_p95", "rest_slip_p95", "rest_drift"];
    assert!(against.iter().all(|name| later(&result).iter().any(|m| m.0 == *name)), "{:?}", later(&result));
    assert!(limited(&report.metrics).iter().all(|m| m.2 == Judgement::Good), "{:?}", report.metrics);

    let read = |robot: Option<&str>| stored(&result, &report.not_judged, robot);
    assert!(read(None).character.robot.is_none());
    let not_judged = |metrics: &[Metric]| limited(metrics).iter().all(|m| m.2 == Judgement::NotJudged);
    let bare = read(None);
    let context = MetricContext::new(&bare.character);
    assert!(not_judged(&assess_alone(&context, &bare, 0.0).metrics), "a robot that the file does not hold");
    assert!(later(&bare).iter().all(|m| m.2 == Judgement::NotJudged), "{:?}", later(&bare));
    assert!(
        later(&read(Some("humanoid.xml"))).iter().any(|m| m.0 == "limb_error_p95" && m.2 == Judgement::Good)
    );
    let (own, again) =
        (RobotMotion::of(&result).unwrap(), RobotMotion::of(&read(Some("humanoid.xml"))).unwrap());
    let off = own.values.iter().zip(&again.values).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(off < 1e-4, "{off}");
    // A human take stays one.
    let options = ImportOptions { robot: Some(data("humanoid.xml")), ..ImportOptions::default() };
    assert!(import::load(data("walk.bvh"), &options).unwrap().character.robot.is_none());
}

/// Takes of CMU begin with a T-pose: the robot's file has the jump, so that the run judges it as `measure` of the file does, and the
/// warning says how to leave it out.
#[test]
fn a_robot_that_jumps_after_a_pose_that_begins_the_take_is_over_until_the_take_is_trimmed() {
    let mut take = take("walk.bvh");
    let rest: Vec<_> = take.character.skeleton().joints().iter().map(|joint| joint.rest.rotation).collect();
    take.clip.rotations_mut(0).copy_from_slice(&rest);
    assert_eq!(cuts(&take), [1]);
    let mut pipeline = Pipeline::standard(data("humanoid.xml")).unwrap();
    pipeline.verdict = true;
    let (result, report) = pipeline.apply(take.clone()).unwrap();
    assert_eq!(over(&report.metrics), ["robot_hinge_speed_max"]);
    let own = RobotMotion::of(&result).unwrap();
    let moved = own.values(0).iter().zip(own.values(1)).map(|(a, b)| (b - a).abs() * own.rate);
    let moved = moved.fold(0.0, f64::max);
    assert!(moved > 40.0, "the poses are as good as the same");
    let context = MetricContext::new(&result.character);
    assert_eq!(over(&assess_alone(&context, &result, 0.0).metrics), ["robot_hinge_speed_max"]);
    let warning = report.warnings.iter().find(|warning| warning.code == "take-cut").unwrap();
    let expected =
        format!("hinges jump there by {moved:.0} rad/s, which no robot follows; `--trim 0.0083..`");
    assert!(warning.message.contains(&expected), "{}", warning.message);
    let trimmed = pipeline.apply(take.part(1..take.clip.frames())).unwrap();
    assert_eq!(over(&trimmed.1.metrics), [""; 0]);
}

/// The measures of a report that are over.
fn over(metrics: &[Metric]) -> Vec<String> {
    metrics.iter().filter(|m| Reading::from(*m).over()).map(|m| m.name.clone()).collect()
}

#[test]
fn a_take_is_judged_as_it_was_repaired_now_and_later() {
    let mut pipeline = Pipeline::standard(data("mannequin.glb")).unwrap();
    pipeline.verdict = true;
    let clean = take("walk.bvh");
    let foot = clean.character.rig.joint(Role::Foot(Side::Left)).unwrap();
    let mut damaged = clean.clone();
    let middle = damaged.clip.frames() / 2;
    for f in middle..middle + damaged.clip.frames() / 5 {
        damaged.clip.rotations_mut(f)[foot.index()] *= exp(&(Vec3::y() * std::f64::consts::PI));
    }
    let wanted = over(&pipeline.apply(clean).unwrap().1.metrics);
    let (result, report) = pipeline.apply(damaged.clone()).unwrap();
    assert!(report.findings.iter().any(|f| f.fault == "flip" && f.left.is_none()), "{:?}", report.findings);
    assert_eq!(over(&report.metrics), wanted);
    // The take is repaired in the same way, so that nothing has to be excused.
    assert!(report.not_judged.is_empty(), "{:?}", report.not_judged);
    let context = MetricContext::new(&result.character);
    let later = |changes: &[TakeChange]| {
        let reference = ReferenceMotion::changed(damaged.clone(), &result, changes).unwrap();
        over(&reference.assess(&context, &result).metrics)
    };
    assert_eq!(later(&report.take_changes), wanted);
    // Nothing excuses a result of a take that was not repaired.
    assert!(later(&[]).contains(&"foot_orientation_p95".to_owned()));
}

#[test]
fn a_result_is_judged_alike_beside_its_take_with_and_without_skin() {
    let pipeline = Pipeline::standard(data("mannequin.glb")).unwrap();
    let result = pipeline.apply(take("walk.bvh")).unwrap().0;
    let bare = Character { meshes: Vec::new(), bind: None, document: None, ..(*result.character).clone() };
    let context = MetricContext::new(&result.character);
    let beside = |character: Character| {
        let take = Motion { character: Arc::new(character), contacts: None, ..result.clone() };
        let reference = ReferenceMotion::of(take, &result).unwrap();
        over(&reference.assess(&context, &result).metrics)
    };
    assert_eq!(beside(bare), beside((*result.character).clone()));
}
