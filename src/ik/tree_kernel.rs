//! One damped Gauss-Newton step of a whole skeleton by tree recursion, for one frame or several side by side.
//!
//! The normal matrix `J^T W J + D` is never formed: every task is a quadratic on the twist of its joint, every joint
//! a link `V_child = V_parent + S delta`, and joints are eliminated leaf to root like the bodies of an articulated
//! chain (Featherstone 1983; as a Riccati sweep for inverse kinematics Wingo et al., LoIK, 2024): tasks are masses,
//! errors are forces. Cost: O(joints). Twists are about the root's position, in model axes. A joint of one axis has a
//! column for `S`, one of two a matrix `P (P^T H P)^-1 P^T` in place of `H^-1`; a joint at its limit has none and a
//! prescribed step. Symmetric matrices stay symmetric: they are stored so. What a step does is inlined, for the registers
//! of its caller. Space: model space. Units: metres, radians.

#![allow(clippy::needless_range_loop, reason = "matrix indices read better than iterators")]

use super::mechanism::Freedom;
use super::tree_algebra::*;
use crate::math::{Real, SYMMETRIC3_ENTRIES, Symmetric3, Triple as V, cross, difference, dot, scaled, sum};

/// The compiled topology: only the joints that a task is on or below, parents first.
#[derive(Clone, Debug, Default)]
pub(super) struct Plan {
    /// The joint of every slot.
    pub joints: Vec<usize>,
    /// The slot of every joint's parent; its own for the first.
    pub parent: Vec<usize>,
    /// The last child of every slot; itself for one without.
    pub last_child: Vec<usize>,
    /// How the joint of a slot moves; first axes of two-axis joints and slides in parent space.
    pub freedom: Vec<Freedom>,
}

/// A quadratic on a twist: angular-angular, angular-linear, linear-linear, and the two linear parts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quadratic<T> {
    aa: Symmetric3<T>,
    al: M<T>,
    ll: Symmetric3<T>,
    a: V<T>,
    l: V<T>,
}

impl<T: Real> Quadratic<T> {
    #[inline(always)]
    fn zero() -> Self {
        let z = Symmetric3::zero();
        Self { aa: z, al: none(), ll: z, a: zero(), l: zero() }
    }

    /// Adds a position task: the point `y`, relative to the root, is off by `r`.
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

    /// Adds an orientation task: the turn `r` is left, whose `J^T J` is `across + along v v^T`.
    #[inline(always)]
    pub fn add_orientation(&mut self, gap: Q<T>, (across, along): (T, T), r: V<T>, weight: T) {
        add_turn(&mut self.aa, gap, across * weight, along * weight);
        self.a = sum(self.a, scaled(r, weight));
    }

    /// Adds one row.
    pub fn add_row(&mut self, moment: V<T>, force: V<T>, error: T, weight: T) {
        self.aa = self.aa.plus_outer(scaled(moment, weight), moment);
        for k in 0..3 {
            self.al[k] = sum(self.al[k], scaled(force, moment[k] * weight));
        }
        self.ll = self.ll.plus_outer(scaled(force, weight), force);
        self.a = sum(self.a, scaled(moment, error * weight));
        self.l = sum(self.l, scaled(force, error * weight));
    }
}

/// Adds `across + along v v^T` for the imaginary part of a rotation.
#[inline(always)]
pub(super) fn add_turn<T: Real>(m: &mut Symmetric3<T>, gap: Q<T>, across: T, along: T) {
    let v = [gap[1], gap[2], gap[3]];
    *m = m.plus_outer(scaled(v, along), v).plus_diagonal(across);
}

/// What one slot knows during a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot<T> {
    /// Position and rotation in model space.
    pub x: V<T>,
    pub g: Q<T>,
    /// The one axis of a hinge or slide as a twist about the root's position.
    column: [V<T>; 2],
    /// The quadratic on the slot's twist, of itself and of all below.
    all: Quadratic<T>,
    /// Factors: `A S`, the inverse, the joint's force. A joint of one axis uses the first row and number of each.
    u0: M<T>,
    u1: M<T>,
    inverse: Symmetric3<T>,
    force: V<T>,
    /// Answers: the twist of the slot, and the joint's own turn (of one axis: the amount, first).
    pub twist: [V<T>; 2],
    pub delta: V<T>,
}

