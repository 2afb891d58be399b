//! Whittaker smoother: penalised least squares of weighted values.
//!
//! Minimises `sum w_f (x_f - y_f)^2 + lambda sum (D x)_f^2` with `D` the second or third difference (Whittaker 1923;
//! Eilers 2003, Analytical Chemistry 75:3631) by one banded factorisation. Values with zero weight are
//! interpolated; there is no delay. With all weights 1 the gain at `cutoff` is one half. Units: hertz; the
//! channel in any unit.

use super::banded::{BEND, Bands, JERK};

/// The penalised derivative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Difference {
    /// Acceleration: gaps are filled with lines, and the ends are extrapolated linearly.
    Second,
    /// Jerk: gaps are filled with parabolas.
    Third,
}

/// The penalty that halves the gain at `cutoff` hertz for channels at `sample_rate` hertz of weight 1:
/// `lambda = (2 sin(pi fc / fs))^-2n` for the n-th difference.
pub fn whittaker_penalty(difference: Difference, cutoff: f64, sample_rate: f64) -> f64 {
    let s = 2.0 * libm::sin(std::f64::consts::PI * (cutoff / sample_rate).clamp(1e-4, 0.5));
    s.powi(match difference {
        Difference::Second => -4,
        Difference::Third => -6,
    })
}

/// The smoothed channel of `values` with weights of at least 0; zeros if all weights are 0.
///
/// # Panics
/// If the lists differ in length.
pub fn whittaker(difference: Difference, weights: &[f64], values: &[f64], penalty: f64) -> Vec<f64> {
    assert_eq!(weights.len(), values.len(), "a weight for every value");
    let n = values.len();
    if weights.iter().all(|&w| w <= 0.0) {
        return vec![0.0; n];
    }
    // The matrix W + lambda D'D; a tiny weight everywhere keeps it definite.
    let tiny = 1e-9;
    let mut matrix = Bands::<4>::diagonal(weights.iter().map(|w| w + tiny));
    match difference {
        Difference::Second => {
            (0..n.saturating_sub(2)).for_each(|f| matrix.add(f as isize, BEND, penalty));
        }
        Difference::Third => {
            (0..n.saturating_sub(3)).for_each(|f| matrix.add(f as isize, JERK, penalty));
        }
    }
    let mut x: Vec<[f64; 1]> = weights.iter().zip(values).map(|(w, y)| [w * y]).collect();
    matrix.factored().solve(&mut x);
    x.into_iter().map(|[x]| x).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const BOTH: [(Difference, &[f64]); 2] =
        [(Difference::Second, &[1.0, -2.0, 1.0]), (Difference::Third, &[-1.0, 3.0, -3.0, 1.0])];

    proptest! {
        #[test]
        fn the_gradient_vanishes_at_the_answer(
            data in proptest::collection::vec((0.0..2.0f64, -1.0..1.0f64), 1..60), penalty in 0.0..100.0f64,
        ) {
            let (w, y): (Vec<f64>, Vec<f64>) = data.iter().copied().unzip();
            for (difference, row) in BOTH {
                let x = whittaker(difference, &w, &y, penalty);
                let mut slope: Vec<f64> = (0..x.len()).map(|f| w[f] * (x[f] - y[f])).collect();
                for (k, window) in x.windows(row.len()).enumerate() {
                    let found: f64 = window.iter().zip(row).map(|(x, a)| x * a).sum();
                    slope[k..].iter_mut().zip(row).for_each(|(s, a)| *s += penalty * found * a);
                }
                prop_assert!(slope.iter().all(|s| s.abs() < 1e-6), "{difference:?} {slope:?}");
            }
        }
    }

    #[test]
    fn gaps_are_bridged_and_waves_at_the_cutoff_are_halved() {
        let mut w = vec![1.0; 60];
        w[20..40].fill(0.0);
        for (difference, bend) in [(Difference::Second, 0.0), (Difference::Third, 0.002)] {
            let curve = |f: usize| 0.1 * f as f64 - 2.0 + bend * (f * f) as f64;
            let values: Vec<f64> = (0..60).map(curve).collect();
            let found = whittaker(difference, &w, &values, 50.0);
            assert!(found.iter().zip(&values).all(|(a, b)| (a - b).abs() < 1e-6), "{difference:?}");
            let wave: Vec<f64> =
                (0..600).map(|f| (std::f64::consts::TAU * 3.0 * f as f64 / 30.0).cos()).collect();
            let penalty = whittaker_penalty(difference, 3.0, 30.0);
            let halved = whittaker(difference, &vec![1.0; 600], &wave, penalty);
            assert!((200..400).all(|f| (halved[f] - 0.5 * wave[f]).abs() < 1e-6), "{difference:?}");
            assert_eq!(whittaker(difference, &[0.0; 3], &[1.0; 3], 1.0), [0.0; 3]);
        }
    }
}
