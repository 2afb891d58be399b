//! The curve between two keys: a cubic Bezier curve from (0, 0) to (1, 1), whose two inner points are stored in steps of 1/127.
//!
//! `x(t) = 3 (1-t)^2 t x1 + 3 (1-t) t^2 x2 + t^3`, the same for `y`. With `x1` and `x2` in 0..1, `x` rises with `t`; the root is found
//! by Newton's method within a bracket that is halved where a step leaves it.

/// The inner points: `x1, y1, x2, y2`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct EaseCurve([f64; 4]);

/// The largest byte of a coordinate, which stands for 1.
const ONE: f64 = 127.0;
/// Most steps: bisection alone needs 53 for the last bit.
const STEPS: usize = 64;

impl EaseCurve {
    /// The curve of four bytes of a file.
    pub(super) fn of(bytes: [u8; 4]) -> Self {
        Self(bytes.map(|byte| f64::from(byte).min(ONE) / ONE))
    }

    /// The share of the path at the share `x` of the time, both from 0 to 1.
    pub(super) fn at(&self, x: f64) -> f64 {
        let [x1, y1, x2, y2] = self.0;
        if x1 == y1 && x2 == y2 {
            return x;
        }
        let point = |a: f64, b: f64, t: f64| {
            let s = 1.0 - t;
            t * (3.0 * s * (s * a + t * b) + t * t)
        };
        let slope = |t: f64| {
            let s = 1.0 - t;
            3.0 * (s * s * x1 + 2.0 * s * t * (x2 - x1) + t * t * (1.0 - x2))
        };
        let (mut low, mut high, mut t) = (0.0, 1.0, x);
        for _ in 0..STEPS {
            let off = point(x1, x2, t) - x;
            if off == 0.0 {
                break;
            }
            *(if off < 0.0 { &mut low } else { &mut high }) = t;
            let next = t - off / slope(t);
            let next = if next > low && next < high { next } else { 0.5 * (low + high) };
            if next == t {
                break;
            }
            t = next;
        }
        point(y1, y2, t)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_curves_have_their_closed_form() {
        // Both inner points on the diagonal: a straight line.
        assert_eq!(EaseCurve::of([20, 20, 107, 107]).at(0.3), 0.3);
        // x = t^3 with x1 = x2 = 0; y = 1 - (1-t)^3 with y1 = y2 = 1.
        let curve = EaseCurve::of([0, 127, 0, 127]);
        for x in [0.001, 0.125, 0.5, 0.9] {
            let t = f64::cbrt(x);
            assert!((curve.at(x) - (1.0 - (1.0 - t).powi(3))).abs() < 1e-14, "{x}");
        }
        // Symmetric in time: the middle is the middle.
        assert!((EaseCurve::of([64, 0, 63, 127]).at(0.5) - 0.5).abs() < 1e-14);
    }

    proptest! {
        #[test]
        fn the_point_is_on_the_curve(bytes: [u8; 4], t in 0.0..1.0f64) {
            let curve = EaseCurve::of(bytes);
            let [x1, y1, x2, y2] = curve.0;
            let s = 1.0 - t;
            let on = |a: f64, b: f64| 3.0 * s * s * t * a + 3.0 * s * t * t * b + t * t * t;
            // Where x hardly rises, its last bit is a share of the way.
            let steep = 3.0 * (s * s * x1 + 2.0 * s * t * (x2 - x1) + t * t * (1.0 - x2));
            prop_assume!(steep > 1e-3);
            prop_assert!((curve.at(on(x1, x2)) - on(y1, y2)).abs() < 1e-11);
            prop_assert_eq!((curve.at(0.0), curve.at(1.0)), (0.0, 1.0));
        }
    }
}
