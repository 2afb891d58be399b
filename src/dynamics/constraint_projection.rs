//! Projects poses and velocities onto the constraints, orthogonally in the mass metric.
//!
//! Positions by Newton's method for all constraints at once, velocities in one solve; both with the O(n) kernel. Momenta
//! are unchanged, kinetic energy can only fall. Space and units as in [`BodyState`].

use super::articulated_solver::ArticulationSolver;
use super::articulation::Articulation;
use super::constraint::closing_twist;
use super::loop_closures::loop_errors;
use super::rigid_body::BodyState;
use super::spatial::{Twist, Wrench};
use crate::math::{Vec3, exp};

/// The most Newton iterations of one position projection: it converges quadratically from a step's drift.
const PROJECTION_ROUNDS: usize = 4;

/// The residual at which a projection stops, metres and radians: near the rounding of coordinates of some metres.
pub(super) const PROJECTION_TOLERANCE: f64 = 1e-14;

/// Projects the pose onto the constraints by Newton's method, each iteration orthogonal in the mass metric. Returns the
/// largest remaining violation (metres or radians).
pub fn project_positions(
    solver: &mut ArticulationSolver,
    articulation: &Articulation,
    states: &mut [BodyState],
) -> f64 {
    close_constraints(solver, articulation, states, PROJECTION_ROUNDS, PROJECTION_TOLERANCE)
}

/// `project_positions` with at most `rounds` iterations, down to `tolerance`.
pub(super) fn close_constraints(
    solver: &mut ArticulationSolver,
    articulation: &Articulation,
    states: &mut [BodyState],
    rounds: usize,
    tolerance: f64,
) -> f64 {
    let size = |closing: &[Twist], loops: &[f64]| {
        let of_trees = closing.iter().fold(0.0f64, |m, t| m.max(t.angular.amax()).max(t.linear.amax()));
        loops.iter().fold(of_trees, |m, e| m.max(e.abs()))
    };
    let nothing = vec![Wrench::default(); states.len()];
    let mut closing = solver.closing(articulation, states);
    let mut loops = loop_errors(articulation, states);
    let mut error = size(&closing, &loops);
    let mut before = states.to_vec();
    for _ in 0..rounds {
        if error < tolerance {
            break;
        }
        solver.factor(articulation, states, &[]);
        solver.respond_closing(&nothing, &closing, &loops);
        before.copy_from_slice(states);
        // Far from the constraints the full correction may overshoot: then it is halved, repeatedly.
        let mut part = 1.0;
        let now = loop {
            for (k, link) in articulation.links().iter().enumerate() {
                let mut state = before[link.body];
                displace(&mut state, &solver.centre_motion(k), part);
                states[link.body] = state;
            }
            closing = solver.closing(articulation, states);
            loops = loop_errors(articulation, states);
            let now = size(&closing, &loops);
            if now < error || part < 0.1 || error < 1e-9 {
                break now;
            }
            part *= 0.5;
        };
        // An iteration that does not reduce the error has reached rounding.
        if now >= error {
            states.copy_from_slice(&before);
            break;
        }
        error = now;
    }
    if error > HANG_ABOVE {
        hang_on_parents(articulation, states, tolerance);
        error = size(&solver.closing(articulation, states), &loop_errors(articulation, states));
    }
    error
}

/// A violation (metres, radians) that Newton's method leaves only where a body rotated by radians in one step.
const HANG_ABOVE: f64 = 1e-6;

/// Moves every body onto its parent, parents first, regardless of the masses: the fallback, which always converges.
fn hang_on_parents(articulation: &Articulation, states: &mut [BodyState], tolerance: f64) {
    for link in articulation.links() {
        let Some(k) = link.constraint else { continue };
        let c = &articulation.constraints()[k];
        let anchor = if link.child_is_a { c.anchor_a } else { c.anchor_b };
        // The corrections of axes are of first order: they converge when repeated.
        for _ in 0..PROJECTION_ROUNDS * 5 {
            let by = closing_twist(c, states, link.child_is_a);
            if by.linear.amax().max(by.angular.amax()) <= tolerance {
                break;
            }
            let state = &mut states[link.body];
            let point = state.point(&anchor) + by.linear;
            state.orientation = exp(&by.angular) * state.orientation;
            state.orientation.renormalize();
            state.position = point - state.orientation * anchor;
        }
    }
}

fn displace(state: &mut BodyState, by: &Twist, part: f64) {
    state.position += by.linear * part;
    state.orientation = exp(&(by.angular * part)) * state.orientation;
    state.orientation.renormalize();
}

/// Removes the velocities that violate the constraints, orthogonally in the mass metric: momenta are unchanged, kinetic
/// energy can only fall.
pub fn project_velocities(
    solver: &mut ArticulationSolver,
    articulation: &Articulation,
    states: &mut [BodyState],
) {
    solver.factor(articulation, states, &[]);
    let momenta: Vec<Wrench> = articulation
        .links()
        .iter()
        .enumerate()
        .map(|(k, link)| momentum(articulation, &states[link.body], link.body, solver.to_centre(k)))
        .collect();
    solver.respond(&momenta, &[]);
    for (k, link) in articulation.links().iter().enumerate() {
        let motion = solver.centre_motion(k);
        let state = &mut states[link.body];
        state.velocity = motion.linear;
        state.angular_velocity = state.orientation.inverse_transform_vector(&motion.angular);
    }
}

/// The momentum of a body as a wrench about the reference point; `to_centre` is the offset from it to the centre of mass.
pub(super) fn momentum(
    articulation: &Articulation,
    state: &BodyState,
    body: usize,
    to_centre: &Vec3,
) -> Wrench {
    let b = &articulation.bodies()[body];
    let linear = state.velocity * b.mass;
    let angular = state.orientation * (b.inertia * state.angular_velocity);
    Wrench { moment: angular, force: linear }.about(to_centre)
}
