//! A fault that is made on purpose is seen by its own measure, and by no other one: limbs, trunk, smoothness, bones.

use super::fault_scene::{Scene, asset, changed, joint, resting, rotate, standing};
use posemill::math::{DEGREE, Vec3, exp};
use posemill::measure::{MEASURES, Reading};
use posemill::model::{ModelPose, Role, Side};
use posemill::report::Report;
use posemill::stages::{IkConfig, Setting, StageConfig};
use std::sync::Arc;

#[test]
fn a_joint_beyond_its_range() {
    let scene = resting();
    let [elbow, hand] =
        [Role::LowerArm(Side::Left), Role::Hand(Side::Left)].map(|role| joint(&scene.direct, role));
    // The forearm about itself: hand and limbs stay as they are.
    let turned = changed(&scene.direct, |_, pose| {
        let model = ModelPose::of(scene.direct.character.skeleton(), pose);
        let along = (model.position(hand) - model.position(elbow)).normalize() * (130.0 * DEGREE);
        rotate(&scene.direct.character, pose, elbow, exp(&along));
        rotate(&scene.direct.character, pose, hand, exp(&-along));
    });
    assert_eq!(scene.added(&turned), ["limit_violation_added"]);
}

#[test]
fn a_bone_that_grows() {
    let scene = resting();
    let head = joint(&scene.direct, Role::Head);
    let grown = changed(&scene.direct, |_, pose| pose.local_mut()[head.index()].translation *= 1.02);
    assert_eq!(scene.added(&grown), ["bone_stretch"]);
}

#[test]
fn a_body_far_from_the_origin_has_the_rounding_of_files_and_its_faults_are_seen() {
    // It sways by 2 cm, a kilometre away.
    let at = |f: usize| Vec3::x() * (1000.0 + 0.02 * (0.06 * f as f64).sin());
    let scene = Scene::own(changed(&standing(), |f, pose| pose.local_mut()[0].translation += at(f)));
    let head = joint(&scene.direct, Role::Head);
    let written = |shake: f64, grown: f64| {
        changed(&scene.direct, |f, pose| {
            let local = pose.local_mut();
            local[head.index()].translation *= grown;
            let root = &mut local[0].translation;
            *root = root.map(|x| f64::from(x as f32));
            root.y += if f % 2 == 0 { shake } else { 0.0 };
        })
    };
    assert_eq!(scene.added(&written(0.0, 1.0)), Vec::<String>::new());
    assert_eq!(scene.added(&written(0.0, 1.02)), ["bone_stretch"]);
    assert!(scene.added(&written(1e-3, 1.0)).contains(&"jerk_ratio".to_owned()));
}

#[test]
fn hands_that_shake() {
    let scene = Scene::walk();
    let shaking = changed(&scene.direct, |f, pose| {
        for side in Side::BOTH {
            let angle = if f % 2 == 0 { 2.0 * DEGREE } else { -2.0 * DEGREE };
            rotate(
                &scene.direct.character,
                pose,
                joint(&scene.direct, Role::LowerArm(side)),
                exp(&(Vec3::x() * angle)),
            );
        }
    });
    assert_eq!(scene.added(&shaking), ["jerk_ratio"]);
}

#[test]
fn a_head_that_turns_in_one_frame() {
    let scene = Scene::walk();
    let head = joint(&scene.direct, Role::Head);
    // So few frames are no turned head.
    let turned = changed(&scene.direct, |f, pose| {
        let angle = if (20..22).contains(&f) { 50.0 * DEGREE } else { 0.0 };
        rotate(&scene.direct.character, pose, head, exp(&(Vec3::y() * angle)));
    });
    assert_eq!(scene.added(&turned), ["turn_ratio"]);
}

#[test]
fn an_arm_that_goes_another_way() {
    let scene = resting();
    let [arm, hand] =
        [Role::UpperArm(Side::Left), Role::Hand(Side::Left)].map(|role| joint(&scene.direct, role));
    // The hand keeps its rotation.
    let lower = changed(&scene.direct, |_, pose| {
        rotate(&scene.direct.character, pose, arm, exp(&(Vec3::y() * (15.0 * DEGREE))));
        rotate(&scene.direct.character, pose, hand, exp(&(Vec3::y() * (-15.0 * DEGREE))));
    });
    assert_eq!(scene.added(&lower), ["limb_error_p95"]);
}

#[test]
fn an_arm_that_hangs_in_the_take_and_is_raised() {
    let scene = Scene::own(asset("wave.bvh").motion(0).unwrap());
    let arm = joint(&scene.direct, Role::UpperArm(Side::Left));
    let raised = changed(&scene.direct, |_, pose| {
        rotate(&scene.direct.character, pose, arm, exp(&(Vec3::z() * (80.0 * DEGREE))))
    });
    assert!(scene.added(&raised).contains(&"limb_error_p95".to_owned()));
}

#[test]
fn a_trunk_that_leans() {
    let scene = Scene::walk();
    let spine = joint(&scene.direct, Role::Spine(0));
    let leaning = changed(&scene.direct, |_, pose| {
        rotate(&scene.direct.character, pose, spine, exp(&(Vec3::x() * (8.0 * DEGREE))))
    });
    assert_eq!(scene.added(&leaning), ["trunk_error"]);
}

/// What a stage `ik` measures over its limits, with a target for the left hand so high above it.
fn over_with_a_target_above(height: f64) -> Vec<String> {
    let motion = Scene::walk().direct;
    let text = format!(
        "[[effectors]]\njoint = \"left_hand\"\nfollow = \"left_hand\"\ntarget = [0.0, {height:?}, 0.0]\nchain = 2"
    );
    let config: IkConfig = toml::from_str(&text).unwrap();
    let stage = config.resolve(&Setting::new(Arc::clone(&motion.character), "")).unwrap();
    let mut report = Report::default();
    stage.apply(motion, &mut report).unwrap();
    let readings: Vec<Reading> = report.metrics.iter().map(Reading::from).collect();
    readings.iter().filter(|reading| reading.over()).map(|reading| reading.name.clone()).collect()
}

#[test]
fn a_target_that_nobody_reaches() {
    assert_eq!(over_with_a_target_above(5.0), ["ik_missed"]);
    assert_eq!(over_with_a_target_above(0.02), [""; 0]);
}

#[test]
fn every_measure_with_a_limit_has_a_fault_that_it_alone_sees() {
    let files = [
        include_str!("faults_of_arms_and_skin.rs"),
        include_str!("faults_of_legs.rs"),
        include_str!("faults_of_motion.rs"),
        include_str!("robots.rs"),
    ];
    for measure in MEASURES.iter().filter(|m| m.at_most.is_some()) {
        let only = format!("[\"{}\"]", measure.name);
        assert!(files.iter().any(|file| file.contains(&only)), "no test of {}", measure.name);
    }
}

#[test]
fn a_still_body_does_not_shake_by_the_last_digits_of_its_file() {
    let mut scene = resting();
    let hips = joint(&scene.direct, Role::Hips);
    let trembling = |motion: &_, metres: f64| {
        changed(motion, |f, pose| {
            let sign = if f % 2 == 0 { 1.0 } else { -1.0 };
            pose.local_mut()[hips.index()].translation.x += sign * metres;
        })
    };
    scene.direct = trembling(&scene.direct, 1e-12);
    scene.take = trembling(&scene.take, 1e-12);
    assert_eq!(scene.added(&trembling(&scene.direct, 5e-7)), [""; 0]);
    // A millimetre is seen.
    assert!(scene.added(&trembling(&scene.direct, 1e-3)).contains(&"jerk_ratio".to_owned()));
}
