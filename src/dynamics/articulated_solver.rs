//! Articulated-body algorithm in world axes: the O(n) kernel of the dynamics.
//!
//! Source: R. Featherstone, "Rigid Body Dynamics Algorithms", 2008, chapter 7, in the form that eliminates a constraint by
//! the subspace `S` of its free motions: `A - U H^-1 U^T`, `U = A S`, `H = S^T U`. Every body is described in world axes
//! about the point where it is attached to its parent (a floating root: its centre of mass), so that the transfer to the
//! parent is a translation without rotation, and numbers stay small far from the origin. `A` is stored symmetric.
//! Accelerations are those of material points, so that no spatial velocity product occurs. Where a constraint is slightly
//! violated, as between the stages of a step, its two sides are treated alike: the result does not depend on which body is
//! the child.
//!
//! The same factorisation is used for accelerations, velocity steps, projections and the response to contact impulses,
//! which differ only in the right-hand side. Units: SI.

use super::articulation::Articulation;
use super::constraint::{ConstraintKind, closing_twist};
use super::loop_closures::LoopClosures;
use super::rigid_body::{BodyAcceleration, BodyForce, BodyState};
use super::spatial::{SpatialInertia, Twist, Wrench};
use crate::math::{Mat3, Symmetric3, Vec3, in_wide_registers};
use std::ops::Range;

/// An implicit resistance to the free motion of one constraint in a velocity step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Resistance {
    /// Added to `H`: impulse per rate.
    pub(super) gain: f64,
    /// Added to `S^T b`: impulse along the free motions of the child; a hinge or slider uses `x` only.
    pub(super) drive: Vec3,
}

/// Working data of one link for the passes over the tree.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LinkWorkspace {
    pub(super) kind: Option<ConstraintKind>,
    pub(super) parent: usize,
    pub(super) body: usize,
    /// Object to world.
    pub(super) rotation: Mat3<f64>,
    /// World: from the parent's reference point to the attachment of this link, by the anchor on the parent.
    pub(super) arm: Vec3,
    /// World: from this reference point to the centre of mass.
    pub(super) to_centre: Vec3,
    /// The free motions: angular axes (slider: the linear axis in the first place).
    pub(super) axes: [Vec3; 2],
    pub(super) inertia: SpatialInertia,
    /// `A S`: moments and forces, of all kinds but a ball.
    pub(super) u: [Wrench; 2],
    /// `H^-1`.
    pub(super) inverse: Symmetric3,
    /// Ball only: `H^-1 C` for the coupling `C`, and the linear block for the parent, `L - C^T H^-1 C`.
    pub(super) through: Mat3<f64>,
    pub(super) passed: Symmetric3,
    /// The implicit resistance of the constraint.
    pub(super) resistance: Resistance,
    pub(super) b: Wrench,
    /// `S^T b`; for a ball `H^-1 S^T b`.
    pub(super) g: Vec3,
    pub(super) motion: Twist,
    /// World angular velocity.
    pub(super) spin: Vec3,
    /// The prescribed part of the motion relative to the parent.
    pub(super) bias: Twist,
    /// Whether the link is on the path from an impulse to the root.
    pub(super) on_path: bool,
}

/// The parent index of a link without parent link: a root or a link attached to the world.
pub(super) const NO_PARENT: usize = usize::MAX;

/// The factorised tree in one pose, and the workspace of the passes; reused for every step.
#[derive(Clone, Debug)]
pub struct ArticulationSolver {
    pub(super) nodes: Vec<LinkWorkspace>,
    /// The constraints that close loops.
    pub(super) loops: LoopClosures,
}

impl ArticulationSolver {
    /// Allocates the workspace for an articulation.
    pub fn new(articulation: &Articulation) -> Self {
        let node = |link: &super::articulation::ArticulatedLink| LinkWorkspace {
            kind: link.constraint.map(|k| articulation.constraints()[k].kind),
            parent: link.parent.unwrap_or(NO_PARENT),
            body: link.body,
            rotation: Mat3::identity(),
            ..LinkWorkspace::default()
        };
        Self { nodes: articulation.links().iter().map(node).collect(), loops: LoopClosures::default() }
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
        out.resize(states.len(), BodyAcceleration { linear: Vec3::zeros(), angular: Vec3::zeros() });
        in_wide_registers(
            #[inline(always)]
            || {
                for i in 0..self.nodes.len() {
                    self.form_link(articulation, states, &[], i);
                    self.set_right_hand_side(articulation, states, forces, i);
                }
                for i in (0..self.nodes.len()).rev() {
                    self.eliminate(i);
                    self.pass_to_root(i, &Vec3::zeros());
                }
                for i in 0..self.nodes.len() {
                    self.pass_to_leaves(i);
                    out[self.nodes[i].body] = self.acceleration(i);
                }
            },
        );
        if !articulation.closures().is_empty() {
            self.accelerate_loops(articulation, states, out);
        }
    }

