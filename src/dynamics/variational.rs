//! The variational step: Lie-group RATTLE, second order, time-reversible.
//!
//! Source: M. Leok, T. Lee, N. H. McClamroch, "Lie group variational integrators for the full body problem", 2007, with
//! the constraints at both ends. Space and units as in [`BodyState`].

use super::articulation::Articulation;
use super::constraint_projection::{PROJECTION_TOLERANCE, project_positions, project_velocities};
use super::integrate::Stepper;
use super::loop_closures::loop_errors;
use super::rigid_body::BodyState;
use super::spatial::Wrench;
use crate::math::{Mat3, Vec3, exp, hat};

/// The most rounds of the chord iteration for the multipliers: it converges linearly, in far fewer at usable steps.
const VARIATIONAL_ROUNDS: usize = 60;

/// A violation of the constraints, metres or radians, above which the iteration has failed: far above what rounding leaves
/// on long chains (1e-12), far below anything visible.
const UNSOLVED: f64 = 1e-9;

/// An iteration whose violation has grown to this many times its least value diverges.
const GROWN: f64 = 1e3;

/// Where the iteration fails, the step is divided into 2, 4, and at most this many equal parts.
const MOST_PARTS: u32 = 16;

impl Stepper {
    /// A variational step of `h` seconds. Where its iteration does not converge (long chains that whip, large steps), the
    /// step is divided; where that fails too, it is a Runge-Kutta step, projected onto the constraints, and counted in
    /// [`Stepper::fallbacks`].
    pub(super) fn variational(&mut self, articulation: &Articulation, states: &mut [BodyState], h: f64) {
        let start = states.to_vec();
        let mut parts = 1;
        while parts <= MOST_PARTS {
            if (0..parts).all(|_| self.variational_step(articulation, states, h / f64::from(parts))) {
                return;
            }
            states.copy_from_slice(&start);
            parts *= 2;
        }
        self.fallbacks += 1;
        self.runge_kutta(articulation, states, h);
        project_positions(&mut self.solver, articulation, states);
        project_velocities(&mut self.solver, articulation, states);
    }

    /// A half kick with the constraint forces of the start, the free rotation exactly by its discrete equation, the
    /// multipliers by a chord iteration on the constraints of the end, the second half kick, and a projection of the
    /// velocities. Returns whether the iteration converged.
    fn variational_step(&mut self, articulation: &Articulation, states: &mut [BodyState], h: f64) -> bool {
        let bodies = articulation.bodies();
        self.accelerate(articulation, states);
        // Initial guess: the momenta after half a step, with constraint forces, without the gyroscopic torque.
        let mut half: Vec<(Vec3, Vec3)> = (0..states.len())
            .map(|i| {
                let (b, s, a) = (&bodies[i], &states[i], &self.accelerations[i]);
                let spin = b.inertia * s.angular_velocity;
                let torque = b.inertia * a.angular + s.angular_velocity.cross(&spin);
                ((s.velocity + a.linear * (0.5 * h)) * b.mass, spin + torque * (0.5 * h))
            })
            .collect();
        let start = states.to_vec();
        self.solver.factor(articulation, &start, &[]);
        let nothing = vec![Wrench::default(); states.len()];
        let mut rotations = vec![Vec3::zeros(); states.len()];
        let mut best = f64::INFINITY;
        for _ in 0..VARIATIONAL_ROUNDS {
            for (i, state) in states.iter_mut().enumerate() {
                let (linear, angular) = half[i];
                rotations[i] =
                    discrete_rotation(&bodies[i].inertia, &bodies[i].inverse_inertia, &(angular * h));
                state.position = start[i].position + linear * (h / bodies[i].mass);
                state.orientation = start[i].orientation * exp(&rotations[i]);
            }
            let error = articulation.constraint_error(states);
            // The iteration contracts down to rounding: it has converged when the error stops falling.
            if error < PROJECTION_TOLERANCE || (error < 1e-12 && error >= best) {
                break;
            }
            best = best.min(error);
            if !error.is_finite() || error > GROWN * best {
                return false;
            }
            let closing = self.solver.closing(articulation, states);
            self.solver.respond_closing(&nothing, &closing, &loop_errors(articulation, states));
            for (k, link) in articulation.links().iter().enumerate() {
                // The displacement that closes the constraints, as a change of the momenta at half the step.
                let shift = self.solver.centre_motion(k);
                let i = link.body;
                let rotation = start[i].orientation.inverse_transform_vector(&shift.angular);
                half[i].0 += shift.linear * (bodies[i].mass / h);
                half[i].1 += bodies[i].inertia * rotation / h;
            }
        }
        if articulation.constraint_error(states) > UNSOLVED {
            return false;
        }
        for (i, state) in states.iter_mut().enumerate() {
            let b = &bodies[i];
            state.orientation.renormalize();
            state.velocity = half[i].0 / b.mass;
            let momentum = exp(&rotations[i]).inverse_transform_vector(&half[i].1);
            state.angular_velocity = b.inverse_inertia * momentum;
        }
        let forces = articulation.applied_forces(states);
        for (i, state) in states.iter_mut().enumerate() {
            state.velocity += forces[i].force * (0.5 * h / bodies[i].mass);
            state.angular_velocity += bodies[i].inverse_inertia * forces[i].torque * (0.5 * h);
        }
        project_velocities(&mut self.solver, articulation, states);
        true
    }
}

/// The rotation vector `f` of one step with `sin|f|/|f| I f + (1 - cos|f|)/|f|^2 f x I f = h pi` (Newton).
fn discrete_rotation(inertia: &Mat3<f64>, inverse: &Mat3<f64>, h_pi: &Vec3) -> Vec3 {
    let mut f = inverse * h_pi;
    for _ in 0..30 {
        let square = f.norm_squared();
        let spin = inertia * f;
        let (a, b, da, db);
        if square < 1e-8 {
            a = 1.0 - square / 6.0 + square * square / 120.0;
            b = 0.5 - square / 24.0 + square * square / 720.0;
            da = -1.0 / 3.0 + square / 30.0;
            db = -1.0 / 12.0 + square / 180.0;
        } else {
            let t = square.sqrt();
            a = libm::sin(t) / t;
            b = (1.0 - libm::cos(t)) / square;
            da = (libm::cos(t) - a) / square;
            db = (a - 2.0 * b) / square;
        }
        let swirl = f.cross(&spin);
        let residual = spin * a + swirl * b - h_pi;
        if residual.amax() <= 1e-15 * h_pi.amax() {
            break;
        }
        let slope = inertia * a
            + spin * (f * da).transpose()
            + (hat(&f) * inertia - hat(&spin)) * b
            + swirl * (f * db).transpose();
        match slope.try_inverse() {
            Some(inverse) => f -= inverse * residual,
            None => break,
        }
    }
    f
}
