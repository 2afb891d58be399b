//! One damped Gauss-Newton step of a whole skeleton by tree recursion, for one frame or several side by side.
//!
//! The normal matrix `J^T W J + D` is never formed: every task is a quadratic on the twist of its joint, every joint
//! a link `V_child = V_parent + S delta`, and joints are eliminated leaf to root like the bodies of an articulated
//! chain (Featherstone 1983; as a Riccati sweep for inverse kinematics Wingo et al., LoIK, 2024): tasks are masses,
//! errors are forces. Cost: O(joints). Twists are about the root's position, in model axes. A joint with fewer than
//! three axes has a matrix `P (P^T H P)^-1 P^T` in place of `H^-1`; a joint at its limit has none and a prescribed
//! step. Space: model space. Units: metres, radians.

#![allow(clippy::needless_range_loop, reason = "matrix indices read better than iterators")]

use super::mechanism::Freedom;
use crate::math::Real;

pub(super) type V<T> = [T; 3];
pub(super) type M<T> = [[T; 3]; 3];
/// A quaternion: w, x, y, z.
pub(super) type Q<T> = [T; 4];

#[inline(always)]
pub(super) fn add<T: Real>(a: V<T>, b: V<T>) -> V<T> {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}
#[inline(always)]
pub(super) fn sub<T: Real>(a: V<T>, b: V<T>) -> V<T> {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}
#[inline(always)]
pub(super) fn scale<T: Real>(a: V<T>, s: T) -> V<T> {
    [a[0] * s, a[1] * s, a[2] * s]
}
#[inline(always)]
pub(super) fn dot<T: Real>(a: V<T>, b: V<T>) -> T {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}
#[inline(always)]
pub(super) fn cross<T: Real>(a: V<T>, b: V<T>) -> V<T> {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}
#[inline(always)]
pub(super) fn apply<T: Real>(m: &M<T>, v: V<T>) -> V<T> {
    [dot(m[0], v), dot(m[1], v), dot(m[2], v)]
}
#[inline(always)]
fn apply_transposed<T: Real>(m: &M<T>, v: V<T>) -> V<T> {
    add(add(scale(m[0], v[0]), scale(m[1], v[1])), scale(m[2], v[2]))
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
    let t = add(t, t);
    add(add(v, scale(t, q[0])), cross(u, t))
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
fn none<T: Real>() -> M<T> {
    [zero(); 3]
}

/// The unit quaternion of a rotation vector of at most a radian and a half, by its series, normalised.
#[inline(always)]
pub(super) fn turn<T: Real>(v: V<T>) -> Q<T> {
    let c = T::splat;
    let u = dot(v, v) * c(0.25);
    let sine = c(0.5)
        * (c(1.0)
            - u * (c(1.0 / 6.0) - u * (c(1.0 / 120.0) - u * (c(1.0 / 5040.0) - u * c(1.0 / 362_880.0)))));
    let cosine = c(1.0) - u * (c(0.5) - u * (c(1.0 / 24.0) - u * (c(1.0 / 720.0) - u * c(1.0 / 40_320.0))));
    normalize([cosine, sine * v[0], sine * v[1], sine * v[2]])
}
#[inline(always)]
pub(super) fn normalize<T: Real>(q: Q<T>) -> Q<T> {
    let s = T::splat(1.0) / (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]).sqrt();
    q.map(|x| x * s)
}

