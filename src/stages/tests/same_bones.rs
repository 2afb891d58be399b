//! The stage `retarget` between two bodies on one skeleton.

use crate::made_bodies::{ADULT, Build, GESTURES, body, bones, perform};
use posemill::math::Quat;
use posemill::model::{Character, Motion};
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
    let pairs = a.clip.all_rotations().iter().zip(b.clip.all_rotations());
    pairs.map(|(a, b): (&Quat, &Quat)| a.angle_to(b)).fold(0.0, f64::max)
}

#[test]
fn hands_keep_their_place_on_a_stouter_body_with_the_same_bones() {
    let source = Arc::new(body(&ADULT));
    let stout = Arc::new(body(&Build { girth: 1.5, ..ADULT }));
    let mut moved = 0.0_f64;
    for gesture in GESTURES {
        let motion = perform(&source, gesture);
        moved = moved.max(apart(&onto(&motion, &stout)));
        // The same skin, and a take without skin: every bit of the copy.
        let [placed, copy] = onto(&motion, &Arc::new(body(&ADULT)));
        assert_eq!(placed.clip, copy.clip, "{gesture:?}");
        let bare = Motion::new(Arc::new(bones(&ADULT)), motion.clip.clone());
        let [placed, copy] = onto(&bare, &stout);
        assert_eq!(placed.clip, copy.clip, "{gesture:?}, without skin");
    }
    // Two centimetres at the end of a 55 cm arm: trunk and thighs are thicker by more than that.
    assert!(moved > 0.04, "{moved} radians");
}
