//! Walks on ramps and stairs: the result is on the same ground, scaled, as on level ground, and is judged by it.

use super::posed::{changed, moved, position, take};
use crate::development_data::data;
use posemill::contacts::{ContactOptions, detect};
use posemill::math::{Quat, Vec3, arc, percentile, smoothstep};
use posemill::measure::{MetricContext, Reading, Verdict};
use posemill::model::{ContactPart, Motion, Role, Side};
use posemill::pipeline::{Pipeline, ReferenceMotion};
use posemill::report::Metric;
use std::path::Path;

/// A walk of some steps along Z on level ground at height 0.
fn walk() -> Motion {
    take("walk.bvh").part(0..420)
}

/// The walk on a plane through the origin that rises by these slopes along X and Z.
fn on_plane(walk: &Motion, slope: [f64; 2]) -> (Motion, Quat) {
    let tilt = arc(&Vec3::y(), &Vec3::new(-slope[0], 1.0, -slope[1]), &Vec3::x());
    (moved(walk, |_| (tilt, Vec3::zeros(), 0.0)), tilt)
}

/// The take in the default pipeline on the mannequin.
fn result(take: &Motion) -> Motion {
    let character = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/mannequin.glb");
    // A made take that goes down evenly in time could be a drift as well.
    let as_it_is = ["stage.repair.enabled=false".to_owned()];
    Pipeline::standard_with(character, &as_it_is).unwrap().apply(take.clone()).unwrap().0
}

/// What the result is judged by.
fn judged(take: &Motion, result: &Motion) -> Vec<Metric> {
    let reference = ReferenceMotion::of(take.clone(), result).unwrap();
    reference.assess(&MetricContext::new(&result.character), result).metrics
}

/// The measures that are over their limits.
fn over(metrics: &[Metric]) -> Vec<&str> {
    metrics.iter().filter(|m| Reading::from(*m).over()).map(|m| m.name.as_str()).collect()
}

fn value(metrics: &[Metric], name: &str) -> f64 {
    metrics.iter().find(|m| m.name == name).map_or(f64::NAN, |m| m.value)
}

/// How far feet are from where they are on level ground, in the direction `up` after `back`: the 5th and 95th percentile.
fn above(result: &Motion, level: &Motion, back: &Quat) -> [f64; 2] {
    let frames = 0..result.clip.frames().min(level.clip.frames());
    let of = |f: usize| {
        [Role::Foot(Side::Left), Role::Toes(Side::Left), Role::Foot(Side::Right), Role::Toes(Side::Right)]
            .map(|role| (back * position(result, f, role)).y - position(level, f, role).y)
    };
    let heights: Vec<f64> = frames.flat_map(of).collect();
    [0.05, 0.95].map(|share| percentile(&heights, share))
}

#[test]
fn a_walk_on_a_ramp_stands_on_it_as_on_level_ground() {
    let walk = walk();
    let level = result(&walk);
    for slope in [[0.0, 0.14], [0.0, -0.14], [0.25, 0.0], [0.1, 0.36]] {
        let (ramp, tilt) = on_plane(&walk, slope);
        let made = result(&ramp);
        let [low, high] = above(&made, &level, &tilt.inverse());
        assert!(low > -0.01 && high < 0.01, "{slope:?}: {low} to {high} m");
        let metrics = judged(&ramp, &made);
        assert_eq!(over(&metrics), [""; 0], "{slope:?}");
        // The ground is that of the take for the measures as well.
        let raised = moved(&made, |_| (Quat::identity(), Vec3::zeros(), 0.05));
        let readings: Vec<Reading> = metrics.iter().map(Reading::from).collect();
        assert!(value(&metrics, "float_share") < 0.02 && Verdict::of(&readings).judged > 15);
        assert_eq!(over(&judged(&ramp, &raised)), ["float_share"], "{slope:?}");
        let sunk = moved(&made, |_| (Quat::identity(), Vec3::zeros(), -0.05));
        assert!(over(&judged(&ramp, &sunk)).contains(&"penetration_max"), "{slope:?}");
    }
}