/// The rotation vector of `gap`, and the two numbers of `J^T J = across + (1 - across) n n^T` written as
/// `across + along v v^T` for the imaginary part `v`.
#[inline(always)]
pub(super) fn turn_error<T: Real>(gap: Q<T>) -> (V<T>, T, T) {
    let v = [gap[1], gap[2], gap[3]];
    let v2 = dot(v, v);
    // angle / |v|, lane by lane: 2 atan2(|v|, w) / |v| in the near hemisphere.
    let ratio = T::from_lanes(|k| {
        let (s, w) = (v2.lane(k).sqrt(), gap[0].lane(k));
        let sign = if w < 0.0 { -1.0 } else { 1.0 };
        if s < 1e-7 { 2.0 * sign } else { 2.0 * sign * s.atan2(w.abs()) / s }
    });
    let across = ratio * ratio * T::splat(0.25);
    // (1 - across) / v^2 tends to -1/3.
    let along =
        T::from_lanes(|k| if v2.lane(k) < 1e-6 { -1.0 / 3.0 } else { (1.0 - across.lane(k)) / v2.lane(k) });
    (scale(v, ratio), across, along)
}

#[inline(always)]
fn inverse<T: Real>(m: &M<T>) -> M<T> {
    let c0 = m[1][1] * m[2][2] - m[1][2] * m[1][2];
    let c1 = m[0][2] * m[1][2] - m[0][1] * m[2][2];
    let c2 = m[0][1] * m[1][2] - m[0][2] * m[1][1];
    let d = T::splat(1.0) / (m[0][0] * c0 + m[0][1] * c1 + m[0][2] * c2);
    let e = (m[0][0] * m[2][2] - m[0][2] * m[0][2]) * d;
    let f = (m[0][1] * m[0][2] - m[0][0] * m[1][2]) * d;
    let g = (m[0][0] * m[1][1] - m[0][1] * m[0][1]) * d;
    let (c0, c1, c2) = (c0 * d, c1 * d, c2 * d);
    [[c0, c1, c2], [c1, e, f], [c2, f, g]]
}

/// `P (P^T H P + damping)^-1 P^T` for one or two columns of `P`.
#[inline(always)]
fn restricted<T: Real>(h: &M<T>, columns: &[V<T>], damping: T) -> M<T> {
    let outer = |a: V<T>, b: V<T>, s: T| -> M<T> { a.map(|x| scale(b, x * s)) };
    let one = T::splat(1.0);
    match columns {
        [a] => outer(*a, *a, one / (dot(*a, apply(h, *a)) + damping)),
        [a, b] => {
            let (ha, hb) = (apply(h, *a), apply(h, *b));
            let (p, q, r) = (dot(*a, ha) + damping, dot(*a, hb), dot(*b, hb) + damping);
            let d = one / (p * r - q * q);
            let (aa, bb) = (outer(*a, *a, r * d), outer(*b, *b, p * d));
            let (ab, ba) = (outer(*a, *b, q * d), outer(*b, *a, q * d));
            std::array::from_fn(|i| sub(add(aa[i], bb[i]), add(ab[i], ba[i])))
        }
        _ => none(),
    }
}

/// The compiled topology: only the joints that a task is on or below, parents first.
#[derive(Clone, Debug, Default)]
pub(super) struct Plan {
    /// The joint of every slot.
    pub joints: Vec<usize>,
    /// The slot of every joint's parent; its own for the first.
    pub parent: Vec<usize>,
    /// How the joint of a slot moves; first axes of two-axis joints and slides in parent space.
    pub freedom: Vec<Freedom>,
}

/// What one slot knows during a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot<T> {
    /// Position and rotation in model space.
    pub x: V<T>,
    pub g: Q<T>,
    /// The quadratic on the slot's twist, and its linear part.
    pub a00: M<T>,
    pub a01: M<T>,
    pub a11: M<T>,
    pub b0: V<T>,
    pub b1: V<T>,
    /// A quadratic on the joint's own turn (posture), and its linear part.
    pub stiff: M<T>,
    pub pull: V<T>,
    /// The prescribed turn in the lanes of `locked`.
    pub prescribed: V<T>,
    pub locked: u32,
    /// Factors: `A S`, the inverse, the joint's force.
    u0: M<T>,
    u1: M<T>,
    inverse: M<T>,
    force: V<T>,
    /// Answers: the twist of the slot, and the joint's own turn (for a slide: its way, first).
    pub twist: [V<T>; 2],
    pub delta: V<T>,
}

