//! The parts of a world's step: momenta, resistances, auxiliary rows, and the bounded problem of their impulses.
//!
//! See [`World`] for sources, space and units.

use super::articulated_solver::Resistance;
use super::articulation::ArticulatedLink;
use super::constraint::{ConstraintKind, of};
use super::constraint_projection::momentum;
use super::impulse_rows::{
    ImpulseRow, contact_rows, limit_rows, loop_friction_row, loop_spring_row, motor_row, pull_row,
    support_rows,
};
use super::lcp::BoxedProblem;
use super::rigid_body::Body;
use super::spatial::Wrench;
use super::world::World;
use crate::math::{Mat3, Vec3, hat, log};
use std::ops::Range;

impl World {
    /// Momenta after the forces of the step have acted, as wrenches about the links' reference points.
    pub(super) fn momenta(&self, h: f64) -> Vec<Wrench> {
        let forces = self.articulation.forces(&self.states, false);
        let of_link = |(k, link): (usize, &ArticulatedLink)| {
            let body = &self.articulation.bodies()[link.body];
            let mut state = self.states[link.body];
            state.angular_velocity = implicit_gyroscopic(body, &state.angular_velocity, h);
            let to_centre = self.solver.to_centre(k);
            let mut wrench = momentum(&self.articulation, &state, link.body, to_centre);
            let force = &forces[link.body];
            let applied =
                Wrench { moment: state.orientation * force.torque, force: force.force }.about(to_centre);
            wrench.add_scaled(&applied, h);
            wrench
        };
        self.articulation.links().iter().enumerate().map(of_link).collect()
    }

    /// Friction, springs and drives of every constraint as implicit resistances of one step.
    pub(super) fn resistances(&self, h: f64) -> Vec<Resistance> {
        let constraints = self.articulation.constraints();
        let mut all: Vec<Resistance> =
            constraints.iter().map(|c| Resistance { gain: h * c.friction, drive: Vec3::zeros() }).collect();
        // The link of a constraint is the child: the one that the constraint attaches to its parent.
        let links = self.articulation.links();
        let child_is_a = |k: usize| {
            constraints[k].a.is_some_and(|i| links[self.articulation.link_of(i)].constraint == Some(k))
        };
        for drive in &self.drives {
            let k = drive.constraint;
            drive.resist(&self.states, &constraints[k], child_is_a(k), h, &mut all[k]);
        }
        for spring in &self.springs {
            let c = &constraints[spring.constraint];
            let sign = if child_is_a(spring.constraint) { -1.0 } else { 1.0 };
            let gain = h * (spring.damping + h * spring.stiffness);
            let r = &mut all[spring.constraint];
            r.gain += gain;
            if c.kind == ConstraintKind::Ball {
                let (a, b) = (of(&self.states, c.a), of(&self.states, c.b));
                let back = log(&(a.orientation * c.a_from_b * b.orientation.inverse()));
                r.drive += back * (h * spring.stiffness * sign);
            } else {
                let error = c.coordinate(&self.states) - spring.target;
                r.drive.x += (gain * spring.rate - h * spring.stiffness * error) * sign;
            }
        }
        all
    }

    pub(super) fn rows(&self, h: f64) -> Vec<ImpulseRow> {
        let mut rows: Vec<ImpulseRow> = self.pulls.iter().map(|pull| pull_row(self, pull, h)).collect();
        for motor in &self.motors {
            rows.extend(motor_row(self, motor, h));
        }
        for &k in self.articulation.closures() {
            rows.extend(loop_friction_row(self, k, h));
            let springs = self.springs.iter().filter(|s| s.constraint == k);
            rows.extend(springs.filter_map(|spring| loop_spring_row(self, spring, h)));
        }
        for limit in &self.limits {
            rows.extend(limit_rows(self, limit, h));
        }
        for contact in self.contacts().iter().filter(|contact| !self.sleeps(contact)) {
            contact_rows(self, contact, h, &mut rows);
        }
        for support in &self.supports {
            support_rows(self, support, h, &mut rows);
        }
        rows
    }

