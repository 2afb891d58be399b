//! Quadratic cost of tasks in the twist of one joint. Space: model axes about the root. Units: metres, radians.

use super::tree_algebra::{M, Q, none, zero};
use crate::math::{Real, Symmetric3, Triple as V, cross, scaled, sum};

/// A quadratic in a twist: angular-angular, angular-linear and linear-linear blocks, and the two linear terms.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quadratic<T> {
    pub aa: Symmetric3<T>,
    pub al: M<T>,
    pub ll: Symmetric3<T>,
    pub a: V<T>,
    pub l: V<T>,
}

impl<T: Real> Quadratic<T> {
    #[inline(always)]
    pub fn zero() -> Self {
        let z = Symmetric3::zero();
        Self { aa: z, al: none(), ll: z, a: zero(), l: zero() }
    }

    /// Adds a position task with error `r` at the point `y` relative to the root.
    #[inline(always)]
    pub fn add_position(&mut self, y: V<T>, r: V<T>, weight: T) {
        let wy = scaled(y, weight);
        let [xx, yy, zz] = [wy[0] * y[0], wy[1] * y[1], wy[2] * y[2]];
        // -w Y Y, w Y, w 1 for Y = hat(y).
        let square = [yy + zz, xx + zz, xx + yy, -(wy[0] * y[1]), -(wy[0] * y[2]), -(wy[1] * y[2])];
        self.aa = self.aa.plus(&Symmetric3(square));
        self.al[0][1] -= wy[2];
        self.al[0][2] += wy[1];
        self.al[1][0] += wy[2];
        self.al[1][2] -= wy[0];
        self.al[2][0] -= wy[1];
        self.al[2][1] += wy[0];
        self.ll = self.ll.plus_diagonal(weight);
        let force = scaled(r, weight);
        self.a = sum(self.a, cross(y, force));
        self.l = sum(self.l, force);
    }

    /// Adds an orientation task with the rotation vector `r` as error, whose `J^T J` is `across + along v v^T`.
    #[inline(always)]
    pub fn add_orientation(&mut self, gap: Q<T>, (across, along): (T, T), r: V<T>, weight: T) {
        add_rotation(&mut self.aa, gap, across * weight, along * weight);
        self.a = sum(self.a, scaled(r, weight));
    }

    /// Adds one Jacobian row.
    pub fn add_row(&mut self, moment: V<T>, force: V<T>, error: T, weight: T) {
        self.aa = self.aa.plus_outer(scaled(moment, weight), moment);
        for (row, lever) in self.al.iter_mut().zip(moment) {
            *row = sum(*row, scaled(force, lever * weight));
        }
        self.ll = self.ll.plus_outer(scaled(force, weight), force);
        self.a = sum(self.a, scaled(moment, error * weight));
        self.l = sum(self.l, scaled(force, error * weight));
    }
}

/// Adds `across + along v v^T` for the imaginary part of a rotation.
#[inline(always)]
pub(super) fn add_rotation<T: Real>(m: &mut Symmetric3<T>, gap: Q<T>, across: T, along: T) {
    let v = [gap[1], gap[2], gap[3]];
    *m = m.plus_outer(scaled(v, along), v).plus_diagonal(across);
}