/// The numbers of one step.
#[derive(Clone, Debug)]
pub(super) struct Step<T> {
    pub slots: Vec<Slot<T>>,
    /// The free root's Cholesky factor.
    root: [[T; 6]; 6],
    /// Posture of a free root's place: stiffness and force.
    pub root_stiff: T,
    pub root_pull: V<T>,
}

impl<T: Real> Step<T> {
    pub fn new(slots: usize) -> Self {
        let z = T::splat(0.0);
        let slot = Slot {
            x: zero(),
            g: [T::splat(1.0), z, z, z],
            a00: none(),
            a01: none(),
            a11: none(),
            b0: zero(),
            b1: zero(),
            stiff: none(),
            pull: zero(),
            prescribed: zero(),
            locked: 0,
            u0: none(),
            u1: none(),
            inverse: none(),
            force: zero(),
            twist: [zero(); 2],
            delta: zero(),
        };
        Self { slots: vec![slot; slots], root: [[z; 6]; 6], root_stiff: z, root_pull: zero() }
    }

    /// Model-space positions and rotations of all slots.
    #[inline(always)]
    pub fn forward(&mut self, plan: &Plan, rotations: &[Q<T>], translations: &[V<T>]) {
        for i in 0..self.slots.len() {
            let (x, g) = if i == 0 {
                (translations[0], rotations[0])
            } else {
                let p = &self.slots[plan.parent[i]];
                (add(p.x, rotate(p.g, translations[i])), multiply(p.g, rotations[i]))
            };
            self.slots[i].x = x;
            self.slots[i].g = g;
        }
    }

    /// Forgets all tasks and limits.
    #[inline(always)]
    pub fn clear(&mut self) {
        for s in &mut self.slots {
            (s.a00, s.a01, s.a11, s.b0, s.b1) = (none(), none(), none(), zero(), zero());
            (s.stiff, s.pull, s.prescribed, s.locked) = (none(), zero(), zero(), 0);
        }
        self.root_stiff = T::splat(0.0);
        self.root_pull = zero();
    }

    /// Adds a position task: the point `y` of a slot, relative to the root, is off by `r`.
    #[inline(always)]
    pub fn add_position(&mut self, slot: usize, y: V<T>, r: V<T>, weight: T) {
        let s = &mut self.slots[slot];
        let wy = scale(y, weight);
        let [xx, yy, zz] = [wy[0] * y[0], wy[1] * y[1], wy[2] * y[2]];
        let [xy, xz, yz] = [wy[0] * y[1], wy[0] * y[2], wy[1] * y[2]];
        // -w Y Y, w Y, w 1 for Y = hat(y).
        let rows = [[yy + zz, -xy, -xz], [-xy, xx + zz, -yz], [-xz, -yz, xx + yy]];
        (0..3).for_each(|k| s.a00[k] = add(s.a00[k], rows[k]));
        s.a01[0][1] -= wy[2];
        s.a01[0][2] += wy[1];
        s.a01[1][0] += wy[2];
        s.a01[1][2] -= wy[0];
        s.a01[2][0] -= wy[1];
        s.a01[2][1] += wy[0];
        (0..3).for_each(|k| s.a11[k][k] += weight);
        s.b0 = add(s.b0, scale(cross(y, r), weight));
        s.b1 = add(s.b1, scale(r, weight));
    }

    /// Adds an orientation task by the rotation from the slot's current orientation to the wanted one; gives the
    /// rotation vector of it.
    #[inline(always)]
    pub fn add_orientation(&mut self, slot: usize, gap: Q<T>, weight: T) -> V<T> {
        let (r, across, along) = turn_error(gap);
        let s = &mut self.slots[slot];
        add_turn(&mut s.a00, &mut s.b0, gap, r, across * weight, along * weight, weight);
        r
    }

