//! Rotations from axes, vectors and matrices, defined for every degenerate input.
//!
//! Sources: Rodrigues' formula for [`exp`]; the swing-twist decomposition as in Dobrowolski (2015),
//! eq. 9; the closest rotation to a matrix by polar decomposition (Higham 1986).

use super::{Mat3, Quat, RawQuat, UnitVec3, Vec3};
use nalgebra::Matrix4;

/// A degree, radians.
pub const DEGREE: f64 = std::f64::consts::PI / 180.0;

/// The matrix with `hat(a) * b == a.cross(&b)`.
pub fn hat(a: &Vec3) -> Mat3<f64> {
    a.cross_matrix()
}

/// The rotation by `v.norm()` radians about `v` (Rodrigues); the identity for the zero vector.
pub fn exp(v: &Vec3) -> Quat {
    Quat::from_scaled_axis(*v)
}

/// The rotation vector of `q`, of length at most pi: the inverse of [`exp`].
pub fn log(q: &Quat) -> Vec3 {
    let v = q.imag();
    let (v, w) = if q.w < 0.0 { (-v, -q.w) } else { (v, q.w) };
    let s = v.norm();
    if s < 1e-12 {
        // atan2(s, w) / s tends to 1 / w, and w to 1.
        return v * 2.0;
    }
    v * (2.0 * libm::atan2(s, w) / s)
}

/// The angle between two vectors in radians, 0 to pi; 0 if one of them is zero.
///
/// By `atan2`, which keeps its precision near 0 and pi where `acos` of the dot product loses half the digits.
pub fn angle_between(a: &Vec3, b: &Vec3) -> f64 {
    libm::atan2(a.cross(b).norm(), a.dot(b))
}

/// The smallest rotation that maps the direction of `from` to the direction of `to`.
///
/// For opposite vectors the axis is the part of `hint` perpendicular to `from`, or any perpendicular if that is zero. A
/// zero vector gives the identity.
pub fn arc(from: &Vec3, to: &Vec3, hint: &Vec3) -> Quat {
    let (Some(a), Some(b)) = (from.try_normalize(1e-12), to.try_normalize(1e-12)) else {
        return Quat::identity();
    };
    let cross = a.cross(&b);
    let dot = a.dot(&b);
    if cross.norm_squared() < 1e-20 && dot < 0.0 {
        let axis = (hint - a * a.dot(hint)).try_normalize(1e-9).unwrap_or_else(|| any_perpendicular(&a));
        return Quat::from_axis_angle(&UnitVec3::new_unchecked(axis), std::f64::consts::PI);
    }
    // Half-angle form: (1 + a.b, a x b) is the quaternion of the arc, unnormalised. Near 180 degrees the
    // scalar part cancels; there the half vector is built from the cross product's length instead.
    let w = if dot > -0.99 { 1.0 + dot } else { cross.norm_squared() / (1.0 - dot) };
    Quat::new_normalize(RawQuat::from_parts(w, cross))
}

/// Some unit vector perpendicular to the unit vector `a`.
pub fn any_perpendicular(a: &Vec3) -> Vec3 {
    let smallest = a.iamin();
    let mut axis = Vec3::zeros();
    axis[smallest] = 1.0;
    a.cross(&axis).normalize()
}

/// Decomposes `q` into `swing * twist`: the twist is about the unit vector `axis`, the swing about an axis perpendicular
/// to it.
///
/// At a swing of 180 degrees the twist is undefined and returned as the identity.
pub fn swing_twist(q: &Quat, axis: &Vec3) -> (Quat, Quat) {
    let along = q.imag().dot(axis);
    if q.w * q.w + along * along < 1e-12 {
        return (*q, Quat::identity());
    }
    let twist = Quat::new_normalize(RawQuat::from_parts(q.w, axis * along));
    (q * twist.inverse(), twist)
}

/// The angle in radians, within (-pi, pi], by which `q` twists about the unit vector `axis`.
pub fn twist_angle(q: &Quat, axis: &Vec3) -> f64 {
    let along = q.imag().dot(axis);
    if q.w * q.w + along * along < 1e-12 {
        return 0.0;
    }
    let angle = 2.0 * libm::atan2(along, q.w);
    if angle > std::f64::consts::PI {
        angle - std::f64::consts::TAU
    } else if angle <= -std::f64::consts::PI {
        angle + std::f64::consts::TAU
    } else {
        angle
    }
}

