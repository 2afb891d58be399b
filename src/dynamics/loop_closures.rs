//! Constraints that close loops: the rows that the recursion over the tree cannot contain.
//!
//! The recursion treats the spanning tree of bodies and constraints; each remaining constraint adds its rows `J`. Their
//! impulses `x` solve `J M^-1 J^T x = -(J v + e)`, where `M^-1` is the response of the tree, `v` its motion without them and
//! `e` an error to be closed (Featherstone 2008, section 8.4). Rows of a loop may depend on each other (a planar four-bar
//! linkage of hinges has three such rows), so the matrix is inverted on its range. Space and units as in
//! [`ArticulationSolver`].

use super::articulated_solver::ArticulationSolver;
use super::articulation::Articulation;
use super::constraint::of;
use super::rigid_body::{BodyAcceleration, BodyState};
use super::spatial::Wrench;
use crate::math::{DMatrix, DVector, Vec3};
use std::ops::Range;

/// Eigenvalues below this fraction of the largest belong to rows that depend on others: those of independent rows differ
/// by the squared ratio of lengths and by mass ratios, rounding is near 1e-16.
const DEPENDENT: f64 = 1e-10;

/// One row of a constraint that closes a loop.
#[derive(Clone, Debug)]
struct ClosureRow {
    /// The links of the tree.
    tree: Range<usize>,
    /// The links that the row acts on, with the wrench of a unit impulse about their reference points.
    ends: Vec<(usize, Wrench)>,
    /// The same on bodies: force (world) at the centre of mass and torque (object axes).
    of_bodies: Vec<(usize, Vec3, Vec3)>,
    /// The velocity products.
    gamma: f64,
}

/// The rows of all constraints that close loops in one pose, and the inverse of their response.
#[derive(Clone, Debug, Default)]
pub(super) struct LoopClosures {
    rows: Vec<ClosureRow>,
    /// Impulses from velocities, on the range of the rows.
    inverse: DMatrix<f64>,
}

impl LoopClosures {
    /// Whether there is no loop.
    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

/// The violation of every row of the constraints that close loops, metres or radians.
pub(super) fn loop_errors(articulation: &Articulation, states: &[BodyState]) -> Vec<f64> {
    let constraints = articulation.constraints();
    let residual = |&k: &usize| constraints[k].block(states).residual.iter().copied().collect::<Vec<f64>>();
    articulation.closures().iter().flat_map(residual).collect()
}

impl ArticulationSolver {
    /// Forms the rows of the loops in the pose of `states`, which the tree is factorised for, and inverts their response.
    pub(super) fn factor_loops(&mut self, articulation: &Articulation, states: &[BodyState]) {
        let mut rows = Vec::new();
        for &k in articulation.closures() {
            let c = &articulation.constraints()[k];
            let block = c.block(states);
            let tree = articulation.tree(c.a.or(c.b).map_or(0, |body| articulation.link_of(body)));
            for row in 0..block.gamma.len() {
                let (mut ends, mut of_bodies) = (Vec::new(), Vec::new());
                for (body, jacobian) in [(c.a, &block.jacobian_a), (c.b, &block.jacobian_b)] {
                    let Some(body) = body else { continue };
                    let part = |from: usize| {
                        Vec3::new(jacobian[(row, from)], jacobian[(row, from + 1)], jacobian[(row, from + 2)])
                    };
                    let (force, torque) = (part(0), part(3));
                    let link = articulation.link_of(body);
                    let moment = of(states, Some(body)).orientation * torque;
                    ends.push((link, Wrench { moment, force }.about(self.to_centre(link))));
                    of_bodies.push((body, force, torque));
                }
                rows.push(ClosureRow { tree: tree.clone(), ends, of_bodies, gamma: block.gamma[row] });
            }
        }
        let mut response = DMatrix::zeros(rows.len(), rows.len());
        for (j, row) in rows.iter().enumerate() {
            self.respond_to_tree(std::slice::from_ref(&row.tree), &row.ends);
            for (i, other) in rows.iter().enumerate().filter(|(_, other)| other.tree == row.tree) {
                response[(i, j)] = self.rate_of(&other.ends);
            }
        }
        self.loops = LoopClosures { rows, inverse: inverse_on_range(response) };
    }