    /// Pulls a joint's own turn by the rotation `gap` (model axes) with a stiffness; gives its rotation vector.
    #[inline(always)]
    pub fn add_posture(&mut self, slot: usize, gap: Q<T>, weight: T) -> V<T> {
        let (r, across, along) = turn_error(gap);
        let s = &mut self.slots[slot];
        add_turn(&mut s.stiff, &mut s.pull, gap, r, across * weight, along * weight, weight);
        r
    }

    /// Adds one row that only this slot's twist moves.
    pub fn add_row(&mut self, slot: usize, moment: V<T>, force: V<T>, error: T, weight: T) {
        let s = &mut self.slots[slot];
        for k in 0..3 {
            s.a00[k] = add(s.a00[k], scale(moment, moment[k] * weight));
            s.a01[k] = add(s.a01[k], scale(force, moment[k] * weight));
            s.a11[k] = add(s.a11[k], scale(force, force[k] * weight));
        }
        s.b0 = add(s.b0, scale(moment, error * weight));
        s.b1 = add(s.b1, scale(force, error * weight));
    }

    /// The axes of a slot's joint in model space, for joints with one or two.
    #[inline(always)]
    fn columns(&self, plan: &Plan, i: usize) -> ([V<T>; 2], usize) {
        let own = self.slots[i].g;
        let parent =
            |a: [f64; 3]| if i == 0 { splat(a) } else { rotate(self.slots[plan.parent[i]].g, splat(a)) };
        match plan.freedom[i] {
            Freedom::Hinge(a) => ([rotate(own, splat(a.into())), zero()], 1),
            Freedom::TwoAxis(a, b) => ([parent(a.into()), rotate(own, splat(b.into()))], 2),
            Freedom::Slide(a) => ([parent(a.into()), zero()], 1),
            _ => ([zero(); 2], 0),
        }
    }

