//! Mean, root mean square and maximum of lists, and the rounding of positions in files.

use crate::math::Vec3;

/// Distance from the origin, metres, within which the rounding of translations is less than any measure sees: 4 um.
const NEAR: f64 = 64.0;
/// Bits of the significand of a number of 32 bits behind its first.
const BITS: f64 = 23.0;

/// The mean; 0 of no numbers.
pub fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

/// The root of the mean square; 0 of no numbers.
pub fn rms(squares: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut count) = (0.0, 0usize);
    for square in squares {
        sum += square;
        count += 1;
    }
    if count == 0 { 0.0 } else { (sum / count as f64).sqrt() }
}

/// The greatest; 0 of no numbers.
pub fn greatest(values: &[f64]) -> f64 {
    values.iter().copied().fold(0.0, f64::max)
}

/// The step of translations of 32 bits at a position, as glTF and FBX files have them, metres; 0 near the origin.
pub fn rounding(at: &Vec3) -> f64 {
    let far = at.amax();
    if far < NEAR || !far.is_finite() { 0.0 } else { libm::exp2(libm::log2(far).floor() - BITS) }
}

/// The root mean square of the third differences that the rounding of positions in steps of `step` adds at most: the variance of one
/// coordinate is step^2 / 12, that of `a - 3 b + 3 c - d` is 20 times as much, and there are three coordinates.
pub fn rounding_of_thirds(step: f64) -> f64 {
    (3.0 * 20.0 / 12.0_f64).sqrt() * step
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rounding_of_32_bits_is_that_of_the_numbers() {
        for x in [64.0_f64, 100.0, 1000.0, 1024.0, 30000.0] {
            let next = f32::from_bits((x as f32).to_bits() + 1);
            assert_eq!(rounding(&Vec3::new(1.0, -x, 0.0)), f64::from(next) - x);
        }
        assert_eq!(rounding(&Vec3::new(60.0, 0.0, 0.0)), 0.0);
        // Positions along a line, rounded.
        let at =
            |f: usize, k: usize| f64::from((1000.0 + 0.0123 * (f as f64 + 0.37 * k as f64).sin()) as f32);
        let exact = |f: usize, k: usize| 1000.0 + 0.0123 * (f as f64 + 0.37 * k as f64).sin();
        let off = |f: usize, k: usize| at(f, k) - exact(f, k);
        let third =
            |f: usize, k: usize| off(f + 3, k) - 3.0 * off(f + 2, k) + 3.0 * off(f + 1, k) - off(f, k);
        let found = rms((0..5000).map(|f| (0..3).map(|k| third(f, k).powi(2)).sum()));
        let expected = rounding_of_thirds(rounding(&Vec3::new(1000.0, 0.0, 0.0)));
        assert!((found / expected - 1.0).abs() < 0.05, "{found} {expected}");
    }
}
