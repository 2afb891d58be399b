//! Vectors, matrices and quaternions as plain arrays, generic over scalars and lanes ([`Real`]).

use crate::math::{Real, Symmetric3, Triple as V, cross, dot, scaled, sum};

pub(super) type M<T> = [[T; 3]; 3];
/// A quaternion: w, x, y, z.
pub(super) type Q<T> = [T; 4];

#[inline(always)]
pub(super) fn add_scaled<T: Real>(a: V<T>, b: V<T>, s: T) -> V<T> {
    sum(a, scaled(b, s))
}
#[inline(always)]
pub(super) fn apply<T: Real>(m: &M<T>, v: V<T>) -> V<T> {
    [dot(m[0], v), dot(m[1], v), dot(m[2], v)]
}
#[inline(always)]
pub(super) fn apply_transposed<T: Real>(m: &M<T>, v: V<T>) -> V<T> {
    sum(sum(scaled(m[0], v[0]), scaled(m[1], v[1])), scaled(m[2], v[2]))
}
#[inline(always)]
pub(super) fn multiply<T: Real>(a: Q<T>, b: Q<T>) -> Q<T> {
    [
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    ]
}
#[inline(always)]
pub(super) fn conjugate<T: Real>(q: Q<T>) -> Q<T> {
    [q[0], -q[1], -q[2], -q[3]]
}
#[inline(always)]
pub(super) fn rotate<T: Real>(q: Q<T>, v: V<T>) -> V<T> {
    let u = [q[1], q[2], q[3]];
    let t = cross(u, v);
    let t = sum(t, t);
    sum(sum(v, scaled(t, q[0])), cross(u, t))
}
#[inline(always)]
pub(super) fn splat<T: Real>(v: [f64; 3]) -> V<T> {
    v.map(T::splat)
}
#[inline(always)]
pub(super) fn zero<T: Real>() -> V<T> {
    [T::splat(0.0); 3]
}
#[inline(always)]
pub(super) fn none<T: Real>() -> M<T> {
    [zero(); 3]
}

/// The quaternion of a rotation vector of at most one radian, by power series; normalised to within 1e-10.
#[inline(always)]
pub(super) fn small_rotation<T: Real>(v: V<T>) -> Q<T> {
    let c = T::splat;
    let u = dot(v, v) * c(0.25);
    let sine = c(0.5)
        * (c(1.0)
            - u * (c(1.0 / 6.0) - u * (c(1.0 / 120.0) - u * (c(1.0 / 5040.0) - u * c(1.0 / 362_880.0)))));
    let cosine = c(1.0) - u * (c(0.5) - u * (c(1.0 / 24.0) - u * (c(1.0 / 720.0) - u * c(1.0 / 40_320.0))));
    [cosine, sine * v[0], sine * v[1], sine * v[2]]
}
/// Renormalises a nearly normalised quaternion by one Newton step for the inverse square root.
#[inline(always)]
pub(super) fn renormalize<T: Real>(q: Q<T>) -> Q<T> {
    let length = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
    let s = T::splat(1.5) - T::splat(0.5) * length;
    q.map(|x| x * s)
}

/// The quaternion of the same rotation with `w >= 0`.
#[inline(always)]
pub(super) fn near_hemisphere<T: Real>(q: Q<T>) -> Q<T> {
    let far = q[0].less(T::splat(0.0));
    [
        (-q[0]).select(far, q[0]),
        (-q[1]).select(far, q[1]),
        (-q[2]).select(far, q[2]),
        (-q[3]).select(far, q[3]),
    ]
}