/// What holds one joint's own turn: a quadratic with its linear part (posture), and a prescribed turn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hold<T> {
    pub stiff: Symmetric3<T>,
    pub pull: V<T>,
    /// The turn in the lanes of `locked` (of one axis: the amount, first).
    pub prescribed: V<T>,
    pub locked: u32,
}

impl<T: Real> Hold<T> {
    #[inline(always)]
    fn none() -> Self {
        Self { stiff: Symmetric3::zero(), pull: zero(), prescribed: zero(), locked: 0 }
    }
}

/// The numbers of one step.
#[derive(Clone, Debug)]
pub(super) struct Step<T> {
    pub slots: Vec<Slot<T>>,
    /// The tasks of every slot, and the slots that have some.
    pub loads: Vec<Quadratic<T>>,
    loaded: Vec<usize>,
    is_loaded: Vec<bool>,
    /// The slots that have changed since they were eliminated, or one below has.
    pub stale: Vec<bool>,
    /// Whether anything is in `holds`.
    pub held: bool,
    pub holds: Vec<Hold<T>>,
    /// The free root's Cholesky factor.
    root: [[T; 6]; 6],
    /// Posture of a free root's place: stiffness and force.
    pub root_stiff: T,
    pub root_pull: V<T>,
}

impl<T: Real> Step<T> {
    /// A step of a tree of so many slots, of which `loaded` have tasks.
    pub fn new(slots: usize, loaded: Vec<usize>) -> Self {
        let z = T::splat(0.0);
        let slot = Slot {
            x: zero(),
            g: [T::splat(1.0), z, z, z],
            column: [zero(); 2],
            all: Quadratic::zero(),
            u0: none(),
            u1: none(),
            inverse: Symmetric3::zero(),
            force: zero(),
            twist: [zero(); 2],
            delta: zero(),
        };
        Self {
            slots: vec![slot; slots],
            loads: vec![Quadratic::zero(); slots],
            is_loaded: (0..slots).map(|i| loaded.contains(&i)).collect(),
            loaded,
            stale: vec![true; slots],
            held: false,
            holds: vec![Hold::none(); slots],
            root: [[z; 6]; 6],
            root_stiff: z,
            root_pull: zero(),
        }
    }

    /// Model-space positions, rotations and single axes of all slots.
    #[inline(always)]
    pub fn forward(&mut self, plan: &Plan, rotations: &[Q<T>], translations: &[V<T>]) {
        for i in 0..self.slots.len() {
            let (x, g) = if i == 0 {
                (translations[0], rotations[0])
            } else {
                let p = &self.slots[plan.parent[i]];
                (sum(p.x, rotate(p.g, translations[i])), multiply(p.g, rotations[i]))
            };
            let column = match plan.freedom[i] {
                Freedom::Slide(a) => [zero(), self.parent_axis(plan, i, a.into())],
                Freedom::Hinge(a) => {
                    let axis = rotate(g, splat(a.into()));
                    [axis, cross(difference(x, translations[0]), axis)]
                }
                _ => [zero(); 2],
            };
            let slot = &mut self.slots[i];
            (slot.x, slot.g, slot.column) = (x, g, column);
        }
    }

    /// Forgets all tasks and postures.
    #[inline(always)]
    pub fn clear(&mut self) {
        self.stale.fill(true);
        for &i in &self.loaded {
            self.loads[i] = Quadratic::zero();
        }
        if self.held {
            self.holds.fill(Hold::none());
            self.held = false;
        }
        self.root_stiff = T::splat(0.0);
        self.root_pull = zero();
    }

