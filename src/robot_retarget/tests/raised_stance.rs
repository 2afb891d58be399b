//! Takes that stand a little above the floor.

use super::*;
use crate::robot_retarget::raised_stance::raised_stance;

/// The lowest point of the soles in each frame.
fn lowest(made: &RobotMotion) -> Vec<f64> {
    let body = RobotBody::of(&robot()).unwrap();
    let low = |frame: usize| {
        let links = body.robot.links_in_world(made.base[frame], made.values(frame));
        let corners =
            body.soles.iter().flat_map(|sole| sole.corners.map(|corner| links[sole.link].point(&corner).z));
        corners.fold(f64::MAX, f64::min)
    };
    (0..made.frames()).map(low).collect()
}

/// On the tips of the toes, which a robot lacks, the soles of a take are 4 cm above the floor.
#[test]
fn a_take_on_the_tips_of_its_toes_does_not_make_a_robot_hover() {
    let mut risen = slow("wave.bvh", 60);
    for frame in 0..60 {
        let by = 0.04 * crate::math::smoothstep((frame as f64 - 20.0) / 15.0);
        risen.clip.translations_mut(frame)[0].y += by;
    }
    let soles = lowest(&performed(&risen));
    let highest = soles.iter().copied().fold(0.0, f64::max);
    assert!(highest < 0.005, "the soles are {highest} m above the floor");
}

/// A leg of 1 m at 30 Hz: toe tips for a second, the top of a hop for a tenth of one, and a box under both feet.
#[test]
fn only_what_stands_near_the_floor_for_a_while_is_raised() {
    let heights = |height: f64, frames: usize| {
        let at = |f: usize| Vec3::z() * if (30..30 + frames).contains(&f) { height } else { 0.0 };
        let path: Vec<Vec3> = (0..90).map(at).collect();
        let soles = [0, 1].map(|_| [path.clone(), path.clone()]);
        raised_stance(&soles, std::slice::from_ref(&(0..90)), 1.0, 30.0)
    };
    let (tips, hop, on_box) = (heights(0.05, 30), heights(0.05, 4), heights(0.3, 30));
    assert!((tips[45] - 0.05).abs() < 0.005 && tips[0].abs() < 1e-6, "{} {}", tips[45], tips[0]);
    assert_eq!([hop, on_box].map(|all| all.into_iter().fold(0.0, f64::max)), [0.0; 2]);
}

#[test]
fn a_jump_keeps_its_height() {
    let take = slow("jump.bvh", 75);
    let (own, body) = (unknowns().body, TakeBody::of(&take, &Quat::identity()).unwrap());
    let goals = Goals::of(&body, &own, take.clip.sample_rate, &[]);
    let range = |heights: Vec<f64>| {
        heights.iter().copied().fold(0.0, f64::max) - heights.iter().copied().fold(f64::MAX, f64::min)
    };
    let hips = body.legs[0].root.at.iter().zip(&body.legs[1].root.at).map(|(a, b)| (a.z + b.z) / 2.0);
    let (takes, goals) =
        (range(hips.collect()) * goals.scale, range(goals.hips.iter().map(|p| p.z).collect()));
    assert!(takes > 0.3 && (takes - goals).abs() < 0.002, "{goals} m instead of {takes} m");
}
