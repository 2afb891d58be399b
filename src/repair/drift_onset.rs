//! Reports the moment at which the velocity of planted feet changes, as where a drift of the path begins or ends.
//!
//! Feet roll along themselves and along the path; what remains is one velocity of the floor, which has no reason to change within a
//! take. Every moment is tried with a robust fit of both and of a velocity that begins or ends there. Nothing is changed: which side
//! is right is not known. Units: metres of 0.86 m legs, seconds.

use super::fault_log::{FaultLog, own};
use super::path_drift::{DRIFT, Velocities};
use super::working_take::WorkingTake;
use crate::math::{DMatrix, DVector, Vec3, median};
use std::ops::Range;

/// Moments that are tried, as parts of the take; the first and last seventh are too short to be compared.
const MOMENTS: usize = 20;
/// Least number of stances before and after it: with four, a dancer's slide changes it.
const STANCES: usize = 6;
/// Least change over its standard error: none of 119 pieces of clean takes reaches it.
const CERTAIN: f64 = 6.0;
/// Rounds of reweighting.
const ROUNDS: usize = 20;
/// Least standard deviation of the stances about the fit, metres per second.
const NOISE: f64 = 1e-3;
/// The median of the length of a normally distributed vector of the plane, in its standard deviations.
const MEDIAN_LENGTH: f64 = 1.18;
/// Unknowns: shares of the velocity of the body and along the foot, the two components of the change.
const UNKNOWNS: usize = 4;

/// A velocity that begins or ends within the take.
struct Onset {
    frames: Range<usize>,
    velocity: Vec3,
    /// The velocity over its standard error.
    certain: f64,
}

/// Reports such a moment; true if there is one.
pub(super) fn drift_onset(take: &WorkingTake, stances: &Velocities, log: &mut FaultLog) -> bool {
    let edges = take.edges();
    let moments = (MOMENTS / 7 + 1..MOMENTS - MOMENTS / 7).map(|k| k * edges / MOMENTS);
    let parts = moments.flat_map(|at| [0..at, at..edges]);
    let certain = |a: &Onset, b: &Onset| a.certain.total_cmp(&b.certain);
    let Some(onset) = parts.filter_map(|part| onset(stances, part)).max_by(certain) else { return false };
    let size = onset.velocity.norm();
    let drifts = onset.certain >= CERTAIN && (DRIFT.0..DRIFT.1).contains(&size);
    if drifts {
        let why = "planted feet have another velocity in a part of the take: a drift, which begins near one of its ends";
        log.record_unfixed("drift", onset.frames.start..onset.frames.end + 1, "m/s", own(take, size), why);
    }
    drifts
}

/// The velocity that planted feet have within this part only.
fn onset(stances: &Velocities, part: Range<usize>) -> Option<Onset> {
    let count = stances.feet.len();
    let inside: Vec<f64> = stances.middles.iter().map(|f| f64::from(u8::from(part.contains(f)))).collect();
    let within = inside.iter().sum::<f64>() as usize;
    if within < STANCES || count - within < STANCES {
        return None;
    }
    // Two rows for every stance.
    let of = |v: &Vec3| [v.x, v.z];
    let rows: Vec<[f64; UNKNOWNS]> = (0..count)
        .flat_map(|k| {
            let (body, foot, on) = (of(&stances.body[k]), of(&stances.pointing[k]), inside[k]);
            [[body[0], foot[0], on, 0.0], [body[1], foot[1], 0.0, on]]
        })
        .collect();
    let values: Vec<f64> = stances.feet.iter().flat_map(of).collect();
    let mut share = vec![1.0; count];
    let mut found = None;
    for _ in 0..ROUNDS {
        let sum = |of: &dyn Fn(usize) -> f64| (0..rows.len()).map(|r| share[r / 2] * of(r)).sum::<f64>();
        let a = DMatrix::from_fn(UNKNOWNS, UNKNOWNS, |i, j| sum(&|r| rows[r][i] * rows[r][j]));
        let b = DVector::from_fn(UNKNOWNS, |i, _| sum(&|r| rows[r][i] * values[r]));
        // Body and foot may have one direction, or not move: then they share their part.
        let factor = (&a + DMatrix::identity(UNKNOWNS, UNKNOWNS) * (1e-9 * a.trace())).cholesky()?;
        let x = factor.solve(&b);
        let off = |r: usize| values[r] - (0..UNKNOWNS).map(|i| rows[r][i] * x[i]).sum::<f64>();
        let lengths: Vec<f64> = (0..count).map(|k| libm::hypot(off(2 * k), off(2 * k + 1))).collect();
        let deviation = (median(lengths.clone()) / MEDIAN_LENGTH).max(NOISE);
        share = lengths.iter().map(|l| 1.0 / (1.0 + (l / (2.0 * deviation)).powi(2))).collect();
        let velocity = Vec3::new(x[2], 0.0, x[3]);
        let along = velocity.try_normalize(1e-9)?;
        let along = DVector::from_vec(vec![0.0, 0.0, along.x, along.z]);
        let error = deviation * along.dot(&factor.solve(&along)).sqrt();
        found = Some(Onset { frames: part.clone(), velocity, certain: velocity.norm() / error });
    }
    found
}
