//! Articulated-body elimination in world axes: the O(n) kernel that everything else is built on.
//!
//! Source: R. Featherstone, "Rigid Body Dynamics Algorithms", 2008, chapter 7, in the form that eliminates a
//! constraint by the subspace `S` of the motions that it leaves: `A - U H^-1 U^T`, `U = A S`, `H = S^T U`. Every body
//! is described in world axes about the point where it hangs on its parent (a floating root: its centre of mass),
//! so that passing to the parent is a shift, never a rotation, and numbers stay small far from the origin. `A` is
//! stored symmetric. Accelerations are those of material points, so that no spatial velocity product occurs.
//!
//! One factorisation serves accelerations, velocity steps, projections and the response to contact impulses: they
//! differ in the right-hand side only. Units: SI.

use super::articulation::Articulation;
use super::body::{BodyAcceleration, BodyForce, BodyState};
use super::constraint::{Constraint, ConstraintKind, matrix, of};
use super::spatial::{SpatialInertia, Sym3, Twist, Wrench};
use crate::math::{Mat3, Vec3, log};
use std::ops::Range;

/// A resistance of the free motion of one constraint that is implicit in a velocity step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Resistance {
    /// Added to `H`: impulse per rate.
    pub(super) stiffness: f64,
    /// Added to `S^T b`: impulse along the free motions of the child; a hinge or slider uses `x` only.
    pub(super) drive: Vec3,
}

/// What is kept of one link between the sweeps.
#[derive(Clone, Copy, Debug)]
struct Node {
    kind: Option<ConstraintKind>,
    parent: usize,
    body: usize,
    /// World: from the parent's reference point to this one.
    arm: Vec3,
    /// World: from this reference point to the centre of mass.
    to_center: Vec3,
    /// The free motions: angular axes (slider: the linear axis in the first place).
    axes: [Vec3; 2],
    inertia: SpatialInertia,
    /// `A S`: moments and forces; for a ball `moment` is the rotational block itself.
    u: [Wrench; 2],
    inverse: Sym3,
    /// Of a ball: what its friction lets through besides the exact zeros.
    resistance: Resistance,
    b: Wrench,
    g: Vec3,
    motion: Twist,
    /// World angular velocity, and the velocity products of the last acceleration.
    spin: Vec3,
    bias: Twist,
    /// Whether an impulse reaches this link on its way to the root.
    on_path: bool,
}

const NO_PARENT: usize = usize::MAX;

/// The factorised tree in one pose, and room for the sweeps. Made once, used for every step.
#[derive(Clone, Debug)]
pub struct Solver {
    nodes: Vec<Node>,
}

impl Solver {
    /// Room for an articulation.
    pub fn new(articulation: &Articulation) -> Self {
        let blank = Node {
            kind: None,
            parent: NO_PARENT,
            body: 0,
            arm: Vec3::zeros(),
            to_center: Vec3::zeros(),
            axes: [Vec3::zeros(); 2],
            inertia: SpatialInertia::zero(),
            u: [Wrench::zero(); 2],
            inverse: Sym3::default(),
            resistance: Resistance::default(),
            b: Wrench::zero(),
            g: Vec3::zeros(),
            motion: Twist::zero(),
            spin: Vec3::zeros(),
            bias: Twist::zero(),
            on_path: false,
        };
        let node = |link: &super::articulation::Link| Node {
            kind: link.constraint.map(|k| articulation.constraints()[k].kind),
            parent: link.parent.unwrap_or(NO_PARENT),
            body: link.body,
            ..blank
        };
        Self { nodes: articulation.links().iter().map(node).collect() }
    }

    /// The accelerations of all bodies under `forces`, which include gravity, friction and motors but not the
    /// gyroscopic torque ([`Articulation::applied_forces`]).
    pub fn accelerations(
        &mut self,
        articulation: &Articulation,
        states: &[BodyState],
        forces: &[BodyForce],
        out: &mut Vec<BodyAcceleration>,
    ) {
        self.factor(articulation, states, &[]);
        self.accelerate(articulation, states, forces, out);
    }

