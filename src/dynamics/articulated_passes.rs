//! The two passes over a factorised tree, for one link: the right-hand side inward, the motion outward.
//!
//! See [`ArticulationSolver`] for method, space and units.

use super::articulated_solver::{ArticulationSolver, NO_PARENT};
use super::articulation::Articulation;
use super::constraint::{Constraint, ConstraintKind, of, slide_rate};
use super::rigid_body::BodyState;
use super::spatial::Twist;
use crate::math::Vec3;

impl ArticulationSolver {
    /// Inward pass: adds the right-hand side of link `i` to its parent; `drive` is the driving impulse along its free
    /// motions.
    #[inline(always)]
    pub(super) fn pass_to_root(&mut self, i: usize, drive: &Vec3) {
        let node = &mut self.nodes[i];
        let Some(kind) = node.kind else { return };
        let mut b = node.b;
        // b' = b - U H^-1 g - (A - U H^-1 U^T) bias = (b - A bias) - U H^-1 (g - U^T bias)
        if kind != ConstraintKind::Ball {
            let a_bias = node.inertia.times(&node.bias);
            b.add_scaled(&a_bias, -1.0);
        }
        match kind {
            ConstraintKind::Fixed => {}
            ConstraintKind::Ball => {
                // The bias of a ball is linear, since its rotation is free; its moment is absorbed except for resistances.
                let g = b.moment + drive;
                node.g = node.inverse.apply(&g);
                b.force -= node.through.tr_mul(&g) + node.passed.apply(&node.bias.linear);
                b.moment = -drive;
                let gain = node.resistance.gain;
                if gain != 0.0 {
                    b.moment += (node.g - node.through * node.bias.linear) * gain;
                }
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

    /// Outward pass: the motion of link `i` from that of its parent.
    #[inline(always)]
    pub(super) fn pass_to_leaves(&mut self, i: usize) {
        let parent = self.nodes[i].parent;
        let above = if parent == NO_PARENT {
            Twist::default()
        } else {
            self.nodes[parent].motion.at(&self.nodes[i].arm)
        };
        let node = &mut self.nodes[i];
        let Some(kind) = node.kind else {
            node.motion = node.inertia.solve(&node.b);
            return;
        };
        let mut motion = above.plus(&node.bias);
        match kind {
            ConstraintKind::Fixed => {}
            ConstraintKind::Ball => {
                // H^-1 (g - A w - C v) + w, where H = A + k 1.
                let gain = node.resistance.gain;
                let kept =
                    if gain == 0.0 { Vec3::zeros() } else { node.inverse.apply(&motion.angular) * gain };
                motion.angular = node.g - node.through * motion.linear + kept;
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
                // `u` and `g` of the first axis are those after the elimination of the second, with the bias subtracted.
                let mut free = above;
                let first = (node.g.x - free.dot(&node.u[0])) * node.inverse.0[0];
                free.angular += node.axes[0] * first;
                let second = (node.g.y - free.dot(&node.u[1])) * node.inverse.0[1];
                motion.angular += node.axes[0] * first + node.axes[1] * second;
            }
        }
        node.motion = motion;
    }

    /// Sets the bias of link `i` to the velocity-dependent part of its relative acceleration.
    #[inline(always)]
    pub(super) fn velocity_products(&mut self, articulation: &Articulation, states: &[BodyState], i: usize) {
        let parent = self.nodes[i].parent;
        let wp = if parent == NO_PARENT { Vec3::zeros() } else { self.nodes[parent].spin };
        let link = &articulation.links()[i];
        let node = &mut self.nodes[i];
        let Some(kind) = node.kind else { return };
        let wc = node.spin;
        let relative = wc - wp;
        let bias = &mut node.bias;
        bias.angular = Vec3::zeros();
        bias.linear = wp.cross(&wp.cross(&node.arm));
        match kind {
            ConstraintKind::Ball | ConstraintKind::Fixed => {}
            ConstraintKind::Hinge => {
                let z = &node.axes[0];
                bias.angular = (wc + wp).cross(&(z * (0.5 * z.dot(&relative))));
            }
            ConstraintKind::Universal => {
                let [x, y] = &node.axes;
                bias.angular = wp.cross(&(x * x.dot(&relative))) + wc.cross(&(y * y.dot(&relative)));
            }
            ConstraintKind::Slider => {
                if let Some(k) = link.constraint {
                    let c = &articulation.constraints()[k];
                    bias.linear += sliding(c, states, &node.axes[0], link.child_is_a);
                }
            }
        }
    }
}

/// The contribution of sliding to the relative acceleration of the child at its anchor: `2 w_a x z rate`, where `b` slides
/// along the axis `z` of `a`, measured at the anchor of `b`.
fn sliding(c: &Constraint, states: &[BodyState], z: &Vec3, child_is_a: bool) -> Vec3 {
    let (a, b) = (of(states, c.a), of(states, c.b));
    let (wa, wb) = (a.world_angular_velocity(), b.world_angular_velocity());
    let of_b = wa.cross(z) * (2.0 * z.dot(&slide_rate(c, &a, &b)));
    if !child_is_a {
        return of_b;
    }
    let r = b.point(&c.anchor_b) - a.point(&c.anchor_a);
    wb.cross(&wb.cross(&r)) - wa.cross(&wa.cross(&r)) - of_b
}
