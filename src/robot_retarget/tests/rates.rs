//! Takes at several rates.

use super::*;
use crate::development_data::data;
use crate::robot_retarget::robot_goals::{directions_at, speed};
use crate::robot_retarget::time_levels::TimeLevel;
use crate::signal::{Rate, Resampling, resample};

/// The first seconds of a shipped take at a rate.
fn at_rate(name: &str, seconds: f64, hz: f64) -> Motion {
    resampled(&take(name), hz).part(0..(seconds * hz) as usize)
}

fn resampled(motion: &Motion, hz: f64) -> Motion {
    let clip = resample(&motion.clip, Rate::from_hz(hz).unwrap(), Resampling::default(), &[]);
    Motion::new(Arc::clone(&motion.character), clip)
}

/// The goals of a shipped take at a rate.
fn waving(unknowns: &Unknowns, hz: f64) -> Goals {
    let body = TakeBody::of(&at_rate("wave.bvh", 2.0, hz), &Quat::identity()).unwrap();
    Goals::of(&body, &unknowns.body, hz, &[])
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

/// Arms pass the pole of the robot's shoulders, where hardly anything decides how two hinges share a rotation, and in a kneel hardly anything
/// decides where the feet stand.
#[test]
fn what_hardly_anything_decides_is_the_same_at_any_rate() {
    let Some(data) = data() else { return };
    let robot = load(data.join("dcc/robots/mjlab_g1.xml"), &ImportOptions::default()).unwrap();
    let robot = robot.character.robot.clone().unwrap();
    for name in ["cmu/jumping_jacks.bvh", "mocapbank/test_mocapbank.bvh"] {
        let take = load(data.join("bvh").join(name), &ImportOptions::default()).unwrap().motion(0).unwrap();
        let placed = |hz: f64| {
            let motion = performed_on(&robot, &resampled(&take, hz));
            let tenth = |k: usize| {
                let frame = k * motion.rate as usize / 10;
                robot.links_in_world(motion.base[frame], motion.values(frame))
            };
            (0..10 * motion.frames() / hz as usize).map(tenth).collect::<Vec<_>>()
        };
        let dense = placed(120.0);
        for hz in [50.0, 60.0] {
            let apart = |(one, other): (&Vec<Transform>, &Vec<Transform>)| {
                let pairs = one.iter().zip(other);
                pairs.map(|(a, b)| (a.translation - b.translation).norm()).fold(0.0, f64::max)
            };
            let mut apart: Vec<f64> = dense.iter().zip(&placed(hz)).map(apart).collect();
            apart.sort_unstable_by(f64::total_cmp);
            let worst = apart[apart.len() * 95 / 100];
            assert!(worst < 0.002, "{name} at {hz} Hz is {worst} m off");
        }
    }
}

/// An arm that swings to and fro, its speed up to 12 rad/s, is between frames where it is and not on the way from one to the next; after a
/// cut it is elsewhere.
#[test]
fn directions_between_frames_follow_the_swing() {
    let at = |seconds: f64| {
        let angle = 2.0 * libm::sin(6.0 * seconds);
        Vec3::new(libm::cos(angle), libm::sin(angle), 0.0)
    };
    let mut path: Vec<Vec3> = (0..50).map(|f| at(f as f64 / 50.0)).collect();
    let times: Vec<f64> = (4..180).map(|k| k as f64 / 4.0).collect();
    let found = directions_at(&path, &[false; 50], &times);
    let off = |(time, found): (&f64, &Vec3)| angle_between(found, &at(time / 50.0));
    let worst = times.iter().zip(&found).map(off).fold(0.0, f64::max);
    assert!(worst < 1e-3, "{worst} rad");
    path.iter_mut().skip(25).for_each(|direction| *direction = Vec3::z());
    let cut: Vec<bool> = (0..50).map(|f| f == 25).collect();
    let beside = directions_at(&path, &cut, &[23.5, 25.5]);
    assert!(beside[0].z == 0.0 && beside[1] == Vec3::z(), "{beside:?}");
}

/// A hinge that swings at the cutoff.
#[test]
fn smoothness_is_the_same_at_any_rate() {
    let unknowns = unknowns();
    let share = |hz: f64| {
        let goals = waving(&unknowns, hz);
        let settings = SolveSettings::FINAL;
        RobotEquations { unknowns: &unknowns, goals: &goals, settings, cutoff: 4.0 }.bend_share()
    };
    let cost = |hz: f64| {
        let bend = 2.0 * (1.0 - libm::cos(TAU * 4.0 / hz)) * hz * hz;
        share(hz) * bend * bend
    };
    let dense = cost(120.0);
    assert!([30.0, 50.0, 60.0].iter().all(|&hz| (cost(hz) / dense - 1.0).abs() < 1e-9));
    // 4 Hz is beyond what their frames can show, or every frame has the same of it.
    assert_eq!([1.0, 4.0, 8.0, 24.0].map(share), [1.0; 4]);
}

/// So that an arm passes a pole on the same side.
#[test]
fn the_first_guess_is_of_the_same_times_at_any_rate() {
    let unknowns = unknowns();
    let guess = |hz: f64| {
        let goals = waving(&unknowns, hz);
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
