//! Times without contact: the centre of mass takes the parabola from where it leaves the ground to where it lands.
//!
//! `c(t) = c0 + v0 t + g t^2 / 2`, with `v0` such that it lands where the clip lands. The clip left and landed at another
//! speed; the difference fades over the steps before and after by a cubic. Space: model space. Units: SI, frames.

use super::ballistic::ballistic;
use super::floor::Floor;
use super::ragdoll::{GRAVITY, Ragdoll};
use crate::math::{Mat3, Quat, Transform, Vec3, exp, log};
use crate::model::{ModelPose, Pose, Skeleton};
use crate::signal::Parabola;
use rayon::prelude::*;
use std::ops::Range;

/// A time without contact between two contacts.
#[derive(Clone, Debug, PartialEq)]
pub struct Flight {
    /// The frames in the air; the one before and the one behind touch.
    pub frames: Range<usize>,
}

/// Shorter times without a label are gaps of the labels, seconds.
const SHORTEST: f64 = 0.08;

/// Seconds on the ground over which a wrong speed at take-off and landing fades.
const FADE: f64 = 0.2;

/// What falls with less than this part of gravity is carried by something: a contact that has no label. A body that a
/// jump was scaled to falls as much more slowly as it is smaller.
const FALLS: f64 = 0.4;

/// The flights of a clip of this many frames.
pub fn flights(floor: &Floor, frames: usize, rate: f64) -> Vec<Flight> {
    let mut found = Vec::new();
    let mut start = None;
    for f in 0..frames {
        if !floor.carries(f) {
            start = start.or(Some(f));
        } else if let Some(s) = start.take() {
            // What the clip begins with has no take-off, what it ends with no landing.
            if s > 0 && (f - s) as f64 >= SHORTEST * rate {
                found.push(Flight { frames: s..f });
            }
        }
    }
    found
}

/// The flights in which `poses` fall: the others are no flights, but contacts that have no label.
pub fn plausible(
    (ragdoll, skeleton): (&Ragdoll, &Skeleton),
    poses: &[Pose],
    flights: Vec<Flight>,
    rate: f64,
) -> Vec<Flight> {
    let falls = |flight: &Flight| {
        let frames = flight.frames.start - 1..=flight.frames.end;
        let centers: Vec<Vec3> =
            frames.map(|f| ragdoll.center_of_mass(&ModelPose::of(skeleton, &poses[f]))).collect();
        Parabola::through(&centers).acceleration().y * rate * rate < -FALLS * GRAVITY
    };
    flights.into_iter().filter(falls).collect()
}

/// The shifts of the frames of a flight that put the centre of mass on its parabola.
fn shifts_of(
    (ragdoll, skeleton): (&Ragdoll, &Skeleton),
    poses: &[Pose],
    flight: &Flight,
    rate: f64,
) -> Vec<Vec3> {
    let (off, on) = (flight.frames.start - 1, flight.frames.end);
    let center = |f: usize| ragdoll.center_of_mass(&ModelPose::of(skeleton, &poses[f]));
    let centers: Vec<Vec3> = (off..=on).map(center).collect();
    let time = (on - off) as f64 / rate;
    let gravity = Vec3::new(0.0, -GRAVITY, 0.0);
    let (first, last) = (centers[0], centers[on - off]);
    let speed = (last - first) / time - gravity * (0.5 * time);
    let shift = |k: usize| {
        let t = k as f64 / rate;
        first + speed * t + gravity * (0.5 * t * t) - centers[k]
    };
    (1..on - off).map(shift).collect()
}

/// Moves the hips of `poses` so that the centre of mass flies along its parabolas, from where it takes off to where it
/// lands.
pub fn make_ballistic(body: (&Ragdoll, &Skeleton), poses: &mut [Pose], flights: &[Flight], rate: f64) {
    let mut shifts = vec![Vec3::zeros(); poses.len()];
    for flight in flights {
        let found = shifts_of(body, poses, flight, rate);
        shifts[flight.frames.clone()].iter_mut().zip(found).for_each(|(s, found)| *s += found);
    }
    shift_hips(body, poses, &shifts);
}

/// As [`make_ballistic`], with takes-off and landings changed so that the body gets into its parabolas smoothly.
pub fn lead_into_flights(
    (ragdoll, skeleton): (&Ragdoll, &Skeleton),
    poses: &mut [Pose],
    flights: &[Flight],
    rate: f64,
) {
    if flights.is_empty() {
        return;
    }
    let center = |p: &Pose| ragdoll.center_of_mass(&ModelPose::of(skeleton, p));
    let centers: Vec<Vec3> = poses.par_iter().map(center).collect();
    shift_hips((ragdoll, skeleton), poses, &ballistic(&centers, flights, rate));
}

