//! The note's step of a tree of hinges and balls, for one skeleton or several side by side in lanes.
//!
//! The same elimination as [`super::Solver`], written for [`Real`] and for these two kinds only: every body in its
//! principal axes, so that its turned inertia is `i3 1 + (i1 - i3) r1 r1^T + (i2 - i3) r2 r2^T`; angular velocities in
//! world axes, where the step is the note's without turning anything (`R' omega' = R omega + h R omega-dot`, and
//! `R exp(h omega') = exp(h R omega') R`). All of it is inlined into one function, for the registers of its caller.
//! Space: world axes about the point where a body hangs on its parent. Units: SI.

use super::batch_algebra::{apply, apply_transposed, by_rows, columns, crossed, splat};
use crate::math::{Real, Symmetric3, Triple as V, cross, difference, dot, scaled, sum};

/// What a link is made of; all skeletons of a batch share it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    /// The place of the parent; `None` for the world or a floating root.
    pub(super) parent: Option<usize>,
    /// What it hangs by; `None` for a floating root.
    pub(super) hanging: Option<Hanging>,
    pub(super) mass: f64,
    /// `i3`, `i1 - i3`, `i2 - i3` of the principal moments.
    pub(super) moments: [f64; 3],
    /// From the point where it hangs to the centre of mass, principal axes.
    pub(super) to_center: [f64; 3],
}

/// How a link hangs on its parent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hanging {
    /// Where it hangs, in the parent's principal axes, from the parent's centre of mass.
    pub(super) above: [f64; 3],
    /// The axis of a hinge, in the principal axes of this link and of its parent; `None` for a ball.
    pub(super) axis: Option<([f64; 3], [f64; 3])>,
    /// Viscous, N m s/rad.
    pub(super) friction: f64,
    /// The constant motor torque of body `a` against `b`, times the sign with which it acts on this link.
    pub(super) motor: f64,
    /// The axis of the motor in the principal axes of body `a`, and whether that is this link.
    pub(super) motor_axis: ([f64; 3], bool),
}

/// The instant of a body: centre of mass, world from principal axes (w, x, y, z), velocities in world axes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Instant<T> {
    pub(super) position: V<T>,
    pub(super) rotation: [T; 4],
    pub(super) velocity: V<T>,
    pub(super) spin: V<T>,
}

/// What a link knows during a step. Wrenches are (moment, force), motions (angular, linear).
#[derive(Clone, Copy, Debug)]
pub(super) struct Node<T> {
    /// The principal axes.
    axes: [V<T>; 3],
    to_center: V<T>,
    /// From the parent's point to this one, by the parent's own anchor.
    arm: V<T>,
    axis: V<T>,
    rotational: Symmetric3<T>,
    coupling: [V<T>; 3],
    linear: Symmetric3<T>,
    b: [V<T>; 2],
    /// `A S` of a hinge.
    u: [V<T>; 2],
    inverse: Symmetric3<T>,
    g: V<T>,
    bias: [V<T>; 2],
    motion: [V<T>; 2],
}

impl<T: Real> Node<T> {
    pub(super) fn blank() -> Self {
        let o = T::splat(0.0);
        let (v, s) = ([o; 3], Symmetric3::zero());
        Self {
            axes: [v; 3],
            to_center: v,
            arm: v,
            axis: v,
            rotational: s,
            coupling: [v; 3],
            linear: s,
            b: [v; 2],
            u: [v; 2],
            inverse: s,
            g: v,
            bias: [v; 2],
            motion: [v; 2],
        }
    }
}

#[inline(always)]
fn combined<T: Real>(columns: &[V<T>; 3], v: [f64; 3]) -> V<T> {
    let mut all = splat([0.0; 3]);
    for (column, x) in columns.iter().zip(v) {
        // Anchors and axes mostly lie along one axis of their body, for all skeletons alike.
        if x != 0.0 {
            all = sum(all, scaled(*column, T::splat(x)));
        }
    }
    all
}