/// `q` or its negative (the same rotation), whichever lies in the hemisphere of `reference`.
pub fn same_hemisphere(q: Quat, reference: &Quat) -> Quat {
    if q.coords.dot(&reference.coords) < 0.0 { Quat::new_unchecked(-q.into_inner()) } else { q }
}

/// Spherical interpolation from `a` to `b` along the shorter arc; never fails.
pub fn slerp(a: &Quat, b: &Quat, t: f64) -> Quat {
    let b = same_hemisphere(*b, a);
    let cos = a.coords.dot(&b.coords).min(1.0);
    if cos > 0.9995 {
        return Quat::new_normalize(RawQuat::from(a.coords.lerp(&b.coords, t)));
    }
    let angle = libm::acos(cos);
    let sin = libm::sin(angle);
    let mixed = a.coords * (libm::sin((1.0 - t) * angle) / sin) + b.coords * (libm::sin(t * angle) / sin);
    Quat::new_normalize(RawQuat::from(mixed))
}

/// The rotation whose matrix has the given orthonormal, right-handed columns.
///
/// Closed form (Shepperd 1978), without iteration: nearly equal inputs give nearly equal outputs.
pub fn from_columns(x: &Vec3, y: &Vec3, z: &Vec3) -> Quat {
    let m = Mat3::from_columns(&[*x, *y, *z]);
    let trace = m.trace();
    let candidates = [trace, m[(0, 0)], m[(1, 1)], m[(2, 2)]];
    let largest = (0..4).max_by(|&i, &j| candidates[i].total_cmp(&candidates[j])).unwrap_or(0);
    let (w, v) = match largest {
        0 => (1.0 + trace, Vec3::new(m[(2, 1)] - m[(1, 2)], m[(0, 2)] - m[(2, 0)], m[(1, 0)] - m[(0, 1)])),
        k => {
            let i = k - 1;
            let (j, l) = ((i + 1) % 3, (i + 2) % 3);
            let mut v = Vec3::zeros();
            v[i] = 1.0 + m[(i, i)] - m[(j, j)] - m[(l, l)];
            v[j] = m[(j, i)] + m[(i, j)];
            v[l] = m[(l, i)] + m[(i, l)];
            (m[(l, j)] - m[(j, l)], v)
        }
    };
    Quat::new_normalize(RawQuat::from_parts(w, v))
}

/// The rotation closest to `m` (polar decomposition), and whether `m` is a reflection (negative determinant).
///
/// A reflection is negated first, so the rotation is that of `-m`. `None` if `m` is singular or not finite.
pub fn nearest_rotation(m: &Mat3<f64>) -> Option<(Quat, bool)> {
    let det = m.determinant();
    let size = m.norm();
    if !det.is_finite() || det.abs() <= 1e-12 * size * size * size {
        return None;
    }
    let mirrored = det < 0.0;
    let m = if mirrored { -m } else { *m };
    // Newton's iteration for the polar factor: X <- (X + X^-T) / 2, quadratic from any non-singular start.
    let mut x = m / libm::cbrt(det.abs());
    for _ in 0..60 {
        let next = (x + x.try_inverse()?.transpose()) * 0.5;
        let change = (next - x).norm();
        x = next;
        if change < 1e-15 {
            break;
        }
    }
    let column = |i: usize| -> Vec3 { x.column(i).into_owned() };
    Some((from_columns(&column(0), &column(1), &column(2)), mirrored))
}

