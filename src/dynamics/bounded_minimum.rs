//! Minimum of a strictly convex quadratic with lower bounds, by block principal pivoting.
//!
//! Source: J. J. Judice and F. M. Pires, "A block principal pivoting algorithm for large-scale strictly monotone linear
//! complementarity problems", 1994: all violations change sides at once while their number falls, else one of them (Murty
//! 1974), which ends for positive definite matrices. The solution is exact up to rounding, unlike that of
//! [`BoxedProblem`](super::lcp), whose active set may not settle on the redundant edges of friction pyramids.

use crate::math::{DMatrix, DVector, Mat6, Vec6};

/// Exchanges of all violations that may fail to reduce their number before single exchanges begin: as in the source.
const TRIALS: usize = 3;

/// Rounds for each unknown before the search ends with what it has: random problems of 32 unknowns need 3 to 6 in all.
const ROUNDS: usize = 8;

/// Violations below this share of the problem's own scale are rounding.
const ROUNDING: f64 = 1e-12;

/// The `x >= low` that minimises `x' Q x / 2 - g' x`; `q` is symmetric and positive definite, `low` is at most 0.
pub fn bounded_minimum(q: &DMatrix<f64>, g: &[f64], low: &[f64]) -> Vec<f64> {
    let n = g.len();
    let diagonal = (0..n).map(|i| q[(i, i)]).fold(0.0, f64::max);
    let slope = |x: &[f64], i: usize| (0..n).map(|j| q[(i, j)] * x[j]).sum::<f64>() - g[i];
    let slopes = |x: &[f64], of: &[usize]| of.iter().map(|&i| slope(x, i)).collect();
    pivoted(low, diagonal, |free, x| solve(q, g, low, free, x), slopes)
}

/// The same for `Q = C' C + D` with the columns of `C` and the diagonal of `D`, which is positive: in time linear in their number.
pub fn bounded_minimum_of_columns(columns: &[Vec6<f64>], d: &[f64], g: &[f64], low: &[f64]) -> Vec<f64> {
    let sum = |x: &[f64], of: &[usize]| of.iter().map(|&i| columns[i] * x[i]).sum::<Vec6<f64>>();
    let every: Vec<usize> = (0..d.len()).collect();
    let slopes = |x: &[f64], of: &[usize]| {
        let at = sum(x, &every);
        of.iter().map(|&i| columns[i].dot(&at) + d[i] * x[i] - g[i]).collect()
    };
    let solve = |free: &[bool], x: &mut [f64]| {
        x.copy_from_slice(low);
        let inside: Vec<usize> = (0..d.len()).filter(|&i| free[i]).collect();
        inside.iter().for_each(|&i| x[i] = 0.0);
        let small =
            inside.iter().fold(Mat6::identity(), |m, &i| m + columns[i] * columns[i].transpose() / d[i]);
        let Some(small) = small.cholesky() else { return };
        // Twice: the second time removes the rounding of the first.
        for _ in 0..2 {
            let at = sum(x, &every);
            let left: Vec<f64> = inside.iter().map(|&i| g[i] - columns[i].dot(&at) - d[i] * x[i]).collect();
            let among = inside.iter().zip(&left).map(|(&i, r)| columns[i] * (r / d[i])).sum::<Vec6<f64>>();
            let among = small.solve(&among);
            inside.iter().zip(&left).for_each(|(&i, r)| x[i] += (r - columns[i].dot(&among)) / d[i]);
        }
    };
    let diagonal = columns.iter().zip(d).map(|(c, d)| c.norm_squared() + d).fold(0.0, f64::max);
    pivoted(low, diagonal, solve, slopes)
}

/// The search: `solve` gives the minimum over the free unknowns, `slopes` the slopes there in some unknowns.
fn pivoted(
    low: &[f64],
    diagonal: f64,
    solve: impl Fn(&[bool], &mut [f64]),
    slopes: impl Fn(&[f64], &[usize]) -> Vec<f64>,
) -> Vec<f64> {
    let n = low.len();
    let mut free: Vec<bool> = low.iter().map(|l| *l < 0.0).collect();
    let mut x: Vec<f64> = vec![0.0; n];
    let (mut fewest, mut trials) = (n + 1, TRIALS);
    for _ in 0..ROUNDS * n {
        solve(&free, &mut x);
        let size = x.iter().chain(low).fold(0.0_f64, |m, v| m.max(v.abs()));
        let held: Vec<usize> = (0..n).filter(|&i| !free[i]).collect();
        let falls = slopes(&x, &held);
        let falls = held.iter().zip(falls).filter(|(_, slope)| *slope < -ROUNDING * size * diagonal);
        let low_ones = (0..n).filter(|&i| free[i] && x[i] < low[i] - ROUNDING * size);
        let mut violations: Vec<usize> = falls.map(|(i, _)| *i).chain(low_ones).collect();
        violations.sort_unstable();
        let Some(&last) = violations.last() else { break };
        if violations.len() < fewest {
            (fewest, trials) = (violations.len(), TRIALS);
        } else if trials > 0 {
            trials -= 1;
        } else {
            free[last] = !free[last];
            continue;
        }
        violations.into_iter().for_each(|i| free[i] = !free[i]);
    }
    x.iter().zip(low).map(|(x, low)| x.max(*low)).collect()
}

