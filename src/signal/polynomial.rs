//! Savitzky-Golay filter (1964) and least-squares parabola.
//!
//! The fitted values of a window are `H x` with `H = V (V^T V)^-1 V^T`, `V` the Vandermonde matrix of the window;
//! with a thin `V = Q R` that is `H = Q Q^T`; the slopes are `V' R^-1 Q^T x`. Inner samples use the middle row,
//! the ends the outer rows of the end windows. Parabolas are sums of the polynomials `1, x, x^2 - (n^2 - 1) / 12`, which
//! are orthogonal over `n` samples around their middle. Units: frames; the channel in any unit.

use crate::math::{DMatrix, Vec3, in_wide_registers};

/// A Savitzky-Golay filter of one degree and window.
#[derive(Clone, Debug, PartialEq)]
pub struct SavitzkyGolay {
    half: usize,
    degree: usize,
    fit: DMatrix<f64>,
    /// Per frame.
    slope: DMatrix<f64>,
}

/// An invalid window.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
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
    /// A [`SavitzkyGolayError`] if the window is even or not longer than the degree plus one.
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
        let slopes = DMatrix::from_fn(window, degree + 1, |i, p| match p {
            0 => 0.0,
            _ => p as f64 * abscissa(i).powi(p as i32 - 1) / half as f64,
        });
        let (q, r) = powers.qr().unpack();
        let coefficients =
            r.solve_upper_triangular(&q.transpose()).expect("distinct abscissae are of full rank");
        Ok(Self { half, degree, fit: &q * q.transpose(), slope: slopes * coefficients })
    }

    /// Smooths `channel` in place. A channel shorter than the window is fitted as one window of its own length, or is
    /// unchanged if that is not longer than the degree plus one.
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
        slide(&self.fit, &old, channel);
    }

    /// The slopes of the polynomials, per frame. A channel shorter than the window is fitted as one window of its own
    /// length; one that is not longer than the degree plus one has the slope of the line through its ends.
    pub fn slopes(&self, channel: &[f64]) -> Vec<f64> {
        let n = channel.len();
        if n < 2 * self.half + 1 {
            let shorter = if n.is_multiple_of(2) { n.saturating_sub(1) } else { n };
            if let Ok(smaller) = Self::new(shorter, self.degree) {
                return smaller.slopes(channel);
            }
            let rise = channel.last().zip(channel.first()).map_or(0.0, |(b, a)| b - a);
            return vec![rise / n.saturating_sub(1).max(1) as f64; n];
        }
        let mut slopes = vec![0.0; n];
        slide(&self.slope, channel, &mut slopes);
        slopes
    }
}

/// Slides a window over `from`, with the row of `filters` for the sample's position in its window.
fn slide(filters: &DMatrix<f64>, from: &[f64], to: &mut [f64]) {
    let (window, count) = (filters.ncols(), from.len());
    let half = window / 2;
    let row = |place: usize| -> Vec<f64> { filters.row(place).iter().copied().collect() };
    for k in (0..half).chain(count - half..count) {
        let start = k.saturating_sub(half).min(count - window);
        to[k] = row(k - start).iter().zip(&from[start..]).map(|(h, x)| h * x).sum();
    }
    let middle = row(half);
    let inner = &mut to[half..count - half];
    in_wide_registers(
        #[inline(always)]
        || convolve(&middle, from, inner),
    );
}

/// The sums of the products of `row` and `from` at every offset. Several at once, each in the order of the row.
#[inline(always)]
fn convolve(row: &[f64], from: &[f64], to: &mut [f64]) {
    /// Sums that fill the registers.
    const TOGETHER: usize = 16;
    let (blocks, rest) = to.as_chunks_mut::<TOGETHER>();
    let first = TOGETHER * blocks.len();
    for (block, sums) in blocks.iter_mut().enumerate() {
        *sums = [-0.0; TOGETHER];
        for (h, from) in row.iter().zip(from[TOGETHER * block..].windows(TOGETHER)) {
            sums.iter_mut().zip(from).for_each(|(sum, x)| *sum += h * x);
        }
    }
    for (k, sum) in rest.iter_mut().enumerate() {
        *sum = row.iter().zip(&from[first + k..]).map(|(h, x)| h * x).sum();
    }
}

