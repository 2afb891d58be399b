//! Detects held frames (copies of the previous frame) and interpolates them.
//!
//! Filled with cubic Hermite curves whose end velocities are measured over three frames on either side. Units:
//! degrees, metres of 0.86 m legs, seconds.

use super::fault_log::{FaultLog, all};
use super::leap::leap;
use super::working_take::WorkingTake;
use crate::math::{Quat, Vec3, exp, log, median};
use crate::signal::{hermite, spans};
use std::ops::Range;

/// Metres per frame below which the body is still.
const STILL_DISTANCE: f64 = 1e-5;
/// The step after held frames, which catches up, is at least this multiple of the steps around. A performer who stands still has
/// no such step.
const TIMES: f64 = 4.0;
/// Steps on either side that count as those around.
const AROUND: usize = 4;
/// Of fewer held frames that step is at least this share of what the body covers meanwhile: rates differ by a quarter.
const CATCHES_UP: f64 = 0.75;
/// Least size of the steps around, degrees and metres.
const LEAST: (f64, f64) = (0.02, 1e-4);
/// Seconds of held frames that can be filled: what happened in a longer time is unknown.
const LONGEST: f64 = 0.5;
/// A step larger than this multiple of what the steps around would have covered is a cut.
const MOST: f64 = 3.0;
/// Share of held frames, between frames that move, above which they are no accident: an animation in steps, or a take of a lower
/// rate.
const MEANT: f64 = 0.25;
/// Frames on either side that give the velocities.
const BEYOND: usize = 3;
/// Seconds over which these velocities say where the body goes; over a longer time less, by the square. Over 1 s whole ones led 3 of 13
/// takes farther from the truth than a wrong pose, so reduced ones none.
const KNOWN: f64 = 0.6;
/// A joint that moves by more than this between the frames of a gap has its own data, degrees: rest poses are read within half of it.
const HAS_DATA: f64 = 0.02;

/// Interpolates held frames; `false` for a take in steps, whose rates and noise mean nothing.
pub(super) fn held(take: &mut WorkingTake, log: &mut FaultLog) -> bool {
    let edges = take.edges();
    let positions = take.root_positions();
    let distance = |e: usize| (positions[e + 1] - positions[e]).norm();
    let is_still = |e: usize| distance(e) < STILL_DISTANCE && take.repeats_pose(e);
    let still: Vec<bool> = (0..edges).map(is_still).collect();
    let mut found = Vec::new();
    let mut held = 0;
    for span in spans(0..edges, |e| still[e]) {
        let (a, b) = (span.start, span.end);
        if span.len() as f64 * take.dt > LONGEST || a == 0 || b == edges {
            continue;
        }
        held += span.len();
        if a < BEYOND || b + BEYOND > edges {
            continue;
        }
        // A body that leaps into them as well was not held: it was lost.
        if leap(take, &positions, a - 1, [a - 1, b]) > 1.0 {
            continue;
        }
        let around =
            (a.saturating_sub(AROUND)..a).chain(b + 1..(b + 1 + AROUND).min(edges)).filter(|e| !still[*e]);
        let rotations: Vec<f64> = around.clone().map(|e| take.mean_step(e)).collect();
        let distances: Vec<f64> = around.map(distance).collect();
        let steps = (span.len() + 1) as f64;
        let least_times = TIMES.min(CATCHES_UP * steps);
        let share = |step: f64, around: Vec<f64>, least: f64| {
            if around.is_empty() {
                return 0.0;
            }
            let around = median(around).max(least);
            all(&[step / (least_times * around), MOST * steps * around / step.max(1e-9)])
        };
        let rotation = take.mean_step(b);
        let by_rotation = share(rotation, rotations, LEAST.0);
        // A single copy is recognised by all joints: a root that stays for a frame is a foot strike.
        let by_distance = if span.len() > 1 { share(distance(b), distances, LEAST.1) } else { 0.0 };
        if log.test("held", by_rotation.max(by_distance)) {
            found.push((a + 1, b + 1, rotation));
        }
    }
    if held as f64 > MEANT * take.frames() as f64 {
        let why = "many frames repeat the one before: made in steps, or recorded at a lower rate, to which `resample` brings it; \
                   nothing else was tested";
        log.record_unfixed("held", 0..take.frames(), "frames", held as f64, why);
        return false;
    }
    let changed = !found.is_empty();
    for (first, end, before) in found {
        bridge(take, first, end);
        let after = (first - 1..end).map(|e| take.mean_step(e)).fold(0.0, f64::max);
        log.record_fixed("held", None, first..end, "deg", [before, after]);
    }
    if changed {
        take.fix_signs();
    }
    true
}