/// The minimum over the free unknowns, the others at their bounds.
fn solve(q: &DMatrix<f64>, g: &[f64], low: &[f64], free: &[bool], x: &mut [f64]) {
    let inside: Vec<usize> = (0..g.len()).filter(|&i| free[i]).collect();
    let held: Vec<usize> = (0..g.len()).filter(|&i| !free[i] && low[i] != 0.0).collect();
    let rest = |i: usize| g[i] - held.iter().map(|&j| q[(i, j)] * low[j]).sum::<f64>();
    let rhs = DVector::from_iterator(inside.len(), inside.iter().map(|&i| rest(i)));
    let matrix = DMatrix::from_fn(inside.len(), inside.len(), |a, b| q[(inside[a], inside[b])]);
    let solution = matrix.cholesky().map(|c| c.solve(&rhs));
    x.copy_from_slice(low);
    for (k, &i) in inside.iter().enumerate() {
        x[i] = solution.as_ref().map_or(0.0, |s| s[k]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers in -1..1, the same in every run.
    fn numbers(seed: u64) -> impl FnMut() -> f64 {
        let mut state = seed;
        move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as f64 / f64::from(1_u32 << 30) - 1.0
        }
    }

    #[test]
    fn the_minimum_satisfies_the_conditions_of_optimality() {
        for seed in 0..300 {
            let mut next = numbers(seed);
            let n = 1 + seed as usize % 32;
            // Of low rank with a little on the diagonal, as friction pyramids are.
            let b = DMatrix::from_fn(6.min(n), n, |_, _| next());
            let q = b.transpose() * &b + DMatrix::identity(n, n) * 1e-4;
            let g: Vec<f64> = (0..n).map(|_| next()).collect();
            let low: Vec<f64> = (0..n).map(|_| if next() > 0.3 { 0.0 } else { -next().abs() }).collect();
            let x = bounded_minimum(&q, &g, &low);
            for i in 0..n {
                let slope = (0..n).map(|j| q[(i, j)] * x[j]).sum::<f64>() - g[i];
                assert!(x[i] >= low[i] && slope > -1e-8, "{seed}: {slope}");
                assert!(x[i] - low[i] < 1e-8 || slope.abs() < 1e-8, "{seed}: {} {slope}", x[i] - low[i]);
            }
        }
    }

    #[test]
    fn a_matrix_of_few_columns_has_the_same_minimum() {
        for seed in 0..300 {
            let mut next = numbers(seed);
            let n = 1 + seed as usize % 64;
            let columns: Vec<Vec6<f64>> = (0..n).map(|_| Vec6::from_fn(|_, _| next())).collect();
            let d: Vec<f64> = (0..n).map(|_| 1e-4 * (1.0 + next().abs())).collect();
            let q =
                DMatrix::from_fn(n, n, |a, b| columns[a].dot(&columns[b]) + if a == b { d[a] } else { 0.0 });
            let g: Vec<f64> = (0..n).map(|_| next()).collect();
            let low: Vec<f64> = (0..n).map(|_| if next() > 0.3 { 0.0 } else { -next().abs() }).collect();
            let [x, y] = [bounded_minimum(&q, &g, &low), bounded_minimum_of_columns(&columns, &d, &g, &low)];
            let size = x.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
            assert!(x.iter().zip(&y).all(|(x, y)| (x - y).abs() < 1e-9 * size), "{seed}: {x:?} {y:?}");
        }
    }

    #[test]
    fn nothing_asked_is_nothing() {
        let q = DMatrix::identity(3, 3) * 2.0;
        assert_eq!(bounded_minimum(&q, &[0.0; 3], &[0.0, -1.0, -2.0]), [0.0; 3]);
    }
}
