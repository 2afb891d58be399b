//! Smallest and smoothest correction that brings a channel into per-frame bounds.
//!
//! Minimises `sum |y_f|^2 + lambda sum |y_{f+3} - 3 y_{f+2} + 3 y_{f+1} - y_f|^2` over changes `y_f` of K numbers
//! subject to `y_f` in `C_f`, closed convex sets given by their projections: the correction has little jerk and does
//! not change that of the channel. Solved by the alternating direction method of multipliers (Boyd,
//! Parikh, Chu, Peleato and Eckstein 2011, Foundations and Trends in Machine Learning 3:1, section 5; over-relaxed by
//! 1.6), whose linear step is one factorisation with four bands. Units: hertz; the channel in any unit.

use super::banded::{Bands, FactoredBands, JERK};
use std::ops::Range;

/// Maximum number of iterations; 20 to 180 are usual.
const ROUNDS: usize = 400;
/// The iteration stops when its two copies of the correction differ by less than this, in units of the channel.
const NEAR: f64 = 2e-5;
/// Periods of the cutoff by which a correction may start before it is needed.
const AHEAD: f64 = 2.0;

/// The corrections that bring a channel of `frames` frames into its bounds, with their frames in order. Frames that are
/// far from all those where a correction is `needed` (ascending) are not listed and remain unchanged, bit for bit.
///
/// `nearest` projects a correction of a frame to the nearest allowed one; corrections are low-pass with `cutoff` hertz
/// for channels at `sample_rate` hertz.
pub fn corrections<const K: usize>(
    needed: &[usize],
    frames: usize,
    cutoff: f64,
    sample_rate: f64,
    nearest: impl Fn(usize, [f64; K]) -> [f64; K],
) -> Vec<(usize, [f64; K])> {
    let penalty = correction_penalty(cutoff, sample_rate);
    let ahead = (AHEAD * sample_rate / cutoff).ceil() as usize;
    let of_span = |span: Range<usize>| {
        let held = [span.start > 0, span.end < frames];
        let nearest = |f: usize, wished| nearest(span.start + f, wished);
        let changes = least_correction(span.len(), held, penalty, nearest);
        span.zip(changes)
    };
    spans(needed, frames, ahead).into_iter().flat_map(of_span).collect()
}

/// The intervals of a clip around the frames that need a correction.
fn spans(needed: &[usize], frames: usize, ahead: usize) -> Vec<Range<usize>> {
    let mut spans: Vec<Range<usize>> = Vec::new();
    for &f in needed {
        let (start, end) = (f.saturating_sub(ahead), (f + ahead + 1).min(frames));
        match spans.last_mut() {
            Some(last) if start <= last.end => last.end = end,
            _ => spans.push(start..end),
        }
    }
    spans
}

/// The penalty that halves the gain at `cutoff` hertz for channels at `sample_rate` hertz:
/// `lambda = (2 sin(pi fc / fs))^-6`.
fn correction_penalty(cutoff: f64, sample_rate: f64) -> f64 {
    let s = 2.0 * libm::sin(std::f64::consts::PI * (cutoff / sample_rate).clamp(1e-4, 0.5));
    s.powi(-6)
}

/// The correction of every frame: exactly within the bounds, smooth to within [`NEAR`].
///
/// `nearest` projects a correction of a frame to the nearest allowed one. At an end that is `held`, the correction fades
/// to zero.
fn least_correction<const K: usize>(
    frames: usize,
    held: [bool; 2],
    penalty: f64,
    nearest: impl Fn(usize, [f64; K]) -> [f64; K],
) -> Vec<[f64; K]> {
    // Penalty parameter, tuned on bumps at 30 to 120 Hz, where 20 to 180 iterations suffice.
    let rho = 8.0 * libm::pow(penalty, 1.0 / 6.0);
    let factor = factor(frames, held, penalty, 1.0 + rho);
    let mut inside: Vec<[f64; K]> = (0..frames).map(|f| nearest(f, [0.0; K])).collect();
    let mut owed = vec![[0.0; K]; frames];
    let mut smooth = vec![[0.0; K]; frames];
    for _ in 0..ROUNDS {
        for f in 0..frames {
            smooth[f] = std::array::from_fn(|k| rho * (inside[f][k] - owed[f][k]));
        }
        factor.solve(&mut smooth);
        let mut apart = 0.0_f64;
        for f in 0..frames {
            let relaxed: [f64; K] = std::array::from_fn(|k| 1.6 * smooth[f][k] - 0.6 * inside[f][k]);
            let wished = std::array::from_fn(|k| relaxed[k] + owed[f][k]);
            let allowed = nearest(f, wished);
            for k in 0..K {
                owed[f][k] = wished[k] - allowed[k];
                apart = apart.max((smooth[f][k] - allowed[k]).abs()).max((inside[f][k] - allowed[k]).abs());
            }
            inside[f] = allowed;
        }
        if apart < NEAR {
            break;
        }
    }
    inside
}