    fn accelerate(
        &mut self,
        articulation: &Articulation,
        states: &[BodyState],
        forces: &[BodyForce],
        out: &mut Vec<BodyAcceleration>,
    ) {
        for node in &mut self.nodes {
            let (state, body) = (&states[node.body], &articulation.bodies()[node.body]);
            let (force, w, d) = (&forces[node.body], state.angular_velocity, node.to_center);
            let world = state.orientation * w;
            let gyro = w.cross(&(body.inertia * w));
            let moment = state.orientation * (force.torque - gyro);
            let central = force.force - world.cross(&world.cross(&d)) * body.mass;
            node.b = Wrench { moment: moment + d.cross(&central), force: central };
            node.spin = world;
        }
        for i in (0..self.nodes.len()).rev() {
            let bias = self.velocity_products(articulation, states, i);
            self.nodes[i].bias = bias;
            self.lift(i, &bias, &Vec3::zeros());
        }
        for i in 0..self.nodes.len() {
            let bias = self.nodes[i].bias;
            self.drop(i, &bias);
        }
        out.clear();
        out.resize(states.len(), BodyAcceleration { linear: Vec3::zeros(), angular: Vec3::zeros() });
        for node in &self.nodes {
            let state = &states[node.body];
            let w = node.spin;
            let angular = node.motion.angular;
            let d = node.to_center;
            out[node.body] = BodyAcceleration {
                linear: node.motion.linear + angular.cross(&d) + w.cross(&w.cross(&d)),
                angular: state.orientation.inverse_transform_vector(&angular),
            };
        }
    }

    /// The forces and torques of every constraint after [`Solver::accelerations`], in the note's variables: `c` on
    /// body `a` at the anchor, and `d` with torque `z x d`, perpendicular to the axis; world axes.
    ///
    /// For kinds other than hinge and ball `d` is the torque itself.
    pub fn constraint_forces(&self, articulation: &Articulation) -> (Vec<Vec3>, Vec<Vec3>) {
        let n = articulation.constraints().len();
        let (mut c, mut d) = (vec![Vec3::zeros(); n], vec![Vec3::zeros(); n]);
        for (node, link) in self.nodes.iter().zip(articulation.links()) {
            let Some(k) = link.constraint else { continue };
            let mut wrench = node.inertia.times(&node.motion);
            wrench.add_scaled(&node.b, -1.0);
            let sign = if link.child_is_a { 1.0 } else { -1.0 };
            c[k] = wrench.force * sign;
            let moment = wrench.moment * sign;
            d[k] = match node.kind {
                Some(ConstraintKind::Hinge) => moment.cross(&node.axes[0]),
                Some(ConstraintKind::Ball) => Vec3::zeros(),
                _ => moment,
            };
        }
        (c, d)
    }

    /// Forms and eliminates the inertias in the pose of `states`. `resistances` is by constraint, or empty.
    pub(super) fn factor(
        &mut self,
        articulation: &Articulation,
        states: &[BodyState],
        resistances: &[Resistance],
    ) {
        let links = articulation.links();
        for (i, link) in links.iter().enumerate() {
            let (state, body) = (&states[link.body], &articulation.bodies()[link.body]);
            let r = matrix(&state.orientation);
            let mut to_center = Vec3::zeros();
            let mut axes = [Vec3::zeros(); 2];
            if let Some(k) = link.constraint {
                let c = &articulation.constraints()[k];
                let (anchor, axis, parent_axis) = if link.child_is_a {
                    (&c.anchor_a, &c.axis_a, &c.axis_b)
                } else {
                    (&c.anchor_b, &c.axis_b, &c.axis_a)
                };
                to_center = -(r * anchor);
                match c.kind {
                    ConstraintKind::Hinge | ConstraintKind::Slider => axes[0] = r * axis,
                    ConstraintKind::Universal => {
                        let above = if link.child_is_a { c.b } else { c.a };
                        axes = [of(states, above).orientation * parent_axis, r * axis];
                    }
                    ConstraintKind::Ball | ConstraintKind::Fixed => {}
                }
                self.nodes[i].resistance = resistances.get(k).copied().unwrap_or_default();
            }
            let arm = match link.parent {
                None => Vec3::zeros(),
                Some(p) => {
                    let above = &self.nodes[p];
                    (state.position - to_center) - (states[above.body].position - above.to_center)
                }
            };
            let node = &mut self.nodes[i];
            (node.to_center, node.axes, node.arm) = (to_center, axes, arm);
            let turned = Sym3::upper(&body.inertia).turned(&r);
            node.inertia = SpatialInertia::rigid(body.mass, &turned, &to_center);
        }
        for i in (0..self.nodes.len()).rev() {
            self.eliminate(i);
        }
    }