    /// A wrench acting at a world point of a body, about the reference point of its link.
    pub(super) fn at_link(&self, body: usize, point: &Vec3, moment: Vec3, force: Vec3) -> (usize, Wrench) {
        let link = self.articulation.link_of(body);
        let reference = self.states[body].position - self.solver.to_centre(link);
        (link, Wrench { moment, force }.about(&(point - reference)))
    }

    /// The velocity along a row after the last call of [`ArticulationSolver::respond`](super::ArticulationSolver).
    pub(super) fn rate(&self, row: &ImpulseRow) -> f64 {
        self.rate_of(&row.ends)
    }

    /// The same along a row with these ends.
    pub(super) fn rate_of(&self, ends: &[(usize, Wrench)]) -> f64 {
        ends.iter().map(|(link, wrench)| self.solver.motion(*link).dot(wrench)).sum()
    }

    pub(super) fn problem(&mut self, rows: &[ImpulseRow], free: &[f64]) -> BoxedProblem {
        let mut of_tree: Vec<Vec<usize>> = vec![Vec::new(); self.trees.len()];
        let mut problem = BoxedProblem {
            rows: vec![Vec::new(); rows.len()],
            b: rows.iter().zip(free).map(|(r, v)| v - r.target).collect(),
            bounds: rows.iter().map(|r| r.bound).collect(),
        };
        let mut touched: Vec<Range<usize>> = Vec::new();
        let mut trees: Vec<usize> = Vec::new();
        let mut others: Vec<usize> = Vec::new();
        for (i, row) in rows.iter().enumerate() {
            trees.clear();
            for (link, _) in &row.ends {
                let tree = self.tree_of[*link];
                if !trees.contains(&tree) {
                    trees.push(tree);
                    of_tree[tree].push(i);
                }
            }
            touched.clear();
            touched.extend(trees.iter().map(|&t| self.trees[t].clone()));
            self.solver.respond_to(&touched, &row.ends);
            others.clear();
            for &t in &trees {
                others.extend(&of_tree[t]);
            }
            others.sort_unstable();
            others.dedup();
            for &j in &others {
                let mut value = 0.0;
                for (link, wrench) in &rows[j].ends {
                    if trees.contains(&self.tree_of[*link]) {
                        value += self.solver.motion(*link).dot(wrench);
                    }
                }
                if i == j {
                    problem.rows[i].push((i, value + row.compliance));
                } else if value != 0.0 {
                    problem.rows[i].push((j, value));
                    problem.rows[j].push((i, value));
                }
            }
        }
        problem
    }
}

/// One Newton step of the implicit gyroscopic equation `I (w' - w) + h w' x I w' = 0`; the energy never grows.
fn implicit_gyroscopic(body: &Body, w: &Vec3, h: f64) -> Vec3 {
    let inertia = &body.inertia;
    let spin = inertia * w;
    let slope: Mat3<f64> = inertia + (hat(w) * inertia - hat(&spin)) * h;
    let Some(inverse) = slope.try_inverse() else { return *w };
    let next = w - inverse * w.cross(&spin) * h;
    let (before, after) = (w.dot(&spin), next.dot(&(inertia * next)));
    if after > before { next * (before / after).sqrt() } else { next }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_implicit_gyroscopic_step_is_first_order_and_gains_nothing() {
        let inertia = Mat3::from_diagonal(&Vec3::new(1.0, 2.0, 2.7));
        let body = Body::new("top", 1.0, inertia).unwrap();
        let w = Vec3::new(3.0, -2.0, 5.0);
        let rate = -body.inverse_inertia * w.cross(&(inertia * w));
        for h in [1e-4, 1e-5] {
            let next = implicit_gyroscopic(&body, &w, h);
            assert!(((next - w) / h - rate).norm() < 2e3 * h);
        }
        let violent = implicit_gyroscopic(&body, &(w * 100.0), 0.1);
        assert!(violent.dot(&(inertia * violent)) <= 1e4 * w.dot(&(inertia * w)) * (1.0 + 1e-12));
    }
}