    /// Leaf to root: every joint minimises over its own step. Factors stay for [`Step::respond`].
    #[inline(always)]
    pub fn eliminate(&mut self, plan: &Plan, damping: T) {
        let origin = self.slots[0].x;
        for i in (0..self.slots.len()).rev() {
            let freedom = plan.freedom[i];
            if freedom == Freedom::Free {
                self.factor_root(damping);
                continue;
            }
            let (columns, count) = self.columns(plan, i);
            let (head, tail) = self.slots.split_at_mut(i);
            let s = &mut tail[0];
            let (mut b0, mut b1) = (s.b0, s.b1);
            match freedom {
                Freedom::Fixed => {}
                Freedom::Slide(_) => {
                    let a = columns[0];
                    let (u0, u1) = (apply(&s.a01, a), apply(&s.a11, a));
                    let inverse = T::splat(1.0) / (dot(a, u1) + damping);
                    let inverse =
                        if s.locked == 0 { inverse } else { T::splat(0.0).select(s.locked, inverse) };
                    if s.locked != 0 {
                        b0 = sub(b0, scale(u0, s.prescribed[0]));
                        b1 = sub(b1, scale(u1, s.prescribed[0]));
                    }
                    (s.u0, s.u1, s.inverse) = (none(), none(), none());
                    (0..3).for_each(|k| {
                        s.u0[k][0] = u0[k];
                        s.u1[k][0] = u1[k];
                    });
                    s.inverse[0][0] = inverse;
                    s.force = [dot(a, b1), T::splat(0.0), T::splat(0.0)];
                }
                _ => {
                    let xi = sub(s.x, origin);
                    // U0 = A00 + A01 X, U1 = A01^T + A11 X, H = U0 - X U1 for X = hat(xi); m X has the rows m_k x xi.
                    let a10: M<T> = std::array::from_fn(|r| [s.a01[0][r], s.a01[1][r], s.a01[2][r]]);
                    s.u0 = std::array::from_fn(|r| add(s.a00[r], cross(s.a01[r], xi)));
                    s.u1 = std::array::from_fn(|r| add(a10[r], cross(s.a11[r], xi)));
                    let mut h = s.stiff;
                    let (y, z, x) = (xi[1], xi[2], xi[0]);
                    for q in 0..3 {
                        h[0][q] += s.u0[0][q] + z * s.u1[1][q] - y * s.u1[2][q];
                        h[1][q] += s.u0[1][q] + x * s.u1[2][q] - z * s.u1[0][q];
                        h[2][q] += s.u0[2][q] + y * s.u1[0][q] - x * s.u1[1][q];
                    }
                    s.inverse = if count == 0 {
                        (0..3).for_each(|k| h[k][k] += damping);
                        inverse(&h)
                    } else {
                        restricted(&h, &columns[..count], damping)
                    };
                    if s.locked != 0 {
                        let free = s.inverse;
                        s.inverse = free.map(|r| r.map(|v| T::splat(0.0).select(s.locked, v)));
                        b0 = sub(b0, apply(&s.u0, s.prescribed));
                        b1 = sub(b1, apply(&s.u1, s.prescribed));
                    }
                    s.force = add(add(b0, cross(b1, xi)), s.pull);
                }
            }
            if i == 0 {
                continue;
            }
            let p = &mut head[plan.parent[i]];
            if freedom == Freedom::Fixed {
                for k in 0..3 {
                    p.a00[k] = add(p.a00[k], s.a00[k]);
                    p.a01[k] = add(p.a01[k], s.a01[k]);
                    p.a11[k] = add(p.a11[k], s.a11[k]);
                }
                p.b0 = add(p.b0, b0);
                p.b1 = add(p.b1, b1);
                continue;
            }
            // A_p += A - U inverse U^T ; b_p += b - U inverse force.
            let w0: M<T> = std::array::from_fn(|r| apply(&s.inverse, s.u0[r]));
            let w1: M<T> = std::array::from_fn(|r| apply(&s.inverse, s.u1[r]));
            for r in 0..3 {
                for q in r..3 {
                    let d = s.a00[r][q] - dot(w0[r], s.u0[q]);
                    p.a00[r][q] += d;
                    let e = s.a11[r][q] - dot(w1[r], s.u1[q]);
                    p.a11[r][q] += e;
                    if q > r {
                        p.a00[q][r] += d;
                        p.a11[q][r] += e;
                    }
                }
                for q in 0..3 {
                    p.a01[r][q] += s.a01[r][q] - dot(w0[r], s.u1[q]);
                }
                p.b0[r] += b0[r] - dot(w0[r], s.force);
                p.b1[r] += b1[r] - dot(w1[r], s.force);
            }
        }
    }

    /// The Cholesky factor of the free root's 6 x 6 matrix.
    #[inline(always)]
    fn factor_root(&mut self, damping: T) {
        let s = &self.slots[0];
        let mut m = [[T::splat(0.0); 6]; 6];
        for r in 0..3 {
            for q in 0..3 {
                m[r][q] = s.a00[r][q] + s.stiff[r][q];
                m[r + 3][q] = s.a01[q][r];
                m[r + 3][q + 3] = s.a11[r][q];
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
                m[k][j] = if j == k { sum.max(T::splat(1e-30)).sqrt() } else { sum / m[j][j] };
            }
        }
        self.root = m;
    }

