//! Leaf-to-root elimination of the tree solver, and the factor of the free root.

#![allow(clippy::needless_range_loop, reason = "matrix indices read better than iterators")]

use super::freedom::Freedom;
use super::tree_algebra::*;
use super::tree_kernel::{TreePlan, TreeStep};
use super::tree_quadratic::Quadratic;
use crate::math::{Real, SYMMETRIC3_ENTRIES, Symmetric3, cross, difference, dot, scaled, sum};

impl<T: Real> TreeStep<T> {
    /// Leaf to root: eliminates every joint's own step, where the joint, a descendant or a sibling has changed. Factors are
    /// kept for [`TreeStep::respond`].
    #[inline(always)]
    pub fn eliminate(&mut self, plan: &TreePlan, damping: T) {
        for i in (0..self.slots.len()).rev() {
            // An unchanged slot is passed up again if its parent is rebuilt.
            if !self.stale[i] && !self.stale[plan.parent[i]] {
                continue;
            }
            // Before the first addition to it, a quadratic is reset to the slot's own tasks.
            for j in [i, plan.parent[i]] {
                if plan.last_child[j] == i && self.stale[j] {
                    self.slots[j].all = if self.is_loaded[j] { self.loads[j] } else { Quadratic::zero() };
                }
            }
            match plan.freedom[i] {
                Freedom::Free => self.factor_root(damping),
                Freedom::Fixed => self.pass_on(plan, i),
                Freedom::Hinge(_) | Freedom::Slide(_) => self.eliminate_column(plan, i, damping),
                Freedom::TwoAxis(..) | Freedom::Ball => self.eliminate_rotation(plan, i, damping),
            }
        }
        self.stale.fill(false);
    }

    /// A fixed joint passes its quadratic to its parent.
    #[inline(always)]
    fn pass_on(&mut self, plan: &TreePlan, i: usize) {
        if i == 0 {
            return;
        }
        let q = self.slots[i].all;
        let p = &mut self.slots[plan.parent[i]].all;
        p.aa = p.aa.plus(&q.aa);
        p.ll = p.ll.plus(&q.ll);
        (0..3).for_each(|k| p.al[k] = sum(p.al[k], q.al[k]));
        p.a = sum(p.a, q.a);
        p.l = sum(p.l, q.l);
    }

    /// A joint of one axis: `A_p += A - u u^T / h`, `b_p += b - u f / h`.
    #[inline(always)]
    fn eliminate_column(&mut self, plan: &TreePlan, i: usize, damping: T) {
        let (head, tail) = self.slots.split_at_mut(i);
        let s = &mut tail[0];
        let [a, m] = s.column;
        let q = &s.all;
        let ua = sum(q.aa.times(a), apply(&q.al, m));
        let ul = sum(apply_transposed(&q.al, a), q.ll.times(m));
        let mut h = dot(a, ua) + dot(m, ul) + damping;
        let (mut ba, mut bl) = (q.a, q.l);
        let mut force = dot(a, ba) + dot(m, bl);
        let mut inverse = T::splat(1.0) / h;
        if self.held {
            let hold = &self.holds[i];
            h += dot(a, hold.stiff.times(a));
            inverse = T::splat(1.0) / h;
            force += dot(a, hold.pull);
            if hold.locked != 0 {
                inverse = T::splat(0.0).select(hold.locked, inverse);
                let amount = hold.prescribed[0];
                ba = difference(ba, scaled(ua, amount));
                bl = difference(bl, scaled(ul, amount));
            }
        }
        (s.u0[0], s.u1[0], s.inverse.0[0], s.force[0]) = (ua, ul, inverse, force);
        if i == 0 {
            return;
        }
        let p = &mut head[plan.parent[i]].all;
        let (wa, wl) = (scaled(ua, inverse), scaled(ul, inverse));
        for (k, (r, c)) in SYMMETRIC3_ENTRIES.into_iter().enumerate() {
            p.aa.0[k] += q.aa.0[k] - wa[r] * ua[c];
            p.ll.0[k] += q.ll.0[k] - wl[r] * ul[c];
        }
        for r in 0..3 {
            for c in 0..3 {
                p.al[r][c] += q.al[r][c] - wa[r] * ul[c];
            }
        }
        p.a = sum(p.a, difference(ba, scaled(wa, force)));
        p.l = sum(p.l, difference(bl, scaled(wl, force)));
    }

