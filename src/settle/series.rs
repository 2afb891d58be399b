//! A series over time becomes a smoother one, its bend, its straightness and the stretches in which something holds.
//!
//! Frames are evenly spaced. Units: those of the values; times in frames unless a name says otherwise.

use crate::math::Vec3;
use std::iter::Sum;
use std::ops::{Mul, Range};

/// So many standard deviations of a Gaussian are its reach.
const REACH: f64 = 4.0;

/// Below this width a Gaussian lies within its own frame.
const NARROW: f64 = 0.3;

/// The Gaussian mean over time of standard deviation `sigma`; at the ends over what is there.
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

/// The second derivative at `rate` frames a second; the ends repeat their neighbours, fewer than three frames have none.
pub fn bend(values: &[Vec3], rate: f64) -> Vec<Vec3> {
    let inner = |w: &[Vec3]| (w[2] - w[1] * 2.0 + w[0]) * (rate * rate);
    padded(values.windows(3).map(inner).collect(), values.len())
}

/// The first derivative, by central differences; the ends as of [`bend`].
pub fn slope(values: &[Vec3], rate: f64) -> Vec<Vec3> {
    padded(values.windows(3).map(|w| (w[2] - w[0]) * (0.5 * rate)).collect(), values.len())
}

fn padded(mut inner: Vec<Vec3>, length: usize) -> Vec<Vec3> {
    match (inner.first().copied(), inner.last().copied()) {
        (Some(first), Some(last)) => {
            inner.insert(0, first);
            inner.push(last);
        }
        _ => inner.resize(length, Vec3::zeros()),
    }
    inner
}

/// The stretches of frames within `span` in which `holds`.
pub fn runs(span: Range<usize>, holds: impl Fn(usize) -> bool) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for f in span.filter(|f| holds(*f)) {
        match found.last_mut() {
            Some(last) if last.end == f => last.end = f + 1,
            _ => found.push(f..f + 1),
        }
    }
    found
}

/// From 0 to 1 with level ends.
pub fn smoothstep(t: f64) -> f64 {
    let t = t.clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// How far values are from their line of least squares, root mean square.
pub fn off_line(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let middle = 0.5 * (n - 1.0);
    let mean = values.iter().sum::<f64>() / n;
    let along = |k: usize| k as f64 - middle;
    let (mut up, mut width) = (0.0, 0.0);
    for (k, value) in values.iter().enumerate() {
        up += along(k) * value;
        width += along(k) * along(k);
    }
    let rise = if width > 0.0 { up / width } else { 0.0 };
    let square = |(k, value): (usize, &f64)| (value - mean - rise * along(k)).powi(2);
    (values.iter().enumerate().map(square).sum::<f64>() / n).sqrt()
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

        #[test]
        fn a_parabola_bends_alike_everywhere_and_a_line_is_a_line(
            a in -5.0..5.0f64, b in -5.0..5.0f64, c in -5.0..5.0f64, frames in 3usize..40,
        ) {
            let at = |f: usize| a + b * f as f64;
            let values: Vec<Vec3> = (0..frames).map(|f| Vec3::y() * (at(f) + 0.5 * c * (f * f) as f64)).collect();
            prop_assert!(bend(&values, 10.0).iter().all(|x| (x.y - 100.0 * c).abs() < 1e-6));
            let line: Vec<f64> = (0..frames).map(at).collect();
            prop_assert!(off_line(&line) < 1e-9);
        }
    }

    #[test]
    fn runs_lie_within_their_span() {
        assert_eq!(runs(2..9, |f| f != 5), [2..5, 6..9]);
        assert_eq!(runs(3..3, |_| true), []);
    }
}
