//! Nearest points of line segments.
//!
//! Source: C. Ericson, Real-Time Collision Detection (2005), 5.1.2 and 5.1.9.

use super::Vec3;

/// The point of a segment nearest to `p`, as its parameter along the segment, 0 to 1.
pub fn nearest_on_segment([a, b]: &[Vec3; 2], p: &Vec3) -> f64 {
    let d = b - a;
    let square = d.norm_squared();
    if square < 1e-24 { 0.0 } else { ((p - a).dot(&d) / square).clamp(0.0, 1.0) }
}

/// The point of a segment nearest to `p`.
pub fn nearest_point_on_segment([a, b]: &[Vec3; 2], p: &Vec3) -> Vec3 {
    a + (b - a) * nearest_on_segment(&[*a, *b], p)
}

/// The nearest points of two segments.
pub fn nearest_points_of_segments(a: &[Vec3; 2], b: &[Vec3; 2]) -> [Vec3; 2] {
    let [s, t] = nearest_of_segments(a, b);
    [a[0] + (a[1] - a[0]) * s, b[0] + (b[1] - b[0]) * t]
}

/// The nearest points of two segments, as parameters along each, 0 to 1.
pub fn nearest_of_segments(a: &[Vec3; 2], b: &[Vec3; 2]) -> [f64; 2] {
    let (d, e, r) = (a[1] - a[0], b[1] - b[0], a[0] - b[0]);
    let (dd, ee, de) = (d.norm_squared(), e.norm_squared(), d.dot(&e));
    let (dr, er) = (d.dot(&r), e.dot(&r));
    let denominator = dd * ee - de * de;
    let mut s = if denominator > 1e-18 { ((de * er - dr * ee) / denominator).clamp(0.0, 1.0) } else { 0.0 };
    let mut t = if ee > 1e-24 { (de * s + er) / ee } else { 0.0 };
    if !(0.0..=1.0).contains(&t) || ee <= 1e-24 {
        t = t.clamp(0.0, 1.0);
        s = if dd > 1e-24 { ((de * t - dr) / dd).clamp(0.0, 1.0) } else { 0.0 };
    }
    [s, t]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_pair_of_points_is_nearer(
            v in prop::array::uniform12(-1.0..1.0f64), s in 0.0..=1.0f64, t in 0.0..=1.0f64, flat in 0..4u8,
        ) {
            let at = |k: usize| Vec3::new(v[k], v[k + 1], v[k + 2]);
            // Includes segments of zero length.
            let a = [at(0), if flat & 1 == 0 { at(3) } else { at(0) }];
            let b = [at(6), if flat & 2 == 0 { at(9) } else { at(6) }];
            let at = |x: &[Vec3; 2], t: f64| x[0] + (x[1] - x[0]) * t;
            let [p, q] = nearest_points_of_segments(&a, &b);
            let least = (p - q).norm();
            prop_assert!((at(&a, s) - at(&b, t)).norm() >= least - 1e-9);
            let point = at(&b, t);
            let nearest = (nearest_point_on_segment(&a, &point) - point).norm();
            prop_assert!((at(&a, s) - point).norm() >= nearest - 1e-9);
        }
    }
}
