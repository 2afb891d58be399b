//! Detects a path that is scaled or drifts, by a common velocity of the planted feet, and corrects it.
//!
//! A scaled path moves planted feet with a share of the body's own velocity, a drift with one constant velocity. On a
//! straight even walk both are the same, so the scale is tested first, and a drift along the path, or along the feet of a body
//! that is rotated away from its path, must exceed what feet roll. Units: metres of 0.86 m legs, seconds.

use super::drift_onset::drift_onset;
use super::fault_log::{FaultLog, all, own};
use super::robust_statistics::{geometric_median, mode, weighted_median};
use super::stances::{FootTrajectories, PointKind, SLOW, Stance};
use super::working_take::WorkingTake;
use crate::math::{Vec3, horizontal};
use crate::parallel;
use std::ops::Range;

/// Least and largest duration of the inner part of a stance, seconds: shorter ones give no velocity, longer ones are
/// split.
const LONG: (f64, f64) = (0.1, 1.0);
/// The inner part of a stance, as a share of it: a fifth is left out at either end, where the foot lands and leaves.
const INNER: f64 = 0.6;
/// Body speed from which a scale can be measured, metres per second.
const FAST: f64 = 0.15;
/// Share of the body velocity that planted feet of clean takes may have: they roll by up to this.
const SCALE: f64 = 0.06;
/// Least stances of a moving body.
const MOVING: usize = 6;
/// Least share of them that agrees about the scale, to within half.
const AGREE_SCALE: f64 = 0.7;
/// The drift must be agreed on by this much more than the scale to be preferred.
const PREFER_DRIFT: f64 = 0.1;
/// Cauchy width of the refinement of the scale, metres per second.
const NEAR: f64 = 0.03;
/// Least seconds of stances inside and outside of a part of the take that drifts.
const PARTIAL: f64 = 1.0;
/// Least share of the stance time of such a part that agrees about the drift ...
const AGREE_PARTIAL: f64 = 0.75;
/// ... and largest share of that outside.
const ELSEWHERE: f64 = 0.2;
/// Rounds of that refinement, which converges within a few.
const ROUNDS: usize = 10;
/// Slowest and fastest drift, metres per second: clean takes drift by up to 3 cm/s, in no common direction.
pub(super) const DRIFT: (f64, f64) = (0.015, 0.25);
/// Least share of the stance time that agrees about a drift, to within half.
const AGREE_DRIFT: f64 = 0.6;
/// Stances agree with a velocity within this share of it.
const AGREES: f64 = 0.5;
/// Least width of the search for the most frequent velocity, metres per second.
const LEAST_WIDTH: f64 = 0.01;
/// Least stances.
const FEWEST: usize = 3;
/// A body that travels by less than this share of the drift walks in place: a treadmill moves, not the take.
const IN_PLACE: f64 = 0.15;

/// Removes a scale of the path, or a horizontal drift; true if there was one.
pub(super) fn path_drift(take: &mut WorkingTake, feet: &FootTrajectories, log: &mut FaultLog) -> bool {
    let positions = take.root_positions();
    let stances = Velocities::of(take, feet, &positions);
    if stances.weights.iter().sum::<f64>() < 1.0 {
        return false;
    }
    let every: Vec<usize> = (0..stances.weights.len()).collect();
    let fast: Vec<usize> = every.iter().copied().filter(|k| stances.body[*k].norm() > FAST).collect();
    let scale = stances.scale(&fast);
    let follows = |k: usize| {
        let (foot, body) = (stances.feet[k], stances.body[k]);
        (foot - body * scale).norm() < AGREES * scale.abs() * body.norm()
    };
    let scaled = stances.share(&follows, &fast);
    let seconds = take.time(take.edges());
    let drift = stances.drift(&every, (positions[take.edges()] - positions[0]) / seconds);

    let agreed = all(&[scaled / AGREE_SCALE, fast.len() as f64 / MOVING as f64]);
    let first = if scaled > drift.agreed - PREFER_DRIFT { f64::INFINITY } else { 0.0 };
    if log.test("path_scale", all(&[stances.size_without_any(&fast, scale) / SCALE, agreed, first])) {
        fix_scale(take, &positions, stances.refined_scale(scale, &fast), log);
        return true;
    }
    let fires = log.test("drift", drift.share(every.len()));
    if fires {
        let frames = 0..take.frames();
        frames.clone().for_each(|f| take.shift(f, &(drift.velocity * -take.time(f))));
        log.record_fixed("drift", None, frames, "m/s", [own(take, drift.velocity.norm()), 0.0]);
    }
    fires
}

