//! A channel becomes the values of polynomials fitted to a sliding window (Savitzky and Golay 1964).
//!
//! The fitted values of a window are `H x` with `H = V (V^T V)^-1 V^T`, `V` the Vandermonde matrix of the window;
//! with a thin `V = Q R` that is `H = Q Q^T`. The inner samples take the middle row, the ends the outer rows of
//! the end windows. Units: frames; the channel in any unit.

use crate::math::DMatrix;

/// Polynomials of one degree over windows of one size.
#[derive(Clone, Debug, PartialEq)]
pub struct SavitzkyGolay {
    half: usize,
    degree: usize,
    fit: DMatrix<f64>,
}

/// A window that no polynomial can be fitted to.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SavitzkyGolayError {
    /// The window has no middle sample.
    #[error("a window of {window} frames has no middle: use an odd number")]
    Even {
        /// The window in frames.
        window: usize,
    },
    /// The polynomial passes through every sample of the window.
    #[error("a polynomial of degree {degree} smooths nothing in a window of {window} frames")]
    Degree {
        /// The window in frames.
        window: usize,
        /// The degree of the polynomial.
        degree: usize,
    },
}

impl SavitzkyGolay {
    /// Polynomials of `degree` over windows of `window` frames.
    ///
    /// # Errors
    /// A [`SavitzkyGolayError`] where the window is even or not longer than the degree plus one.
    pub fn new(window: usize, degree: usize) -> Result<Self, SavitzkyGolayError> {
        if window.is_multiple_of(2) {
            return Err(SavitzkyGolayError::Even { window });
        }
        if degree + 1 >= window {
            return Err(SavitzkyGolayError::Degree { window, degree });
        }
        let half = window / 2;
        let abscissa = |i: usize| (i as f64 - half as f64) / half as f64;
        let powers = DMatrix::from_fn(window, degree + 1, |i, p| abscissa(i).powi(p as i32));
        let q = powers.qr().q();
        Ok(Self { half, degree, fit: &q * q.transpose() })
    }

    /// Smooths `channel` in place. A channel shorter than the window is fitted as one window of its own length,
    /// or stays where even that is not longer than the degree plus one.
    pub fn apply(&self, channel: &mut [f64]) {
        let n = channel.len();
        let window = 2 * self.half + 1;
        if n < window {
            let shorter = if n.is_multiple_of(2) { n.saturating_sub(1) } else { n };
            if let Ok(smaller) = Self::new(shorter, self.degree) {
                smaller.apply(channel);
            }
            return;
        }
        let old = channel.to_vec();
        let value = |row: usize, start: usize| -> f64 {
            self.fit.row(row).iter().zip(&old[start..]).map(|(h, x)| h * x).sum()
        };
        for (k, x) in channel.iter_mut().enumerate() {
            let start = k.saturating_sub(self.half).min(n - window);
            *x = value(k - start, start);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn polynomials_of_the_degree_stay(
            n in 0..60usize, half in 2..8usize, degree in 0..4usize, c in proptest::array::uniform4(-2.0..2.0f64),
        ) {
            let filter = SavitzkyGolay::new(2 * half + 1, degree);
            prop_assume!(filter.is_ok());
            let at = |k: usize| (0..=degree).map(|p| c[p] * (k as f64 / 10.0).powi(p as i32)).sum::<f64>();
            let mut x: Vec<f64> = (0..n).map(at).collect();
            filter.unwrap().apply(&mut x);
            for (k, x) in x.iter().enumerate() {
                prop_assert!((x - at(k)).abs() < 1e-9 * (1.0 + at(k).abs()), "{k}: {x} {}", at(k));
            }
        }
    }

    #[test]
    fn the_five_point_quadratic_is_the_published_one() {
        // Savitzky and Golay (1964), table I: (-3, 12, 17, 12, -3) / 35.
        let mut x = vec![0.0; 9];
        x[4] = 35.0;
        SavitzkyGolay::new(5, 2).unwrap().apply(&mut x);
        for (found, expected) in x[2..7].iter().zip([-3.0, 12.0, 17.0, 12.0, -3.0]) {
            assert!((found - expected).abs() < 1e-12);
        }
    }

    #[test]
    fn windows_that_fit_nothing_are_refused() {
        let text = |w, d| SavitzkyGolay::new(w, d).unwrap_err().to_string();
        assert_eq!(text(8, 3), "a window of 8 frames has no middle: use an odd number");
        assert_eq!(text(5, 4), "a polynomial of degree 4 smooths nothing in a window of 5 frames");
    }
}
