//! Jumps of arrays whose origin is the pelvis: the body falls freely, whatever its feet do on the way.

use super::figure::{Figure, Points, poses};
use crate::export::npy::{ArrayRate, PointArrayOptions, write};
use crate::import::{ImportOptions, load};
use crate::math::Vec3;
use crate::model::Role;
use crate::report::Warnings;
use std::path::Path;

const RATE: f64 = 60.0;
/// Speeds at the take-off, upwards and ahead, m/s: a jump of 0.26 m and 0.69 m.
const TAKE_OFF: (f64, f64) = (2.26, 1.5);
/// Depth of the crouch before the jump and after it, metres.
const CROUCH: f64 = 0.25;
const GRAVITY: f64 = 9.81;

/// Where body and feet are after `time` seconds: half a second of rest, the take-off, the flight, the landing, rest.
fn jump(time: f64) -> (Vec3, Vec3) {
    let (up, ahead) = TAKE_OFF;
    let push = 2.0 * CROUCH / up;
    let flight = 2.0 * up / GRAVITY;
    let lands = push + flight;
    let t = time - 0.5;
    // Speeds change evenly while the feet stand.
    let pushed = (t / push).clamp(0.0, 1.0).powi(2);
    let airborne = (t - push).clamp(0.0, flight);
    let landed = 1.0 - (1.0 - (t - lands) / push).clamp(0.0, 1.0).powi(2);
    let high = CROUCH * (pushed - 1.0 - landed) + up * airborne - GRAVITY * airborne.powi(2) / 2.0;
    let far = ahead * (push / 2.0 * (pushed + landed) + airborne);
    // The feet are drawn up and swing as far ahead as the body gets from the crouch to the crouch.
    let swung = airborne / flight;
    let drawn_up = (std::f64::consts::PI * swung).sin().powi(2) * 0.1;
    let feet = Vec3::new(
        0.0,
        airborne * (up - GRAVITY * airborne / 2.0) + drawn_up,
        ahead * (push + flight) * swung,
    );
    (Vec3::new(0.0, high, far), feet)
}

#[test]
fn a_body_that_jumps_gets_as_high_and_as_far_as_gravity_has_it() {
    let standing = Figure { frames: 1, rate: RATE, yaw: |_| 0.0, elbow: |_| 1.0 }.points().frames[0];
    let frames = (2.0 * RATE) as usize;
    let points = Figure { frames, rate: RATE, yaw: |_| 0.0, elbow: |_| 1.0 }.points();
    let points = points.mapped(|f, k, _| {
        let (body, feet) = jump(f as f64 / RATE);
        let share = match k {
            7 | 8 | 10 | 11 => 1.0,
            4 | 5 => 0.5,
            _ => 0.0,
        };
        standing[k] + body.lerp(&feet, share)
    });
    let hips: Vec<Vec3> = points.frames.iter().map(|p| (p[1] + p[2]) * 0.5).collect();
    for noise in [0.0, 0.005] {
        let local = Figure { frames, rate: RATE, yaw: |_| 0.0, elbow: |_| 1.0 }.points();
        let local = local.mapped(|f, k, _| points.frames[f][k]).with_noise(noise);
        let middle: Vec<Vec3> = local.frames.iter().map(|p| (p[1] + p[2]) * 0.5).collect();
        let fitted = local.mapped(|f, _, p| p - middle[f]).fitted();
        let said = fitted.warnings.iter().find(|w| w.code == "points-path").unwrap();
        assert!(said.message.ends_with("by gravity in a flight"), "{}", said.message);
        let (motion, poses) = poses(&fitted);
        let joint = motion.character.rig.joint(Role::Hips).unwrap();
        let moved = |f: usize| poses[f].position(joint) - poses[0].position(joint);
        let end = frames - 1;
        let far = moved(end).z - (hips[end] - hips[0]).z;
        // Of 1.02 m; the feet alone would lose the whole flight (0.69 m).
        assert!(far.abs() < 0.4, "{noise}: off by {far} m at the end");
        let high = |of: &dyn Fn(usize) -> f64| (0..frames).map(of).fold(f64::MIN, f64::max);
        let higher = high(&|f| moved(f).y) - high(&|f| hips[f].y - hips[0].y);
        assert!(higher.abs() < 0.05, "{noise}: {higher} m too high");
    }
}

/// A take of `data/` as an array, with white noise of a deviation in metres.
fn shipped(name: &str, noise: f64) -> Points {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(name);
    let take = load(path, &ImportOptions::default()).unwrap().motion(0).unwrap();
    let options = PointArrayOptions { rate: ArrayRate::Hz(RATE), ..PointArrayOptions::default() };
    let bytes = write(&take, &options, &mut Warnings::new()).unwrap();
    let head = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let numbers = bytes[head..].chunks_exact(4).map(|b| f64::from(f32::from_le_bytes(b.try_into().unwrap())));
    let numbers: Vec<f64> = numbers.collect();
    let points: Vec<Vec3> = numbers.chunks_exact(3).map(Vec3::from_column_slice).collect();
    let frames = points.chunks_exact(22).map(|frame| frame.try_into().unwrap()).collect();
    Points { rate: RATE, frames, upper_arm: Vec::new() }.with_noise(noise)
}

#[test]
fn takes_that_walk_do_not_fly_and_one_that_jumps_gets_its_height() {
    // Noise of 5 mm blurs the take-off of this jump, seen by four points of the feet.
    for (name, noise) in
        [("walk.bvh", 0.0), ("turn.bvh", 0.0), ("squat.bvh", 0.0), ("jump.bvh", 0.0), ("walk.bvh", 0.005)]
    {
        let points = shipped(name, noise);
        let hips: Vec<Vec3> = points.frames.iter().map(|p| (p[1] + p[2]) * 0.5).collect();
        let truth = points.frames.iter().map(|p| p[0].y).fold(f64::MIN, f64::max) - points.frames[0][0].y;
        let fitted = points.mapped(|f, _, p| p - hips[f]).fitted();
        let said = fitted.warnings.iter().find(|w| w.code == "points-path").unwrap();
        assert_eq!(
            said.message.contains("by gravity"),
            name == "jump.bvh",
            "{name}, {noise}: {}",
            said.message
        );
        let (motion, poses) = poses(&fitted);
        let joint = motion.character.rig.joint(Role::Hips).unwrap();
        let high = poses.iter().map(|p| p.position(joint).y).fold(f64::MIN, f64::max);
        let higher = high - poses[0].position(joint).y - truth;
        assert!(higher.abs() < 0.06, "{name}, {noise}: {higher} m too high");
    }
}