/// The walk with every step higher than the one before by `rise`: body and feet are raised by smooth curves, and shins and
/// thighs are left as they are.
fn climbing(walk: &Motion, rise: f64) -> Motion {
    let contacts = detect(walk, &ContactOptions::default());
    let mut steps: Vec<(usize, Side)> = Side::BOTH
        .into_iter()
        .flat_map(|side| {
            contacts.holds(ContactPart::Ball(side)).iter().map(move |hold| (hold.frames.start, side))
        })
        .collect();
    steps.sort_unstable_by_key(|step| step.0);
    let seconds = |frames: f64| frames / walk.clip.sample_rate;
    let height = |f: usize, side: Option<Side>| -> f64 {
        let own = |k: usize| side.is_none_or(|side| steps[k].1 == side);
        let mut last = 0.0;
        for k in (0..steps.len()).filter(|k| own(*k)) {
            // Up within the 0.3 seconds before it.
            let share = smoothstep(1.0 + seconds(f as f64 - steps[k].0 as f64) / 0.3);
            last += share * (rise * k as f64 - last);
        }
        last
    };
    let body = moved(walk, |f| (Quat::identity(), Vec3::zeros(), height(f, None)));
    changed(&body, |f, pose| {
        for side in Side::BOTH {
            let leg = walk.character.rig.joint(Role::UpperLeg(side)).unwrap();
            let up = Vec3::y() * (height(f, Some(side)) - height(f, None));
            let above = body.character.skeleton().parent(leg).map(|p| body.model_pose(f).joint(p).rotation);
            pose.local_mut()[leg.index()].translation += above.map_or(up, |above| above.inverse() * up);
        }
    })
}

#[test]
fn a_walk_up_stairs_is_judged_by_its_steps() {
    let walk = walk();
    for rise in [0.15, -0.15] {
        let stairs = climbing(&walk, rise);
        let contacts = detect(&stairs, &ContactOptions::default());
        let heights: Vec<f64> = Side::BOTH
            .into_iter()
            .flat_map(|s| contacts.holds(ContactPart::Ball(s)))
            .map(|h| h.height)
            .collect();
        for height in &heights {
            let step = (height - contacts.zero()) / rise;
            assert!((step - step.round()).abs() < 0.1, "{rise}: {heights:?}");
        }
        let metrics = judged(&stairs, &result(&stairs));
        assert!(value(&metrics, "float_share") < 0.05, "{rise}: {}", value(&metrics, "float_share"));
        assert!(value(&metrics, "penetration_max") < 0.01, "{rise}: {}", value(&metrics, "penetration_max"));
    }
}

/// On a character whose legs are in another ratio to the take's than its bones are.
#[test]
fn a_jump_onto_a_box_is_judged_by_its_height() {
    let Some(data) = data() else { return };
    let squat = take("squat.bvh");
    let up = |f: usize| 0.6 * smoothstep((f as f64 / squat.clip.sample_rate - 1.0) / 0.4);
    let onto_box = moved(&squat, |f| (Quat::identity(), Vec3::zeros(), up(f)));
    let character = data.join("gltf/quaternius/Casual_man.glb");
    let made = Pipeline::standard(character).unwrap().apply(onto_box.clone()).unwrap().0;
    let metrics = judged(&onto_box, &made);
    assert!(value(&metrics, "float_share") < 0.02, "{}", value(&metrics, "float_share"));
}

#[test]
fn ground_that_is_level_stays_at_height_0_bit_for_bit() {
    for file in ["walk.bvh", "squat.bvh", "jump.bvh", "turn.bvh"] {
        let level = take(file);
        let contacts = detect(&level, &ContactOptions::default());
        assert_eq!(contacts.zero(), contacts.ground, "{file}");
        // A slight tilt is a fault of the capture, and no ramp.
        let (tilted, _) = on_plane(&level, [0.0, 0.03]);
        let contacts = detect(&tilted, &ContactOptions::default());
        assert_eq!(contacts.zero(), contacts.ground, "{file}");
    }
}
