//! A clip is followed in overlapping windows, each on its own, and cross-faded to one.
//!
//! Windows start on the course, so that errors do not add up over a long clip and windows can be worked on side by side;
//! where they are cut depends on nothing but the clip. Units: seconds, frames.

use super::flight::Flight;
use super::ragdoll::{Part, Ragdoll};
use super::track::Moment;
use crate::dynamics::BodyState;
use crate::math::slerp;
use crate::model::{ModelPose, Pose, Skeleton};
use rayon::prelude::*;
use std::ops::Range;

/// One window: the frames that are its own, and those that it follows.
#[derive(Clone, Debug, PartialEq)]
pub struct Window {
    /// What no other window answers for.
    pub own: Range<usize>,
    /// With the overlaps.
    pub all: Range<usize>,
    /// Whether it is a flight: its parabola is exact, and bodies start anew where it lands.
    pub flies: bool,
}

/// Seconds on the ground over which physics fades into a flight, and out of it.
const FLIGHT_FADE: f64 = 0.2;

/// Faster than this, m/s for a body of 1.75 m, nobody moves: the take was cut, or starts with a pose for calibration.
const LEAP: f64 = 25.0;

/// The first frames behind a leap.
pub fn leaps((ragdoll, skeleton): (&Ragdoll, &Skeleton), poses: &[Pose], rate: f64) -> Vec<usize> {
    let models: Vec<ModelPose> = poses.par_iter().map(|p| ModelPose::of(skeleton, p)).collect();
    let most = LEAP * ragdoll.height / (1.75 * rate);
    let leaps = |f: &usize| {
        let way = |p: &Part| (models[*f].position(p.joint) - models[f - 1].position(p.joint)).norm();
        ragdoll.parts.iter().any(|p| way(p) > most)
    };
    (1..models.len()).filter(leaps).collect()
}

/// The windows of a clip of `frames` frames; none reaches over one of the `cuts`, and flights are windows of their own.
pub fn windows(frames: usize, cuts: &[usize], flights: &[Flight], rate: f64, how: [f64; 2]) -> Vec<Window> {
    let [length, overlap] = how.map(|seconds| (seconds * rate).round() as usize);
    let length = length.max(2);
    let overlap = overlap.clamp(1, length / 2);
    let take_off = |f: &&Flight| f.frames.start < frames;
    let mut marks: Vec<usize> =
        flights.iter().filter(take_off).flat_map(|f| [f.frames.start, f.frames.end]).collect();
    marks.extend(cuts);
    marks.push(frames);
    marks.sort_unstable();
    marks.dedup();
    let mut start = 0;
    let mut all = Vec::new();
    for end in marks {
        let from = std::mem::replace(&mut start, end);
        let n = end - from;
        if n == 0 {
            continue;
        }
        if flights.iter().any(|f| f.frames.contains(&from)) {
            let before = cuts.iter().copied().filter(|c| *c <= from).max().unwrap_or(0);
            let behind = cuts.iter().copied().filter(|c| *c >= end).min().unwrap_or(frames);
            let fade = (FLIGHT_FADE * rate).round() as usize;
            let all_of_it = from.saturating_sub(fade).max(before)..(end + fade).min(behind);
            all.push(Window { own: from..end, all: all_of_it, flies: true });
            continue;
        }
        let count = n.div_ceil(length).max(1);
        // A last window of a few frames joins the one before.
        let count = if count > 1 && n - (count - 1) * length <= overlap { count - 1 } else { count };
        all.extend((0..count).map(|k| {
            let own = from + k * length..if k + 1 == count { end } else { from + (k + 1) * length };
            let reach = own.start.saturating_sub(overlap).max(from)..(own.end + overlap).min(end);
            Window { all: reach, own, flies: false }
        }));
    }
    all
}

/// A window as two that reach as far beyond what is their own; nothing for one that is not longer than its overlaps.
pub fn halves(window: &Window) -> Option<[Window; 2]> {
    let Window { own, all, flies } = window;
    let reach = (own.start - all.start).max(all.end - own.end);
    let middle = own.start + own.len() / 2;
    let half = |own: Range<usize>| {
        let reached = own.start.saturating_sub(reach).max(all.start)..(own.end + reach).min(all.end);
        Window { own, all: reached, flies: *flies }
    };
    (own.len() >= 2 * reach.max(4)).then(|| [half(own.start..middle), half(middle..own.end)])
}

/// The moments of every window put together; where windows overlap, from one to the other.
pub fn joined<'a>(followed: impl Iterator<Item = (&'a Window, &'a [Moment])>) -> Vec<Moment> {
    let mut all: Vec<Moment> = Vec::new();
    for (window, moments) in followed {
        let start = window.all.start;
        let shared = all.len() - start;
        for (k, moment) in moments.iter().enumerate() {
            if k < shared {
                let t = smoothstep((k as f64 + 1.0) / (shared.min(moments.len()) as f64 + 1.0));
                let before = &mut all[start + k];
                *before = between(before, moment, t);
            } else {
                all.push(moment.clone());
            }
        }
    }
    all
}

/// From 0 to 1 with level ends.
pub(super) fn smoothstep(t: f64) -> f64 {
    let t = t.clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
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
        physics: mix(a.physics, b.physics),
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
        for (frames, cuts) in [(1, vec![]), (30, vec![1]), (61, vec![]), (64, vec![]), (130, vec![7, 129])] {
            let all = windows(frames, &cuts, &[], 30.0, [2.0, 0.5]);
            let mut at = 0;
            for w in &all {
                assert_eq!(w.own.start, at);
                assert!(w.all.start <= w.own.start && w.own.end <= w.all.end && w.all.end <= frames);
                at = w.own.end;
            }
            assert_eq!(at, frames);
            let overlaps = |w: &[Window]| w[1].all.start < w[0].all.end;
            assert!(all.windows(2).all(|w| overlaps(w) != cuts.contains(&w[1].own.start)));
        }
    }

    #[test]
    fn halves_have_the_frames_of_the_whole_and_overlap() {
        for w in windows(130, &[7], &[], 30.0, [2.0, 0.5]) {
            let Some([a, b]) = halves(&w) else {
                assert!(w.own.len() < 60, "{w:?}");
                continue;
            };
            assert_eq!((a.own.start, a.own.end, b.own.end), (w.own.start, b.own.start, w.own.end));
            assert_eq!((a.all.start, b.all.end), (w.all.start, w.all.end));
            assert!(b.all.start < a.own.end && a.all.end > b.own.start);
        }
    }
}
