//! The stage `retarget` between two bodies on one skeleton.

use crate::made_bodies::{ADULT, Build, GESTURES, body, bones, perform};
use posemill::math::{Quat, Vec3, exp};
use posemill::model::{Character, Motion, Rig, Skeleton};
use posemill::report::Report;
use posemill::stages::{RetargetConfig, Setting, StageConfig};
use std::sync::Arc;

/// The motion on another character with the same bones, with and without the correction of its arms.
fn onto(motion: &Motion, target: &Arc<Character>) -> [Motion; 2] {
    let setting =
        Setting { target: Some(Arc::clone(target)), ..Setting::new(Arc::clone(&motion.character), "") };
    [true, false].map(|hands| {
        let stage = RetargetConfig { hands, ..RetargetConfig::default() }.resolve(&setting).unwrap();
        stage.apply(motion.clone(), &mut Report::default()).unwrap()
    })
}

/// The largest angle between rotations of two motions, radians.
fn apart([a, b]: &[Motion; 2]) -> f64 {
    a.clip
        .all_rotations()
        .iter()
        .zip(&b.clip.all_rotations())
        .map(|(a, b): (&Quat, &Quat)| a.angle_to(b))
        .fold(0.0, f64::max)
}

#[test]
fn hands_keep_their_place_on_a_stouter_body_with_the_same_bones() {
    let source = Arc::new(body(&ADULT));
    let stout = Arc::new(body(&Build { girth: 1.5, ..ADULT }));
    let mut moved = 0.0_f64;
    for gesture in GESTURES {
        let motion = perform(&source, gesture);
        moved = moved.max(apart(&onto(&motion, &stout)));
        // The same skin, and a take without skin: every bit of the direct transfer.
        let [placed, copy] = onto(&motion, &Arc::new(body(&ADULT)));
        assert_eq!(placed.clip, copy.clip, "{gesture:?}");
        let bare = Motion::new(Arc::new(bones(&ADULT)), motion.clip.clone());
        let [placed, copy] = onto(&bare, &stout);
        assert_eq!(placed.clip, copy.clip, "{gesture:?}, without skin");
    }
    // Two centimetres at the end of a 55 cm arm: trunk and thighs are thicker by more than that.
    assert!(moved > 0.04, "{moved} radians");
}

#[test]
fn bones_that_are_rotated_as_a_whole_at_rest_are_the_same_bones() {
    let target = Arc::new(body(&ADULT));
    let made = bones(&ADULT);
    let mut joints = made.skeleton().joints().to_vec();
    joints[0].rest.rotation = exp(&Vec3::new(-0.7, 0.1, 0.15));
    let roles: Vec<_> = made.rig.assignments().map(|(role, at)| (role, at.clone())).collect();
    let rig = Rig::new(Skeleton::new(joints).unwrap(), roles);
    let leaning = Arc::new(Character::new("leaning", rig));
    for gesture in GESTURES {
        let motion = perform(&target, gesture);
        let bare = Motion::new(Arc::clone(&leaning), motion.clip.clone());
        let off = apart(&[onto(&bare, &target)[0].clone(), motion]);
        assert!(off < 1e-9, "{gesture:?}: {off} radians");
    }
}
