//! One link of the two sweeps over a factorised tree: a right-hand side goes up, a motion comes down.
//!
//! See [`Solver`] for the method, the space and the units.

use super::articulation::Articulation;
use super::body::BodyState;
use super::constraint::{Constraint, ConstraintKind, of};
use super::spatial::Twist;
use super::tree::{NO_PARENT, Node, Solver};
use crate::math::Vec3;

impl Solver {
    /// Passes the right-hand side of link `i` to its parent; `bias` is the given part of its relative motion,
    /// `drive` what a spring adds along its free motions.
    #[inline]
    pub(super) fn lift(&mut self, i: usize, bias: &Twist, drive: &Vec3) {
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
    pub(super) fn drop(&mut self, i: usize, bias: &Twist) {
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
    pub(super) fn velocity_products(
        &self,
        articulation: &Articulation,
        states: &[BodyState],
        i: usize,
    ) -> Twist {
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
