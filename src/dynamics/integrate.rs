//! Time integration of articulations without contacts, with stabilisation against drift.
//!
//! Sources: the step of Hakenberg's note; the classic fourth-order Runge-Kutta method on `(p, q, v, omega)`. The
//! variational step is in `variational.rs`. After a step the pose is projected onto the constraints and the velocities onto
//! their tangent space (`constraint_projection.rs`); momenta and energy of a free articulation may be restored (`conservation.rs`). Space
//! and units as in [`BodyState`].

use super::articulated_solver::ArticulationSolver;
use super::articulation::Articulation;
use super::block_elimination::solve_blocks;
use super::conservation::Conserved;
use super::constraint_projection::{project_positions, project_velocities};
use super::note_system::{knows_note, solve_note};
use super::rigid_body::{BodyAcceleration, BodyForce, BodyState};
use crate::math::{Quat, RawQuat, Vec3, in_wide_registers};

/// The integration method of one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Integrator {
    /// The method of the note: `v += h a`, `p += h v`, `omega += h omega'`, `R = R exp(h omega)`. First order; keeps
    /// linear momentum only. For comparison.
    Note,
    /// Classic Runge-Kutta, fourth order; 1/120 s is a good step for passive motion.
    RungeKutta4,
    /// Lie-group RATTLE: second order, time-reversible; keeps momenta and constraints to solver tolerance at any
    /// step, and the energy error bounded.
    Variational,
}

/// The method that computes the accelerations of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum System {
    /// The O(n) kernel, [`ArticulationSolver`].
    #[default]
    Kernel,
    /// Equation (6) of the note, dense, by its pseudoinverse ([`solve_note`]): hinges and balls only. For comparison.
    Note,
    /// Block elimination over the tree ([`solve_blocks`]). For comparison.
    Blocks,
}

/// The correction after a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stabilization {
    /// None: the joints drift apart.
    None,
    /// Poses and velocities are projected onto the constraints.
    Project,
    /// Projected; and where all bodies form one free tree, its momenta (and, without friction and motors, its energy)
    /// are restored exactly.
    Restore,
}

/// Integrates the states of one articulation.
#[derive(Clone, Debug)]
pub struct Stepper {
    pub(super) solver: ArticulationSolver,
    integrator: Integrator,
    system: System,
    stabilization: Stabilization,
    pub(super) conserved: Option<Conserved>,
    forces: Vec<BodyForce>,
    pub(super) accelerations: Vec<BodyAcceleration>,
    /// How many times the energy was not restored because the velocity scale was outside 0.9 to 1.1.
    pub refused_scalings: usize,
    /// How many variational steps were replaced by Runge-Kutta steps because their equations were not solved.
    pub fallbacks: usize,
}

impl Stepper {
    /// A stepper; with [`Stabilization::Restore`] it keeps the momenta and the energy of `states`.
    pub fn new(
        articulation: &Articulation,
        states: &[BodyState],
        integrator: Integrator,
        stabilization: Stabilization,
    ) -> Self {
        let mut stepper = Self {
            solver: ArticulationSolver::new(articulation),
            integrator,
            system: System::Kernel,
            stabilization,
            conserved: None,
            forces: Vec::new(),
            accelerations: Vec::new(),
            refused_scalings: 0,
            fallbacks: 0,
        };
        stepper.restart(articulation, states);
        stepper
    }

    /// The same stepper with the accelerations of `system`; projections always use the kernel. `None` where `system` does
    /// not support a constraint of this articulation, or a loop.
    pub fn with_system(self, articulation: &Articulation, system: System) -> Option<Self> {
        let known = match system {
            System::Kernel => true,
            System::Note => knows_note(articulation),
            System::Blocks => articulation.closures().is_empty(),
        };
        known.then_some(Self { system, ..self })
    }

    /// Takes the momenta and the energy of `states` as those to be restored, where this stepper restores any.
    pub(super) fn restart(&mut self, articulation: &Articulation, states: &[BodyState]) {
        if self.stabilization == Stabilization::Restore && articulation.floats_as_one() {
            self.conserved = Some(Conserved::of(articulation, states));
        }
    }