/// One step of `h` seconds.
#[inline(always)]
pub(super) fn step<T: Real>(
    plans: &[Plan],
    instants: &mut [Instant<T>],
    nodes: &mut [Node<T>],
    gravity: [f64; 3],
    h: f64,
) {
    for i in 0..plans.len() {
        place(plans, instants, nodes, gravity, i);
    }
    for i in (0..plans.len()).rev() {
        eliminate(plans, nodes, i);
    }
    let h = T::splat(h);
    for i in 0..plans.len() {
        answer(plans, nodes, i);
        advance(&mut instants[i], &nodes[i], h);
    }
}

/// Forms what a link has by itself: its inertia, its forces, and its velocity products.
#[inline(always)]
fn place<T: Real>(
    plans: &[Plan],
    instants: &[Instant<T>],
    nodes: &mut [Node<T>],
    gravity: [f64; 3],
    i: usize,
) {
    let c = T::splat;
    let (plan, s) = (&plans[i], &instants[i]);
    let r = columns(s.rotation);
    let w = s.spin;
    let zero = [c(0.0); 3];
    let d = if plan.hanging.is_some() { combined(&r, plan.to_center) } else { zero };
    let m = scaled(d, c(plan.mass));
    let [i3, i13, i23] = plan.moments;
    // I - m d^ d^ = I + m (d.d 1 - d d^T)
    let diagonal = c(i3) + dot(m, d);
    let mut rotational = Symmetric3::diagonal(diagonal);
    for (axis, more) in [(r[0], i13), (r[1], i23)] {
        if more != 0.0 {
            rotational = rotational.plus_outer(scaled(axis, c(more)), axis);
        }
    }
    rotational = rotational.plus_outer(scaled(m, c(-1.0)), d);
    let mut b = [cross(rotational.times(w), w), cross(cross(w, m), w)];
    if gravity != [0.0; 3] {
        let weight = splat(gravity.map(|g| g * plan.mass));
        b = [sum(b[0], cross(d, weight)), sum(b[1], weight)];
    }
    let (mut arm, mut parent_spin) = (zero, zero);
    let mut bias = [zero; 2];
    let mut axis = zero;
    if let Some(hanging) = &plan.hanging {
        if let Some(p) = plan.parent {
            parent_spin = instants[p].spin;
            arm = sum(nodes[p].to_center, combined(&nodes[p].axes, hanging.above));
            bias[1] = cross(parent_spin, cross(parent_spin, arm));
        }
        if let Some((own, above)) = hanging.axis {
            let of_parent = match plan.parent {
                Some(p) => combined(&nodes[p].axes, above),
                None => splat(above),
            };
            axis = scaled(sum(combined(&r, own), of_parent), c(0.5));
            let rate = dot(axis, difference(w, parent_spin));
            bias[0] = cross(sum(w, parent_spin), scaled(axis, rate * c(0.5)));
        }
        if hanging.friction != 0.0 || hanging.motor != 0.0 {
            let mut torque = scaled(difference(parent_spin, w), c(hanging.friction));
            if hanging.motor != 0.0 {
                let (z, own) = hanging.motor_axis;
                let z = match plan.parent {
                    Some(p) if !own => combined(&nodes[p].axes, z),
                    None if !own => splat(z),
                    _ => combined(&r, z),
                };
                torque = sum(torque, scaled(z, c(hanging.motor)));
            }
            b[0] = sum(b[0], torque);
            if let Some(p) = plan.parent {
                nodes[p].b[0] = difference(nodes[p].b[0], torque);
            }
        }
    }
    let node = &mut nodes[i];
    (node.axes, node.to_center, node.arm, node.axis) = (r, d, arm, axis);
    (node.rotational, node.b, node.bias) = (rotational, b, bias);
    node.coupling = [[c(0.0), -m[2], m[1]], [m[2], c(0.0), -m[0]], [-m[1], m[0], c(0.0)]];
    node.linear = Symmetric3::diagonal(c(plan.mass));
}

/// A body whose rotation is eliminated.
struct Turned<T> {
    /// H^-1 of the rotational inertia H.
    inverse: Symmetric3<T>,
    /// H^-1 C by columns, C being the coupling with the linear part L.
    through: [V<T>; 3],
    /// L - C^T H^-1 C, symmetric.
    rest: Symmetric3<T>,
}

