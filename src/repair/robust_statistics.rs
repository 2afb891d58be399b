//! Robust statistics: medians, centres, modes and regression that outliers hardly affect.
//!
//! Medians of neighbours (Tukey 1977), the geometric median (Weiszfeld 1937), the mode and the regression with Cauchy
//! weights (Holland and Welsch 1977). Results for points in space are equivariant under rotation and translation.
//! Units: those of the values.

use crate::math::{DMatrix, DVector, Vec3, median, weighted_quantile};

/// Rounds of reweighting; the error halves in each.
const ROUNDS: usize = 30;
/// Rounds for the geometric median of a few points: a thousandth of their spread remains.
const STEPS: usize = 12;

/// The `reach` indices on either side of `at` among `len`, `at` excluded; mirrored at the ends.
pub(super) fn neighbours(len: usize, at: usize, reach: usize) -> impl Iterator<Item = usize> {
    let (last, at) = (len as isize - 1, at as isize);
    let back = move |k: isize| match k {
        _ if len <= reach => k.clamp(0, last),
        k if k < 0 => -k,
        k if k > last => 2 * last - k,
        k => k,
    };
    let reach = reach as isize;
    (-reach..=reach).filter(|d| *d != 0).map(move |d| back(at + d) as usize)
}

/// The median of the values around an index.
pub(super) fn median_around(values: impl Fn(usize) -> f64, len: usize, at: usize, reach: usize) -> f64 {
    median(neighbours(len, at, reach).map(values).collect())
}

/// The geometric median, with the least sum of distances to all points; the origin without any.
pub(super) fn geometric_median(points: &[Vec3]) -> Vec3 {
    let mean = points.iter().sum::<Vec3>() / points.len().max(1) as f64;
    let spread = points.iter().map(|p| (p - mean).norm()).fold(0.0, f64::max);
    if spread == 0.0 {
        return mean;
    }
    let mut at = mean;
    for _ in 0..STEPS {
        let (mut sum, mut weights) = (Vec3::zeros(), 0.0);
        for p in points {
            let weight = 1.0 / (p - at).norm().max(1e-3 * spread);
            sum += p * weight;
            weights += weight;
        }
        at = sum / weights;
    }
    at
}

/// The weighted median.
pub(super) fn weighted_median(values: &[f64], weights: &[f64]) -> f64 {
    weighted_quantile(values, weights, 0.5)
}

/// The point of highest density, searched from `start`; points within `width` count.
pub(super) fn mode(points: &[Vec3], weights: &[f64], start: Vec3, width: f64) -> Vec3 {
    let mut at = start;
    for _ in 0..ROUNDS {
        let (mut sum, mut total) = (Vec3::zeros(), 0.0);
        for (p, w) in points.iter().zip(weights) {
            let k = w / (1.0 + (p - at).norm_squared() / (width * width)).powi(2);
            sum += p * k;
            total += k;
        }
        at = sum / total.max(f64::MIN_POSITIVE);
    }
    at
}

/// A robust regression: coefficients, and the weighted median of the residuals, at least 2 mm.
#[derive(Clone, Debug)]
pub(super) struct Fit {
    pub coefficients: Vec<f64>,
    pub left: f64,
}

/// Residuals below this are noise of any capture, metres.
const NOISE: f64 = 0.002;
/// Residuals below this have full weight, metres.
const FULL: f64 = 0.005;

/// Fits the heights `z` (metres, with weights) as a linear function of the columns of `rows`.
pub(super) fn fit(rows: &[Vec<f64>], z: &[f64], weights: &[f64]) -> Fit {
    let mean = weighted_median(z, weights);
    let away: Vec<f64> = z.iter().map(|z| (z - mean).abs()).collect();
    let mut width = median(away.clone()).max(FULL);
    let mut share: Vec<f64> = weights.to_vec();
    let mut found = Fit { coefficients: Vec::new(), left: f64::INFINITY };
    let Some(columns) = rows.first().map(Vec::len) else { return found };
    for _ in 0..ROUNDS {
        // Normal equations, solved by SVD: columns are few, and linearly dependent ones share their coefficient.
        let sum = |of: &dyn Fn(usize) -> f64| (0..rows.len()).map(|r| share[r] * of(r)).sum::<f64>();
        let a = DMatrix::from_fn(columns, columns, |i, j| sum(&|r| rows[r][i] * rows[r][j]));
        let b = DVector::from_fn(columns, |i, _| sum(&|r| rows[r][i] * z[r]));
        let least = 1e-12 * a.trace();
        let Ok(x) = a.svd(true, true).solve(&b, least) else { return found };
        let value = |row: &Vec<f64>| row.iter().zip(x.iter()).map(|(a, x)| a * x).sum::<f64>();
        let off: Vec<f64> = rows.iter().zip(z).map(|(row, z)| (z - value(row)).abs()).collect();
        for ((share, weight), off) in share.iter_mut().zip(weights).zip(&off) {
            *share = weight / (1.0 + (off / width).powi(2));
        }
        let left = weighted_median(&off, weights);
        width = width.min(1.5 * left).max(FULL);
        found = Fit { coefficients: x.iter().copied().collect(), left: left.max(NOISE) };
    }
    found
}