    /// Eliminates the free motions of link `i` and adds what remains to its parent.
    fn eliminate(&mut self, i: usize) {
        let node = &mut self.nodes[i];
        let Some(kind) = node.kind else { return };
        let (a, more) = (node.inertia, node.resistance.stiffness);
        let mut rest = a;
        match kind {
            ConstraintKind::Fixed => {}
            ConstraintKind::Ball => {
                let mut h = a.rotational;
                h.add(&Sym3::diagonal(more));
                let inverse = h.inverse();
                node.inverse = inverse;
                let columns = inverse.full() * a.coupling;
                let through = a.coupling.tr_mul(&columns);
                for (x, y) in rest.linear.0.iter_mut().zip(Sym3::upper(&through).0) {
                    *x -= y;
                }
                // A - A H^-1 A with H = A + k 1 is k H^-1 A: nothing cancels, and without friction it is zero.
                rest.rotational = Sym3::default();
                rest.coupling = Mat3::zeros();
                if more != 0.0 {
                    rest.rotational = Sym3::upper(&(inverse.full() * a.rotational.full() * more));
                    rest.coupling = columns * more;
                }
            }
            ConstraintKind::Hinge => {
                let z = node.axes[0];
                let u = Wrench { moment: a.rotational.times(&z), force: a.coupling.tr_mul(&z) };
                let inverse = 1.0 / (z.dot(&u.moment) + more);
                rest = without(&rest, &u, inverse);
                node.u[0] = u;
                node.inverse.0[0] = inverse;
            }
            ConstraintKind::Slider => {
                let z = node.axes[0];
                let u = Wrench { moment: a.coupling * z, force: a.linear.times(&z) };
                let inverse = 1.0 / (z.dot(&u.force) + more);
                rest = without(&rest, &u, inverse);
                node.u[0] = u;
                node.inverse.0[0] = inverse;
            }
            ConstraintKind::Universal => {
                // One axis after the other: the second is eliminated from what the first leaves.
                for k in 0..2 {
                    let z = node.axes[1 - k];
                    let u = Wrench { moment: rest.rotational.times(&z), force: rest.coupling.tr_mul(&z) };
                    let inverse = 1.0 / (z.dot(&u.moment) + more);
                    rest = without(&rest, &u, inverse);
                    node.u[1 - k] = u;
                    node.inverse.0[1 - k] = inverse;
                }
            }
        }
        let (parent, arm) = (node.parent, node.arm);
        if parent != NO_PARENT {
            self.nodes[parent].inertia.add_shifted(&rest, &arm);
        }
    }

    /// Passes the right-hand side of link `i` to its parent; `bias` is the given part of its relative motion,
    /// `drive` what a spring adds along its free motions.
    #[inline]
    fn lift(&mut self, i: usize, bias: &Twist, drive: &Vec3) {
        let node = &mut self.nodes[i];
        let Some(kind) = node.kind else { return };
        let mut b = node.b;
        // b' = b - U H^-1 g - (A - U H^-1 U^T) bias = (b - A bias) - U H^-1 (g - U^T bias)
        let a_bias = node.inertia.times(bias);
        b.add_scaled(&a_bias, -1.0);
        match kind {
            ConstraintKind::Fixed => {}
            ConstraintKind::Ball => {
                node.g = node.b.moment + drive;
                let x = node.inverse.times(&(b.moment + drive));
                b.force -= node.inertia.coupling.tr_mul(&x);
                b.moment = x * node.resistance.stiffness - drive;
            }
            ConstraintKind::Hinge => {
                node.g.x = node.axes[0].dot(&node.b.moment) + drive.x;
                let x = (node.axes[0].dot(&b.moment) + drive.x) * node.inverse.0[0];
                b.add_scaled(&node.u[0], -x);
            }
            ConstraintKind::Slider => {
                node.g.x = node.axes[0].dot(&node.b.force) + drive.x;
                let x = (node.axes[0].dot(&b.force) + drive.x) * node.inverse.0[0];
                b.add_scaled(&node.u[0], -x);
            }
            ConstraintKind::Universal => {
                for k in [1, 0] {
                    let g = node.axes[k].dot(&b.moment);
                    node.g[k] = g;
                    b.add_scaled(&node.u[k], -g * node.inverse.0[k]);
                }
            }
        }
        let (parent, arm) = (node.parent, node.arm);
        if parent != NO_PARENT {
            let shifted = b.about(&arm);
            self.nodes[parent].b.add_scaled(&shifted, 1.0);
        }
    }