    /// The velocity along a row after a response.
    fn rate_of(&self, ends: &[(usize, Wrench)]) -> f64 {
        ends.iter().map(|(link, wrench)| self.motion(*link).dot(wrench)).sum()
    }

    /// The impulses of the rows of the loops that remove their velocities after a response, and the errors where given;
    /// as wrenches on links. Only trees that contain a link of `touched` (all if `None`) are considered.
    pub(super) fn loop_impulses(
        &self,
        errors: &[f64],
        touched: Option<&[Range<usize>]>,
    ) -> Vec<(usize, Wrench)> {
        let rows = &self.loops.rows;
        let concerned = |row: &ClosureRow| touched.is_none_or(|t| t.contains(&row.tree));
        let velocity = |(i, row): (usize, &ClosureRow)| {
            let error = errors.get(i).copied().unwrap_or(0.0);
            if concerned(row) { self.rate_of(&row.ends) + error } else { 0.0 }
        };
        let velocities = DVector::from_iterator(rows.len(), rows.iter().enumerate().map(velocity));
        let impulses = &self.loops.inverse * velocities;
        let mut wrenches = Vec::new();
        for (row, x) in rows.iter().zip(impulses.iter()).filter(|(row, _)| concerned(row)) {
            for (link, wrench) in &row.ends {
                let mut scaled = Wrench::default();
                scaled.add_scaled(wrench, -x);
                wrenches.push((*link, scaled));
            }
        }
        wrenches
    }

    /// Corrects the accelerations of a tree by the forces of its loops.
    pub(super) fn accelerate_loops(
        &mut self,
        articulation: &Articulation,
        states: &[BodyState],
        out: &mut [BodyAcceleration],
    ) {
        self.factor_loops(articulation, states);
        let rate = |row: &ClosureRow| {
            let part = |(body, force, torque): &(usize, Vec3, Vec3)| {
                force.dot(&out[*body].linear) + torque.dot(&out[*body].angular)
            };
            row.gamma + row.of_bodies.iter().map(part).sum::<f64>()
        };
        let rates = DVector::from_iterator(self.loops.rows.len(), self.loops.rows.iter().map(rate));
        let forces = &self.loops.inverse * rates;
        let (mut wrenches, mut trees) = (Vec::new(), Vec::new());
        for (row, x) in self.loops.rows.iter().zip(forces.iter()) {
            if !trees.contains(&row.tree) {
                trees.push(row.tree.clone());
            }
            for (link, wrench) in &row.ends {
                let mut scaled = Wrench::default();
                scaled.add_scaled(wrench, -x);
                wrenches.push((*link, scaled));
            }
        }
        self.respond_to_tree(&trees, &wrenches);
        for i in trees.into_iter().flatten() {
            let (body, by) = (articulation.links()[i].body, self.centre_motion(i));
            out[body].linear += by.linear;
            out[body].angular += states[body].orientation.inverse_transform_vector(&by.angular);
        }
    }
}

/// The pseudoinverse of a symmetric, positive semidefinite matrix.
fn inverse_on_range(matrix: DMatrix<f64>) -> DMatrix<f64> {
    let n = matrix.nrows();
    let eigen = ((&matrix + matrix.transpose()) * 0.5).symmetric_eigen();
    let cut = DEPENDENT * eigen.eigenvalues.amax();
    let mut inverse = DMatrix::zeros(n, n);
    for (value, vector) in eigen.eigenvalues.iter().zip(eigen.eigenvectors.column_iter()) {
        if *value > cut {
            inverse += vector * vector.transpose() / *value;
        }
    }
    inverse
}