    /// Prescribes the turn (of one axis: the amount, first) of a slot's joint in these lanes.
    pub fn lock(&mut self, plan: &Plan, i: usize, lanes: u32, turn: V<T>) {
        let hold = &mut self.holds[i];
        hold.prescribed = std::array::from_fn(|c| turn[c].select(lanes, hold.prescribed[c]));
        hold.locked |= lanes;
        self.held = true;
        let mut up = i;
        while !self.stale[up] {
            self.stale[up] = true;
            up = plan.parent[up];
        }
    }

    #[inline(always)]
    fn parent_axis(&self, plan: &Plan, i: usize, a: [f64; 3]) -> V<T> {
        if i == 0 { splat(a) } else { rotate(self.slots[plan.parent[i]].g, splat(a)) }
    }

    /// The two axes of a slot's joint in model space.
    #[inline(always)]
    fn two_axes(&self, plan: &Plan, i: usize) -> [V<T>; 2] {
        let Freedom::TwoAxis(a, b) = plan.freedom[i] else { return [zero(); 2] };
        [self.parent_axis(plan, i, a.into()), rotate(self.slots[i].g, splat(b.into()))]
    }

    /// Leaf to root: every joint minimises over its own step, where something has changed at or below it or beside it.
    /// Factors stay for [`Step::respond`].
    #[inline(always)]
    pub fn eliminate(&mut self, plan: &Plan, damping: T) {
        for i in (0..self.slots.len()).rev() {
            // What is as it was is handed up again where the parent begins anew.
            if !self.stale[i] && !self.stale[plan.parent[i]] {
                continue;
            }
            // Right before the first addition to it, a quadratic begins with the slot's own tasks.
            for j in [i, plan.parent[i]] {
                if plan.last_child[j] == i && self.stale[j] {
                    self.slots[j].all = if self.is_loaded[j] { self.loads[j] } else { Quadratic::zero() };
                }
            }
            match plan.freedom[i] {
                Freedom::Free => self.factor_root(damping),
                Freedom::Fixed => self.pass_on(plan, i),
                Freedom::Hinge(_) | Freedom::Slide(_) => self.eliminate_column(plan, i, damping),
                Freedom::TwoAxis(..) | Freedom::Ball => self.eliminate_turn(plan, i, damping),
            }
        }
        self.stale.fill(false);
    }

