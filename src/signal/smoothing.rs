//! Applies scalar filters to positions and rotations; rotations as rotation vectors relative to a slowly varying base.
//!
//! The base `b(f)` is the mean of the rotations within a Gaussian window, the dominant eigenvector of
//! `sum w q q^T` (Markley et al. 2007); `log(b^-1 q)` is filtered as a vector and recombined with the base. Constants
//! are preserved, and the result commutes with a constant rotation on the left. Positions are filtered directly.
//! Units: seconds, hertz, radians.

use super::fix_sequence;
use crate::math::{Mat4, Quat, RawQuat, Vec3, exp, log, same_hemisphere};

/// Window of the base, in seconds: long compared with the noise that is removed, short compared with a rotation of the
/// whole body.
const BASE_WINDOW: f64 = 0.5;
/// Power iterations for the dominant eigenvector; rotations within a window are close together, so that each step gains
/// at least one digit.
const POWER_STEPS: usize = 8;

/// Filters the positions of one joint, coordinate by coordinate.
pub fn smooth_positions(positions: &mut [Vec3], filter: impl Fn(&mut [f64])) {
    let mut channel = vec![0.0; positions.len()];
    for axis in 0..3 {
        channel.iter_mut().zip(positions.iter()).for_each(|(x, p)| *x = p[axis]);
        filter(&mut channel);
        channel.iter().zip(positions.iter_mut()).for_each(|(x, p)| p[axis] = *x);
    }
}

/// Filters the rotations of one joint, sampled at `sample_rate` hertz, with a scalar `filter`.
///
/// The signs of the result are continuous, starting in the hemisphere of the first input.
pub fn smooth_rotations(rotations: &mut [Quat], sample_rate: f64, filter: impl Fn(&mut [f64])) {
    let Some(&first) = rotations.first() else { return };
    fix_sequence(rotations);
    let base = base(rotations, sample_rate);
    let mut vectors: Vec<Vec3> = rotations.iter().zip(&base).map(|(q, b)| log(&(b.inverse() * q))).collect();
    unwrap(&mut vectors);
    smooth_positions(&mut vectors, filter);
    for ((q, b), v) in rotations.iter_mut().zip(&base).zip(&vectors) {
        *q = b * exp(v);
    }
    rotations[0] = same_hemisphere(rotations[0], &first);
    fix_sequence(rotations);
}

/// The windowed mean of every frame.
fn base(rotations: &[Quat], sample_rate: f64) -> Vec<Quat> {
    let half = (0.5 * BASE_WINDOW * sample_rate).round() as usize;
    // The window is truncated at two and a half standard deviations.
    let deviation = (half as f64 / 2.5).max(1e-9);
    let weight = |distance: usize| libm::exp(-0.5 * (distance as f64 / deviation).powi(2));
    let weights: Vec<f64> = (0..=half.min(rotations.len())).map(weight).collect();
    let mean = |f: usize| {
        let from = f.saturating_sub(weights.len() - 1);
        let to = (f + weights.len()).min(rotations.len());
        let mut moments = Mat4::zeros();
        let mut sum = rotations[f].coords * 0.0;
        for (k, q) in rotations[from..to].iter().enumerate() {
            let w = weights[(from + k).abs_diff(f)];
            let weighted = q.coords * w;
            sum += weighted;
            moments += weighted * q.coords.transpose();
        }
        // The weighted sum is close to the eigenvector, unless the joint spins within the window.
        let mut v = if sum.norm() > 1e-3 { sum } else { rotations[f].coords };
        for _ in 0..POWER_STEPS {
            v = (moments * v).normalize();
        }
        Quat::new_normalize(RawQuat::from(v))
    };
    (0..rotations.len()).map(mean).collect()
}

/// Replaces each rotation vector by the equivalent one (by multiples of a full circle) nearest to its predecessor.
fn unwrap(vectors: &mut [Vec3]) {
    for k in 1..vectors.len() {
        let (before, v) = (vectors[k - 1], vectors[k]);
        let circle = v.try_normalize(1e-6).map_or(Vec3::zeros(), |axis| axis * std::f64::consts::TAU);
        let nearest = [v, v - circle, v + circle]
            .into_iter()
            .min_by(|a, b| (a - before).norm_squared().total_cmp(&(b - before).norm_squared()));
        vectors[k] = nearest.unwrap_or(v);
    }
}

#[cfg(test)]
mod tests {
    use super::super::Butterworth;
    use super::*;
    use proptest::prelude::*;

    fn vector(size: f64) -> impl Strategy<Value = Vec3> {
        [-size..size, -size..size, -size..size].prop_map(|v| Vec3::new(v[0], v[1], v[2]))
    }

    fn low_pass(x: &mut [f64]) {
        Butterworth::new(3.0, 30.0).unwrap().apply(x);
    }

    fn wander(start: &Vec3, noise: &[Vec3]) -> Vec<Quat> {
        let turn = |(k, n): (usize, &Vec3)| exp(start) * exp(&Vec3::new(0.02 * k as f64, 0.0, 0.0)) * exp(n);
        noise.iter().enumerate().map(turn).collect()
    }

    proptest! {
        #[test]
        fn constants_stay(v in vector(3.0), n in 0..50usize) {
            let mut rotations = vec![exp(&v); n];
            smooth_rotations(&mut rotations, 30.0, low_pass);
            prop_assert!(rotations.iter().all(|q| (q.coords - exp(&v).coords).norm() < 1e-12));
        }

        #[test]
        fn a_constant_turn_afterwards_commutes(
            turn in vector(3.0), start in vector(3.0), noise in proptest::collection::vec(vector(0.2), 1..60),
        ) {
            let mut plain = wander(&start, &noise);
            let turn = exp(&turn);
            let mut turned: Vec<Quat> = plain.iter().map(|q| turn * q).collect();
            smooth_rotations(&mut plain, 30.0, low_pass);
            smooth_rotations(&mut turned, 30.0, low_pass);
            for (a, b) in plain.iter().zip(&turned) {
                prop_assert!((turn * a).angle_to(b) < 1e-9);
            }
        }
    }

    #[test]
    fn noise_goes_and_the_turn_stays() {
        let noise: Vec<Vec3> = (0..200).map(|k| Vec3::new(0.0, 0.1, 0.1) * (-1f64).powi(k)).collect();
        let mut rotations = wander(&Vec3::new(1.0, 2.0, 0.0), &noise);
        let clean = wander(&Vec3::new(1.0, 2.0, 0.0), &vec![Vec3::zeros(); 200]);
        smooth_rotations(&mut rotations, 30.0, low_pass);
        for (a, b) in rotations.iter().zip(&clean).skip(20).take(160) {
            assert!(a.angle_to(b) < 0.01, "{}", a.angle_to(b));
        }
        assert!(rotations.windows(2).all(|w| w[0].coords.dot(&w[1].coords) > 0.0));
    }
}
