//! Small matrices of numbers that may be lanes, for the kernel of batches.
//!
//! Everything is inlined and no array is mapped by a closure: what stays a function of its own is not compiled for the
//! registers of its caller. Units: those of the numbers.

use crate::math::{Real, Symmetric3, Triple as V, dot, scaled, sum};

#[inline(always)]
pub(super) fn splat<T: Real>([x, y, z]: [f64; 3]) -> V<T> {
    [T::splat(x), T::splat(y), T::splat(z)]
}

/// A function of pairs of rows.
#[inline(always)]
pub(super) fn by_rows<A: Copy, B: Copy, C>(f: impl Fn(A, B) -> C, a: [A; 3], b: [B; 3]) -> [C; 3] {
    [f(a[0], b[0]), f(a[1], b[1]), f(a[2], b[2])]
}

#[inline(always)]
pub(super) fn apply<T: Real>(m: &[V<T>; 3], v: V<T>) -> V<T> {
    [dot(m[0], v), dot(m[1], v), dot(m[2], v)]
}

#[inline(always)]
pub(super) fn apply_transposed<T: Real>(m: &[V<T>; 3], v: V<T>) -> V<T> {
    sum(sum(scaled(m[0], v[0]), scaled(m[1], v[1])), scaled(m[2], v[2]))
}

/// `r^ L`, row by row.
#[inline(always)]
pub(super) fn crossed<T: Real>(r: V<T>, l: &Symmetric3<T>) -> [V<T>; 3] {
    let [a, b, c, d, e, f] = l.0;
    [
        [r[1] * e - r[2] * d, r[1] * f - r[2] * b, r[1] * c - r[2] * f],
        [r[2] * a - r[0] * e, r[2] * d - r[0] * f, r[2] * e - r[0] * c],
        [r[0] * d - r[1] * a, r[0] * b - r[1] * d, r[0] * f - r[1] * e],
    ]
}

/// The columns of the matrix of a unit quaternion.
#[inline(always)]
pub(super) fn columns<T: Real>(q: [T; 4]) -> [V<T>; 3] {
    let one = T::splat(1.0);
    let [w, x, y, z] = q;
    let (x2, y2, z2) = (x + x, y + y, z + z);
    let (xx, yy, zz) = (x * x2, y * y2, z * z2);
    let (xy, xz, yz) = (x * y2, x * z2, y * z2);
    let (wx, wy, wz) = (w * x2, w * y2, w * z2);
    [
        [one - (yy + zz), xy + wz, xz - wy],
        [xy - wz, one - (xx + zz), yz + wx],
        [xz + wy, yz - wx, one - (xx + yy)],
    ]
}
