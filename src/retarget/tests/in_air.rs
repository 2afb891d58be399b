//! Bodies whose feet are in the air: upside down, in flight, hanging and sitting above the floor.

use super::helpers::shipped;
use super::posed::{bent, changed, lowest, moved, position, take, transfer, with_arms};
use crate::lowest_skin::lowest_skin;
use posemill::contacts::{ContactOptions, detect};
use posemill::math::{Quat, Vec3, angle_between, exp};
use posemill::model::{Character, Motion, Role, Side};
use posemill::pipeline::Pipeline;
use posemill::report::Report;
use posemill::stages::{RetargetConfig, Setting, StageConfig};
use std::ops::Range;
use std::sync::Arc;

/// The take with its contacts labelled, as in the default pipeline.
fn labelled(take: Motion) -> Motion {
    Motion { contacts: Some(detect(&take, &ContactOptions::default())), ..take }
}

/// The take pitched forwards about its hips, with its lowest joint at height 0.
fn pitched(take: &Motion, degrees: f64) -> Motion {
    let about = |f: usize| (exp(&(Vec3::x() * degrees.to_radians())), position(take, f, Role::Hips), 0.0);
    let over = moved(take, about);
    moved(&over, |f| (Quat::identity(), Vec3::zeros(), -lowest(&over.model_pose(f))))
}

/// The largest angle between thighs and shins of a take and of a result, degrees.
fn limbs_apart(take: &Motion, result: &Motion) -> f64 {
    let directions = |motion: &Motion, f: usize| {
        Side::BOTH.map(|side| {
            let at = [Role::UpperLeg(side), Role::LowerLeg(side), Role::Foot(side)]
                .map(|role| position(motion, f, role));
            [at[1] - at[0], at[2] - at[1]]
        })
    };
    let of_frame = |f: usize| {
        let [a, b] = [take, result].map(|motion| directions(motion, f));
        a.iter().flatten().zip(b.iter().flatten()).map(|(a, b)| angle_between(a, b)).fold(0.0, f64::max)
    };
    (0..take.clip.frames()).map(of_frame).fold(0.0, f64::max).to_degrees()
}

#[test]
fn a_body_upside_down_keeps_its_legs_in_the_air() {
    let target = shipped("mannequin.glb").character;
    for file in ["walk.bvh", "squat.bvh"] {
        for degrees in [110.0, 140.0, 180.0] {
            for labels in [false, true] {
                let over = pitched(&with_arms(&take(file), Vec3::y()), degrees);
                let over = if labels { labelled(over) } else { over };
                let transfer = transfer(&over, &target);
                let (result, direct) = (transfer.apply(&over), transfer.direct_transfer(&over));
                let apart = limbs_apart(&direct, &result);
                assert!(apart < 12.0, "{file} at {degrees} degrees, labels {labels}: {apart} degrees");
            }
        }
    }
}

/// The upper part of the flight of a jump.
fn flight(jump: &Motion) -> Range<usize> {
    let low = |f: usize| {
        Side::BOTH.map(|side| position(jump, f, Role::Foot(side)).y).into_iter().fold(1e9, f64::min)
    };
    let floor = (0..jump.clip.frames()).map(low).fold(f64::INFINITY, f64::min);
    let top = (0..jump.clip.frames()).map(low).fold(f64::NEG_INFINITY, f64::max);
    let up: Vec<usize> = (0..jump.clip.frames()).filter(|f| low(*f) > floor + 0.6 * (top - floor)).collect();
    let first = up[0];
    let last = up.iter().zip(first..).take_while(|(f, k)| **f == *k).count();
    first..first + last
}

/// A body that sits on an edge with hanging shins, its soles above the floor.
fn seated(take: &Motion) -> Motion {
    moved(&bent(take, [-1.75, 1.75, 0.0]), |_| (Quat::identity(), Vec3::zeros(), 0.3))
}

/// A body that swings from a bar above its head, clear of the floor.
fn swinging(take: &Motion) -> Motion {
    let rate = take.clip.sample_rate;
    let bar = position(take, 0, Role::Hips).y + 1.2;
    moved(take, |f| {
        let at = position(take, f, Role::Hips);
        let about = Vec3::new(at.x, bar, at.z);
        (exp(&(Vec3::x() * (0.8 * (2.5 * f as f64 / rate).sin()))), about, 0.6)
    })
}

