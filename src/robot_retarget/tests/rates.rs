//! Takes at several rates.

use super::*;
use crate::robot_retarget::robot_goals::speed;
use crate::robot_retarget::time_levels::TimeLevel;
use crate::signal::{Rate, Resampling, resample};

/// The first seconds of a shipped take at a rate.
fn at_rate(name: &str, seconds: f64, hz: f64) -> Motion {
    let motion = take(name);
    let clip = resample(&motion.clip, Rate::from_hz(hz).unwrap(), Resampling::default(), &[]);
    let poses: Vec<_> =
        (0..(seconds * hz) as usize).map(|f| clip.pose(motion.character.skeleton(), f)).collect();
    let clip = crate::model::Clip::from_poses("rated", hz, motion.character.skeleton(), &poses);
    Motion::new(Arc::clone(&motion.character), clip)
}

/// The farthest that a link of one motion is from that of another ten times a second, metres.
fn apart(one: &RobotMotion, other: &RobotMotion) -> f64 {
    let robot = robot();
    let placed = |motion: &RobotMotion, tenth: usize| {
        let frame = tenth * motion.rate as usize / 10;
        robot.links_in_world(motion.base[frame], motion.values(frame))
    };
    let apart = |tenth: usize| {
        let pairs = placed(one, tenth).into_iter().zip(placed(other, tenth));
        pairs.map(|(a, b)| (a.translation - b.translation).norm()).fold(0.0, f64::max)
    };
    (0..20).map(apart).fold(0.0, f64::max)
}

/// The sums of the solve are integrals over time, and its first guess is of the same times.
#[test]
fn a_take_gives_the_same_motion_at_any_rate() {
    for name in ["walk.bvh", "wave.bvh"] {
        let dense = performed(&at_rate(name, 2.0, 120.0));
        for hz in [50.0, 60.0] {
            let apart = apart(&dense, &performed(&at_rate(name, 2.0, hz)));
            assert!(apart < 0.002, "{name} at {hz} Hz is {apart} m off");
        }
    }
}

/// So that an arm passes a pole on the same side.
#[test]
fn the_first_guess_is_of_the_same_times_at_any_rate() {
    let unknowns = unknowns();
    let guess = |hz: f64| {
        let motion = at_rate("wave.bvh", 2.0, hz);
        let body = TakeBody::of(&motion, &Quat::identity()).unwrap();
        let goals = Goals::of(&body, &unknowns.body, hz, &[]);
        first_guess(&unknowns, &TimeLevel::coarse(&goals).goals(&goals), &SolveSettings::FINAL)
    };
    let dense = guess(120.0);
    for hz in [30.0, 50.0, 60.0] {
        let states = guess(hz);
        assert!(states.len().abs_diff(dense.len()) < 2, "{} and {} at {hz} Hz", dense.len(), states.len());
        for (k, (one, other)) in dense.iter().zip(&states).enumerate() {
            let off =
                one.values.iter().zip(&other.values).fold(0.0f64, |most, (a, b)| most.max((a - b).abs()));
            assert!(off < 0.02, "a hinge of guess {k} at {hz} Hz is {off} rad off");
        }
    }
}

/// A foot that rests in a recording which trembles by 2 mm does not move.
#[test]
fn a_point_that_trembles_is_not_fast() {
    let point = |f: usize| Vec3::new(if (f / 2).is_multiple_of(2) { 0.001 } else { -0.001 }, 0.0, 0.0);
    let path: Vec<Vec3> = (0..40).map(point).collect();
    let fastest = (0..40).map(|f| speed(&path, &(0..40), f, 120.0)).fold(0.0, f64::max);
    assert!(fastest < 0.065, "{fastest} m/s");
    let steady: Vec<Vec3> = (0..40).map(|f| Vec3::x() * f as f64 * 0.01).collect();
    assert!((0..40).all(|f| (speed(&steady, &(0..40), f, 50.0) - 0.5).abs() < 1e-12));
    // Beyond a cut it is elsewhere.
    let cut: Vec<Vec3> = (0..40).map(|f| Vec3::x() * if f < 20 { 0.0 } else { 1.0 }).collect();
    assert!((0..20).all(|f| speed(&cut, &(0..20), f, 120.0) == 0.0));
}