/// `weight I + penalty D'D`, ready to solve.
fn factor(n: usize, held: [bool; 2], penalty: f64, weight: f64) -> FactoredBands<4> {
    let mut matrix = Bands::diagonal(std::iter::repeat_n(weight, n));
    let first = if held[0] { -3 } else { 0 };
    let last = if held[1] { n as isize } else { n as isize - 3 };
    for row in first..last {
        matrix.add(row, JERK, penalty);
    }
    matrix.factored()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The slope of what is minimised.
    fn slope(y: &[f64], penalty: f64) -> Vec<f64> {
        let n = y.len();
        let mut slope = y.to_vec();
        for f in 0..n.saturating_sub(3) {
            let third: f64 = (0..4).map(|k| JERK[k] * y[f + k]).sum();
            (0..4).for_each(|k| slope[f + k] += penalty * JERK[k] * third);
        }
        slope
    }

    fn cost(y: &[f64], penalty: f64) -> f64 {
        let third = |w: &[f64]| (0..4).map(|k| JERK[k] * w[k]).sum::<f64>().powi(2);
        y.iter().map(|y| y * y).sum::<f64>() + penalty * y.windows(4).map(third).sum::<f64>()
    }

    proptest! {
        /// Nothing inside the bounds costs less: against 20,000 steps down the slope, each brought back inside.
        #[test]
        fn nothing_allowed_is_less(x in proptest::collection::vec(-2.0..2.0f64, 1..40), penalty in 0.01..20.0f64) {
            let allowed = |f: usize, y: f64| y.clamp(-1.0 - x[f], 1.0 - x[f]);
            let found = least_correction(x.len(), [false; 2], penalty, |f, [y]: [f64; 1]| [allowed(f, y)]);
            let found: Vec<f64> = found.iter().map(|y| y[0]).collect();
            prop_assert!(found.iter().zip(&x).all(|(y, x)| (x + y).abs() <= 1.0 + 1e-12));
            let mut slowly: Vec<f64> = (0..x.len()).map(|f| allowed(f, 0.0)).collect();
            for _ in 0..20_000 {
                let down = slope(&slowly, penalty);
                for f in 0..x.len() {
                    slowly[f] = allowed(f, slowly[f] - down[f] / (1.0 + 64.0 * penalty));
                }
            }
            let (quick, slow) = (cost(&found, penalty), cost(&slowly, penalty));
            // What every frame may be off by, times what that costs.
            let off: f64 = slope(&slowly, penalty).iter().map(|slope| 2.0 * slope.abs() * NEAR).sum();
            prop_assert!(quick <= 1.001 * slow + off + 1e-9, "{quick} against {slow}");
        }
    }

    #[test]
    fn a_bump_is_taken_down_with_less_jerk_than_it_had() {
        let rate = 120.0;
        let x: Vec<f64> =
            (0..240).map(|f| 0.5 * (-((f64::from(f) / rate - 1.0) / 0.1).powi(2)).exp()).collect();
        let jerk = |v: &[f64]| -> f64 {
            let third = |w: &[f64]| (w[3] - 3.0 * w[2] + 3.0 * w[1] - w[0]).abs();
            v.windows(4).map(third).fold(0.0, f64::max)
        };
        let penalty = correction_penalty(4.0, rate);
        let found = least_correction(240, [true; 2], penalty, |f, [y, z]: [f64; 2]| [y.min(0.1 - x[f]), z]);
        let kept: Vec<f64> = x.iter().zip(&found).map(|(x, y)| x + y[0]).collect();
        assert!(kept.iter().all(|&k| k <= 0.1 + 1e-12) && found.iter().all(|y| y[1] == 0.0));
        assert!(jerk(&kept) < 0.5 * jerk(&x), "{} of {}", jerk(&kept), jerk(&x));
        // Cut off at the bound it has far more, and the change is gone where the bump is.
        assert!(jerk(&x.iter().map(|x| x.min(0.1)).collect::<Vec<_>>()) > 5.0 * jerk(&x));
        assert!(found[0][0].abs() < 1e-3 && found[239][0].abs() < 1e-3);
    }

    #[test]
    fn what_is_allowed_is_left_alone() {
        let found = least_correction(50, [false, true], 1e4, |_, y: [f64; 3]| y);
        assert_eq!(found, vec![[0.0; 3]; 50]);
        assert!(least_correction(0, [true; 2], 1.0, |_, y: [f64; 1]| y).is_empty());
    }

    #[test]
    fn changes_are_near_the_frames_that_need_them() {
        // Two needs a second apart share a span, the third has its own; two periods of 4 Hz are 15 frames at 30 Hz.
        let needed = [100, 130, 200];
        let found = corrections(&needed, 210, 4.0, 30.0, |f, [y]: [f64; 1]| {
            [if needed.contains(&f) { y.max(1.0) } else { y }]
        });
        let frames: Vec<usize> = found.iter().map(|c| c.0).collect();
        assert_eq!(frames, (85..146).chain(185..210).collect::<Vec<_>>());
        assert!(found.iter().all(|(f, [y])| !needed.contains(f) || *y >= 1.0));
        assert!(corrections(&[], 210, 4.0, 30.0, |_, y: [f64; 1]| y).is_empty());
    }
}