/// The largest difference of the hips' height from the take's, scaled, metres.
fn height_error(take: &Motion, target: &Arc<Character>) -> f64 {
    let transfer = transfer(take, target);
    let result = transfer.apply(take);
    let hips = |motion: &Motion, f: usize| {
        Side::BOTH.map(|side| position(motion, f, Role::UpperLeg(side)).y).iter().sum::<f64>() / 2.0
    };
    let error = |f: usize| (hips(&result, f) - transfer.scale() * hips(take, f)).abs();
    (0..take.clip.frames()).map(error).fold(0.0, f64::max)
}

#[test]
fn a_body_off_the_floor_keeps_the_height_of_the_take() {
    let target = shipped("mannequin.glb").character;
    let jump = take("jump.bvh");
    let cut = Motion { contacts: None, ..jump.part(flight(&jump)) };
    let walk = take("walk.bvh");
    for (what, clip) in [("flight", cut), ("edge", seated(&walk)), ("bar", swinging(&walk))] {
        for labels in [false, true] {
            let clip = if labels { labelled(clip.clone()) } else { clip.clone() };
            let error = height_error(&clip, &target);
            assert!(error < 0.1, "{what}, labels {labels}: hips {error} m off");
        }
    }
}

#[test]
fn moments_of_a_flight_keep_the_height_of_the_take() {
    let target = shipped("mannequin.glb").character;
    let jump = take("jump.bvh");
    let frames = flight(&jump);
    for length in [1, 2, 3, 4, 6, 8, 11, 15, 20, 30] {
        for first in (frames.start..frames.end - length).step_by(5) {
            let moment = Motion { contacts: None, ..jump.part(first..first + length) };
            for moment in [labelled(moment.clone()), moment] {
                let error = height_error(&moment, &target);
                let labels = moment.contacts.is_some();
                assert!(error < 0.1, "{length} frames from {first}, labels {labels}: hips {error} m off");
            }
        }
    }
}

/// The height of the hips of a result of the default pipeline less the take's, scaled, at its largest, metres.
fn height_error_of_pipeline(take: &Motion, character: &str) -> f64 {
    let path = format!("{}/data/{character}", env!("CARGO_MANIFEST_DIR"));
    let target = shipped(character).character;
    let scale = transfer(take, &target).scale();
    let result = Pipeline::standard(path).unwrap().apply(take.clone()).unwrap().0;
    let hips = |motion: &Motion, f: usize| position(motion, f, Role::UpperLeg(Side::Left)).y;
    let error = |f: usize| (hips(&result, f) - scale * hips(take, f)).abs();
    (0..take.clip.frames()).map(error).fold(0.0, f64::max)
}

#[test]
fn a_body_on_a_seat_or_a_bar_is_not_lowered_onto_its_feet() {
    let wave = take("wave.bvh");
    let raised = |clip: &Motion, by: f64| moved(clip, |_| (Quat::identity(), Vec3::zeros(), by));
    let takes = [
        ("a high chair", bent(&wave, [-1.5, 1.5, 0.0]), 0.4),
        ("feet on the rung of a stool", bent(&wave, [-1.2, 1.7, -0.5]), 0.3),
        ("a bar stool with a foot rest", bent(&wave, [-0.9, 0.7, 0.2]), 0.3),
        ("a bar", bent(&with_arms(&wave, Vec3::y()), [-0.05, 0.1, 0.7]), 0.25),
    ];
    for (what, clip, height) in takes {
        let low = (0..clip.clip.frames()).map(|f| lowest(&clip.model_pose(f))).fold(f64::INFINITY, f64::min);
        // The lowest joint is that far above the floor.
        let clip = raised(&clip, height - low);
        for character in ["mannequin.glb", "robot.glb"] {
            let error = height_error_of_pipeline(&clip, character);
            assert!(error < 0.1, "{what} on {character}: hips {error} m off");
        }
    }
    // On a floor of the same height it crouches, stands and stands on its toes; what sways rests neither on a seat nor on a bar.
    let hanging = with_arms(&wave, -Vec3::y());
    let swaying = |clip: &Motion| {
        let aside = |f: usize| 0.3 * (4.0 * f as f64 / clip.clip.sample_rate).sin();
        let hips = clip.character.rig.joint(Role::Hips).unwrap();
        changed(clip, |f, pose| pose.local_mut()[hips.index()].translation += Vec3::x() * aside(f))
    };
    for (what, clip) in [
        ("crouch", bent(&wave, [-0.7, 1.4, -0.7])),
        ("toes", bent(&wave, [0.0, 0.0, 0.7])),
        ("toes, with hands that rest below the head", bent(&hanging, [0.0, 0.0, 0.7])),
        ("flat feet, with hands that rest above the head", with_arms(&wave, Vec3::y())),
        ("a stool, with hips that sway", swaying(&bent(&wave, [-0.9, 0.7, 0.2]))),
        ("a bar, with hands that sway", swaying(&bent(&with_arms(&wave, Vec3::y()), [-0.05, 0.1, 0.7]))),
    ] {
        let low = lowest(&clip.model_pose(0));
        let error = height_error_of_pipeline(&raised(&clip, 0.5 - low), "mannequin.glb");
        assert!(error > 0.35, "{what}: it is lowered onto its feet by {error} m");
    }
}