/// The least-squares parabola of evenly spaced values.
#[derive(Clone, Debug, PartialEq)]
pub struct Parabola {
    count: usize,
    /// The coefficients of the orthogonal polynomials.
    parts: [Vec3; 3],
}

impl Parabola {
    /// Fits the values: least squares for more than three, exact for three; a line or constant for fewer.
    pub fn through(values: &[Vec3]) -> Self {
        let count = values.len();
        let mut parts = [(Vec3::zeros(), 0.0); 3];
        for (i, value) in values.iter().enumerate() {
            for ((sum, squares), b) in parts.iter_mut().zip(basis(count, i)) {
                *sum += value * b;
                *squares += b * b;
            }
        }
        let share = |(sum, squares): (Vec3, f64)| if squares > 0.0 { sum / squares } else { Vec3::zeros() };
        Self { count, parts: parts.map(share) }
    }

    /// Its value at sample `i`.
    #[cfg(feature = "physics")]
    pub fn at(&self, i: usize) -> Vec3 {
        let [a, b, c] = basis(self.count, i);
        self.parts[0] * a + self.parts[1] * b + self.parts[2] * c
    }

    /// Its slope at the first sample, per frame.
    #[cfg(feature = "physics")]
    pub fn first_slope(&self) -> Vec3 {
        let middle = 0.5 * (self.count as f64 - 1.0);
        self.parts[1] - self.parts[2] * (2.0 * middle)
    }

    /// Its second derivative, per frame squared.
    pub fn acceleration(&self) -> Vec3 {
        self.parts[2] * 2.0
    }
}

/// The polynomials of `Parabola` over `n` samples, at sample `i`.
fn basis(n: usize, i: usize) -> [f64; 3] {
    let n = n as f64;
    let x = i as f64 - 0.5 * (n - 1.0);
    [1.0, x, x * x - (n * n - 1.0) / 12.0]
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
            let filter = filter.unwrap();
            let slopes = filter.slopes(&x);
            filter.apply(&mut x);
            let slope = |k: usize| {
                (1..=degree).map(|p| c[p] * p as f64 / 10.0 * (k as f64 / 10.0).powi(p as i32 - 1)).sum::<f64>()
            };
            for (k, found) in slopes.iter().enumerate().filter(|_| n > degree + 2) {
                prop_assert!((found - slope(k)).abs() < 1e-9 * (1.0 + slope(k).abs()), "{k}: {found} {}", slope(k));
            }
            for (k, x) in x.iter().enumerate() {
                prop_assert!((x - at(k)).abs() < 1e-9 * (1.0 + at(k).abs()), "{k}: {x} {}", at(k));
            }
        }
    }

    proptest! {
        /// A parabola is found as it is, and what is left over is orthogonal to every other.
        #[test]
        fn the_parabola_of_least_squares_is_found(
            c in prop::array::uniform3(-2.0..2.0f64), noise in proptest::collection::vec(-1.0..1.0f64, 1..40),
        ) {
            let of = |i: usize| c[0] + c[1] * i as f64 + c[2] * (i * i) as f64;
            let exact: Vec<Vec3> = (0..noise.len()).map(|i| Vec3::y() * of(i)).collect();
            let found = Parabola::through(&exact);
            for (i, value) in exact.iter().enumerate() {
                prop_assert!((found.at(i) - value).norm() < 1e-9 * (1.0 + value.norm()));
            }
            if noise.len() > 2 {
                prop_assert!((found.first_slope() - Vec3::y() * c[1]).norm() < 1e-8);
                prop_assert!((found.acceleration() - Vec3::y() * (2.0 * c[2])).norm() < 1e-9);
            }
            let noisy: Vec<Vec3> = exact.iter().zip(&noise).map(|(v, x)| v + Vec3::y() * *x).collect();
            let found = Parabola::through(&noisy);
            for power in 0..3 {
                let size: f64 = (0..noisy.len()).map(|i| (i as f64).powi(power) * (1.0 + noisy[i].norm())).sum();
                let left: f64 =
                    (0..noisy.len()).map(|i| (i as f64).powi(power) * (noisy[i] - found.at(i)).y).sum();
                prop_assert!(left.abs() <= 1e-11 * size, "{left} of {size}");
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
