//! Symmetric 3x3 matrices stored as six numbers, for one problem or several side by side in lanes.

#[cfg(feature = "physics")]
use super::{Mat3, Vec3};
use super::{Real, Triple, dot};

/// A symmetric 3x3 matrix: xx, yy, zz, xy, xz, yz.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Symmetric3<T = f64>(pub(crate) [T; 6]);

/// Row and column of each stored number.
pub(crate) const SYMMETRIC3_ENTRIES: [(usize, usize); 6] = [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)];

impl<T: Real> Symmetric3<T> {
    /// `d` times the identity.
    #[cfg(feature = "physics")]
    #[inline(always)]
    pub(crate) fn diagonal(d: T) -> Self {
        let z = T::splat(0.0);
        Self([d, d, d, z, z, z])
    }

    /// The matrix of zeros.
    #[inline(always)]
    pub(crate) fn zero() -> Self {
        Self([T::splat(0.0); 6])
    }

    /// The rows of the full matrix.
    #[inline(always)]
    pub(crate) fn rows(&self) -> [Triple<T>; 3] {
        let [a, b, c, d, e, f] = self.0;
        [[a, d, e], [d, b, f], [e, f, c]]
    }

    /// The product with a vector.
    #[inline(always)]
    pub(crate) fn times(&self, v: Triple<T>) -> Triple<T> {
        let [x, y, z] = self.rows();
        [dot(x, v), dot(y, v), dot(z, v)]
    }

    /// The sum of two matrices.
    #[inline(always)]
    pub(crate) fn plus(&self, other: &Self) -> Self {
        let ([a, b, c, d, e, f], o) = (self.0, &other.0);
        Self([a + o[0], b + o[1], c + o[2], d + o[3], e + o[4], f + o[5]])
    }

    /// `self + d 1`.
    #[inline(always)]
    pub(crate) fn plus_diagonal(&self, d: T) -> Self {
        let [a, b, c, e, f, g] = self.0;
        Self([a + d, b + d, c + d, e, f, g])
    }

    /// `self + a b^T`, where `a` is a multiple of `b`, or the sum of several such products is symmetric.
    #[inline(always)]
    pub(crate) fn plus_outer(&self, a: Triple<T>, b: Triple<T>) -> Self {
        let m = &self.0;
        Self([
            m[0] + a[0] * b[0],
            m[1] + a[1] * b[1],
            m[2] + a[2] * b[2],
            m[3] + a[0] * b[1],
            m[4] + a[0] * b[2],
            m[5] + a[1] * b[2],
        ])
    }

    /// `a b^T`, where that is symmetric.
    #[inline(always)]
    pub(crate) fn outer(a: Triple<T>, b: Triple<T>) -> Self {
        Self([a[0] * b[0], a[1] * b[1], a[2] * b[2], a[0] * b[1], a[0] * b[2], a[1] * b[2]])
    }

    /// The inverse by cofactors; the matrix must be regular.
    #[inline(always)]
    pub(crate) fn inverse(&self) -> Self {
        let [a, b, c, d, e, f] = self.0;
        let (p, q, r) = (b * c - f * f, e * f - d * c, d * f - e * b);
        let s = T::splat(1.0) / (a * p + d * q + e * r);
        Self([p * s, (a * c - e * e) * s, (a * b - d * d) * s, q * s, r * s, (d * e - a * f) * s])
    }
}

#[cfg(feature = "physics")]
impl Symmetric3 {
    /// The symmetric matrix whose upper triangle is that of `m`.
    #[inline(always)]
    pub(crate) fn upper(m: &Mat3<f64>) -> Self {
        Self([m[(0, 0)], m[(1, 1)], m[(2, 2)], m[(0, 1)], m[(0, 2)], m[(1, 2)]])
    }

    /// The full matrix.
    #[inline(always)]
    pub(crate) fn full(&self) -> Mat3<f64> {
        let [a, b, c, d, e, f] = self.0;
        Mat3::new(a, d, e, d, b, f, e, f, c)
    }

    /// The product with a vector.
    #[inline(always)]
    pub(crate) fn apply(&self, v: &Vec3) -> Vec3 {
        let [x, y, z] = self.times([v.x, v.y, v.z]);
        Vec3::new(x, y, z)
    }

    /// Subtracts `a b^T`, where `a` is a multiple of `b`, or the sum of several such products is symmetric.
    #[inline(always)]
    pub(crate) fn subtract_outer(&mut self, a: &Vec3, b: &Vec3) {
        let m = &mut self.0;
        m[0] -= a.x * b.x;
        m[1] -= a.y * b.y;
        m[2] -= a.z * b.z;
        m[3] -= a.x * b.y;
        m[4] -= a.x * b.z;
        m[5] -= a.y * b.z;
    }

    /// `r self r^T`: the same tensor in rotated axes.
    #[inline(always)]
    pub(crate) fn rotated(&self, r: &Mat3<f64>) -> Self {
        let row = |i: usize| Vec3::new(r[(i, 0)], r[(i, 1)], r[(i, 2)]);
        let (x, y, z) = (row(0), row(1), row(2));
        let (tx, ty, tz) = (self.apply(&x), self.apply(&y), self.apply(&z));
        Self([tx.dot(&x), ty.dot(&y), tz.dot(&z), tx.dot(&y), tx.dot(&z), ty.dot(&z)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inverse_of_a_symmetric_matrix_inverts_it() {
        let m = Symmetric3([2.0, 1.5, 1.0, 0.3, -0.4, 0.2]);
        let v = [0.7, -0.2, 0.9];
        let back = m.inverse().times(m.times(v));
        assert!(back.iter().zip(v).all(|(a, b)| (a - b).abs() < 1e-14));
    }

    #[cfg(feature = "physics")]
    #[test]
    fn a_rotated_matrix_is_the_congruence() {
        let m = Symmetric3([0.3, 0.4, 0.5, 0.02, -0.03, 0.01]);
        let product = Symmetric3::upper(&(m.full() * m.inverse().full()));
        assert!((product.full() - Mat3::identity()).norm() < 1e-14);
        let r = crate::math::exp(&Vec3::new(0.3, 0.2, -0.9)).to_rotation_matrix().into_inner();
        assert!((m.rotated(&r).full() - r * m.full() * r.transpose()).norm() < 1e-15);
    }
}