/// `atan2(s, w) / s`, half the angle over its sine, from the cosine `w >= 0` and the square of the sine `s`.
///
/// The half angle's tangent is halved three times, `t / (1 + sqrt(1 + t^2))`, until the series of the arc tangent
/// converges in eleven terms. Nothing divides by `s`.
#[inline(always)]
pub(super) fn over_sine<T: Real>(w: T, square: T) -> T {
    let c = T::splat;
    let one = c(1.0);
    let first = one / (one + w);
    let t2 = square * first * first;
    let second = one / (one + (one + t2).sqrt());
    let t2 = t2 * second * second;
    let third = one / (one + (one + t2).sqrt());
    let t2 = t2 * third * third;
    let mut series = c(1.0 / 21.0);
    for n in (0..10).rev() {
        series = c(1.0 / f64::from(2 * n + 1)) - t2 * series;
    }
    c(8.0) * series * first * second * third
}

/// The rotation vector of a quaternion with `w >= 0`, and the coefficients of
/// `J^T J = across + (1 - across) n n^T = across + along v v^T`, with the imaginary part `v`; `ratio` is its
/// [`over_sine`].
#[inline(always)]
pub(super) fn rotation_error<T: Real>(gap: Q<T>, ratio: T) -> (V<T>, T, T) {
    let c = T::splat;
    let v = [gap[1], gap[2], gap[3]];
    let v2 = dot(v, v);
    let across = ratio * ratio;
    // (1 - across) / v^2 tends to -1/3.
    let along = c(-1.0 / 3.0).select(v2.less(c(1e-6)), (c(1.0) - across) / v2.max(c(1e-12)));
    (scaled(v, ratio + ratio), across, along)
}

/// The quaternion with `w >= 0` and its [`rotation_error`].
#[inline(always)]
pub(super) fn rotation_gap<T: Real>(q: Q<T>) -> (Q<T>, (V<T>, T, T)) {
    let gap = near_hemisphere(q);
    let square = gap[1] * gap[1] + gap[2] * gap[2] + gap[3] * gap[3];
    (gap, rotation_error(gap, over_sine(gap[0], square)))
}

/// `P (P^T H P + damping)^-1 P^T` for two columns of `P`.
#[inline(always)]
pub(super) fn restricted<T: Real>(h: &Symmetric3<T>, [a, b]: [V<T>; 2], damping: T) -> Symmetric3<T> {
    let square = |a, s| Symmetric3::outer(scaled(a, s), a).0;
    let (ha, hb) = (h.times(a), h.times(b));
    let (p, q, r) = (dot(a, ha) + damping, dot(a, hb), dot(b, hb) + damping);
    let d = T::splat(1.0) / (p * r - q * q);
    let (aa, bb) = (square(a, r * d), square(b, p * d));
    // a b^T + b a^T is the outer square of the sum minus the outer squares.
    let both = square(sum(a, b), q * d);
    let (a2, b2) = (square(a, q * d), square(b, q * d));
    Symmetric3(std::array::from_fn(|k| aa[k] + bb[k] - (both[k] - a2[k] - b2[k])))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Quat, RealX4, Vec3, exp};

    /// The rotation vector is that of the quaternion, in every lane and at every angle.
    #[test]
    fn rotation_errors_are_those_of_the_logarithm() {
        for k in 0..400 {
            let angle = if k < 20 { 10f64.powi(k - 16) } else { f64::from(k) * std::f64::consts::PI / 400.0 };
            let vector = Vec3::new(0.48, -0.6, 0.64) * angle.min(3.1);
            for sign in [1.0, -1.0] {
                let q: Quat = exp(&vector);
                let raw = [q.w, q.i, q.j, q.k].map(|x| x * sign);
                let (_, (r, across, along)) = rotation_gap::<f64>(raw);
                let gap = (Vec3::from(r) - vector).norm();
                assert!(gap < 1e-13, "{angle}: {gap:e}");
                let half = 0.5 * vector.norm();
                let exact = (half / half.sin()).powi(2);
                assert!((across - exact).abs() < 1e-12 * exact && along.is_finite());
                let (_, (lanes, ..)) = rotation_gap::<RealX4>(raw.map(RealX4::splat));
                assert!((0..3).all(|c| (lanes[c].lane(2) - r[c]).abs() < 1e-15));
            }
        }
    }
}