/// Reports a drift that begins or ends within the take: planted feet agree about a velocity on one side of a moment, and hardly any
/// has it on the other. It is left: where it begins is not known. True if there is one.
pub(super) fn partial_drift(take: &WorkingTake, feet: &FootTrajectories, log: &mut FaultLog) -> bool {
    let positions = take.root_positions();
    let stances = Velocities::of(take, feet, &positions);
    let edges = take.edges();
    let mut found: Option<(f64, Range<usize>, Vec3)> = None;
    for part in [
        0..edges / 4,
        0..edges / 2,
        0..edges * 3 / 4,
        edges / 4..edges,
        edges / 2..edges,
        edges * 3 / 4..edges,
    ] {
        let inside = |k: &usize| part.contains(&stances.middles[*k]);
        let (these, others): (Vec<usize>, Vec<usize>) = (0..stances.weights.len()).partition(inside);
        let seconds = |of: &[usize]| of.iter().map(|k| stances.weights[*k]).sum::<f64>();
        if seconds(&these) < PARTIAL || seconds(&others) < PARTIAL {
            continue;
        }
        let lasts = take.time(part.len());
        let drift = stances.drift(&these, (positions[part.end] - positions[part.start]) / lasts);
        let elsewhere = stances.share(&|k| drift.has(&stances.feet[k]), &others);
        let sure = drift.agreed >= AGREE_PARTIAL && elsewhere <= ELSEWHERE;
        let share = drift.share(these.len());
        if sure && share > 1.0 && found.as_ref().is_none_or(|f| f.0 < share) {
            found = Some((share, part.start..part.end + 1, drift.velocity));
        }
    }
    if let Some((_, frames, velocity)) = &found {
        let why = "planted feet drift in a part of the take: where that begins is not known";
        log.record_unfixed("drift", frames.clone(), "m/s", own(take, velocity.norm()), why);
        return true;
    }
    drift_onset(take, &stances, log)
}

/// A drift that stances agree about.
struct CommonDrift {
    velocity: Vec3,
    /// The share of the stance time that agrees.
    agreed: f64,
    /// How fast feet roll along the path and along themselves, m^2/s^2 with the drift.
    rolls: f64,
    /// The speed of the body.
    speed: f64,
}

impl CommonDrift {
    /// Whether a velocity of a foot agrees.
    fn has(&self, foot: &Vec3) -> bool {
        (foot - self.velocity).norm() < AGREES * self.velocity.norm()
    }

    /// The share of its limit that the test reaches, with so many stances.
    fn share(&self, stances: usize) -> f64 {
        let size = self.velocity.norm();
        all(&[
            size / DRIFT.0,
            DRIFT.1 / size.max(1e-9),
            self.agreed / AGREE_DRIFT,
            stances as f64 / FEWEST as f64,
            self.speed / (IN_PLACE * size).max(1e-9),
            size * size / (SCALE * self.rolls).max(1e-9),
        ])
    }
}

/// Horizontal velocities during the pieces of all ball stances.
#[derive(Default)]
pub(super) struct Velocities {
    /// Of the planted point.
    pub feet: Vec<Vec3>,
    /// Of the root.
    pub body: Vec<Vec3>,
    /// The horizontal direction of the foot, not a velocity: from the ankle to the ball, of unit length.
    pub pointing: Vec<Vec3>,
    /// Seconds of each piece.
    weights: Vec<f64>,
    /// The middle frame of each piece.
    pub middles: Vec<usize>,
}

impl Velocities {
    fn of(take: &WorkingTake, feet: &FootTrajectories, positions: &[Vec3]) -> Self {
        let piece = take.frames_in(LONG.1 / INNER, 1);
        let pieces = |s: Stance| {
            let end = s.frames.end;
            let part = move |a: usize| Stance { point: s.point, frames: a..(a + piece).min(end) };
            s.frames.step_by(piece).map(part)
        };
        let measured = |stance: &Stance| {
            let ends = stance.frames.len() / 5;
            let frames = stance.frames.start + ends..stance.frames.end - ends;
            let seconds = (frames.len().max(1) - 1) as f64 * take.dt;
            (seconds >= LONG.0 && feet.points[stance.point].kind == PointKind::Ball).then(|| {
                let ball = &feet.points[stance.point];
                let at = &ball.at[frames.clone()];
                let ankle = feet.points.iter().find(|p| p.side == ball.side && p.kind == PointKind::Ankle);
                let middle = frames.start + frames.len() / 2;
                let foot = ankle.map_or(Vec3::zeros(), |ankle| ball.at[middle] - ankle.at[middle]);
                let pointing = horizontal(&foot).try_normalize(1e-6).unwrap_or(Vec3::zeros());
                let body = velocity(&positions[frames], take.dt);
                (velocity(at, take.dt), body, pointing, seconds.min(LONG.1), middle)
            })
        };
        let stances: Vec<Stance> = feet.stances(2.0 * SLOW).into_iter().flat_map(pieces).collect();
        let mut found = Self::default();
        for (foot, body, pointing, weight, middle) in
            parallel::map_each(&stances, 1, measured).into_iter().flatten()
        {
            found.feet.push(foot);
            found.body.push(body);
            found.pointing.push(pointing);
            found.weights.push(weight);
            found.middles.push(middle);
        }
        found
    }