/// The rotation `R` with the greatest `sum w b . (R a)` over pairs (a, b), given `products = sum w a b^T`, and that sum: the least-squares
/// fit of two rigid sets of points about their means.
///
/// Closed form: the eigenvector of the greatest eigenvalue (Horn 1987). Never a reflection; the identity for zero.
pub fn best_rotation(products: &Mat3<f64>) -> (Quat, f64) {
    let s = products;
    let [xx, yy, zz] = [s[(0, 0)], s[(1, 1)], s[(2, 2)]];
    let (x, y, z) = (s[(1, 2)] - s[(2, 1)], s[(2, 0)] - s[(0, 2)], s[(0, 1)] - s[(1, 0)]);
    let (xy, xz, yz) = (s[(0, 1)] + s[(1, 0)], s[(2, 0)] + s[(0, 2)], s[(1, 2)] + s[(2, 1)]);
    #[rustfmt::skip]
    let n = Matrix4::new(
        xx + yy + zz, x, y, z,
        x, xx - yy - zz, xy, xz,
        y, xy, yy - xx - zz, yz,
        z, xz, yz, zz - xx - yy,
    );
    if n.norm_squared() <= 0.0 {
        return (Quat::identity(), 0.0);
    }
    let eigen = n.symmetric_eigen();
    let k = eigen.eigenvalues.imax();
    let v = eigen.eigenvectors.column(k);
    (Quat::new_normalize(RawQuat::new(v[0], v[1], v[2], v[3])), eigen.eigenvalues[k])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn vector() -> impl Strategy<Value = Vec3> {
        (-3.0..3.0f64, -3.0..3.0f64, -3.0..3.0f64).prop_map(|(x, y, z)| Vec3::new(x, y, z))
    }

    proptest! {
        #[test]
        fn log_inverts_exp(v in vector()) {
            let q = exp(&v);
            prop_assert!(exp(&log(&q)).angle_to(&q) < 1e-12);
            prop_assert!(log(&q).norm() <= std::f64::consts::PI + 1e-12);
        }

        #[test]
        fn arc_maps_one_direction_to_the_other(a in vector(), b in vector()) {
            prop_assume!(a.norm() > 1e-3 && b.norm() > 1e-3);
            let q = arc(&a, &b, &Vec3::y());
            prop_assert!(angle_between(&(q * a), &b) < 1e-9);
            prop_assert!((q.angle() - angle_between(&a, &b)).abs() < 1e-9);
        }

        #[test]
        fn swing_and_twist_compose_and_keep_their_axes(v in vector(), axis in vector()) {
            prop_assume!(axis.norm() > 1e-3);
            let (q, axis) = (exp(&v), axis.normalize());
            let (swing, twist) = swing_twist(&q, &axis);
            prop_assert!((swing * twist).angle_to(&q) < 1e-9);
            prop_assert!(log(&swing).dot(&axis).abs() < 1e-7);
            prop_assert!((log(&twist) - axis * log(&twist).dot(&axis)).norm() < 1e-9);
            prop_assert!((twist_angle(&q, &axis).abs() - twist.angle()).abs() < 1e-9);
        }

        #[test]
        fn the_best_rotation_of_rotated_points_is_that_rotation(
            v in vector(), points in proptest::collection::vec(vector(), 2..6),
        ) {
            let q = exp(&v);
            prop_assume!(points[0].cross(&points[1]).norm() > 0.1);
            let products = points.iter().map(|a| a * (q * a).transpose()).sum();
            let (found, fit) = best_rotation(&products);
            prop_assert!(found.angle_to(&q) < 1e-6);
            prop_assert!((fit - points.iter().map(|a| a.norm_squared()).sum::<f64>()).abs() < 1e-9);
        }

        #[test]
        fn the_nearest_rotation_of_a_scaled_rotation_is_that_rotation(v in vector(), s in 0.01..100.0f64) {
            let q = exp(&v);
            let m = q.to_rotation_matrix().into_inner() * s;
            let (found, mirrored) = nearest_rotation(&m).unwrap();
            prop_assert!(!mirrored && found.angle_to(&q) < 1e-9);
            prop_assert!(nearest_rotation(&-m).unwrap().1);
        }
    }

    #[test]
    fn opposite_vectors_rotate_about_the_hint() {
        let q = arc(&Vec3::x(), &-Vec3::x(), &Vec3::z());
        assert!((q * Vec3::x() + Vec3::x()).norm() < 1e-12);
        assert!((q * Vec3::z() - Vec3::z()).norm() < 1e-12);
        let nearly = arc(&Vec3::x(), &Vec3::new(-1.0, 1e-7, 0.0), &Vec3::z());
        assert!(angle_between(&(nearly * Vec3::x()), &Vec3::new(-1.0, 1e-7, 0.0)) < 1e-12);
    }

    #[test]
    fn a_zero_vector_gives_the_identity() {
        assert_eq!(arc(&Vec3::zeros(), &Vec3::x(), &Vec3::y()), Quat::identity());
    }
}