    #[inline(always)]
    fn solve_root(&self, b0: V<T>, b1: V<T>) -> [V<T>; 2] {
        let l = &self.root;
        let mut y = [b0[0], b0[1], b0[2], b1[0], b1[1], b1[2]];
        for k in 0..6 {
            for j in 0..k {
                let t = l[k][j] * y[j];
                y[k] -= t;
            }
            y[k] = y[k] / l[k][k];
        }
        for k in (0..6).rev() {
            for j in k + 1..6 {
                let t = l[j][k] * y[j];
                y[k] -= t;
            }
            y[k] = y[k] / l[k][k];
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
        prescribed: V<T>,
    ) -> ([V<T>; 2], V<T>) {
        let s = &self.slots[i];
        let t = sub(force, add(apply_transposed(&s.u0, above[0]), apply_transposed(&s.u1, above[1])));
        match plan.freedom[i] {
            Freedom::Fixed => (above, zero()),
            Freedom::Slide(_) => {
                let way = s.inverse[0][0] * t[0] + prescribed[0];
                let (columns, _) = self.columns(plan, i);
                ([above[0], add(above[1], scale(columns[0], way))], [way, T::splat(0.0), T::splat(0.0)])
            }
            _ => {
                let delta = add(apply(&s.inverse, t), prescribed);
                let xi = sub(s.x, self.slots[0].x);
                ([add(above[0], delta), add(above[1], cross(xi, delta))], delta)
            }
        }
    }

    /// Root to leaf: the twists and turns of the step.
    #[inline(always)]
    pub fn substitute(&mut self, plan: &Plan) {
        for i in 0..self.slots.len() {
            let s = &self.slots[i];
            let (twist, delta) = if plan.freedom[i] == Freedom::Free {
                let twist = self.solve_root(add(s.b0, s.pull), add(s.b1, self.root_pull));
                (twist, twist[0])
            } else {
                let above = if i == 0 { [zero(); 2] } else { self.slots[plan.parent[i]].twist };
                self.descend(plan, i, above, s.force, s.prescribed)
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
            let [b0, b1] = wrenches[i];
            let force = match plan.freedom[i] {
                Freedom::Free => continue,
                Freedom::Fixed => zero(),
                Freedom::Slide(_) => [dot(self.columns(plan, i).0[0], b1), T::splat(0.0), T::splat(0.0)],
                _ => add(b0, cross(b1, sub(s.x, origin))),
            };
            answer[i].1 = force;
            if i > 0 {
                let t = apply(&s.inverse, force);
                let p = &mut wrenches[plan.parent[i]];
                let fixed = plan.freedom[i] == Freedom::Fixed;
                let down = |u: &M<T>| if fixed { zero() } else { apply(u, t) };
                p[0] = add(p[0], sub(b0, down(&s.u0)));
                p[1] = add(p[1], sub(b1, down(&s.u1)));
            }
        }
        for i in 0..self.slots.len() {
            answer[i] = if plan.freedom[i] == Freedom::Free {
                let twist = self.solve_root(wrenches[i][0], wrenches[i][1]);
                (twist, twist[0])
            } else {
                let above = if i == 0 { [zero(); 2] } else { answer[plan.parent[i]].0 };
                self.descend(plan, i, above, answer[i].1, zero())
            };
        }
    }

    /// The amounts of a two-axis joint's turn about its two axes.
    #[inline(always)]
    pub fn two_amounts(&self, plan: &Plan, i: usize, delta: V<T>) -> [T; 2] {
        let ([a, b], _) = self.columns(plan, i);
        let (da, db, ab) = (dot(a, delta), dot(b, delta), dot(a, b));
        let d = T::splat(1.0) / (T::splat(1.0) - ab * ab);
        [(da - ab * db) * d, (db - ab * da) * d]
    }

    /// The amount of a hinge's or slide's step.
    #[inline(always)]
    pub fn amount(&self, plan: &Plan, i: usize, delta: V<T>) -> T {
        match plan.freedom[i] {
            Freedom::Slide(_) => delta[0],
            _ => dot(self.columns(plan, i).0[0], delta),
        }
    }
}

/// Adds `J^T W J` and `J^T W r` of a rotation error to a 3 x 3 quadratic.
#[inline(always)]
fn add_turn<T: Real>(m: &mut M<T>, b: &mut V<T>, gap: Q<T>, r: V<T>, across: T, along: T, weight: T) {
    let v = [gap[1], gap[2], gap[3]];
    for k in 0..3 {
        m[k] = add(m[k], scale(v, v[k] * along));
        m[k][k] += across;
    }
    *b = add(*b, scale(r, weight));
}