    /// The share of the stance time `among` these that agrees.
    fn share(&self, agrees: &dyn Fn(usize) -> bool, among: &[usize]) -> f64 {
        let sum = |k: &[usize]| k.iter().map(|k| self.weights[*k]).sum::<f64>();
        let agreeing: Vec<usize> = among.iter().copied().filter(|k| agrees(*k)).collect();
        sum(&agreeing) / sum(among).max(1e-9)
    }

    /// The most frequent velocity of the feet among these, of a body that moves like this in the mean.
    fn drift(&self, among: &[usize], mean: Vec3) -> CommonDrift {
        let feet: Vec<Vec3> = among.iter().map(|k| self.feet[*k]).collect();
        let weights: Vec<f64> = among.iter().map(|k| self.weights[*k]).collect();
        let start = geometric_median(&feet);
        let velocity = mode(&feet, &weights, start, (AGREES * start.norm()).max(LEAST_WIDTH));
        let points = among.iter().map(|k| self.pointing[*k]).sum::<Vec3>() / among.len().max(1) as f64;
        let speed = libm::hypot(mean.x, mean.z);
        let rolls = mean.dot(&velocity).abs().max(speed * points.dot(&velocity).abs());
        let mut drift = CommonDrift { velocity, agreed: 0.0, rolls, speed };
        drift.agreed = self.share(&|k| drift.has(&self.feet[k]), among);
        drift
    }

    /// The velocity of the foot along that of the body, as a share of it.
    fn ratio(&self, k: usize) -> f64 {
        self.feet[k].dot(&self.body[k]) / self.body[k].norm_squared()
    }

    /// The weighted median of these shares.
    fn scale(&self, fast: &[usize]) -> f64 {
        let ratios: Vec<f64> = fast.iter().map(|k| self.ratio(*k)).collect();
        let weights: Vec<f64> = fast.iter().map(|k| self.weights[*k]).collect();
        weighted_median(&ratios, &weights)
    }

    /// The size that is left of a scale whichever stance is omitted, 0 where the sign changes: one of few stances must not
    /// decide. The one that decides most is the longest beyond the median.
    fn size_without_any(&self, fast: &[usize], scale: f64) -> f64 {
        let sign = scale.signum();
        let beyond = fast.iter().filter(|k| sign * self.ratio(**k) >= sign * scale);
        let decides = beyond.max_by(|a, b| self.weights[**a].total_cmp(&self.weights[**b]));
        let others: Vec<usize> = fast.iter().copied().filter(|k| Some(k) != decides).collect();
        scale.abs().min(sign * self.scale(&others)).max(0.0)
    }

    /// The scale by least squares with Cauchy weights.
    fn refined_scale(&self, mut scale: f64, fast: &[usize]) -> f64 {
        for _ in 0..ROUNDS {
            let (mut up, mut down) = (0.0, 0.0);
            for k in fast {
                let off = (self.feet[*k] - self.body[*k] * scale).norm_squared() / (NEAR * NEAR);
                let weight = self.weights[*k] / (1.0 + off).powi(2);
                up += weight * self.body[*k].dot(&self.feet[*k]);
                down += weight * self.body[*k].norm_squared();
            }
            scale = up / down.max(f64::MIN_POSITIVE);
        }
        scale
    }
}

/// Scales the path so that planted feet, which move by `scale` of the body's displacement, stay.
fn fix_scale(take: &mut WorkingTake, positions: &[Vec3], scale: f64, log: &mut FaultLog) {
    let frames = 0..take.frames();
    for f in frames.clone() {
        let offset = (positions[f] - positions[0]) * -scale;
        take.shift(f, &horizontal(&offset));
    }
    log.record_fixed("path_scale", None, frames, "1", [1.0 / (1.0 - scale), 1.0]);
}

/// The horizontal velocity between the geometric medians of the first and the last third of some positions.
fn velocity(at: &[Vec3], dt: f64) -> Vec3 {
    let third = (at.len() / 3).max(1);
    let displacement = geometric_median(&at[at.len() - third..]) - geometric_median(&at[..third]);
    horizontal(&displacement) / ((at.len() - third).max(1) as f64 * dt)
}