    /// Sets the right-hand side of link `i`, whose inertia is formed, and its velocity products.
    #[inline(always)]
    fn set_right_hand_side(
        &mut self,
        articulation: &Articulation,
        states: &[BodyState],
        forces: &[BodyForce],
        i: usize,
    ) {
        let node = &mut self.nodes[i];
        let (state, body) = (&states[node.body], &articulation.bodies()[node.body]);
        let (force, w, d) = (&forces[node.body], state.angular_velocity, node.to_centre);
        let world = node.rotation * w;
        let gyro = w.cross(&(body.inertia * w));
        let moment = node.rotation * (force.torque - gyro);
        let central = force.force - world.cross(&world.cross(&d)) * body.mass;
        node.b = Wrench { moment: moment + d.cross(&central), force: central };
        node.spin = world;
        self.velocity_products(articulation, states, i);
    }

    /// The acceleration of the body of link `i`, whose motion is known.
    #[inline(always)]
    fn acceleration(&self, i: usize) -> BodyAcceleration {
        let node = &self.nodes[i];
        let (w, angular, d) = (node.spin, node.motion.angular, node.to_centre);
        BodyAcceleration {
            linear: node.motion.linear + angular.cross(&d) + w.cross(&w.cross(&d)),
            angular: node.rotation.tr_mul(&angular),
        }
    }

    /// The forces and torques of every constraint after [`ArticulationSolver::accelerations`], in Hakenberg's variables (see `note_system`): `c` on
    /// body `a` at the anchor, and `d` with torque `z x d`, perpendicular to the axis; world axes.
    ///
    /// For kinds other than hinge and ball `d` is the torque itself. For articulations without loops.
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

    /// Computes the twists of all links, at their reference points, under the wrenches `b` (by link).
    ///
    /// `bias` is the prescribed part of the relative motions (by link), or empty. The driving impulses of the resistances
    /// are included.
    pub(super) fn respond(&mut self, b: &[Wrench], bias: &[Twist]) {
        self.respond_closing(b, bias, &[]);
    }

    /// [`ArticulationSolver::respond`]; the motion also closes `errors`, the violation of every row of the loops.
    pub(super) fn respond_closing(&mut self, b: &[Wrench], bias: &[Twist], errors: &[f64]) {
        self.respond_of_trees(b, bias);
        if self.loops.is_empty() {
            return;
        }
        let mut with_loops = b.to_vec();
        for (link, wrench) in self.loop_impulses(errors, None) {
            with_loops[link].add_scaled(&wrench, 1.0);
        }
        self.respond_of_trees(&with_loops, bias);
    }

    /// [`ArticulationSolver::respond`] without the constraints that close loops.
    fn respond_of_trees(&mut self, b: &[Wrench], bias: &[Twist]) {
        for (i, (node, b)) in self.nodes.iter_mut().zip(b).enumerate() {
            node.b = *b;
            node.bias = bias.get(i).copied().unwrap_or(Twist::default());
        }
        in_wide_registers(
            #[inline(always)]
            || {
                for i in (0..self.nodes.len()).rev() {
                    let drive = self.nodes[i].resistance.drive;
                    self.pass_to_root(i, &drive);
                }
                for i in 0..self.nodes.len() {
                    self.pass_to_leaves(i);
                }
            },
        );
    }

    /// Computes the twists of the links in the ranges `touched` under impulses on a few of them; all that are above a link are in these
    /// ranges, in the order of the links within a tree.
    pub(super) fn respond_to(&mut self, touched: &[Range<usize>], impulses: &[(usize, Wrench)]) {
        self.respond_to_tree(touched, impulses);
        if !self.loops.is_empty() {
            let mut all = impulses.to_vec();
            all.extend(self.loop_impulses(&[], Some(touched)));
            self.respond_to_tree(touched, &all);
        }
    }

    /// [`ArticulationSolver::respond_to`] without the constraints that close loops.
    pub(super) fn respond_to_tree(&mut self, touched: &[Range<usize>], impulses: &[(usize, Wrench)]) {
        for range in touched {
            for node in &mut self.nodes[range.clone()] {
                node.b = Wrench::default();
                node.g = Vec3::zeros();
                node.bias = Twist::default();
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
        for i in touched.iter().rev().flat_map(|range| range.clone().rev()) {
            if self.nodes[i].on_path {
                self.pass_to_root(i, &Vec3::zeros());
            }
        }
        for i in touched.iter().cloned().flatten() {
            self.pass_to_leaves(i);
        }
    }

    /// The twist of link `i` after [`ArticulationSolver::respond`], at its reference point.
    pub(super) fn motion(&self, i: usize) -> &Twist {
        &self.nodes[i].motion
    }

    /// World: from the reference point of link `i` to its body's centre of mass.
    pub(super) fn to_centre(&self, i: usize) -> &Vec3 {
        &self.nodes[i].to_centre
    }

    /// The linear and angular (world) velocity of the centre of mass of link `i` after [`ArticulationSolver::respond`].
    pub(super) fn centre_motion(&self, i: usize) -> Twist {
        self.nodes[i].motion.at(&self.nodes[i].to_centre)
    }

    /// For each link the displacement relative to its parent that closes their constraint, at its reference point: the
    /// bias of a position projection.
    pub(super) fn closing(&self, articulation: &Articulation, states: &[BodyState]) -> Vec<Twist> {
        let links = articulation.links();
        links
            .iter()
            .map(|link| {
                let Some(k) = link.constraint else { return Twist::default() };
                closing_twist(&articulation.constraints()[k], states, link.child_is_a)
            })
            .collect()
    }
}
