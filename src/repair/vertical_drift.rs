//! A body that rises or sinks at one rate, with the feet that rest, becomes one that stays.
//!
//! Stairs and slopes do not rise under a resting foot: that, or a line in time that explains the heights of stances
//! better than a plane in place, tells a drift. Units: metres of 0.86 m legs, seconds.

use super::ledger::{Ledger, all, own};
use super::robust::{Fit, fit, weighted_median};
use super::stances::{Feet, Kind, SLOW, Stance};
use super::take::Take;
use crate::math::{Vec3, median};
use std::ops::Range;

/// Long stances are cut into pieces of so many seconds.
const PIECE: f64 = 0.4;
/// Shorter stances tell nothing, seconds.
pub(super) const SHORTEST: f64 = 0.12;
/// The line in time leaves less than this share of what a constant leaves...
const EXPLAINS: f64 = 0.5;
/// ... or of what the plane leaves (and the other way round).
pub(super) const BEATS: f64 = 0.6;
/// A drift rises by at least this over the take, metres...
const RISE: f64 = 0.03;
/// ... at this rate, metres a second...
pub(super) const RATE: f64 = 0.012;
/// ... and what rests rises at the same rate, within this factor.
const SAME: f64 = 2.0;
/// Fewer seconds of stances, or fewer of them, tell nothing...
const LEAST: (f64, usize) = (1.0, 3);
/// ... nor do stances within so many seconds: a body that crouches rolls its feet.
const SPAN: f64 = 2.0;
/// So many stances tell a line from a plane.
const MANY: usize = 6;

/// What the heights of stances say.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rise {
    /// Whether a plane in place explains the heights, and no line in time.
    pub plane: bool,
    /// Whether a drift was taken away.
    pub mended: bool,
}

/// Takes a vertical drift away; `None` where no ball rests.
pub(super) fn vertical_drift(
    take: &mut Take,
    feet: &Feet,
    stances: &[Stance],
    ledger: &mut Ledger,
) -> Option<Rise> {
    let pieces = pieces(take, feet, stances);
    let mut own_heights: Vec<Vec<f64>> = vec![Vec::new(); feet.tracks.len()];
    stances.iter().for_each(|s| own_heights[s.track].extend(feet.at(s).iter().map(|p| p.y)));
    let levels: Vec<f64> = own_heights.into_iter().map(median).collect();
    let (mut rates, mut weights, mut times, mut heights, mut places) =
        (vec![], vec![], vec![], vec![], vec![]);
    for (track, frames) in &pieces {
        let ends = frames.len() / 5;
        let inner = frames.start + ends..frames.end - ends;
        let at = &feet.tracks[*track].at[inner.clone()];
        if at.len() < 3 {
            continue;
        }
        let seconds: Vec<f64> = inner.map(|f| take.time(f)).collect();
        rates.push(slope(&seconds, at));
        weights.push(frames.len() as f64);
        times.push(seconds.iter().sum::<f64>() / seconds.len() as f64);
        heights.push(median(at.iter().map(|p| p.y).collect()) - levels[*track]);
        places.push(at.iter().sum::<Vec3>() / at.len() as f64);
    }
    if rates.is_empty() {
        return None;
    }
    let inside = weighted_median(&rates, &weights);
    let of = |row: &(dyn Fn(usize) -> Vec<f64> + Sync)| -> Fit {
        let rows: Vec<Vec<f64>> = (0..heights.len()).map(row).collect();
        fit(&rows, &heights, &weights)
    };
    let levels = || of(&|_| vec![1.0]);
    let lines = || of(&|k| vec![1.0, times[k]]);
    let planes = || of(&|k| vec![1.0, places[k].x, places[k].z]);
    let (constant, (line, plane)) = rayon::join(levels, || rayon::join(lines, planes));
    let rate = line.coefficients.get(1).copied().unwrap_or(0.0);
    let span =
        times.iter().copied().fold(0.0, f64::max) - times.iter().copied().fold(f64::INFINITY, f64::min);
    let enough = weights.iter().sum::<f64>() * take.dt > LEAST.0 && heights.len() >= LEAST.1 && span > SPAN;
    let rises = if enough {
        all(&[rate.abs() * span / RISE, EXPLAINS * constant.left / line.left, rate.abs() / RATE])
    } else {
        0.0
    };
    // What rests rises as much, or the line beats the plane.
    let ratio = if inside == 0.0 { 0.0 } else { rate / inside };
    let at_rest = all(&[inside.abs() / RATE, ratio * SAME, SAME / ratio.max(1e-9)]).max(0.0);
    let beats = if heights.len() >= MANY { BEATS * plane.left / line.left } else { 0.0 };
    let frames = 0..take.frames();
    let mended = ledger.near("vertical_drift", all(&[rises, at_rest.max(beats)]));
    if mended {
        for f in frames.clone() {
            take.shift(f, &(Vec3::y() * (-rate * take.time(f))));
        }
        ledger.mend("vertical_drift", None, frames, "m/s", [own(take, rate), 0.0]);
    } else if rises > 1.0 && plane.left > BEATS * line.left {
        let why = "it rises, and nothing tells a slope from a drift";
        ledger.leave("vertical_drift", frames, "m/s", own(take, rate), why);
    }
    let plane = inside.abs() < RATE && plane.left < BEATS * line.left;
    Some(Rise { plane, mended })
}

/// The pieces of the stances of balls, by track and frames.
fn pieces(take: &Take, feet: &Feet, stances: &[Stance]) -> Vec<(usize, Range<usize>)> {
    let piece = take.frames_in(PIECE, 4);
    let longest = stances.iter().map(|s| s.frames.len()).max().unwrap_or(0);
    let mut found = Vec::new();
    for stance in stances.iter().filter(|s| feet.tracks[s.track].kind == Kind::Ball) {
        let frames = &stance.frames;
        if longest <= 2 * piece {
            found.push((stance.track, frames.clone()));
            continue;
        }
        let starts = frames.clone().step_by(piece);
        let part = starts.map(|a| a..(a + piece).min(frames.end)).filter(|p| p.len() >= piece / 2);
        found.extend(part.map(|p| (stance.track, p)));
    }
    found
}

/// The slope of heights over time by least squares.
fn slope(seconds: &[f64], at: &[Vec3]) -> f64 {
    let n = seconds.len() as f64;
    let (t, y) = (seconds.iter().sum::<f64>() / n, at.iter().map(|p| p.y).sum::<f64>() / n);
    let (mut up, mut down) = (0.0, 0.0);
    for (s, p) in seconds.iter().zip(at) {
        up += (s - t) * (p.y - y);
        down += (s - t) * (s - t);
    }
    up / down.max(f64::MIN_POSITIVE)
}

/// The stances that are long enough to tell anything, at the speed of labels.
pub(super) fn telling(take: &Take, feet: &Feet) -> Vec<Stance> {
    let long = |s: &Stance| s.frames.len() as f64 * take.dt >= SHORTEST;
    feet.stances(SLOW).into_iter().filter(long).collect()
}
