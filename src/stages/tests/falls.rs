//! The stages `ragdoll` and `perform`: what is asked, and what is said where nothing or too much is.

use crate::made_figure::figure;
use posemill::contacts::{ContactOptions, detect};
use posemill::math::Vec3;
use posemill::model::{Character, Clip, Motion};
use posemill::report::Report;
use posemill::stages::{PerformConfig, RagdollConfig, Setting, StageConfig};
use std::sync::Arc;

#[test]
fn a_hit_of_a_ragdoll_needs_a_part_and_a_possible_impulse() {
    let faulty = |text: &str| toml::from_str::<RagdollConfig>(text).unwrap().validate().unwrap_err()[0].key;
    assert_eq!(faulty("hit = \"head\""), Some("hit"));
    assert_eq!(faulty("hit_impulse_n_s = [0.0, 0.0, 50.0]"), Some("hit_impulse_n_s"));
    assert_eq!(faulty("hit = \"head\"\nhit_impulse_n_s = [0.0, 0.0, 5000.0]"), Some("hit_impulse_n_s"));
    assert_eq!(faulty("hit = \"head\"\nhit_impulse_n_s = [0.0, nan, 50.0]"), Some("hit_impulse_n_s"));
    let chest: RagdollConfig = toml::from_str("hit = \"chest\"\nhit_impulse_n_s = [0.0, 0.0, 50.0]").unwrap();
    chest.validate().unwrap();
    chest.resolve(&Setting::new(Arc::new(Character::new("made", figure())), "")).unwrap();
}

#[test]
fn a_floor_above_the_feet_of_a_ragdoll_is_reported() {
    let character = Arc::new(Character::new("made", figure()));
    let skeleton = character.skeleton();
    let mut pose = skeleton.rest_pose();
    let low =
        (skeleton.ids().map(|id| skeleton.rest_model_pose().position(id).y)).fold(f64::INFINITY, f64::min);
    pose.local_mut()[0].translation -= Vec3::y() * low;
    let clip = Clip::from_poses("stands", 30.0, skeleton, &[pose.clone(), pose]);
    let motion = Motion::new(Arc::clone(&character), clip);
    for (floor, told) in [(0.0, false), (0.5, true)] {
        let config =
            RagdollConfig { floor_m: Some(floor), let_go_s: 0.0, fall_s: 0.1, ..RagdollConfig::default() };
        let mut report = Report::default();
        config
            .resolve(&Setting::new(Arc::clone(&character), ""))
            .unwrap()
            .apply(motion.clone(), &mut report)
            .unwrap();
        assert_eq!(report.warnings.iter().any(|warning| warning.code == "ragdoll-in-floor"), told, "{floor}");
    }
}

#[test]
fn a_ragdoll_falls_onto_the_floor_that_its_own_soles_stand_on() {
    let character = Arc::new(Character::new("made", figure()));
    let skeleton = character.skeleton();
    let poses = vec![skeleton.rest_pose(); 60];
    let clip = Clip::from_poses("stands", 30.0, skeleton, &poses);
    let mut motion = Motion::new(Arc::clone(&character), clip);
    let config = RagdollConfig { let_go_s: 0.5, fall_s: 0.5, ..RagdollConfig::default() };
    let fall = |motion: &Motion| {
        let stage = config.resolve(&Setting::new(Arc::clone(&character), "")).unwrap();
        stage.apply(motion.clone(), &mut Report::default()).unwrap()
    };
    // The labels of a take have the floor of another body.
    let mut labels = detect(&motion, &ContactOptions::default());
    motion.contacts = Some(labels.clone());
    let own = fall(&motion);
    labels.ground += 0.02;
    motion.contacts = Some(labels);
    assert!(fall(&motion).clip == own.clip);
}

#[test]
fn a_hit_without_an_impulse_excuses_no_measure_and_an_impossible_one_is_refused() {
    let hit = |impulse: f64| -> PerformConfig {
        let hit = format!("hits = [{{ part = \"chest\", impulse_n_s = [0.0, 0.0, {impulse:.1}] }}]");
        toml::from_str(&hit).unwrap()
    };
    assert!(hit(0.0).meaningless().is_empty());
    assert!(!hit(-1.0).meaningless().is_empty());
    hit(1999.0).validate().unwrap();
    assert_eq!(hit(-2001.0).validate().unwrap_err()[0].key, Some("hits"));
}
