//! Sines and cosines of half angles given in degrees, many at once.
//!
//! The angle is reduced to within 45 degrees of a multiple of 90 while it is still in degrees, which is exact, so multiples
//! of 90 degrees give exact results; then the polynomials of FreeBSD's `k_sin.c` and `k_cos.c` (Sun 1993) are evaluated.
//! Plain arithmetic without branches, calls or tables: the loop is vectorised and gives the same bits on every machine,
//! unlike the sine of a system library.

use crate::math::DEGREE;

/// Above this the reduction would lose digits; the remainder modulo 720 degrees, which is exact, is taken first.
const LARGE: f64 = 1e9;

/// `1.5 * 2^52`: adding it rounds to an integer, which is then in the lowest bits.
const ROUND: f64 = 6_755_399_441_055_744.0;

/// Writes `sin(degrees / 2)` and `cos(degrees / 2)` for finite `degrees`.
///
/// # Panics
/// If the three lengths differ.
#[inline(always)]
pub(super) fn half_sin_cos(degrees: &mut [f64], sin: &mut [f64], cos: &mut [f64]) {
    assert!(degrees.len() == sin.len() && degrees.len() == cos.len(), "one sine and cosine per angle");
    if degrees.iter().any(|d| d.abs() > LARGE) {
        degrees.iter_mut().for_each(|d| *d %= 720.0);
    }
    for ((d, sin), cos) in degrees.iter().zip(sin).zip(cos) {
        let half = d * 0.5;
        let rounded = half * (1.0 / 90.0) + ROUND;
        let quarter = rounded.to_bits();
        let x = (half - (rounded - ROUND) * 90.0) * DEGREE;
        let (s, c) = kernel(x);
        // sin(x + q 90): s c -s -c; cos(x + q 90): c -s -c s.
        let swap = 0u64.wrapping_sub(quarter & 1);
        let differ = (s.to_bits() ^ c.to_bits()) & swap;
        *sin = f64::from_bits((s.to_bits() ^ differ) ^ ((quarter & 2) << 62));
        *cos = f64::from_bits((c.to_bits() ^ differ) ^ ((quarter.wrapping_add(1) & 2) << 62));
    }
}

/// Sine and cosine of `x` within 45 degrees, in radians.
#[inline(always)]
#[allow(clippy::excessive_precision, reason = "the constants stand as in the source")]
fn kernel(x: f64) -> (f64, f64) {
    let z = x * x;
    let s = 8.33333333332248946124e-03
        + z * (-1.98412698298579493134e-04
            + z * (2.75573137070700676789e-06
                + z * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10)));
    let c = 4.16666666666666019037e-02
        + z * (-1.38888888888741095749e-03
            + z * (2.48015872894767294178e-05
                + z * (-2.75573143513906633035e-07
                    + z * (2.08757232129817482790e-09 + z * -1.13596475577881948265e-11))));
    (x + x * z * (-1.66666666666666324348e-01 + z * s), 1.0 - (0.5 * z - z * z * c))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn both(degrees: f64) -> (f64, f64) {
        let (mut s, mut c) = ([0.0], [0.0]);
        half_sin_cos(&mut [degrees], &mut s, &mut c);
        (s[0], c[0])
    }

    proptest! {
        #[test]
        fn sines_and_cosines_are_those_of_the_standard_library(degrees in -2000.0..2000.0f64) {
            let (s, c) = both(degrees);
            let (es, ec) = (degrees * 0.5).to_radians().sin_cos();
            // The library's angle in radians is itself rounded: 17 rad are known to 2e-15.
            prop_assert!((s - es).abs() < 4e-15 && (c - ec).abs() < 4e-15);
            prop_assert!((s * s + c * c - 1.0).abs() < 5e-16);
        }

        #[test]
        fn whole_revolutions_change_nothing(degrees in -90i32..90, revolutions in -1_000_000_000_000i64..1_000_000_000_000) {
            let far = f64::from(degrees) + revolutions as f64 * 720.0;
            prop_assert_eq!(both(far), both(f64::from(degrees)));
        }
    }

    #[test]
    fn multiples_of_90_degrees_are_exact() {
        let found: Vec<_> = [0.0, 180.0, 360.0, 540.0, -180.0, -360.0].map(both).into();
        let expected = [(0.0, 1.0), (1.0, 0.0), (0.0, -1.0), (-1.0, 0.0), (-1.0, 0.0), (0.0, -1.0)];
        assert_eq!(found, expected);
    }
}
