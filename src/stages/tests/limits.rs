//! The stage `limits` on a squat: faults are cured, feet stay, and what the performer did is no fault.

use super::super::limits::humanoid;
use super::super::*;
use crate::import::{ImportOptions, load};
use crate::math::{Vec3, exp, smoothstep};
use crate::model::{Asset, JointId, Motion, Role, Side};
use crate::report::Report;
use crate::retarget::{Retarget, RootScale, map};
use std::sync::Arc;

fn shipped(file: &str) -> Asset {
    load(format!("{}/data/{file}", env!("CARGO_MANIFEST_DIR")), &ImportOptions::default()).unwrap()
}

/// The squat on the mannequin.
fn squat() -> Motion {
    let (take, target) = (shipped("squat.bvh").motion(0).unwrap(), shipped("mannequin.glb").character);
    let found = map(&take.character, &target).unwrap();
    let rigs = (&take.character.rig, &target.rig);
    Retarget::new(&take.character, Arc::clone(&target), &found, rigs, RootScale::Legs).apply(&take)
}

/// The joint of the left knee.
fn knee(motion: &Motion) -> JointId {
    motion.character.rig.joint(Role::LowerLeg(Side::Left)).unwrap()
}

/// The squat with its left shin rotated forwards by an angle at the beginning: the knee, bent by 0.25, bends backwards.
fn backwards(squat: &Motion, angle: f64) -> Motion {
    let (mut damaged, knee) = (squat.clone(), knee(squat));
    for f in 0..12 {
        let world = squat.model_pose(f).joint(knee).rotation;
        let forwards = exp(&(Vec3::x() * (-angle * (1.0 - smoothstep(f as f64 / 11.0)))));
        damaged.clip.rotations_mut(f)[knee.index()] *= world.inverse() * forwards * world;
    }
    damaged
}

/// By how much the left knee is outside the published range, radians.
fn excess(motion: &Motion) -> f64 {
    let (mechanism, knee) = (humanoid(&motion.character), knee(motion));
    let of = |f: usize| mechanism.excess(knee, &motion.clip.local(mechanism.skeleton(), f, knee));
    (0..motion.clip.frames()).map(of).fold(0.0, f64::max)
}

fn limited(motion: &Motion, direct: Option<&Motion>) -> Motion {
    let stage =
        StageConfig::resolve(&LimitsConfig::default(), &Setting::new(Arc::clone(&motion.character), ""))
            .unwrap();
    let result = stage.apply_with_direct(motion.clone(), direct, &mut Report::default()).unwrap();
    result.check().unwrap();
    result
}

#[test]
fn a_knee_that_bends_backwards_is_cured_and_its_foot_stays() {
    let squat = squat();
    let (damaged, foot) =
        (backwards(&squat, 0.6), squat.character.rig.joint(Role::Foot(Side::Left)).unwrap());
    let result = limited(&damaged, Some(&squat));
    assert!(excess(&damaged) > 0.15 && excess(&result) < 1e-6, "{} {}", excess(&damaged), excess(&result));
    for f in 0..squat.clip.frames() {
        let [before, after] = [&damaged, &result].map(|motion| *motion.model_pose(f).joint(foot));
        let (moved, turned) =
            ((before.translation - after.translation).norm(), before.rotation.angle_to(&after.rotation));
        assert!(moved < 0.02 && turned < 1e-3, "frame {f}: {moved} m, {turned} rad");
    }
}

#[test]
fn what_the_performer_did_is_no_fault_and_what_exceeds_it_is() {
    let squat = squat();
    let performed = backwards(&squat, 0.6);
    for same in [&squat, &performed] {
        assert_eq!(limited(same, Some(same)).clip, same.clip);
    }
    let [own, left] = [&performed, &limited(&backwards(&squat, 0.8), Some(&performed))].map(excess);
    assert!(left < own + 0.01 && left > 0.5 * own, "{left} of {own}");
}
