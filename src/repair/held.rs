//! Frames that repeat the one before them become frames on the way between what lies on either side.
//!
//! Filled by cubic Hermite curves with the rates of three frames beyond. Units: degrees, metres of 0.86 m legs, seconds.

use super::ledger::{Ledger, all};
use super::take::Take;
use crate::math::{Quat, Vec3, exp, log, median};
use crate::signal::{hermite, spans};

/// Joints that turn by less do not move, degrees: a hundredth of the noise of captures.
const STILL_TURN: f64 = 1e-3;
/// The same of the body's way, metres.
const STILL_WAY: f64 = 1e-5;
/// The edge behind makes up for the time: so many times the steps around. A performer who stands still has no such edge.
const TIMES: f64 = 4.0;
/// Steps around count at least this much, degrees and metres.
const LEAST: (f64, f64) = (0.02, 1e-4);
/// The longest, seconds: what was done in more than this is not known.
const LONGEST: f64 = 0.5;
/// More than so many times what the steps around would have covered is no catching up but a cut.
const MOST: f64 = 3.0;
/// A take that holds for more than this share of its frames is meant so: poses that follow each other in steps.
const MEANT: f64 = 0.25;
/// Frames to either side whose rates count.
const BEYOND: usize = 3;

/// Fills held frames.
pub(super) fn held(take: &mut Take, ledger: &mut Ledger) {
    let edges = take.edges();
    let places = take.places();
    let way = |e: usize| (places[e + 1] - places[e]).norm();
    let still = |e: usize| way(e) < STILL_WAY && take.steps(e).iter().all(|s| *s < STILL_TURN);
    let mut found = Vec::new();
    for span in spans(0..edges, still) {
        let (a, b) = (span.start, span.end);
        if span.len() < 2 || span.len() as f64 * take.dt > LONGEST || a < BEYOND || b + BEYOND > edges {
            continue;
        }
        let around = (a.saturating_sub(4)..a).chain(b + 1..(b + 5).min(edges));
        let turns: Vec<f64> = around.clone().map(|e| take.mean_step(e)).collect();
        let ways: Vec<f64> = around.map(way).collect();
        let share = |step: f64, around: Vec<f64>, least: f64| {
            let around = median(around).max(least);
            all(&[step / (TIMES * around), MOST * (span.len() + 1) as f64 * around / step.max(1e-9)])
        };
        let turn = take.mean_step(b);
        let near = share(turn, turns, LEAST.0).max(share(way(b), ways, LEAST.1));
        if ledger.near("held", near) {
            found.push((a + 1, b + 1, turn));
        }
    }
    let frames: usize = found.iter().map(|f| f.1 - f.0).sum();
    if frames as f64 > MEANT * take.frames() as f64 {
        let why = "poses follow each other in steps all along, as if it were meant so";
        ledger.leave("held", 0..take.frames(), "frames", frames as f64, why);
        return;
    }
    for (first, end, turn) in found {
        bridge(take, first, end);
        let after = (first - 1..end).map(|e| take.mean_step(e)).fold(0.0, f64::max);
        ledger.mend("held", None, first..end, "deg", [turn, after]);
    }
}

/// Frames `first..end` anew, between their neighbours, with the rates beyond.
fn bridge(take: &mut Take, first: usize, end: usize) {
    let (from, before, behind) =
        (first - 1, first.saturating_sub(BEYOND), (end + BEYOND - 1).min(take.edges()));
    let steps = (end - from) as f64;
    // Rates beyond count for as long as the bridge is.
    let times = [steps / (from - before).max(1) as f64, steps / (behind - end).max(1) as f64];
    for j in take.turning.clone() {
        let at = |f: usize| *take.rotation(f, j);
        let (start, stop) = (at(from), at(end));
        let turned = |a: &Quat, b: &Quat| log(&(a.inverse() * b));
        let way = turned(&start, &stop);
        let rates = [-turned(&start, &at(before)) * times[0], turned(&stop, &at(behind)) * times[1]];
        if way.norm() + rates[0].norm() + rates[1].norm() < 1e-9 {
            continue;
        }
        for f in first..end {
            let v = hermite(&Vec3::zeros(), &rates[0], &way, &rates[1], (f - from) as f64 / steps);
            take.turn(f, j, start * exp(&v));
        }
    }
    for track in 0..take.motion.clip.translated().len() {
        let at = |f: usize| take.motion.clip.translations(f)[track];
        let (start, stop) = (at(from), at(end));
        let rates = [(start - at(before)) * times[0], (at(behind) - stop) * times[1]];
        for f in first..end {
            let place = hermite(&start, &rates[0], &stop, &rates[1], (f - from) as f64 / steps);
            take.motion.clip.translations_mut(f)[track] = place;
        }
    }
    take.settle();
    take.measure(first..end);
}