/// The sliding quantile `q` over `reach` values on either side; the end values are repeated.
pub(super) fn sliding_quantile(values: &[f64], reach: usize, q: f64) -> Vec<f64> {
    let Some(last) = values.len().checked_sub(1) else { return Vec::new() };
    let at = |k: isize| values[k.clamp(0, last as isize) as usize];
    let reach = reach as isize;
    let mut window: Vec<f64> = (-reach..=reach).map(at).collect();
    window.sort_by(f64::total_cmp);
    let rank = q * (window.len() - 1) as f64;
    let (low, high) = (rank.floor() as usize, rank.ceil() as usize);
    let mut found = Vec::with_capacity(values.len());
    for f in 0..values.len() as isize {
        if f > 0 {
            let find = |window: &[f64], x: f64| window.partition_point(|v| v.total_cmp(&x).is_lt());
            // What leaves makes room for what enters: only the values between both move.
            let (old, new) = (find(&window, at(f - 1 - reach)), at(f + reach));
            let place = find(&window, new);
            if place > old {
                window.copy_within(old + 1..place, old);
                window[place - 1] = new;
            } else {
                window.copy_within(place..old, place + 1);
                window[place] = new;
            }
        }
        found.push(window[low] + (window[high] - window[low]) * (rank - low as f64));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{exp, percentile};
    use proptest::prelude::*;

    fn points() -> impl Strategy<Value = Vec<Vec3>> {
        let point = prop::array::uniform3(-2.0..2.0f64).prop_map(Vec3::from);
        prop::collection::vec(point, 1..12)
    }

    proptest! {
        #[test]
        fn the_geometric_median_rotates_and_shifts_with_its_points(points in points(), rotation in prop::array::uniform3(-3.0..3.0f64)) {
            let rotation = exp(&Vec3::from(rotation));
            let moved: Vec<Vec3> = points.iter().map(|p| rotation * p + Vec3::x() * 5.0).collect();
            prop_assert!((geometric_median(&moved) - (rotation * geometric_median(&points) + Vec3::x() * 5.0)).norm() < 1e-9);
        }

        #[test]
        fn a_sliding_quantile_is_the_quantile_of_every_window(
            values in prop::collection::vec(-1.0..1.0f64, 1..40), reach in 1..10usize, q in 0.0..1.0f64,
        ) {
            let found = sliding_quantile(&values, reach, q);
            for (f, found) in found.iter().enumerate() {
                let at = |d: usize| values[(f + d).saturating_sub(reach).min(values.len() - 1)];
                let window: Vec<f64> = (0..=2 * reach).map(at).collect();
                prop_assert!((found - percentile(&window, q)).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn a_third_of_the_values_may_be_outliers() {
        let rows: Vec<Vec<f64>> = (0..30).map(|k| vec![1.0, k as f64]).collect();
        let z: Vec<f64> =
            (0..30).map(|k| 0.2 + 0.01 * k as f64 + if k % 3 == 0 { 1.0 } else { 0.0 }).collect();
        let line = fit(&rows, &z, &[1.0; 30]);
        assert!((line.coefficients[1] - 0.01).abs() < 1e-3, "{line:?}");
        let near = [Vec3::zeros(), Vec3::x() * 0.01, Vec3::x() * 9.0];
        assert!(geometric_median(&near).norm() < 0.03);
        assert!(mode(&near, &[1.0; 3], Vec3::zeros(), 0.01).norm() < 0.01);
    }

    #[test]
    fn neighbours_are_mirrored_at_the_ends() {
        assert_eq!(neighbours(9, 0, 2).collect::<Vec<_>>(), [2, 1, 1, 2]);
        assert_eq!(neighbours(9, 8, 2).collect::<Vec<_>>(), [6, 7, 7, 6]);
        assert_eq!(neighbours(2, 1, 3).collect::<Vec<_>>(), [0, 0, 0, 1, 1, 1]);
    }
}
