//! Times without contact: the centre of mass falls freely, and the body turns as nothing turns it.
//!
//! `c'' = g`, and `I w + L` stays, with `w` the turn that is added to a body of inertia `I` and angular momentum `L`. Only
//! what lies wholly in the air must do so: when a frame between two touches and leaves nobody knows. Source of the way
//! that leads there: [`least_jerk`]. Space: model space. Units: SI, frames.

use super::ballistic::least_jerk;
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

/// Over so many seconds to either side it is told how a body falls.
const WIDTH: f64 = 1.0 / 30.0;

/// A body that falls with less than this part of what it falls with in the middle of a flight may touch something; with
/// more than the second part it does not.
const SHARES: [f64; 2] = [0.6, 0.85];

/// How much more it matters that a body falls freely, and that it keeps its spin, than that its way is smooth.
const FALLS_FREELY: f64 = 1e3;
const SPINS: f64 = 50.0;

/// Rounds of turning: the inertia and the momentum turn with the body.
const TURNS: usize = 2;

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

/// The flights in which `poses` fall, as long as they do: the others are no flights, but contacts that have no label, and
/// a foot that pushes off or comes down moves too fast for a label.
pub fn plausible(
    (ragdoll, skeleton): (&Ragdoll, &Skeleton),
    poses: &[Pose],
    flights: &[Flight],
    rate: f64,
) -> [Vec<Flight>; 2] {
    let center = |p: &Pose| ragdoll.center_of_mass(&ModelPose::of(skeleton, p));
    let centers: Vec<Vec3> = poses.par_iter().map(center).collect();
    let falls = |frames: &Range<usize>| {
        acceleration(&centers[frames.start - 1..=frames.end], rate) < -FALLS * GRAVITY
    };
    let whole: Vec<Range<usize>> = flights.iter().map(|flight| flight.frames.clone()).filter(falls).collect();
    SHARES.map(|share| {
        let found =
            whole.iter().filter_map(|frames| falling(&centers, frames.clone(), rate, share)).filter(falls);
        found.map(|frames| Flight { frames }).collect()
    })
}

/// The flights of both, those that share frames as one.
pub fn joined_flights(some: &[Flight], others: &[Flight]) -> Vec<Flight> {
    let mut all: Vec<Range<usize>> = some.iter().chain(others).map(|flight| flight.frames.clone()).collect();
    all.sort_by_key(|frames| frames.start);
    let mut joined: Vec<Flight> = Vec::new();
    for frames in all {
        match joined.last_mut().filter(|last| frames.start < last.frames.end) {
            Some(last) => last.frames.end = last.frames.end.max(frames.end),
            None => joined.push(Flight { frames }),
        }
    }
    joined
}

/// The frames of a flight between the first and the last in which the body falls about as it does in their middle.
fn falling(centers: &[Vec3], frames: Range<usize>, rate: f64, share: f64) -> Option<Range<usize>> {
    let k = (WIDTH * rate).round().max(1.0) as usize;
    let inner = frames.len() / 4;
    let middle = acceleration(&centers[frames.start + inner - 1..=frames.end - inner], rate);
    let bend = |f: &usize| {
        let k = k.min(*f).min(centers.len() - 1 - f);
        (centers[f + k] - centers[*f] * 2.0 + centers[f - k]).y * (rate / k as f64).powi(2)
    };
    let mut inside = frames.filter(|f| bend(f) < share * middle);
    let first = inside.next()?;
    let last = inside.next_back()?;
    ((last + 1 - first) as f64 >= SHORTEST * rate).then_some(first..last + 1)
}

/// How fast places over time get faster upwards, m/s^2.
fn acceleration(centers: &[Vec3], rate: f64) -> f64 {
    Parabola::through(centers).acceleration().y * rate * rate
}

