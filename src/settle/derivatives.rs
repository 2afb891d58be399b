//! Derivatives of a time series, and its deviation from a line.
//!
//! Frames are evenly spaced. Units: those of the values; times in frames unless a name says otherwise.

use crate::math::Vec3;

/// The second derivative at `rate` frames a second; the ends repeat their neighbours, fewer than three frames have none.
pub fn second_derivative(values: &[Vec3], rate: f64) -> Vec<Vec3> {
    let inner = |w: &[Vec3]| (w[2] - w[1] * 2.0 + w[0]) * (rate * rate);
    padded(values.windows(3).map(inner).collect(), values.len())
}

/// The first derivative, by central differences; the ends as of [`bend`].
pub fn first_derivative(values: &[Vec3], rate: f64) -> Vec<Vec3> {
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

/// The root mean square distance of values from their least-squares line.
pub fn line_residual(values: &[f64]) -> f64 {
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
        fn a_parabola_bends_alike_everywhere_and_a_line_is_a_line(
            a in -5.0..5.0f64, b in -5.0..5.0f64, c in -5.0..5.0f64, frames in 3usize..40,
        ) {
            let at = |f: usize| a + b * f as f64;
            let values: Vec<Vec3> = (0..frames).map(|f| Vec3::y() * (at(f) + 0.5 * c * (f * f) as f64)).collect();
            prop_assert!(second_derivative(&values, 10.0).iter().all(|x| (x.y - 100.0 * c).abs() < 1e-6));
            let line: Vec<f64> = (0..frames).map(at).collect();
            prop_assert!(line_residual(&line) < 1e-9);
        }
    }
}
