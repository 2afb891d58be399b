//! The least and smoothest change of a channel that brings it into bounds.
//!
//! Minimises `sum |y_f|^2 + lambda sum |y_{f+3} - 3 y_{f+2} + 3 y_{f+1} - y_f|^2` over changes `y_f` of K numbers subject
//! to `y_f` in `C_f`, closed convex sets that are told by their nearest points: the change has little jerk of its own and
//! leaves that of the channel alone. Solved by the alternating direction method of multipliers (Boyd, Parikh, Chu, Peleato
//! and Eckstein 2011, Foundations and Trends in Machine Learning 3:1, section 5; over-relaxed by 1.6), whose linear step
//! is one factorisation with three bands. Units: hertz; the channel in any unit.

/// The bands of the matrix, the diagonal included.
const BANDS: usize = 4;
/// The third difference.
const DIFFERENCE: [f64; BANDS] = [-1.0, 3.0, -3.0, 1.0];
/// Rounds at most, and how near the two copies of the change come to each other, in units of the channel.
const ROUNDS: usize = 400;
const NEAR: f64 = 2e-5;

/// The penalty that halves the gain at `cutoff` hertz for channels at `sample_rate` hertz:
/// `lambda = (2 sin(pi fc / fs))^-6`.
pub fn correction_penalty(cutoff: f64, sample_rate: f64) -> f64 {
    let s = 2.0 * (std::f64::consts::PI * (cutoff / sample_rate).clamp(1e-4, 0.5)).sin();
    s.powi(-6)
}

/// The change of every frame: inside the bounds exactly, smooth to within 2e-5.
///
/// `nearest` gives for a frame the allowed change that is nearest to a wished one. Where an end is `held`, the change
/// fades into the zeros beyond it.
pub fn least_correction<const K: usize>(
    frames: usize,
    held: [bool; 2],
    penalty: f64,
    nearest: impl Fn(usize, [f64; K]) -> [f64; K],
) -> Vec<[f64; K]> {
    // The step of the multipliers; found by trying bumps at 30 to 120 Hz, where it ends after 20 to 180 rounds.
    let rho = 8.0 * penalty.powf(1.0 / 6.0);
    let factor = Factor::new(frames, held, penalty, 1.0 + rho);
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

/// `weight I + penalty D'D` as `L D L'`.
struct Factor {
    /// Of each column: the pivot, and what stands below it over the pivot.
    columns: Vec<[f64; BANDS]>,
}

impl Factor {
    fn new(n: usize, held: [bool; 2], penalty: f64, weight: f64) -> Self {
        let mut columns = vec![[0.0; BANDS]; n];
        columns.iter_mut().for_each(|c| c[0] = weight);
        let first = if held[0] { -3 } else { 0 };
        let last = if held[1] { n as isize } else { n as isize - 3 };
        for row in first..last {
            for (i, a) in DIFFERENCE.iter().enumerate() {
                for (j, b) in DIFFERENCE.iter().enumerate().skip(i) {
                    let (at, to) = (row + i as isize, row + j as isize);
                    if at >= 0 && to < n as isize {
                        columns[at as usize][j - i] += penalty * a * b;
                    }
                }
            }
        }
        for f in 0..n {
            let column = columns[f];
            for i in 1..BANDS.min(n - f) {
                let share = column[i] / column[0];
                for j in i..BANDS {
                    columns[f + i][j - i] -= share * column[j];
                }
                columns[f][i] = share;
            }
        }
        Self { columns }
    }

    fn solve<const K: usize>(&self, x: &mut [[f64; K]]) {
        let n = x.len();
        let subtract = |from: &mut [f64; K], share: f64, what: [f64; K]| {
            from.iter_mut().zip(what).for_each(|(from, what)| *from -= share * what);
        };
        for f in 0..n {
            let here = x[f];
            for i in 1..BANDS.min(n - f) {
                subtract(&mut x[f + i], self.columns[f][i], here);
            }
        }
        for f in (0..n).rev() {
            let mut here = x[f].map(|x| x / self.columns[f][0]);
            for i in 1..BANDS.min(n - f) {
                subtract(&mut here, self.columns[f][i], x[f + i]);
            }
            x[f] = here;
        }
    }
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
            let third: f64 = (0..4).map(|k| DIFFERENCE[k] * y[f + k]).sum();
            (0..4).for_each(|k| slope[f + k] += penalty * DIFFERENCE[k] * third);
        }
        slope
    }

    fn cost(y: &[f64], penalty: f64) -> f64 {
        let third = |w: &[f64]| (0..4).map(|k| DIFFERENCE[k] * w[k]).sum::<f64>().powi(2);
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
            prop_assert!(quick <= 1.001 * slow + 1e-9, "{quick} against {slow}");
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
}