#[inline(always)]
fn turned<T: Real>(node: &Node<T>) -> Turned<T> {
    let inverse = node.rotational.inverse();
    let column = |k: usize| [node.coupling[0][k], node.coupling[1][k], node.coupling[2][k]];
    let through = [inverse.times(column(0)), inverse.times(column(1)), inverse.times(column(2))];
    let l = &node.linear.0;
    let rest = Symmetric3([
        l[0] - dot(column(0), through[0]),
        l[1] - dot(column(1), through[1]),
        l[2] - dot(column(2), through[2]),
        l[3] - dot(column(0), through[1]),
        l[4] - dot(column(0), through[2]),
        l[5] - dot(column(1), through[2]),
    ]);
    Turned { inverse, through, rest }
}

/// Eliminates the free motion of a link and passes what remains to its parent.
#[inline(always)]
fn eliminate<T: Real>(plans: &[Plan], nodes: &mut [Node<T>], i: usize) {
    let Some(hanging) = &plans[i].hanging else { return };
    let node = &mut nodes[i];
    let [moment, force] = node.b;
    let (arm, bias) = (node.arm, node.bias);
    if hanging.axis.is_none() {
        // What passes on is a pure mass matrix: zeros are exact.
        let Turned { inverse, through, rest } = turned(node);
        let out = difference(force, sum(apply(&through, moment), rest.times(bias[1])));
        (node.inverse, node.g) = (inverse, moment);
        if let Some(p) = plans[i].parent {
            let parent = &mut nodes[p];
            let s = crossed(arm, &rest);
            let [s0, s1, s2] = by_rows(cross, [arm; 3], s);
            let m = &mut parent.rotational.0;
            *m = [m[0] + s0[0], m[1] + s1[1], m[2] + s2[2], m[3] + s0[1], m[4] + s0[2], m[5] + s1[2]];
            parent.coupling = by_rows(sum, parent.coupling, s);
            parent.linear = parent.linear.plus(&rest);
            parent.b = [sum(parent.b[0], cross(arm, out)), sum(parent.b[1], out)];
        }
        return;
    }
    let z = node.axis;
    let u = [node.rotational.times(z), apply_transposed(&node.coupling, z)];
    let inverse = T::splat(1.0) / dot(z, u[0]);
    let away = [scaled(u[0], -inverse), scaled(u[1], -inverse)];
    let rotational = node.rotational.plus_outer(u[0], away[0]);
    let linear = node.linear.plus_outer(u[1], away[1]);
    let coupling = by_rows(sum, node.coupling, by_rows(scaled, [away[1]; 3], u[0]));
    let g = dot(z, moment);
    // b' = b - U H^-1 g - A' bias
    let moment = difference(
        sum(moment, scaled(away[0], g)),
        sum(rotational.times(bias[0]), apply(&coupling, bias[1])),
    );
    let force = difference(
        sum(force, scaled(away[1], g)),
        sum(apply_transposed(&coupling, bias[0]), linear.times(bias[1])),
    );
    (node.u, node.inverse.0[0], node.g[0]) = (u, inverse, g);
    if let Some(p) = plans[i].parent {
        let parent = &mut nodes[p];
        // As in `SpatialInertia::add_shifted`: s = h + r^ L, rotational' = rotational - s r^ + r^ h^T.
        let lift = crossed(arm, &linear);
        let s = by_rows(sum, coupling, lift);
        let [s0, s1, s2] = by_rows(cross, [arm; 3], s);
        let [h0, h1, h2] = by_rows(cross, [arm; 3], coupling);
        let (o, m) = (&rotational.0, &mut parent.rotational.0);
        *m = [
            m[0] + (o[0] + (s0[0] + h0[0])),
            m[1] + (o[1] + (s1[1] + h1[1])),
            m[2] + (o[2] + (s2[2] + h2[2])),
            m[3] + (o[3] + (s0[1] + h1[0])),
            m[4] + (o[4] + (s0[2] + h2[0])),
            m[5] + (o[5] + (s1[2] + h2[1])),
        ];
        parent.coupling = by_rows(sum, parent.coupling, s);
        parent.linear = parent.linear.plus(&linear);
        parent.b = [sum(parent.b[0], sum(moment, cross(arm, force))), sum(parent.b[1], force)];
    }
}