    /// The motion of link `i` from that of its parent.
    #[inline]
    fn drop(&mut self, i: usize, bias: &Twist) {
        let parent = self.nodes[i].parent;
        let above = if parent == NO_PARENT {
            Twist::zero()
        } else {
            self.nodes[parent].motion.at(&self.nodes[i].arm)
        };
        let node = &mut self.nodes[i];
        let Some(kind) = node.kind else {
            node.motion = node.inertia.solve(&node.b);
            return;
        };
        let mut motion = above.plus(bias);
        match kind {
            ConstraintKind::Fixed => {}
            ConstraintKind::Ball => {
                let transmitted =
                    node.inertia.rotational.times(&motion.angular) + node.inertia.coupling * motion.linear;
                motion.angular += node.inverse.times(&(node.g - transmitted));
            }
            ConstraintKind::Hinge => {
                let rate = (node.g.x - motion.dot(&node.u[0])) * node.inverse.0[0];
                motion.angular += node.axes[0] * rate;
            }
            ConstraintKind::Slider => {
                let rate = (node.g.x - motion.dot(&node.u[0])) * node.inverse.0[0];
                motion.linear += node.axes[0] * rate;
            }
            ConstraintKind::Universal => {
                // `u` and `g` of the first axis stand after the second was eliminated, with the bias taken off.
                let mut free = above;
                let first = (node.g.x - free.dot(&node.u[0])) * node.inverse.0[0];
                free.angular += node.axes[0] * first;
                let second = (node.g.y - free.dot(&node.u[1])) * node.inverse.0[1];
                motion.angular += node.axes[0] * first + node.axes[1] * second;
            }
        }
        node.motion = motion;
    }

    /// The part of the relative acceleration that velocities alone give.
    #[inline]
    fn velocity_products(&self, articulation: &Articulation, states: &[BodyState], i: usize) -> Twist {
        let node = &self.nodes[i];
        let link = &articulation.links()[i];
        let Some(kind) = node.kind else { return Twist::zero() };
        let wc = node.spin;
        let mut bias = Twist::zero();
        let wp = if node.parent == NO_PARENT {
            Vec3::zeros()
        } else {
            let wp = self.nodes[node.parent].spin;
            bias.linear = wp.cross(&wp.cross(&node.arm));
            wp
        };
        let relative = wc - wp;
        match kind {
            ConstraintKind::Ball | ConstraintKind::Fixed => {}
            ConstraintKind::Hinge => {
                let z = &node.axes[0];
                bias.angular = wc.cross(&(z * z.dot(&relative)));
            }
            ConstraintKind::Universal => {
                let [x, y] = &node.axes;
                bias.angular = wp.cross(&(x * x.dot(&relative))) + wc.cross(&(y * y.dot(&relative)));
            }
            ConstraintKind::Slider => {
                let z = &node.axes[0];
                let c = link.constraint.map(|k| &articulation.constraints()[k]);
                let rate = c.map_or(0.0, |c| sliding(c, states, node));
                bias.linear += wp.cross(z) * (2.0 * rate);
            }
        }
        bias
    }

    /// The twists, at their reference points, with which the links answer the wrenches `b` (by link).
    ///
    /// `bias` is the given part of the relative motions (by link), or empty. The resistances' drives take part.
    pub(super) fn respond(&mut self, b: &[Wrench], bias: &[Twist]) {
        let zero = Twist::zero();
        for (node, b) in self.nodes.iter_mut().zip(b) {
            node.b = *b;
        }
        for i in (0..self.nodes.len()).rev() {
            let drive = self.nodes[i].resistance.drive;
            self.lift(i, bias.get(i).unwrap_or(&zero), &drive);
        }
        for i in 0..self.nodes.len() {
            self.drop(i, bias.get(i).unwrap_or(&zero));
        }
    }

