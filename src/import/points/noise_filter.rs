//! Removes noise from the observed points.
//!
//! Noise is what fourth differences of the points show and, at rates at which motion shows in them too, what those of the lengths of
//! bones show: no motion changes them. Then penalised third differences (Whittaker), per point, at a cutoff that falls with the noise. Outliers have less weight.
//! Points of the feet have a rest term: a penalty on speed where they are slow and low, so that a planted foot stands and a
//! step is not blurred. Clean arrays are not changed. Units: metres, seconds, hertz.

use super::point_tracks::PointTracks;
use crate::math::{Vec3, median, percentile};
use crate::model::Side;
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

/// What motion alone shows as noise at a rate of 10 Hz, metres, and the power of the rate with which it falls: in ten captures of fast and
/// slow motion, resampled, at most 8.7 mm at 10 Hz, 5.6 at 12.5, 3.3 at 15, 1.7 at 20, 1.0 at 24 and 0.5 at 30.
const MOTION_AT_10_HZ: f64 = 0.01;
const MOTION_FALLS: f64 = 2.3;
/// Bones whose length shows noise, between points that every array has.
const BONES: [(&str, &str); 4] =
    [("hip", "knee"), ("knee", "ankle"), ("shoulder", "elbow"), ("elbow", "wrist")];

/// Standard deviation of white noise, by the median of the absolute fourth difference of any number of values of each frame.
fn white_noise<const N: usize>(values: &[[f64; N]]) -> f64 {
    if values.len() < FEWEST {
        return 0.0;
    }
    let differences = values.windows(5).flat_map(|w| {
        std::array::from_fn::<f64, N, _>(|k| {
            (w[0][k] - w[1][k] * 4.0 + w[2][k] * 6.0 - w[3][k] * 4.0 + w[4][k]).abs()
        })
    });
    median(differences.collect()) / NORMAL_MEDIAN / FOURTH_DIFFERENCE.sqrt()
}

/// Standard deviation per axis of the noise of two points, by the length between them.
fn noise_of_lengths(points: &PointTracks) -> f64 {
    let of = |(side, (a, b)): (Side, (&str, &str))| {
        let ends = points.joint(side, a).iter().zip(points.joint(side, b));
        let lengths: Vec<[f64; 1]> = ends.map(|(a, b)| [(a - b).norm()]).collect();
        white_noise(&lengths) / std::f64::consts::SQRT_2
    };
    let bones = Side::BOTH.into_iter().flat_map(|side| BONES.map(|bone| (side, bone)));
    median(bones.map(of).collect())
}

/// Points without noise.
pub(super) struct FilteredPoints {
    pub(super) points: PointTracks,
    /// The noise of the array before, metres.
    pub(super) noise: f64,
    /// How far the filter has moved a point at most, metres; `None` where there is nothing to remove.
    pub(super) moved: Option<f64>,
}

/// The filtered points and the noise of the array. `rest`: with the rest term of the feet.
pub(super) fn filtered(points: PointTracks, dt: f64, rest: bool) -> FilteredPoints {
    let mut each: Vec<f64> = parallel::map_each(&points.tracks, 1, |(_, track)| {
        white_noise(&track.iter().map(|p| [p.x, p.y, p.z]).collect::<Vec<_>>())
    });
    let mut noise = median(each.clone());
    if noise < MOTION_AT_10_HZ * libm::pow(10.0 * dt, MOTION_FALLS) {
        noise = noise.min(noise_of_lengths(&points));
        each.fill(noise);
    }
    if noise < NOISY {
        return FilteredPoints { points, noise, moved: None };
    }
    let PointTracks { frames, mut tracks } = points;
    let moved = parallel::map_mut(&mut tracks, 1, |k, (point, track)| {
        let feet = rest && FEET.contains(&point.part);
        let found = filter(track, (0.5 * noise * noise + 0.5 * each[k] * each[k]).sqrt(), feet, dt);
        let moved = track.iter().zip(&found).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
        *track = found;
        moved
    });
    let moved = moved.into_iter().fold(0.0, f64::max);
    FilteredPoints { points: PointTracks { frames, tracks }, noise, moved: Some(moved) }
}

/// The frequency above which noise is removed, Hz.
pub(super) fn cutoff(noise: f64, dt: f64) -> f64 {
    (CUTOFF * libm::cbrt(USUAL_NOISE / noise)).min(HIGHEST / dt)
}

fn filter(track: &[Vec3], noise: f64, feet: bool, dt: f64) -> Vec<Vec3> {
    let noise = noise.max(1e-5);
    let cutoff = cutoff(noise, dt);
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
