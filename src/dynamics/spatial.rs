//! Twists, wrenches and spatial inertias in world axes about one point per body.
//!
//! Space: world axes; each quantity is relative to a reference point that its owner defines. Units: SI.
//! A spatial inertia is stored as 6 + 9 + 6 numbers, the two diagonal blocks as upper triangles: the recursion
//! `A - U H^-1 U^T` loses accuracy exponentially along chains of ball constraints if the two halves of those blocks can
//! drift apart.

use crate::math::{Mat3, Symmetric3, Vec3};

/// A motion: angular part, and linear part of the material point at the reference point.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Twist {
    pub(super) angular: Vec3,
    pub(super) linear: Vec3,
}

/// A force: moment about the reference point, and force.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Wrench {
    pub(super) moment: Vec3,
    pub(super) force: Vec3,
}

impl Twist {
    /// The same motion, about the point at offset `r`.
    #[inline(always)]
    pub(super) fn at(&self, r: &Vec3) -> Self {
        Twist { angular: self.angular, linear: self.linear + self.angular.cross(r) }
    }

    #[inline(always)]
    pub(super) fn dot(&self, w: &Wrench) -> f64 {
        self.angular.dot(&w.moment) + self.linear.dot(&w.force)
    }

    #[inline(always)]
    pub(super) fn plus(&self, other: &Twist) -> Twist {
        Twist { angular: self.angular + other.angular, linear: self.linear + other.linear }
    }
}

impl Wrench {
    /// The same wrench about another point; `r` is the offset from that point to this one's reference point.
    #[inline(always)]
    pub(super) fn about(&self, r: &Vec3) -> Self {
        Wrench { moment: self.moment + r.cross(&self.force), force: self.force }
    }

    #[inline(always)]
    pub(super) fn add_scaled(&mut self, other: &Wrench, k: f64) {
        self.moment += other.moment * k;
        self.force += other.force * k;
    }
}

/// `(rotational, coupling; coupling^T, linear)`, mapping a twist to a wrench about the same point.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SpatialInertia {
    pub(super) rotational: Symmetric3,
    pub(super) coupling: Mat3<f64>,
    pub(super) linear: Symmetric3,
}

impl SpatialInertia {
    /// A rigid body whose centre of mass is at offset `d` from the reference point; `inertia` about that centre.
    #[inline(always)]
    pub(super) fn rigid(mass: f64, inertia: &Symmetric3, d: &Vec3) -> Self {
        let m = d * mass;
        let mut rotational = *inertia;
        // I - m d^ d^ = I + m (d.d 1 - d d^T)
        let square = m.dot(d);
        rotational = rotational.plus(&Symmetric3::diagonal(square));
        rotational.subtract_outer(&m, d);
        SpatialInertia {
            rotational,
            coupling: Mat3::new(0.0, -m.z, m.y, m.z, 0.0, -m.x, -m.y, m.x, 0.0),
            linear: Symmetric3::diagonal(mass),
        }
    }

    #[inline(always)]
    pub(super) fn times(&self, v: &Twist) -> Wrench {
        Wrench {
            moment: self.rotational.apply(&v.angular) + self.coupling * v.linear,
            force: self.coupling.tr_mul(&v.angular) + self.linear.apply(&v.linear),
        }
    }

    /// Subtracts `k u u^T`.
    #[inline(always)]
    pub(super) fn subtract_outer(&mut self, u: &Wrench, k: f64) {
        let (m, f) = (u.moment * k, u.force * k);
        self.rotational.subtract_outer(&m, &u.moment);
        self.linear.subtract_outer(&f, &u.force);
        for row in 0..3 {
            for column in 0..3 {
                self.coupling[(row, column)] -= u.moment[row] * f[column];
            }
        }
    }

    /// Adds `x^T other x`, where `other` is about the point at offset `r` from this reference point.
    #[inline(always)]
    pub(super) fn add_shifted(&mut self, other: &SpatialInertia, r: &Vec3) {
        let h = &other.coupling;
        let s = h + crossed(r, &other.linear);
        // rotational' = rotational - s r^ + r^ h^T; only the upper triangle is formed. (s r^) has the rows
        // s_i x r, and (r^ h^T) has the columns r x h_j.
        let row = |m: &Mat3<f64>, i: usize| Vec3::new(m[(i, 0)], m[(i, 1)], m[(i, 2)]);
        let (s0, s1, s2) = (row(&s, 0).cross(r), row(&s, 1).cross(r), row(&s, 2).cross(r));
        let (h0, h1, h2) = (r.cross(&row(h, 0)), r.cross(&row(h, 1)), r.cross(&row(h, 2)));
        let o = &other.rotational.0;
        let m = &mut self.rotational.0;
        m[0] += o[0] - s0.x + h0.x;
        m[1] += o[1] - s1.y + h1.y;
        m[2] += o[2] - s2.z + h2.z;
        m[3] += o[3] - s0.y + h1.x;
        m[4] += o[4] - s0.z + h2.x;
        m[5] += o[5] - s1.z + h2.y;
        self.coupling += s;
        self.linear = self.linear.plus(&other.linear);
    }

