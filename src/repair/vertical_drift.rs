//! Detects a constant vertical drift of the body and its planted feet, and removes it.
//!
//! Stairs and slopes do not rise under a planted foot. A drift shows in that, or in stance heights that a line in
//! time explains better than a plane in space. Units: metres of 0.86 m legs, seconds.

use super::fault_log::{FaultLog, all, own};
use super::robust_statistics::{Fit, fit, weighted_median};
use super::stances::{FootTrajectories, PointKind, SLOW, Stance};
use super::working_take::WorkingTake;
use crate::math::{Vec3, median};
use crate::parallel;
use std::ops::Range;

/// Length of the pieces of long stances, seconds.
const PIECE: f64 = 0.4;
/// Least duration of a stance that counts, seconds.
pub(super) const SHORTEST: f64 = 0.12;
/// Largest residual of the line in time, as a share of that of a constant height...
const EXPLAINS: f64 = 0.5;
/// ... or of the plane's, and vice versa.
const BEATS: f64 = 0.6;
/// Least rise over the take, metres...
const RISE: f64 = 0.03;
/// ... least rate, metres per second...
pub(super) const RATE: f64 = 0.012;
/// ... and largest factor between this rate and that of the planted feet.
const SAME: f64 = 2.0;
/// Least seconds of stances, and least number of them...
const LEAST: (f64, usize) = (1.0, 3);
/// ... and least seconds between the first and the last: in a crouch feet roll.
const SPAN: f64 = 2.0;
/// Stances from which a line and a plane can be distinguished.
const MANY: usize = 6;

/// Removes a vertical drift, and whether there was one; `None` without stances of a ball.
pub(super) fn vertical_drift(
    take: &mut WorkingTake,
    feet: &FootTrajectories,
    stances: &[Stance],
    log: &mut FaultLog,
) -> Option<bool> {
    let balls = Rises::of(take, feet, stances, PointKind::Ball)?;
    // Feet that roll, or lie on their heels, raise their balls and ankles at rates that differ; a drift raises both alike.
    let ankles = Rises::of(take, feet, stances, PointKind::Ankle);
    let (constant, (line, plane)) =
        parallel::join(|| balls.constant(), || parallel::join(|| balls.line(), || balls.plane()));
    let rate = line.coefficients.get(1).copied().unwrap_or(0.0);
    let span = balls.span();
    let enough = balls.weights.iter().sum::<f64>() * take.dt > LEAST.0 && balls.heights.len() >= LEAST.1;
    let rises = if enough && span > SPAN {
        all(&[rate.abs() * span / RISE, EXPLAINS * constant.left / line.left, rate.abs() / RATE])
    } else {
        0.0
    };
    let alike = |other: f64| {
        let ratio = if other == 0.0 { 0.0 } else { rate / other };
        all(&[other.abs() / RATE, ratio * SAME, SAME / ratio.max(1e-9)]).max(0.0)
    };
    // The planted feet rise as much, or the line fits better than the plane.
    let inside = balls.inside();
    let at_rest = alike(inside).min(alike(ankles.as_ref().map_or(inside, Rises::inside)));
    let beats = if balls.heights.len() >= MANY { BEATS * plane.left / line.left } else { 0.0 };
    let of_ankles = ankles.and_then(|ankles| ankles.line().coefficients.get(1).copied());
    let of_both = alike(of_ankles.unwrap_or(rate));
    let frames = 0..take.frames();
    let fixed = log.test("vertical_drift", all(&[rises, at_rest.max(beats.min(of_both))]));
    if fixed {
        for f in frames.clone() {
            take.shift(f, &(Vec3::y() * (-rate * take.time(f))));
        }
        log.record_fixed("vertical_drift", None, frames, "m/s", [own(take, rate), 0.0]);
    } else if all(&[rises, of_both]) > 1.0 && plane.left > BEATS * line.left {
        let why = "the stances rise, as on a slope or by a drift: the data do not show which";
        log.record_unfixed("vertical_drift", frames, "m/s", own(take, rate), why);
    }
    Some(fixed)
}

/// How the pieces of the stances of balls or ankles rise.
struct Rises {
    /// Within each piece, metres per second.
    rates: Vec<f64>,
    weights: Vec<f64>,
    /// Middle of each piece in time, seconds.
    times: Vec<f64>,
    /// Height of each piece above the usual stance of its point.
    heights: Vec<f64>,
    /// Mean position of each piece.
    places: Vec<Vec3>,
}