    /// The twists with which the links of the trees `touched` (ranges of links) answer impulses on a few links.
    pub(super) fn respond_to(&mut self, touched: &[Range<usize>], impulses: &[(usize, Wrench)]) {
        let (still, no_drive) = (Twist::zero(), Vec3::zeros());
        for range in touched {
            for node in &mut self.nodes[range.clone()] {
                node.b = Wrench::zero();
                node.g = Vec3::zeros();
                node.on_path = false;
            }
        }
        for (i, wrench) in impulses {
            self.nodes[*i].b.add_scaled(wrench, 1.0);
            let mut up = *i;
            while up != NO_PARENT && !self.nodes[up].on_path {
                self.nodes[up].on_path = true;
                up = self.nodes[up].parent;
            }
        }
        for range in touched {
            for i in range.clone().rev() {
                if self.nodes[i].on_path {
                    self.lift(i, &still, &no_drive);
                }
            }
            for i in range.clone() {
                self.drop(i, &still);
            }
        }
    }

    /// The twist of link `i` after [`Solver::respond`], at its reference point.
    pub(super) fn motion(&self, i: usize) -> &Twist {
        &self.nodes[i].motion
    }

    /// World: from the reference point of link `i` to its body's centre of mass.
    pub(super) fn to_center(&self, i: usize) -> &Vec3 {
        &self.nodes[i].to_center
    }

    /// The linear and angular (world) velocity of the centre of mass of link `i` after [`Solver::respond`].
    pub(super) fn center_motion(&self, i: usize) -> Twist {
        self.nodes[i].motion.at(&self.nodes[i].to_center)
    }

    /// The relative displacement by which each link would close its constraint to its parent, at its reference
    /// point: the bias of a position projection.
    pub(super) fn closing(&self, articulation: &Articulation, states: &[BodyState]) -> Vec<Twist> {
        let links = articulation.links();
        links
            .iter()
            .map(|link| {
                let Some(k) = link.constraint else { return Twist::zero() };
                closing_twist(&articulation.constraints()[k], states, link.child_is_a)
            })
            .collect()
    }
}

fn without(a: &SpatialInertia, u: &Wrench, inverse: f64) -> SpatialInertia {
    let mut rest = *a;
    let (m, f) = (u.moment * inverse, u.force * inverse);
    rest.rotational.subtract_outer(&m, &u.moment);
    rest.linear.subtract_outer(&f, &u.force);
    for row in 0..3 {
        for column in 0..3 {
            rest.coupling[(row, column)] -= u.moment[row] * f[column];
        }
    }
    rest
}

/// The sliding rate of the child along its own axis.
fn sliding(c: &Constraint, states: &[BodyState], node: &Node) -> f64 {
    let (a, b) = (of(states, c.a), of(states, c.b));
    let child_is_a = c.a == Some(node.body);
    let (child, parent) = if child_is_a { (&a, &b) } else { (&b, &a) };
    let point = child.position - node.to_center;
    let of_child = child.velocity + child.world_angular_velocity().cross(&(point - child.position));
    let of_parent = parent.velocity + parent.world_angular_velocity().cross(&(point - parent.position));
    node.axes[0].dot(&(of_child - of_parent))
}

/// The motion of the child, relative to its parent, that closes the constraint to first order.
pub(super) fn closing_twist(c: &Constraint, states: &[BodyState], child_is_a: bool) -> Twist {
    let (a, b) = (of(states, c.a), of(states, c.b));
    let sign = if child_is_a { -1.0 } else { 1.0 };
    let mut linear = (a.point(&c.anchor_a) - b.point(&c.anchor_b)) * sign;
    let angular = match c.kind {
        ConstraintKind::Ball => Vec3::zeros(),
        // The rotation of b that carries its axis to that of a.
        ConstraintKind::Hinge => (b.orientation * c.axis_b).cross(&(a.orientation * c.axis_a)) * sign,
        ConstraintKind::Universal => {
            let (xa, xb) = (a.orientation * c.axis_a, b.orientation * c.axis_b);
            let k = xa.cross(&xb);
            k * (xa.dot(&xb) / k.norm_squared() * sign)
        }
        ConstraintKind::Slider | ConstraintKind::Fixed => {
            log(&(a.orientation * c.a_from_b * b.orientation.inverse())) * sign
        }
    };
    if c.kind == ConstraintKind::Slider {
        let axis = a.orientation * c.axis_a;
        linear -= axis * axis.dot(&linear);
    }
    Twist { angular, linear }
}
