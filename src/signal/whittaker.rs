//! Scattered values of differing weight become a smooth channel: the penalised least squares of Whittaker.
//!
//! Minimises `sum w_f (x_f - y_f)^2 + lambda sum (x_{f-1} - 2 x_f + x_{f+1})^2` (Whittaker 1923; Eilers 2003,
//! Analytical Chemistry 75:3631, d = 2) by one factorisation with three bands, so values without weight are
//! interpolated and nothing is delayed. With all weights 1 the gain at `cutoff` is one half. Units: hertz; the
//! channel in any unit.

use super::banded::Bands;

/// The penalty that halves the gain at `cutoff` hertz for channels at `sample_rate` hertz of weight 1:
/// `lambda = (2 sin(pi fc / fs))^-4`.
pub fn whittaker_penalty(cutoff: f64, sample_rate: f64) -> f64 {
    let s = 2.0 * (std::f64::consts::PI * (cutoff / sample_rate).clamp(1e-4, 0.5)).sin();
    s.powi(-4)
}

/// The smooth channel nearest to `values`, whose weights are not negative; where all weights are 0, zeros.
///
/// # Panics
/// Where the lists differ in length.
pub fn whittaker(weights: &[f64], values: &[f64], penalty: f64) -> Vec<f64> {
    assert_eq!(weights.len(), values.len(), "a weight for every value");
    let n = values.len();
    if weights.iter().all(|&w| w <= 0.0) {
        return vec![0.0; n];
    }
    // The matrix W + lambda D'D; a trace of weight keeps it definite where the data leaves a line open.
    let trace = 1e-9;
    let mut matrix = Bands::<3>::diagonal(weights.iter().map(|w| w + trace));
    for first in 0..n.saturating_sub(2) {
        matrix.add(first as isize, [1.0, -2.0, 1.0], penalty);
    }
    let mut x: Vec<[f64; 1]> = weights.iter().zip(values).map(|(w, y)| [w * y]).collect();
    matrix.factored().solve(&mut x);
    x.into_iter().map(|[x]| x).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_gradient_vanishes_at_the_answer(
            data in proptest::collection::vec((0.0..2.0f64, -1.0..1.0f64), 1..60), penalty in 0.0..100.0f64,
        ) {
            let (w, y): (Vec<f64>, Vec<f64>) = data.iter().copied().unzip();
            let x = whittaker(&w, &y, penalty);
            let bend = |f: usize| x[f - 1] - 2.0 * x[f] + x[f + 1];
            let inner = |f: usize| f >= 1 && f + 1 < x.len();
            for f in 0..x.len() {
                let mut slope = w[f] * (x[f] - y[f]);
                if inner(f) {
                    slope -= 2.0 * penalty * bend(f);
                }
                if inner(f + 1) {
                    slope += penalty * bend(f + 1);
                }
                if f > 0 && inner(f - 1) {
                    slope += penalty * bend(f - 1);
                }
                prop_assert!(slope.abs() < 1e-6, "{slope}");
            }
        }
    }

    #[test]
    fn gaps_are_bridged_by_a_line_and_waves_at_the_cutoff_are_halved() {
        let mut w = vec![1.0; 60];
        w[20..40].fill(0.0);
        let line: Vec<f64> = (0..60).map(|f| 0.1 * f as f64 - 2.0).collect();
        let found = whittaker(&w, &line, 50.0);
        assert!(found.iter().zip(&line).all(|(a, b)| (a - b).abs() < 1e-6));
        let wave: Vec<f64> =
            (0..600).map(|f| (std::f64::consts::TAU * 3.0 * f as f64 / 30.0).cos()).collect();
        let halved = whittaker(&vec![1.0; 600], &wave, whittaker_penalty(3.0, 30.0));
        assert!((200..400).all(|f| (halved[f] - 0.5 * wave[f]).abs() < 1e-6));
        assert_eq!(whittaker(&[0.0; 3], &[1.0; 3], 1.0), [0.0; 3]);
    }
}
