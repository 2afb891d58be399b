//! Small matrices of numbers that may be lanes, for the kernel of batches.
//!
//! Everything is inlined and no array is mapped by a closure: what stays a function of its own is not compiled for the
//! registers of its caller. Units: those of the numbers.

use crate::math::{Real, Triple as V, dot, scaled, sum};

/// A symmetric matrix: xx, yy, zz, xy, xz, yz.
pub(super) type Sym<T> = [T; 6];

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
pub(super) fn plus<T: Real>(a: &Sym<T>, b: &Sym<T>) -> Sym<T> {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4], a[5] + b[5]]
}

/// `m + a b^T`, where that is symmetric.
#[inline(always)]
pub(super) fn with_outer<T: Real>(m: Sym<T>, a: V<T>, b: V<T>) -> Sym<T> {
    [
        m[0] + a[0] * b[0],
        m[1] + a[1] * b[1],
        m[2] + a[2] * b[2],
        m[3] + a[0] * b[1],
        m[4] + a[0] * b[2],
        m[5] + a[1] * b[2],
    ]
}

#[inline(always)]
pub(super) fn times<T: Real>(m: &Sym<T>, v: V<T>) -> V<T> {
    let [a, b, c, d, e, f] = *m;
    [a * v[0] + d * v[1] + e * v[2], d * v[0] + b * v[1] + f * v[2], e * v[0] + f * v[1] + c * v[2]]
}

#[inline(always)]
pub(super) fn inverted<T: Real>(m: &Sym<T>) -> Sym<T> {
    let [a, b, c, d, e, f] = *m;
    let (p, q, r) = (b * c - f * f, e * f - d * c, d * f - e * b);
    let i = T::splat(1.0) / (a * p + d * q + e * r);
    [p * i, (a * c - e * e) * i, (a * b - d * d) * i, q * i, r * i, (d * e - a * f) * i]
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
pub(super) fn crossed<T: Real>(r: V<T>, l: &Sym<T>) -> [V<T>; 3] {
    let [a, b, c, d, e, f] = *l;
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
