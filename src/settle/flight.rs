//! Times without contact: the centre of mass takes the parabola from where it leaves the ground to where it lands.
//!
//! `c(t) = c0 + v0 t + g t^2 / 2`, with `v0` such that it lands where the clip lands. The clip left and landed at another
//! speed; the difference fades over the steps before and after by a cubic. Space: model space. Units: SI, frames.

use super::floor::Floor;
use super::ragdoll::{GRAVITY, Ragdoll};
use crate::math::Vec3;
use crate::model::{ModelPose, Pose, Skeleton};
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

/// Moves the hips of `poses` so that the centre of mass flies along its parabolas.
pub fn make_ballistic(
    (ragdoll, skeleton): (&Ragdoll, &Skeleton),
    poses: &mut [Pose],
    flights: &[Flight],
    rate: f64,
    fade: bool,
) {
    let n = poses.len();
    let mut shifts = vec![Vec3::zeros(); n];
    for flight in flights {
        let (off, on) = (flight.frames.start - 1, flight.frames.end);
        let center = |f: usize| ragdoll.center_of_mass(&ModelPose::of(skeleton, &poses[f]));
        let centers: Vec<Vec3> = (off..=on).map(center).collect();
        let time = (on - off) as f64 / rate;
        let gravity = Vec3::new(0.0, -GRAVITY, 0.0);
        let (first, last) = (centers[0], centers[on - off]);
        let speed = (last - first) / time - gravity * (0.5 * time);
        for f in flight.frames.clone() {
            let t = (f - off) as f64 / rate;
            shifts[f] += first + speed * t + gravity * (0.5 * t * t) - centers[f - off];
        }
        if !fade || on - off < 2 {
            continue;
        }
        // The speed at the ends that the shift adds.
        let leaving = shifts[off + 1] * rate;
        let landing = -shifts[on - 1] * rate;
        let cubic = |s: f64, speed: Vec3| {
            let u = s / FADE;
            if u < 1.0 { speed * (-s * (1.0 - u) * (1.0 - u)) } else { Vec3::zeros() }
        };
        for (f, shift) in shifts.iter_mut().enumerate().take(off) {
            *shift += cubic((off - f) as f64 / rate, leaving);
        }
        for (f, shift) in shifts.iter_mut().enumerate().skip(on + 1) {
            *shift -= cubic((f - on) as f64 / rate, landing);
        }
    }
    shift_hips((ragdoll, skeleton), poses, &shifts);
}

/// Moves the hips of every pose.
pub fn shift_hips((ragdoll, skeleton): (&Ragdoll, &Skeleton), poses: &mut [Pose], shifts: &[Vec3]) {
    let hips = ragdoll.parts[0].joint;
    for (pose, shift) in poses.iter_mut().zip(shifts) {
        if *shift == Vec3::zeros() {
            continue;
        }
        let model = ModelPose::of(skeleton, pose);
        let turn = skeleton.parent(hips).map(|p| model.joint(p).rotation.inverse());
        pose.local_mut()[hips.index()].translation += turn.map_or(*shift, |q| q * shift);
        // Joints that hang somewhere else move along.
        let elsewhere = |j| !skeleton.is_ancestor(hips, j);
        for part in ragdoll.parts.iter().filter(|p| p.apart && elsewhere(p.joint)) {
            let turn = skeleton.parent(part.joint).map(|p| model.joint(p).rotation.inverse());
            pose.local_mut()[part.joint.index()].translation += turn.map_or(*shift, |q| q * shift);
        }
    }
}
