//! 3-vectors of scalars, lanes or registers, for kernels over several frames, skeletons, vertices or pixels at once.

use std::ops::{Add, Mul, Sub};

/// Three numbers.
pub type Triple<T> = [T; 3];

/// `a + b`.
#[inline(always)]
pub fn sum<T: Copy + Add<Output = T>>(a: Triple<T>, b: Triple<T>) -> Triple<T> {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

/// `a - b`.
#[inline(always)]
pub fn difference<T: Copy + Sub<Output = T>>(a: Triple<T>, b: Triple<T>) -> Triple<T> {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// `s a`.
#[inline(always)]
pub fn scaled<T: Copy + Mul<Output = T>>(a: Triple<T>, s: T) -> Triple<T> {
    [a[0] * s, a[1] * s, a[2] * s]
}

/// `a . b`.
#[inline(always)]
pub fn dot<T: Copy + Add<Output = T> + Mul<Output = T>>(a: Triple<T>, b: Triple<T>) -> T {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// `a x b`.
#[inline(always)]
pub fn cross<T: Copy + Sub<Output = T> + Mul<Output = T>>(a: Triple<T>, b: Triple<T>) -> Triple<T> {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}