/// The acceleration of a link, at its point, from that of its parent.
#[inline(always)]
fn answer<T: Real>(plans: &[Plan], nodes: &mut [Node<T>], i: usize) {
    let plan = &plans[i];
    let Some(hanging) = &plan.hanging else {
        nodes[i].motion = solved(&nodes[i]);
        return;
    };
    let node = &nodes[i];
    let mut motion = node.bias;
    if let Some(p) = plan.parent {
        let above = nodes[p].motion;
        motion = [sum(motion[0], above[0]), sum(motion[1], sum(above[1], cross(above[0], node.arm)))];
    }
    if hanging.axis.is_none() {
        let carried = sum(node.rotational.times(motion[0]), apply(&node.coupling, motion[1]));
        motion[0] = sum(motion[0], node.inverse.times(difference(node.g, carried)));
    } else {
        let carried = dot(motion[0], node.u[0]) + dot(motion[1], node.u[1]);
        motion[0] = sum(motion[0], scaled(node.axis, (node.g[0] - carried) * node.inverse.0[0]));
    }
    nodes[i].motion = motion;
}

/// The motion with which a free body answers its wrench: two 3 x 3 solves.
#[inline(always)]
fn solved<T: Real>(node: &Node<T>) -> [V<T>; 2] {
    let Turned { inverse, through, rest } = turned(node);
    let linear = rest.inverse().times(difference(node.b[1], apply(&through, node.b[0])));
    [inverse.times(difference(node.b[0], apply(&node.coupling, linear))), linear]
}

#[inline(always)]
fn advance<T: Real>(s: &mut Instant<T>, node: &Node<T>, h: T) {
    let c = T::splat;
    let [angular, linear] = node.motion;
    let (w, d) = (s.spin, node.to_center);
    let center = sum(linear, sum(cross(angular, d), cross(w, cross(w, d))));
    s.velocity = sum(s.velocity, scaled(center, h));
    s.spin = sum(w, scaled(angular, h));
    s.position = sum(s.position, scaled(s.velocity, h));
    let v = scaled(s.spin, h);
    let x = dot(v, v) * c(0.25);
    let (sine, cosine) = if (0..T::LANES).all(|k| x.lane(k) < 0.01) {
        // sin(a) / a and cos(a) of the half angle a <= 0.1; the first terms left out are below 1e-17.
        let sine = c(0.5)
            - x * (c(1.0 / 12.0) - x * (c(1.0 / 240.0) - x * (c(1.0 / 10_080.0) - x * c(1.0 / 725_760.0))));
        let cosine = c(1.0)
            - x * (c(0.5)
                - x * (c(1.0 / 24.0)
                    - x * (c(1.0 / 720.0) - x * (c(1.0 / 40_320.0) - x * c(1.0 / 3_628_800.0)))));
        (sine, cosine)
    } else {
        far(x)
    };
    let (t, q) = (scaled(v, sine), s.rotation);
    let u = [q[1], q[2], q[3]];
    let turned = sum(sum(scaled(u, cosine), scaled(t, q[0])), cross(t, u));
    let w = cosine * q[0] - dot(t, u);
    // One step of Newton's method for the length.
    let unit = c(1.5) - c(0.5) * (w * w + dot(turned, turned));
    s.rotation = [w * unit, turned[0] * unit, turned[1] * unit, turned[2] * unit];
}

/// The sine over the whole angle, and the cosine, of half angles that are not small; `square` is theirs.
///
/// Rare, so apart. What is handed over by address also has the stack aligned to lanes: spilled elsewhere, they would
/// lie across pages.
#[cold]
#[inline(never)]
fn far<T: Real>(square: T) -> (T, T) {
    let half = |k: usize| square.lane(k).sqrt();
    let sine = |k: usize| {
        if half(k) < 1e-3 { 0.5 - square.lane(k) / 12.0 } else { 0.5 * libm::sin(half(k)) / half(k) }
    };
    (T::from_lanes(sine), T::from_lanes(|k| libm::cos(half(k))))
}