    /// Advances `states` by `h` seconds.
    pub fn step(&mut self, articulation: &Articulation, states: &mut [BodyState], h: f64) {
        match self.integrator {
            Integrator::Note => self.note(articulation, states, h),
            Integrator::RungeKutta4 => self.runge_kutta(articulation, states, h),
            Integrator::Variational => self.variational(articulation, states, h),
        }
        if self.stabilization != Stabilization::None {
            project_positions(&mut self.solver, articulation, states);
            project_velocities(&mut self.solver, articulation, states);
        }
        if let Some(conserved) = &mut self.conserved {
            self.refused_scalings += usize::from(conserved.restore(articulation, states, h));
        }
    }

    pub(super) fn accelerate(&mut self, articulation: &Articulation, states: &[BodyState]) {
        articulation.write_forces(states, true, &mut self.forces);
        match self.system {
            System::Kernel => {
                self.solver.accelerations(articulation, states, &self.forces, &mut self.accelerations)
            }
            System::Note => {
                let solution = solve_note(articulation, states).expect("`with_system` asked for the kinds");
                self.accelerations = solution.accelerations;
            }
            System::Blocks => {
                self.accelerations = solve_blocks(articulation, states, &self.forces, None).motions;
            }
        }
    }

    fn note(&mut self, articulation: &Articulation, states: &mut [BodyState], h: f64) {
        self.accelerate(articulation, states);
        in_wide_registers(
            #[inline(always)]
            || {
                for (state, a) in states.iter_mut().zip(&self.accelerations) {
                    state.velocity += a.linear * h;
                    state.angular_velocity += a.angular * h;
                    state.advance(h);
                }
            },
        );
    }

    pub(super) fn runge_kutta(&mut self, articulation: &Articulation, states: &mut [BodyState], h: f64) {
        let start = states.to_vec();
        let mut sum = vec![StateDerivative::zero(); states.len()];
        let mut stage = start.clone();
        for (weight, next) in [(1.0, Some(0.5)), (2.0, Some(0.5)), (2.0, Some(1.0)), (1.0, None)] {
            self.accelerate(articulation, &stage);
            for i in 0..stage.len() {
                let rate = StateDerivative::of(&stage[i], &self.accelerations[i]);
                sum[i].add(&rate, weight / 6.0);
                if let Some(c) = next {
                    stage[i] = rate.applied(&start[i], c * h);
                }
            }
        }
        for i in 0..states.len() {
            states[i] = sum[i].applied(&start[i], h);
        }
    }
}

/// The time derivative of a [`BodyState`].
#[derive(Clone, Copy)]
struct StateDerivative {
    velocity: Vec3,
    quaternion: RawQuat,
    linear: Vec3,
    angular: Vec3,
}

impl StateDerivative {
    fn zero() -> Self {
        let z = Vec3::zeros();
        StateDerivative { velocity: z, quaternion: RawQuat::from_parts(0.0, z), linear: z, angular: z }
    }

    fn of(state: &BodyState, acceleration: &BodyAcceleration) -> Self {
        let half = RawQuat::from_parts(0.0, state.angular_velocity * 0.5);
        StateDerivative {
            velocity: state.velocity,
            quaternion: state.orientation.into_inner() * half,
            linear: acceleration.linear,
            angular: acceleration.angular,
        }
    }

    fn add(&mut self, other: &StateDerivative, k: f64) {
        self.velocity += other.velocity * k;
        self.quaternion += other.quaternion * k;
        self.linear += other.linear * k;
        self.angular += other.angular * k;
    }

    fn applied(&self, state: &BodyState, h: f64) -> BodyState {
        BodyState {
            position: state.position + self.velocity * h,
            orientation: Quat::new_normalize(state.orientation.into_inner() + self.quaternion * h),
            velocity: state.velocity + self.linear * h,
            angular_velocity: state.angular_velocity + self.angular * h,
        }
    }
}

/// The accelerations of `states` under gravity, friction and motors, by the O(n) kernel.
pub fn accelerations(articulation: &Articulation, states: &[BodyState]) -> Vec<BodyAcceleration> {
    let forces: Vec<BodyForce> = articulation.applied_forces(states);
    let mut out = Vec::new();
    ArticulationSolver::new(articulation).accelerations(articulation, states, &forces, &mut out);
    out
}
