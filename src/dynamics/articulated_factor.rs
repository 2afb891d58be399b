//! Factorisation of the articulated-body algorithm: the part of the inward pass that depends only on the pose.
//!
//! See [`ArticulationSolver`] for method, space and units.

use super::articulated_solver::{ArticulationSolver, NO_PARENT, Resistance};
use super::articulation::Articulation;
use super::constraint::{ConstraintKind, matrix};
use super::rigid_body::BodyState;
use super::spatial::{SpatialInertia, Wrench};
use crate::math::{Mat3, Symmetric3, Vec3, in_wide_registers};

impl ArticulationSolver {
    /// Forms and eliminates the inertias in the pose of `states`. `resistances` is by constraint, or empty.
    pub(super) fn factor(
        &mut self,
        articulation: &Articulation,
        states: &[BodyState],
        resistances: &[Resistance],
    ) {
        in_wide_registers(
            #[inline(always)]
            || {
                for i in 0..self.nodes.len() {
                    self.form_link(articulation, states, resistances, i);
                }
                for i in (0..self.nodes.len()).rev() {
                    self.eliminate(i);
                }
            },
        );
        if !articulation.closures().is_empty() {
            self.factor_loops(articulation, states);
        }
    }

    /// Forms the axes and the inertia of link `i`. Parents come first.
    #[inline(always)]
    pub(super) fn form_link(
        &mut self,
        articulation: &Articulation,
        states: &[BodyState],
        resistances: &[Resistance],
        i: usize,
    ) {
        let link = &articulation.links()[i];
        let (state, body) = (&states[link.body], &articulation.bodies()[link.body]);
        let r = matrix(&state.orientation);
        let mut to_centre = Vec3::zeros();
        let mut arm = Vec3::zeros();
        let mut axes = [Vec3::zeros(); 2];
        if let Some(k) = link.constraint {
            let c = &articulation.constraints()[k];
            let own = (&c.anchor_a, &c.axis_a);
            let other = (&c.anchor_b, &c.axis_b);
            let ((anchor, axis), (parent_anchor, parent_axis)) =
                if link.child_is_a { (own, other) } else { (other, own) };
            to_centre = -(r * anchor);
            let above = link.parent.map(|p| &self.nodes[p]);
            if let Some(above) = above {
                arm = above.to_centre + above.rotation * parent_anchor;
            }
            let of_parent = |v: &Vec3| above.map_or(*v, |above| above.rotation * v);
            match c.kind {
                ConstraintKind::Hinge => axes[0] = (r * axis + of_parent(parent_axis)) * 0.5,
                ConstraintKind::Universal => axes = [of_parent(parent_axis), r * axis],
                ConstraintKind::Slider => {
                    axes[0] = if link.child_is_a { r * axis } else { of_parent(parent_axis) };
                    // The child slides relative to the parent's anchor.
                    if let Some(above) = above {
                        let reference = states[above.body].position - above.to_centre;
                        arm = (state.position - to_centre) - reference;
                    }
                }
                ConstraintKind::Ball | ConstraintKind::Fixed => {}
            }
            self.nodes[i].resistance = resistances.get(k).copied().unwrap_or_default();
        }
        let node = &mut self.nodes[i];
        (node.rotation, node.to_centre, node.axes, node.arm) = (r, to_centre, axes, arm);
        let rotated = Symmetric3::upper(&body.inertia).rotated(&r);
        node.inertia = SpatialInertia::rigid(body.mass, &rotated, &to_centre);
    }

    /// Eliminates the free motions of link `i` and adds the remaining inertia to its parent.
    #[inline(always)]
    pub(super) fn eliminate(&mut self, i: usize) {
        let node = &mut self.nodes[i];
        let Some(kind) = node.kind else { return };
        let (a, more) = (node.inertia, node.resistance.gain);
        let mut rest = a;
        match kind {
            ConstraintKind::Fixed => {}
            ConstraintKind::Ball => {
                let inverse = a.rotational.plus(&Symmetric3::diagonal(more)).inverse();
                node.inverse = inverse;
                let through = inverse.full() * a.coupling;
                let taken = a.coupling.tr_mul(&through);
                for (x, y) in rest.linear.0.iter_mut().zip(Symmetric3::upper(&taken).0) {
                    *x -= y;
                }
                (node.through, node.passed) = (through, rest.linear);
                // A - A H^-1 A with H = A + k 1 is k H^-1 A: no cancellation, and exactly zero without friction.
                rest.rotational = Symmetric3::default();
                rest.coupling = Mat3::zeros();
                if more != 0.0 {
                    rest.rotational = Symmetric3::upper(&(inverse.full() * a.rotational.full() * more));
                    rest.coupling = through * more;
                }
            }
            ConstraintKind::Hinge => {
                let z = node.axes[0];
                let u = Wrench { moment: a.rotational.apply(&z), force: a.coupling.tr_mul(&z) };
                let inverse = 1.0 / (z.dot(&u.moment) + more);
                rest.subtract_outer(&u, inverse);
                node.u[0] = u;
                node.inverse.0[0] = inverse;
            }
            ConstraintKind::Slider => {
                let z = node.axes[0];
                let u = Wrench { moment: a.coupling * z, force: a.linear.apply(&z) };
                let inverse = 1.0 / (z.dot(&u.force) + more);
                rest.subtract_outer(&u, inverse);
                node.u[0] = u;
                node.inverse.0[0] = inverse;
            }
            ConstraintKind::Universal => {
                // One axis after the other, each from what the previous elimination left.
                for k in 0..2 {
                    let z = node.axes[1 - k];
                    let u = Wrench { moment: rest.rotational.apply(&z), force: rest.coupling.tr_mul(&z) };
                    let inverse = 1.0 / (z.dot(&u.moment) + more);
                    rest.subtract_outer(&u, inverse);
                    node.u[1 - k] = u;
                    node.inverse.0[1 - k] = inverse;
                }
            }
        }
        let (parent, arm) = (node.parent, node.arm);
        if parent != NO_PARENT {
            let above = &mut self.nodes[parent].inertia;
            if kind == ConstraintKind::Ball && more == 0.0 {
                above.add_shifted_mass(&rest.linear, &arm);
            } else {
                above.add_shifted(&rest, &arm);
            }
        }
    }
}