/// Interpolates frames `first..end` between their neighbours, with the velocities beyond; what moves meanwhile is kept. Call
/// [`WorkingTake::fix_signs`] after all.
pub(super) fn bridge(take: &mut WorkingTake, first: usize, end: usize) {
    let frames = first..end;
    let inside = first..end - 1;
    for (k, j) in take.rotating.clone().into_iter().enumerate() {
        if inside.clone().all(|e| take.steps(e)[k] <= HAS_DATA) {
            bridge_joint(take, j, &frames);
        }
    }
    let Bridge { from, before, behind, times } = Bridge::of(take, &frames);
    let steps = (end - from) as f64;
    for track in 0..take.motion.clip.translated().len() {
        let at = |f: usize| take.motion.clip.translations(f)[track];
        if inside.clone().any(|e| (at(e + 1) - at(e)).norm() * take.scale > STILL_DISTANCE) {
            continue;
        }
        let (start, stop) = (at(from), at(end));
        let rates = [(start - at(before)) * times[0], (at(behind) - stop) * times[1]];
        for f in frames.clone() {
            let position = hermite(&start, &rates[0], &stop, &rates[1], (f - from) as f64 / steps);
            take.motion.clip.translations_mut(f)[track] = position;
        }
    }
    take.measure(frames);
}

/// Interpolates one joint over some frames; call [`WorkingTake::measure`] afterwards.
pub(super) fn bridge_joint(take: &mut WorkingTake, j: usize, frames: &Range<usize>) {
    let Bridge { from, before, behind, times } = Bridge::of(take, frames);
    let steps = (frames.end - from) as f64;
    let at = |f: usize| take.rotation(f, j);
    let (start, stop) = (at(from), at(frames.end));
    let rotation = |a: &Quat, b: &Quat| log(&(a.inverse() * b));
    let whole = rotation(&start, &stop);
    let rates = [-rotation(&start, &at(before)) * times[0], rotation(&stop, &at(behind)) * times[1]];
    if whole.norm() + rates[0].norm() + rates[1].norm() < 1e-9 {
        return;
    }
    for f in frames.clone() {
        let v = hermite(&Vec3::zeros(), &rates[0], &whole, &rates[1], (f - from) as f64 / steps);
        take.set_rotation(f, j, start * exp(&v));
    }
}

/// The frames that an interpolation is based on.
struct Bridge {
    /// The frame before the first that is interpolated.
    from: usize,
    /// The frames beyond, on either side.
    before: usize,
    behind: usize,
    /// Factors from the displacements beyond to those at the same velocities over the length of the gap.
    times: [f64; 2],
}

impl Bridge {
    fn of(take: &WorkingTake, frames: &Range<usize>) -> Self {
        let (first, end) = (frames.start, frames.end);
        let (from, before, behind) =
            (first - 1, first.saturating_sub(BEYOND), (end + BEYOND - 1).min(take.edges()));
        let steps = (end - from) as f64;
        let known = steps * (KNOWN / (steps * take.dt)).powi(2).min(1.0);
        let times = [known / (from - before).max(1) as f64, known / (behind - end).max(1) as f64];
        Self { from, before, behind, times }
    }
}
