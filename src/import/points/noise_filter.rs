//! Removes noise from the observed points.
//!
//! Penalised third differences (Whittaker), per point, at a cutoff that falls with the noise. Outliers have less weight.
//! Points of the feet have a rest term: a penalty on speed where they are slow and low, so that a planted foot stands and a
//! step is not blurred. Clean arrays are not changed. Units: metres, seconds, hertz.

use super::point_tracks::PointTracks;
use crate::math::{Vec3, median, percentile};
use crate::parallel;
use crate::signal::{Bands, Difference, JERK, whittaker_penalty};

/// Noise per axis above which an array is filtered, metres: half a millimetre is that of optical captures.
const NOISY: f64 = 5e-4;
/// Cutoff at [`USUAL_NOISE`], Hz; 4 and 8 Hz change angles by less than 0.5 degrees.
const CUTOFF: f64 = 6.0;
/// Noise for which [`CUTOFF`] holds, metres.
const USUAL_NOISE: f64 = 0.005;
/// The highest cutoff, as a share of the sample rate: close to its half nothing is removed.
const HIGHEST: f64 = 0.45;
/// Residual beyond which an observation loses weight, in standard deviations of the noise.
const OUTLIER: f64 = 3.5;
/// Points that stand still on the ground.
const FEET: [&str; 6] = ["ankle", "toe", "heel", "foot_tip", "big_toe", "small_toe"];
/// Weight of the rest term at speed zero on the ground, relative to an observation.
const REST_WEIGHT: f64 = 300.0;
/// Height over the lowest positions of the point at which the rest term has fallen to a third, metres.
const REST_HEIGHT: f64 = 0.08;
/// Speed of a resting foot without noise, m/s.
const REST_SPEED: f64 = 0.05;
/// Share of the noise's speed at the cutoff that is left after the filter.
const NOISE_SPEED: f64 = 0.6;
/// Rounds of the rest term: as the speed falls its weight rises, and after three it changes no more.
const ROUNDS: usize = 3;

/// The variance of the fourth difference of white noise with variance 1: 1 + 16 + 36 + 16 + 1.
const FOURTH_DIFFERENCE: f64 = 70.0;
/// The median of the absolute value of a normal variable, in standard deviations.
const NORMAL_MEDIAN: f64 = 0.6745;
/// Fewest frames from which noise is estimated.
const FEWEST: usize = 8;

/// Standard deviation per axis of white noise, by the median of the absolute fourth difference.
fn noise_of(track: &[Vec3]) -> f64 {
    if track.len() < FEWEST {
        return 0.0;
    }
    let differences = track.windows(5).flat_map(|w| {
        let d = w[0] - w[1] * 4.0 + w[2] * 6.0 - w[3] * 4.0 + w[4];
        [d.x.abs(), d.y.abs(), d.z.abs()]
    });
    median(differences.collect()) / NORMAL_MEDIAN / FOURTH_DIFFERENCE.sqrt()
}

/// The filtered points and the noise of the array. `rest`: with the rest term of the feet.
pub(super) fn filtered(points: PointTracks, dt: f64, rest: bool) -> (PointTracks, f64) {
    let each: Vec<f64> = parallel::map_each(&points.tracks, 1, |(_, track)| noise_of(track));
    let noise = median(each.clone());
    if noise < NOISY {
        return (points, noise);
    }
    let PointTracks { frames, mut tracks } = points;
    parallel::for_each(&mut tracks, 1, |k, (point, track)| {
        let feet = rest && FEET.contains(&point.part);
        *track = filter(track, (0.5 * noise * noise + 0.5 * each[k] * each[k]).sqrt(), feet, dt);
    });
    (PointTracks { frames, tracks }, noise)
}

fn filter(track: &[Vec3], noise: f64, feet: bool, dt: f64) -> Vec<Vec3> {
    let noise = noise.max(1e-5);
    let cutoff = (CUTOFF * libm::cbrt(USUAL_NOISE / noise)).min(HIGHEST / dt);
    let penalty = whittaker_penalty(Difference::Third, cutoff, 1.0 / dt);
    let mut weights = vec![1.0; track.len()];
    let mut found = smoothed(track, &weights, penalty, &[]);
    for _ in 0..2 {
        for ((weight, seen), found) in weights.iter_mut().zip(track).zip(&found) {
            let residual = (seen - found).norm() / (OUTLIER * noise);
            *weight = 1.0 / (residual * residual).max(1.0);
        }
        found = smoothed(track, &weights, penalty, &[]);
    }
    if !feet {
        return found;
    }
    let slow = REST_SPEED + NOISE_SPEED * noise * std::f64::consts::TAU * cutoff;
    for _ in 0..ROUNDS {
        let heights: Vec<f64> = found.iter().map(|p| p.y).collect();
        let ground = percentile(&heights, LOWEST);
        let speeds = found.windows(2).map(|pair| {
            let speed = (pair[1] - pair[0]).norm() / dt / slow;
            let height = (pair[0].y.min(pair[1].y) - ground).max(0.0) / REST_HEIGHT;
            REST_WEIGHT * libm::exp(-2.0 * speed * speed - height * height)
        });
        let rest: Vec<f64> = speeds.collect();
        found = smoothed(track, &weights, penalty, &rest);
    }
    found
}

/// Share of the frames in which a point of the feet is on the ground at least.
pub(super) const LOWEST: f64 = 0.05;

/// Minimises `sum w |x - y|^2 + penalty |D3 x|^2 + rest |D x|^2`; tracks of up to four frames are returned unchanged.
pub(super) fn smoothed(track: &[Vec3], weights: &[f64], penalty: f64, rest: &[f64]) -> Vec<Vec3> {
    let n = track.len();
    if n < JERK.len() + 1 {
        return track.to_vec();
    }
    // A tiny weight everywhere keeps the matrix definite.
    let mut matrix = Bands::<4>::diagonal(weights.iter().map(|w| w + 1e-9));
    (0..n - 3).for_each(|f| matrix.add(f as isize, JERK, penalty));
    rest.iter().enumerate().for_each(|(f, e)| matrix.add(f as isize, [1.0, -1.0], *e));
    let mut x: Vec<[f64; 3]> = track.iter().zip(weights).map(|(p, w)| (p * *w).into()).collect();
    matrix.factored().solve(&mut x);
    x.into_iter().map(Vec3::from).collect()
}
