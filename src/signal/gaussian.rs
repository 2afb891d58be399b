//! Gaussian filter over time.

use crate::parallel;
use std::iter::Sum;
use std::ops::{Add, Mul};

/// Standard deviations at which the kernel is truncated.
const REACH: f64 = 4.0;

/// Below this standard deviation, in frames, the kernel lies within one frame and the values are unchanged.
const NARROW: f64 = 0.3;

/// Results that are summed in parallel lanes, each in time order.
const LANES: usize = 8;

/// Results per task of a thread; fewer are not worth a second thread.
const BLOCK: usize = 64 * LANES;

/// The frames on either side of one that its mean depends on.
pub fn gaussian_reach(sigma: f64) -> usize {
    (REACH * sigma) as usize + 1
}

/// The Gaussian mean over time with standard deviation `sigma` in frames; renormalised at the ends.
pub fn gaussian<T>(values: &[T], sigma: f64) -> Vec<T>
where
    T: Copy + Mul<f64, Output = T> + Add<Output = T> + Sum + Send + Sync,
{
    if sigma < NARROW {
        return values.to_vec();
    }
    let reach = gaussian_reach(sigma);
    let weight: Vec<f64> = (0..=reach).map(|k| libm::exp(-0.5 * (k as f64 / sigma).powi(2))).collect();
    let mean = |f: usize| -> T {
        let near = f.saturating_sub(reach)..(f + reach + 1).min(values.len());
        let whole: f64 = near.clone().map(|k| weight[k.abs_diff(f)]).sum();
        near.map(|k| values[k] * (weight[k.abs_diff(f)] / whole)).sum()
    };
    let inner = values.len().saturating_sub(2 * reach);
    if inner == 0 {
        return (0..values.len()).map(mean).collect();
    }
    // Frames with the full kernel share the same weights.
    let whole: f64 = (0..=2 * reach).map(|k| weight[k.abs_diff(reach)]).sum();
    let shares: Vec<f64> = (0..=2 * reach).map(|k| weight[k.abs_diff(reach)] / whole).collect();
    let none = || std::iter::empty().sum::<T>();
    let of_block = |block: usize, means: &mut [T]| {
        let mut lanes = means.chunks_exact_mut(LANES);
        let mut first = block * BLOCK;
        for means in &mut lanes {
            let mut sums: [T; LANES] = std::array::from_fn(|_| none());
            for (values, share) in values[first..].windows(LANES).zip(&shares) {
                sums.iter_mut().zip(values).for_each(|(sum, value)| *sum = *sum + *value * *share);
            }
            means.copy_from_slice(&sums);
            first += LANES;
        }
        for (k, own) in lanes.into_remainder().iter_mut().enumerate() {
            *own = mean(first + reach + k);
        }
    };
    let mut means = values.to_vec();
    let (head, tail) = (0..reach, reach + inner..values.len());
    head.chain(tail).for_each(|f| means[f] = mean(f));
    parallel::for_blocks(&mut means[reach..reach + inner], BLOCK, of_block);
    means
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_gaussian_keeps_constants_and_stays_between_its_values(
            values in proptest::collection::vec(-5.0..5.0f64, 1..60),
            sigma in 0.0..9.0f64,
        ) {
            let smooth = gaussian(&values, sigma);
            let low = values.iter().copied().fold(f64::INFINITY, f64::min);
            let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            prop_assert_eq!(smooth.len(), values.len());
            prop_assert!(smooth.iter().all(|x| low - 1e-9 <= *x && *x <= high + 1e-9));
        }
    }

    #[test]
    fn a_mean_is_the_weighted_sum_in_the_order_of_time_bit_for_bit() {
        for (frames, sigma) in [(1, 1.0), (9, 0.9), (90, 2.0), (91, 11.0), (2000, 3.3), (2003, 18.0)] {
            let values: Vec<f64> = (0..frames).map(|f| (f as f64 * 0.7).sin() * 3.0 + f as f64).collect();
            let reach = (REACH * sigma) as usize + 1;
            let weight = |a: usize, b: usize| libm::exp(-0.5 * (a.abs_diff(b) as f64 / sigma).powi(2));
            let found = gaussian(&values, sigma);
            for (f, found) in found.iter().enumerate() {
                let near = || f.saturating_sub(reach)..(f + reach + 1).min(frames);
                let whole: f64 = near().map(|k| weight(k, f)).sum();
                let wanted: f64 = near().map(|k| values[k] * (weight(k, f) / whole)).sum();
                assert_eq!(found.to_bits(), wanted.to_bits(), "frame {f} of {frames}, sigma {sigma}");
            }
        }
    }
}