    /// A joint that does not move hands everything to its parent.
    #[inline(always)]
    fn pass_on(&mut self, plan: &Plan, i: usize) {
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
    fn eliminate_column(&mut self, plan: &Plan, i: usize, damping: T) {
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
                let way = hold.prescribed[0];
                ba = difference(ba, scaled(ua, way));
                bl = difference(bl, scaled(ul, way));
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
    fn eliminate_turn(&mut self, plan: &Plan, i: usize, damping: T) {
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

    #[inline(always)]
    fn solve_root(&self, a: V<T>, l: V<T>) -> [V<T>; 2] {
        let m = &self.root;
        let mut y = [a[0], a[1], a[2], l[0], l[1], l[2]];
        for k in 0..6 {
            for j in 0..k {
                let t = m[k][j] * y[j];
                y[k] -= t;
            }
            y[k] = y[k] * m[k][k];
        }
        for k in (0..6).rev() {
            for j in k + 1..6 {
                let t = m[j][k] * y[j];
                y[k] -= t;
            }
            y[k] = y[k] * m[k][k];
        }
        [[y[0], y[1], y[2]], [y[3], y[4], y[5]]]
    }

    /// The twist and turn of slot `i` from its parent's twist and its own force.
    #[inline(always)]
    fn descend(
        &self,
        plan: &Plan,
        i: usize,
        above: [V<T>; 2],
        force: V<T>,
        prescribed: Option<V<T>>,
    ) -> ([V<T>; 2], V<T>) {
        let s = &self.slots[i];
        match plan.freedom[i] {
            Freedom::Fixed => (above, zero()),
            Freedom::Hinge(_) | Freedom::Slide(_) => {
                let mut way = s.inverse.0[0] * (force[0] - dot(s.u0[0], above[0]) - dot(s.u1[0], above[1]));
                if let Some(prescribed) = prescribed {
                    way += prescribed[0];
                }
                let z = T::splat(0.0);
                let [a, m] = s.column;
                ([add_scaled(above[0], a, way), add_scaled(above[1], m, way)], [way, z, z])
            }
            _ => {
                let t = difference(
                    force,
                    sum(apply_transposed(&s.u0, above[0]), apply_transposed(&s.u1, above[1])),
                );
                let mut delta = s.inverse.times(t);
                if let Some(prescribed) = prescribed {
                    delta = sum(delta, prescribed);
                }
                let xi = difference(s.x, self.slots[0].x);
                ([sum(above[0], delta), sum(above[1], cross(xi, delta))], delta)
            }
        }
    }

    /// Root to leaf: the twists and turns of the step.
    #[inline(always)]
    pub fn substitute(&mut self, plan: &Plan) {
        for i in 0..self.slots.len() {
            let s = &self.slots[i];
            let (twist, delta) = if plan.freedom[i] == Freedom::Free {
                let a = sum(s.all.a, self.holds[0].pull);
                let twist = self.solve_root(a, sum(s.all.l, self.root_pull));
                (twist, twist[0])
            } else {
                let above = if i == 0 { [zero(); 2] } else { self.slots[plan.parent[i]].twist };
                let prescribed = self.held.then(|| self.holds[i].prescribed);
                self.descend(plan, i, above, s.force, prescribed)
            };
            self.slots[i].twist = twist;
            self.slots[i].delta = delta;
        }
    }

    /// The response of the factorised tree to wrenches on slots: twists and turns, written over `answer`.
    pub fn respond(&self, plan: &Plan, wrenches: &mut [[V<T>; 2]], answer: &mut [([V<T>; 2], V<T>)]) {
        let origin = self.slots[0].x;
        for i in (0..self.slots.len()).rev() {
            let s = &self.slots[i];
            let [a, l] = wrenches[i];
            let z = T::splat(0.0);
            // What the joint takes of the wrench, and what its step hands up for it.
            let (force, down) = match plan.freedom[i] {
                Freedom::Free => continue,
                Freedom::Fixed => (zero(), [zero(); 2]),
                Freedom::Hinge(_) | Freedom::Slide(_) => {
                    let force = dot(s.column[0], a) + dot(s.column[1], l);
                    let t = s.inverse.0[0] * force;
                    ([force, z, z], [scaled(s.u0[0], t), scaled(s.u1[0], t)])
                }
                _ => {
                    let force = sum(a, cross(l, difference(s.x, origin)));
                    let t = s.inverse.times(force);
                    (force, [apply(&s.u0, t), apply(&s.u1, t)])
                }
            };
            answer[i].1 = force;
            if i > 0 {
                let p = &mut wrenches[plan.parent[i]];
                p[0] = sum(p[0], difference(a, down[0]));
                p[1] = sum(p[1], difference(l, down[1]));
            }
        }
        for i in 0..self.slots.len() {
            answer[i] = if plan.freedom[i] == Freedom::Free {
                let twist = self.solve_root(wrenches[i][0], wrenches[i][1]);
                (twist, twist[0])
            } else {
                let above = if i == 0 { [zero(); 2] } else { answer[plan.parent[i]].0 };
                self.descend(plan, i, above, answer[i].1, None)
            };
        }
    }

    /// The amounts of a two-axis joint's turn about its two axes.
    pub fn two_amounts(&self, plan: &Plan, i: usize, delta: V<T>) -> [T; 2] {
        let [a, b] = self.two_axes(plan, i);
        let (da, db, ab) = (dot(a, delta), dot(b, delta), dot(a, b));
        let d = T::splat(1.0) / (T::splat(1.0) - ab * ab);
        [(da - ab * db) * d, (db - ab * da) * d]
    }
}
