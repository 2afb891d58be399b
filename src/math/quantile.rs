//! Medians and quantiles, by selection instead of sorting.

use super::Vec3;

/// The median; the mean of the middle two of an even number; 0 without values.
pub fn median(mut values: Vec<f64>) -> f64 {
    let n = values.len();
    if n == 0 {
        return 0.0;
    }
    let (_, upper, _) = values.select_nth_unstable_by(n / 2, f64::total_cmp);
    let upper = *upper;
    if n % 2 == 1 {
        return upper;
    }
    let lower = values[..n / 2].iter().copied().max_by(f64::total_cmp).unwrap_or(upper);
    0.5 * (lower + upper)
}

/// The median of each component; 0 without values.
pub fn median_of(vectors: impl Iterator<Item = Vec3>) -> Vec3 {
    let mut columns: [Vec<f64>; 3] = Default::default();
    for v in vectors {
        for (column, x) in columns.iter_mut().zip(v.iter()) {
            column.push(*x);
        }
    }
    let [x, y, z] = columns.map(median);
    Vec3::new(x, y, z)
}

/// The value below which the share `q` (0 to 1) of the values lies, interpolated linearly; 0 without values.
pub fn percentile(values: &[f64], q: f64) -> f64 {
    percentile_in_place(&mut values.to_vec(), q)
}

/// [`percentile`] without a copy: reorders `values`.
pub fn percentile_in_place(values: &mut [f64], q: f64) -> f64 {
    let Some(last) = values.len().checked_sub(1) else { return 0.0 };
    let rank = q.clamp(0.0, 1.0) * last as f64;
    let below = rank.floor() as usize;
    let (_, low, above) = values.select_nth_unstable_by(below, f64::total_cmp);
    let low = *low;
    let high = above.iter().copied().min_by(f64::total_cmp).unwrap_or(low);
    low + (high - low) * (rank - below as f64)
}

/// The value whose rank is nearest to the share `q` (0 to 1), not interpolated; `None` without values. Reorders
/// `values`.
pub fn nearest_rank(values: &mut [f64], q: f64) -> Option<f64> {
    let rank = ((values.len().checked_sub(1)?) as f64 * q).round() as usize;
    Some(*values.select_nth_unstable_by(rank, f64::total_cmp).1)
}

/// The value below which the share `q` of the total weight lies, not interpolated; 0 without values.
pub fn weighted_quantile(values: &[f64], weights: &[f64], q: f64) -> f64 {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let total: f64 = order.iter().map(|&k| weights[k]).sum();
    let mut sum = 0.0;
    for &k in &order {
        sum += weights[k];
        if sum >= q * total {
            return values[k];
        }
    }
    order.last().map_or(0.0, |&k| values[k])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_and_medians() {
        assert_eq!(weighted_quantile(&[3.0, 1.0, 2.0], &[1.0, 1.0, 2.0], 0.5), 2.0);
        assert_eq!(weighted_quantile(&[], &[], 0.5), 0.0);
        assert_eq!(median(vec![4.0, 1.0, 3.0, 2.0]), 2.5);
        assert_eq!(median_of([Vec3::x(), Vec3::y(), Vec3::x()].into_iter()), Vec3::x());
        assert_eq!(nearest_rank(&mut [3.0, 1.0, 2.0], 0.4), Some(2.0));
        assert_eq!(nearest_rank(&mut [], 0.4), None);
    }

    #[test]
    fn percentiles_lie_between_neighbours() {
        assert_eq!(percentile(&[3.0, 1.0, 2.0, 4.0, 5.0], 0.5), 3.0);
        assert!((percentile(&[4.0, 1.0, 3.0, 2.0], 0.95) - 3.85).abs() < 1e-12);
        assert_eq!(percentile(&[7.0], 0.95), 7.0);
        assert_eq!(percentile(&[], 0.95), 0.0);
    }
}