    /// A joint of two or three axes: `A_p += A - U inverse U^T`, `b_p += b - U inverse force`.
    #[inline(always)]
    fn eliminate_rotation(&mut self, plan: &TreePlan, i: usize, damping: T) {
        let axes = self.two_axes(plan, i);
        let origin = self.slots[0].x;
        let (head, tail) = self.slots.split_at_mut(i);
        let s = &mut tail[0];
        let q = &s.all;
        let xi = difference(s.x, origin);
        // U0 = A00 + A01 X, U1 = A01^T + A11 X, H = U0 - X U1 for X = hat(xi); m X has the rows m_k x xi.
        let (aa, ll) = (q.aa.rows(), q.ll.rows());
        let u0: M<T> = std::array::from_fn(|r| sum(aa[r], cross(q.al[r], xi)));
        let u1: M<T> = std::array::from_fn(|r| sum([q.al[0][r], q.al[1][r], q.al[2][r]], cross(ll[r], xi)));
        let [x, y, z] = xi;
        let mut h = Symmetric3([
            u0[0][0] + z * u1[1][0] - y * u1[2][0],
            u0[1][1] + x * u1[2][1] - z * u1[0][1],
            u0[2][2] + y * u1[0][2] - x * u1[1][2],
            u0[0][1] + z * u1[1][1] - y * u1[2][1],
            u0[0][2] + z * u1[1][2] - y * u1[2][2],
            u0[1][2] + x * u1[2][2] - z * u1[0][2],
        ]);
        let (mut ba, mut bl) = (q.a, q.l);
        let mut force = sum(ba, cross(bl, xi));
        if self.held {
            h = h.plus(&self.holds[i].stiff);
        }
        let mut invert = if plan.freedom[i] == Freedom::Ball {
            h.plus_diagonal(damping).inverse()
        } else {
            restricted(&h, axes, damping)
        };
        if self.held {
            let hold = &self.holds[i];
            if hold.locked != 0 {
                invert = Symmetric3(invert.0.map(|v| T::splat(0.0).select(hold.locked, v)));
                ba = difference(ba, apply(&u0, hold.prescribed));
                bl = difference(bl, apply(&u1, hold.prescribed));
                force = sum(ba, cross(bl, xi));
            }
            force = sum(force, hold.pull);
        }
        (s.u0, s.u1, s.inverse, s.force) = (u0, u1, invert, force);
        if i == 0 {
            return;
        }
        let p = &mut head[plan.parent[i]].all;
        let inverse = invert.rows();
        let w0: M<T> = std::array::from_fn(|r| apply(&inverse, u0[r]));
        let w1: M<T> = std::array::from_fn(|r| apply(&inverse, u1[r]));
        for (k, (r, c)) in SYMMETRIC3_ENTRIES.into_iter().enumerate() {
            p.aa.0[k] += q.aa.0[k] - dot(w0[r], u0[c]);
            p.ll.0[k] += q.ll.0[k] - dot(w1[r], u1[c]);
        }
        for r in 0..3 {
            for c in 0..3 {
                p.al[r][c] += q.al[r][c] - dot(w0[r], u1[c]);
            }
            p.a[r] += ba[r] - dot(w0[r], force);
            p.l[r] += bl[r] - dot(w1[r], force);
        }
    }

    /// The Cholesky factor of the free root's 6 x 6 matrix, with the inverse of its diagonal.
    #[inline(always)]
    fn factor_root(&mut self, damping: T) {
        let q = &self.slots[0].all;
        let (aa, ll, stiff) = (q.aa.rows(), q.ll.rows(), self.holds[0].stiff.rows());
        let mut m = [[T::splat(0.0); 6]; 6];
        for r in 0..3 {
            for c in 0..3 {
                m[r][c] = aa[r][c] + stiff[r][c];
                m[r + 3][c] = q.al[c][r];
                m[r + 3][c + 3] = ll[r][c];
            }
        }
        for (k, row) in m.iter_mut().enumerate() {
            row[k] += if k < 3 { damping } else { damping + self.root_stiff };
        }
        for k in 0..6 {
            for j in 0..=k {
                let mut sum = m[k][j];
                for l in 0..j {
                    sum -= m[k][l] * m[j][l];
                }
                // Rounding can leave a tiny negative pivot where the matrix is nearly singular.
                m[k][j] =
                    if j == k { T::splat(1.0) / sum.max(T::splat(1e-30)).sqrt() } else { sum * m[j][j] };
            }
        }
        self.root = m;
    }
}