/// Adds to values what fades before a flight that begins behind frame `off` and after one that ends before `on`, so
/// that what the flight adds sets in with its slope; `ends` is what it adds in its first and last frame.
fn faded((off, on): (usize, usize), ends: [Vec3; 2], rate: f64, values: &mut [Vec3]) {
    let cubic = |s: f64, slope: Vec3| {
        let u = s / FADE;
        if u < 1.0 { slope * (-s * (1.0 - u) * (1.0 - u)) } else { Vec3::zeros() }
    };
    let [leaving, landing] = ends.map(|value| value * rate);
    for (f, value) in values.iter_mut().enumerate().take(off) {
        *value += cubic((off - f) as f64 / rate, leaving);
    }
    for (f, value) in values.iter_mut().enumerate().skip(on + 1) {
        *value += cubic((f - on) as f64 / rate, landing);
    }
}

/// Turns the body in flight so that its angular momentum stays as it is: by `w(t) = I(t)^-1 (L0 - L(t))` about the
/// centre of mass, with the `L0` for which the turn is over when it lands.
pub fn keep_spin(
    (ragdoll, skeleton): (&Ragdoll, &Skeleton),
    poses: &mut [Pose],
    flights: &[Flight],
    rate: f64,
    fade: bool,
) {
    for flight in flights {
        let (off, on) = (flight.frames.start - 1, flight.frames.end);
        let models: Vec<ModelPose> = (off..=on).map(|f| ModelPose::of(skeleton, &poses[f])).collect();
        let spins: Vec<Vec3> =
            models.windows(2).map(|w| angular_momentum(ragdoll, &w[0], &w[1], rate)).collect();
        let inverses: Vec<Mat3<f64>> =
            models[1..].iter().filter_map(|m| ragdoll.inertia_about_center(m).try_inverse()).collect();
        if inverses.len() != spins.len() {
            continue;
        }
        let sum: Mat3<f64> = inverses.iter().sum();
        let drift: Vec3 = inverses.iter().zip(&spins).map(|(i, l)| i * l).sum();
        let Some(kept) = sum.try_inverse().map(|i| i * drift) else { continue };
        let mut turn = Quat::identity();
        let mut turns = vec![Vec3::zeros(); poses.len()];
        for (k, f) in flight.frames.clone().enumerate() {
            turn = exp(&(inverses[k] * (kept - spins[k]) / rate)) * turn;
            turns[f] = log(&turn);
        }
        if fade {
            faded((off, on), [turns[off + 1], turns[on - 1]], rate, &mut turns);
        }
        for (pose, turn) in poses.iter_mut().zip(&turns).filter(|(_, turn)| **turn != Vec3::zeros()) {
            let model = ModelPose::of(skeleton, pose);
            turn_body((ragdoll, skeleton), pose, &model, &exp(turn));
        }
    }
}

/// Turns a whole body about its centre of mass.
fn turn_body((ragdoll, skeleton): (&Ragdoll, &Skeleton), pose: &mut Pose, model: &ModelPose, turn: &Quat) {
    let center = ragdoll.center_of_mass(model);
    for id in ragdoll.tops(skeleton) {
        let joint = model.joint(id);
        let turned = Transform::new(turn * joint.rotation, center + turn * (joint.translation - center));
        let above = skeleton.parent(id).map_or(Transform::identity(), |p| *model.joint(p));
        pose.local_mut()[id.index()] = above.inverse() * turned;
    }
}

/// The angular momentum about the centre of mass between two frames, kg m^2/s.
pub fn angular_momentum(ragdoll: &Ragdoll, from: &ModelPose, to: &ModelPose, rate: f64) -> Vec3 {
    let (a, b) = (ragdoll.states(from), ragdoll.states(to));
    let (ca, cb) = (ragdoll.center_of_mass(from), ragdoll.center_of_mass(to));
    let mut sum = Vec3::zeros();
    for (k, part) in ragdoll.parts.iter().enumerate() {
        let (ra, rb) = (a[k].position - ca, b[k].position - cb);
        sum += ((ra + rb) * 0.5).cross(&(rb - ra)) * (part.mass * rate);
        let turn = log(&(b[k].orientation * a[k].orientation.inverse())) * rate;
        let middle = exp(&(turn / rate * 0.5)) * a[k].orientation;
        sum += middle * (ragdoll.inertia(k) * middle.inverse_transform_vector(&turn));
    }
    sum
}

/// Moves the body of every pose.
pub fn shift_hips((ragdoll, skeleton): (&Ragdoll, &Skeleton), poses: &mut [Pose], shifts: &[Vec3]) {
    let tops = ragdoll.tops(skeleton);
    for (pose, shift) in poses.iter_mut().zip(shifts).filter(|(_, shift)| **shift != Vec3::zeros()) {
        let model = ModelPose::of(skeleton, pose);
        for &id in &tops {
            let turn = skeleton.parent(id).map(|p| model.joint(p).rotation.inverse());
            pose.local_mut()[id.index()].translation += turn.map_or(*shift, |q| q * shift);
        }
    }
}