impl Rises {
    /// Those of the balls or of the ankles; `None` without stances of one.
    fn of(take: &WorkingTake, feet: &FootTrajectories, stances: &[Stance], kind: PointKind) -> Option<Self> {
        let mut own_heights: Vec<Vec<f64>> = vec![Vec::new(); feet.points.len()];
        stances.iter().for_each(|s| own_heights[s.point].extend(feet.at(s).iter().map(|p| p.y)));
        let levels: Vec<f64> = own_heights.into_iter().map(median).collect();
        let mut found =
            Self { rates: vec![], weights: vec![], times: vec![], heights: vec![], places: vec![] };
        for (track, frames) in &pieces(take, feet, stances, kind) {
            let Some((rate, seconds, at)) = rate(take, feet, *track, frames) else { continue };
            found.rates.push(rate);
            found.weights.push(frames.len() as f64);
            found.times.push(seconds.iter().sum::<f64>() / seconds.len() as f64);
            found.heights.push(median(at.iter().map(|p| p.y).collect()) - levels[*track]);
            found.places.push(at.iter().sum::<Vec3>() / at.len() as f64);
        }
        (!found.rates.is_empty()).then_some(found)
    }

    /// The median rate within the pieces.
    fn inside(&self) -> f64 {
        weighted_median(&self.rates, &self.weights)
    }

    /// From the first piece to the last, seconds.
    fn span(&self) -> f64 {
        let times = || self.times.iter().copied();
        times().fold(0.0, f64::max) - times().fold(f64::INFINITY, f64::min)
    }

    fn fit(&self, row: impl Fn(usize) -> Vec<f64>) -> Fit {
        let rows: Vec<Vec<f64>> = (0..self.heights.len()).map(row).collect();
        fit(&rows, &self.heights, &self.weights)
    }

    /// The heights as one height.
    fn constant(&self) -> Fit {
        self.fit(|_| vec![1.0])
    }

    /// The heights as a line in time.
    fn line(&self) -> Fit {
        self.fit(|k| vec![1.0, self.times[k]])
    }

    /// The heights as a plane in space.
    fn plane(&self) -> Fit {
        self.fit(|k| vec![1.0, self.places[k].x, self.places[k].z])
    }
}

/// How fast a planted point rises within a piece of a stance, metres per second, with the times and positions of its inner part;
/// `None` if that is too short.
fn rate<'a>(
    take: &WorkingTake,
    feet: &'a FootTrajectories,
    point: usize,
    frames: &Range<usize>,
) -> Option<(f64, Vec<f64>, &'a [Vec3])> {
    let ends = frames.len() / 5;
    let inner = frames.start + ends..frames.end - ends;
    let at = &feet.points[point].at[inner.clone()];
    let seconds: Vec<f64> = inner.map(|f| take.time(f)).collect();
    (at.len() >= 3).then(|| (slope(&seconds, at), seconds, at))
}

/// The pieces of the stances of balls or ankles: point index and frames.
fn pieces(
    take: &WorkingTake,
    feet: &FootTrajectories,
    stances: &[Stance],
    kind: PointKind,
) -> Vec<(usize, Range<usize>)> {
    let piece = take.frames_in(PIECE, 4);
    let longest = stances.iter().map(|s| s.frames.len()).max().unwrap_or(0);
    let mut found = Vec::new();
    for stance in stances.iter().filter(|s| feet.points[s.point].kind == kind) {
        let frames = &stance.frames;
        if longest <= 2 * piece {
            found.push((stance.point, frames.clone()));
            continue;
        }
        let starts = frames.clone().step_by(piece);
        let part = starts.map(|a| a..(a + piece).min(frames.end)).filter(|p| p.len() >= piece / 2);
        found.extend(part.map(|p| (stance.point, p)));
    }
    found
}

/// Slope of heights over time by least squares.
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

/// The stances that are long enough, at the usual speed limit.
pub(super) fn long_stances(take: &WorkingTake, feet: &FootTrajectories) -> Vec<Stance> {
    let long = |s: &Stance| s.frames.len() as f64 * take.dt >= SHORTEST;
    feet.stances(SLOW).into_iter().filter(long).collect()
}
