//! A clip is followed in overlapping windows, each on its own, and cross-faded to one.
//!
//! Windows start on the course, so that errors do not add up over a long clip and windows can be worked on side by side;
//! where they are cut depends on nothing but the clip. Units: seconds, frames.

use super::course::Course;
use super::floor::Floor;
use super::lock::smoothstep;
use super::ragdoll::Ragdoll;
use super::track::{Gains, Moment, track};
use crate::dynamics::BodyState;
use crate::math::slerp;
use crate::model::{ModelPose, Skeleton};
use rayon::prelude::*;
use std::ops::Range;

/// One window: the frames that are its own, and those that it follows.
#[derive(Clone, Debug, PartialEq)]
pub struct Window {
    /// What no other window answers for.
    pub own: Range<usize>,
    /// With the overlaps.
    pub all: Range<usize>,
}

/// The windows of a clip of `frames` frames.
pub fn windows(frames: usize, rate: f64, length: f64, overlap: f64) -> Vec<Window> {
    let length = ((length * rate).round() as usize).max(2);
    let overlap = ((overlap * rate).round() as usize).clamp(1, length / 2);
    let count = frames.div_ceil(length).max(1);
    // A last window of a few frames joins the one before.
    let count = if count > 1 && frames - (count - 1) * length <= overlap { count - 1 } else { count };
    let window = |k: usize| {
        let own = k * length..if k + 1 == count { frames } else { (k + 1) * length };
        Window { all: own.start.saturating_sub(overlap)..(own.end + overlap).min(frames), own }
    };
    (0..count).map(window).collect()
}

/// The bodies at every frame of the clip.
pub fn follow(
    (ragdoll, skeleton): (&Ragdoll, &Skeleton),
    course: &Course,
    floor: &Floor,
    windows: &[Window],
    hung: &ModelPose,
    gains: &Gains,
) -> Vec<Moment> {
    let one =
        |w: &Window| track((ragdoll, skeleton), course, floor, (w.all.start, w.all.end - 1), hung, gains);
    let followed: Vec<Vec<Moment>> = windows.par_iter().map(one).collect();
    let mut all: Vec<Moment> = Vec::new();
    for (window, moments) in windows.iter().zip(followed) {
        let start = window.all.start;
        let shared = all.len().saturating_sub(start);
        for (k, moment) in moments.into_iter().enumerate() {
            if k < shared {
                let t = smoothstep((k as f64 + 1.0) / (shared as f64 + 1.0));
                let before = &mut all[start + k];
                *before = between(before, &moment, t);
            } else {
                all.push(moment);
            }
        }
    }
    all
}

fn between(a: &Moment, b: &Moment, t: f64) -> Moment {
    let mix = |x: f64, y: f64| x + (y - x) * t;
    let state = |(x, y): (&BodyState, &BodyState)| BodyState {
        position: x.position.lerp(&y.position, t),
        orientation: slerp(&x.orientation, &y.orientation, t),
        velocity: x.velocity.lerp(&y.velocity, t),
        angular_velocity: x.angular_velocity.lerp(&y.angular_velocity, t),
    };
    Moment {
        states: a.states.iter().zip(&b.states).map(state).collect(),
        assist_force: mix(a.assist_force, b.assist_force),
        assist_moment: mix(a.assist_moment, b.assist_moment),
        carried: mix(a.carried, b.carried),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_cover_every_frame_once_and_overlap() {
        for frames in [1, 30, 61, 64, 130, 1000] {
            let all = windows(frames, 30.0, 2.0, 0.5);
            let mut at = 0;
            for w in &all {
                assert_eq!(w.own.start, at);
                assert!(w.all.start <= w.own.start && w.own.end <= w.all.end && w.all.end <= frames);
                at = w.own.end;
            }
            assert_eq!(at, frames);
            assert!(all.windows(2).all(|w| w[1].all.start < w[0].all.end));
        }
    }
}