/// Moves and turns the body of `poses` so that it flies as bodies do, getting into its flights smoothly.
pub fn fly(body: (&Ragdoll, &Skeleton), poses: &mut [Pose], flights: &[Flight], rate: f64) {
    if flights.is_empty() {
        return;
    }
    let (ragdoll, skeleton) = body;
    let frames = poses.len();
    for _ in 0..TURNS {
        let bends: Vec<_> =
            flights.iter().flat_map(|flight| turns_missing(body, poses, flight, rate)).collect();
        let turns = least_jerk(frames, &bends, SPINS, rate);
        for (pose, turn) in poses.iter_mut().zip(turns).filter(|(_, turn)| *turn != Vec3::zeros()) {
            let model = ModelPose::of(skeleton, pose);
            turn_body(body, pose, &model, &exp(&turn));
        }
    }
    let center = |p: &Pose| ragdoll.center_of_mass(&ModelPose::of(skeleton, p));
    let centers: Vec<Vec3> = poses.par_iter().map(center).collect();
    let falls = Vec3::y() * (-GRAVITY / (rate * rate));
    let bend = |f: usize| (f, falls - (centers[f + 1] - centers[f] * 2.0 + centers[f - 1]));
    let bends: Vec<_> = flights.iter().flat_map(|flight| inside(flight).map(bend)).collect();
    shift_hips(body, poses, &least_jerk(frames, &bends, FALLS_FREELY, rate));
}

/// The frames of a flight whose neighbours are in the air as well.
fn inside(flight: &Flight) -> Range<usize> {
    flight.frames.start + 1..flight.frames.end.saturating_sub(1)
}

/// How the turns from frame to frame of a body in flight should change for its angular momentum to stay at its mean.
fn turns_missing(
    (ragdoll, skeleton): (&Ragdoll, &Skeleton),
    poses: &[Pose],
    flight: &Flight,
    rate: f64,
) -> Vec<(usize, Vec3)> {
    let models: Vec<ModelPose> = flight.frames.clone().map(|f| ModelPose::of(skeleton, &poses[f])).collect();
    let pairs: Vec<&[ModelPose]> = models.windows(2).collect();
    let spins: Vec<Vec3> = pairs.iter().map(|w| angular_momentum(ragdoll, &w[0], &w[1], rate)).collect();
    let mean = spins.iter().sum::<Vec3>() / spins.len().max(1) as f64;
    let missing = |(w, spin): (&&[ModelPose], &Vec3)| {
        let inverse: Mat3<f64> = ragdoll.inertia_about_center(&w[0]).try_inverse()?;
        Some(inverse * (mean - spin) / rate)
    };
    let Some(turns) = pairs.iter().zip(&spins).map(missing).collect::<Option<Vec<Vec3>>>() else {
        return Vec::new();
    };
    inside(flight).zip(turns.windows(2)).map(|(f, w)| (f, w[1] - w[0])).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flight_is_as_long_as_the_body_falls() {
        // Nothing has a label from frame 20 on, but the body falls from 30 to 90 only, at three quarters of gravity.
        let rate = 120.0;
        let mut speed = 0.75 * GRAVITY * 30.0 / rate;
        let mut centers = vec![Vec3::zeros()];
        for f in 0..120 {
            let last = centers[f];
            speed -= if (30..90).contains(&f) { 0.75 * GRAVITY / rate } else { 0.0 };
            centers.push(last + Vec3::y() * (speed / rate));
        }
        for share in SHARES {
            let found = falling(&centers, 20..100, rate, share).unwrap();
            assert!(found.start.abs_diff(30) < 4 && found.end.abs_diff(90) < 4, "{share}: {found:?}");
        }
        let [wide, narrow] = SHARES.map(|share| falling(&centers, 20..100, rate, share).unwrap());
        assert!(wide.start <= narrow.start && narrow.end <= wide.end);
    }

    #[test]
    fn flights_that_share_frames_are_one() {
        let flights = |all: &[(usize, usize)]| -> Vec<Flight> {
            all.iter().map(|&(a, b)| Flight { frames: a..b }).collect()
        };
        let joined = joined_flights(&flights(&[(3, 9), (20, 30)]), &flights(&[(8, 12), (15, 20), (21, 25)]));
        assert_eq!(joined, flights(&[(3, 12), (15, 20), (20, 30)]));
    }
}
