//! A series over time becomes its mean under a bell.

use std::iter::Sum;
use std::ops::Mul;

/// So many standard deviations of a Gaussian are its reach.
const REACH: f64 = 4.0;

/// Below this width a Gaussian lies within its own frame.
const NARROW: f64 = 0.3;

/// The Gaussian mean over time of standard deviation `sigma`, in frames; at the ends over what is there.
pub fn gaussian<T: Copy + Mul<f64, Output = T> + Sum>(values: &[T], sigma: f64) -> Vec<T> {
    if sigma < NARROW {
        return values.to_vec();
    }
    let reach = (REACH * sigma) as usize + 1;
    let weight: Vec<f64> = (0..=reach).map(|k| (-0.5 * (k as f64 / sigma).powi(2)).exp()).collect();
    let mean = |f: usize| {
        let near = f.saturating_sub(reach)..(f + reach + 1).min(values.len());
        let whole: f64 = near.clone().map(|k| weight[k.abs_diff(f)]).sum();
        near.map(|k| values[k] * (weight[k.abs_diff(f)] / whole)).sum()
    };
    (0..values.len()).map(mean).collect()
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
}