#[test]
fn takes_whose_feet_stand_are_put_on_the_floor() {
    let target = shipped("mannequin.glb").character;
    for file in ["walk.bvh", "squat.bvh", "jump.bvh", "turn.bvh"] {
        let take = take(file);
        let plain = transfer(&take, &target).apply(&take);
        // A floor of half a metre.
        let raised = moved(&take, |_| (Quat::identity(), Vec3::zeros(), 0.5));
        let high = transfer(&raised, &target).apply(&raised);
        for f in 0..take.clip.frames() {
            let apart = position(&plain, f, Role::Hips) - position(&high, f, Role::Hips);
            assert!(apart.norm() < 1e-6, "{file}, frame {f}: {} m", apart.norm());
        }
        assert!(detect(&raised, &ContactOptions::default()).ground > 0.45, "{file}");
        assert!(detect(&pitched(&raised, 180.0), &ContactOptions::default()).ground == 0.0, "{file}");
    }
    // A body that stands on a moving board: no foot rests, and both stay at one height.
    let walk = take("walk.bvh");
    let rate = walk.clip.sample_rate;
    let hips = walk.character.rig.joint(Role::Hips).unwrap();
    let board = changed(&walk, |f, pose| {
        *pose = walk.clip.pose(walk.character.skeleton(), 0);
        pose.local_mut()[hips.index()].translation += Vec3::new(0.0, 0.4, 3.0 * f as f64 / rate);
    });
    assert!(detect(&board, &ContactOptions::default()).ground > 0.35);
}

#[test]
fn a_take_off_the_floor_is_reported() {
    let target = shipped("mannequin.glb").character;
    let walk = take("walk.bvh");
    for (clip, expected) in [(walk.clone(), 0), (pitched(&walk, 180.0), 1), (seated(&walk), 1)] {
        let setting =
            Setting { target: Some(Arc::clone(&target)), ..Setting::new(Arc::clone(&clip.character), "") };
        let stage = RetargetConfig::default().resolve(&setting).unwrap();
        let mut report = Report::default();
        stage.apply(clip, &mut report).unwrap();
        let found = report.warnings.iter().filter(|w| w.code == "take-off-floor").count();
        assert_eq!(found, expected);
    }
}

#[test]
fn hands_that_bear_a_body_with_raised_feet_are_on_the_floor() {
    let target = shipped("mannequin.glb").character;
    let stand = take("walk.bvh").part(0..40);
    for (degrees, arms) in [(180.0, Vec3::y()), (100.0, Vec3::z())] {
        let take = labelled(pitched(&with_arms(&stand, arms), degrees));
        let result = transfer(&take, &target).apply(&take);
        for f in (0..40).step_by(4) {
            let low = lowest_skin(&result, f);
            assert!(low.abs() < 0.05, "{degrees} degrees, frame {f}: the lowest skin is at {low} m");
        }
    }
}
