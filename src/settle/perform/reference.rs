//! The clip at the rate of the simulation: smooth enough for forces, and exact at its own time steps.
//!
//! Coordinates are smoothed by a Gaussian of 8 Hz, so that torques stay sane (deviations are added to the clip itself, so its
//! detail is kept), and interpolated by cubic splines. Rates are differences of neighbouring states, so that advancing by
//! them is exact. Frames are steps. Units: as `perform`.

use crate::dynamics::{JointState, JointVector};
use crate::math::{Quat, RawQuat, Vec3};
use crate::signal::{fix_sequence, gaussian, gaussian_reach, odd_reflection};
use std::f64::consts::TAU;

/// Cutoff of the smoothing, hertz: without it the torques of a take at 30 Hz are twice as large, and nothing else changes.
const CUTOFF: f64 = 8.0;

/// Least rate of the simulation, hertz. With 120 the peak after a hit is 9 % larger, with 480 as large within 2 %.
pub const RATE: f64 = 240.0;

/// States and rates at the time steps.
#[derive(Clone, Debug)]
pub struct Reference {
    /// Steps in a frame.
    pub per_frame: usize,
    /// Seconds in a step.
    pub h: f64,
    /// The states, one more than there are steps.
    pub states: Vec<JointState>,
    /// `rates[k + 1]` moves `states[k]` to `states[k + 1]`; `rates[0]` is `rates[1]`.
    pub rates: Vec<JointVector>,
}

impl Reference {
    /// The reference of these frames; `None` of fewer than two.
    pub fn of(frames: &[JointState], rate: f64) -> Option<Self> {
        let (n, bodies) = (frames.len(), frames.first()?.rotations.len());
        if n < 2 {
            return None;
        }
        let per_frame = (RATE / rate - 1e-6).ceil().max(1.0) as usize;
        let h = 1.0 / (rate * per_frame as f64);
        let sigma = rate / (TAU * CUTOFF);
        let fine = |values: Vec<f64>| spline(&smoothed(&values, sigma), per_frame);
        let position = [0, 1, 2].map(|i| fine(frames.iter().map(|f| f.position[i]).collect()));
        let rotations: Vec<Vec<Quat>> = (0..bodies)
            .map(|b| {
                let mut own: Vec<Quat> = frames.iter().map(|f| f.rotations[b]).collect();
                fix_sequence(&mut own);
                let [i, j, k, w] = [0, 1, 2, 3].map(|c| fine(own.iter().map(|q| q.coords[c]).collect()));
                let quat = |s: usize| Quat::new_normalize(RawQuat::new(w[s], i[s], j[s], k[s]));
                (0..w.len()).map(quat).collect()
            })
            .collect();
        let state = |s: usize| JointState {
            position: Vec3::new(position[0][s], position[1][s], position[2][s]),
            rotations: rotations.iter().map(|own| own[s]).collect(),
        };
        let states: Vec<JointState> = (0..position[0].len()).map(state).collect();
        let zero = JointVector::zeros(bodies);
        let rate = |w: &[JointState]| w[1].minus(&w[0]).zip(&zero, |d, _| d / h);
        let mut rates: Vec<JointVector> = states.windows(2).map(rate).collect();
        rates.insert(0, rates[0].clone());
        Some(Self { per_frame, h, states, rates })
    }

    /// The number of steps.
    pub fn steps(&self) -> usize {
        self.states.len() - 1
    }
}

/// The Gaussian mean of values that continue beyond both ends as their own point reflection: what moves at an end keeps its velocity
/// there. Over the values alone the mean stops at both ends, for which a walk needs twice its weight.
fn smoothed(values: &[f64], sigma: f64) -> Vec<f64> {
    let (n, reach) = (values.len(), gaussian_reach(sigma).min(values.len() - 1));
    gaussian(&odd_reflection(values, reach), sigma)[reach..reach + n].to_vec()
}

/// The natural cubic spline through values at a distance of 1, at `per` points for each.
fn spline(values: &[f64], per: usize) -> Vec<f64> {
    let n = values.len();
    // Second derivatives m: m[i-1] + 4 m[i] + m[i+1] = 6 (y[i-1] - 2 y[i] + y[i+1]), zero at both ends (Thomas' algorithm).
    let mut m = vec![0.0; n];
    let mut upper = vec![0.0; n];
    for i in 1..n - 1 {
        let right = 6.0 * (values[i - 1] - 2.0 * values[i] + values[i + 1]);
        let pivot = 4.0 - upper[i - 1];
        upper[i] = 1.0 / pivot;
        m[i] = (right - m[i - 1]) / pivot;
    }
    for i in (1..n - 1).rev() {
        m[i] -= upper[i] * m[i + 1];
    }
    let at = |s: usize| {
        let (i, t) = ((s / per).min(n - 2), s as f64 / per as f64);
        let b = t - i as f64;
        let a = 1.0 - b;
        a * values[i] + b * values[i + 1] + ((a * a * a - a) * m[i] + (b * b * b - b) * m[i + 1]) / 6.0
    };
    (0..=(n - 1) * per).map(at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_moves_at_an_end_of_a_clip_moves_there_in_the_reference() {
        let line: Vec<f64> = (0..20).map(|f| 0.3 * f as f64 - 1.0).collect();
        let smooth = smoothed(&line, 2.5);
        assert!(line.iter().zip(&smooth).all(|(a, b)| (a - b).abs() < 1e-12), "{smooth:?}");
        assert!(smoothed(&[1.0, 1.0], 5.0).iter().all(|a| (a - 1.0).abs() < 1e-12));
    }

    #[test]
    fn the_spline_passes_through_its_values_and_keeps_lines() {
        let values = [0.0, 1.0, -2.0, 0.5, 0.5, 3.0];
        let fine = spline(&values, 4);
        assert_eq!(fine.len(), 21);
        assert!(values.iter().enumerate().all(|(i, v)| (fine[4 * i] - v).abs() < 1e-14));
        let line = spline(&[1.0, 2.0, 3.0], 3);
        assert!((0..7).all(|s| (line[s] - 1.0 - s as f64 / 3.0).abs() < 1e-14));
    }
}