    /// [`SpatialInertia::add_shifted`] of an inertia whose only nonzero block is `linear`.
    #[inline(always)]
    pub(super) fn add_shifted_mass(&mut self, linear: &Symmetric3, r: &Vec3) {
        let s = crossed(r, linear);
        let row = |i: usize| Vec3::new(s[(i, 0)], s[(i, 1)], s[(i, 2)]);
        let (s0, s1, s2) = (row(0).cross(r), row(1).cross(r), row(2).cross(r));
        let m = &mut self.rotational.0;
        for (m, s) in m.iter_mut().zip([s0.x, s1.y, s2.z, s0.y, s0.z, s1.z]) {
            *m -= s;
        }
        self.coupling += s;
        self.linear = self.linear.plus(linear);
    }

    /// The twist `x` with `self x = w`: two 3 x 3 solves, the linear block eliminated last.
    #[inline(always)]
    pub(super) fn solve(&self, w: &Wrench) -> Twist {
        let inverse = self.rotational.inverse();
        let h = &self.coupling;
        let schur = self.linear.full() - h.tr_mul(&(inverse.full() * h));
        let rest = w.force - h.tr_mul(&inverse.apply(&w.moment));
        let linear = Symmetric3::upper(&schur).inverse().apply(&rest);
        Twist { angular: inverse.apply(&(w.moment - h * linear)), linear }
    }
}

/// `r^ L`, row by row.
#[inline(always)]
fn crossed(r: &Vec3, linear: &Symmetric3) -> Mat3<f64> {
    let [a, b, c, d, e, f] = linear.0;
    Mat3::new(
        r.y * e - r.z * d,
        r.y * f - r.z * b,
        r.y * c - r.z * f,
        r.z * a - r.x * e,
        r.z * d - r.x * f,
        r.z * e - r.x * c,
        r.x * d - r.y * a,
        r.x * b - r.y * d,
        r.x * f - r.y * e,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::hat;

    #[test]
    fn a_shifted_inertia_is_the_congruence_by_the_shift() {
        let inertia = Symmetric3([0.3, 0.4, 0.5, 0.02, -0.03, 0.01]);
        let d = Vec3::new(0.1, -0.2, 0.3);
        let (r, far) = (Vec3::new(0.7, -0.4, 0.9), Vec3::new(0.8, -0.6, 1.2));
        let mut shifted = SpatialInertia::default();
        shifted.add_shifted(&SpatialInertia::rigid(2.0, &inertia, &d), &r);
        let direct = SpatialInertia::rigid(2.0, &inertia, &(d + r));
        assert!((far - d - r).norm() < 1e-15);
        assert!((shifted.rotational.full() - direct.rotational.full()).norm() < 1e-14);
        assert!((shifted.coupling - direct.coupling).norm() < 1e-14);
        assert!((shifted.coupling - hat(&(d + r)) * 2.0).norm() < 1e-14);
        let mass = SpatialInertia { linear: inertia, ..SpatialInertia::default() };
        let (mut whole, mut short) = (shifted, shifted);
        whole.add_shifted(&mass, &r);
        short.add_shifted_mass(&mass.linear, &r);
        assert!((whole.rotational.full() - short.rotational.full()).norm() < 1e-14);
        assert_eq!((whole.coupling, whole.linear), (short.coupling, short.linear));
    }

    #[test]
    fn solving_undoes_multiplying() {
        let inertia = Symmetric3([0.3, 0.4, 0.5, 0.02, -0.03, 0.01]);
        let body = SpatialInertia::rigid(2.0, &inertia, &Vec3::new(0.1, -0.2, 0.3));
        let twist = Twist { angular: Vec3::new(1.0, 2.0, 3.0), linear: Vec3::new(-1.0, 0.5, 0.2) };
        let back = body.solve(&body.times(&twist));
        assert!((back.angular - twist.angular).norm() < 1e-12 && (back.linear - twist.linear).norm() < 1e-12);
    }
}
