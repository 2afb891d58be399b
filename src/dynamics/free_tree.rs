//! Trees of a world on which nothing acts but gravity in a step: they take a variational step, which keeps their energy.
//!
//! The velocity step of a [`World`] is of first order and loses energy wherever a constraint rotates a velocity: a pendulum
//! would lose two thirds of its energy in a minute. Where no contact, limit, motor, spring or drive acts, the second-order
//! step of `variational.rs` replaces it. Space and units as in [`World`].
//!
//! [`World`]: super::world::World

use super::articulation::Articulation;
use super::integrate::{Integrator, Stabilization, Stepper};
use super::rigid_body::BodyState;
use std::ops::Range;

/// A step may change the energy by this share of the largest kinetic energy: the error of a resolved motion swings by more than
/// that within a period, but by less in a step.
const STEP_TOLERANCE: f64 = 1e-5;
/// Beyond this share of the largest kinetic energy the energy may not move away further from that at the start: the error of
/// a step that is not resolved grows without bound.
const ENERGY_TOLERANCE: f64 = 1e-4;
/// A step of the most parts is accepted up to this share.
const MOST_ERROR: f64 = 5e-3;
/// A step that is not accepted is divided into twice as many parts, at most into this many: light links under a heavy weight
/// flutter with periods of a few steps.
const MOST_PARTS: u32 = 64;

/// One tree of a world with its own integrator.
#[derive(Clone, Debug)]
pub(super) struct FreeTree {
    articulation: Articulation,
    /// The index of each body in the world.
    bodies: Vec<usize>,
    /// The index of each constraint in the world.
    constraints: Vec<usize>,
    stepper: Stepper,
    /// The energy since nothing else acts on the tree, and the largest kinetic energy since then, joules.
    energy: Option<(f64, f64)>,
    /// The parts of the last step.
    parts: u32,
}

impl FreeTree {
    /// The tree with the given links.
    pub(super) fn new(whole: &Articulation, links: Range<usize>, states: &[BodyState]) -> Self {
        let bodies: Vec<usize> = whole.links()[links.clone()].iter().map(|l| l.body).collect();
        let (articulation, constraints) = whole.part(links);
        let states: Vec<BodyState> = bodies.iter().map(|&i| states[i]).collect();
        let stepper = Stepper::new(&articulation, &states, Integrator::Variational, Stabilization::Restore);
        Self { articulation, bodies, constraints, stepper, energy: None, parts: 1 }
    }

    /// Forgets the energy: something else acted on the tree.
    pub(super) fn forget(&mut self) {
        self.energy = None;
    }

    /// The bodies of the tree, by index in the world, after `h` seconds; `None` where no number of parts keeps the energy.
    /// A floating tree keeps its momenta and its energy exactly, except for gravity and friction.
    pub(super) fn step(
        &mut self,
        whole: &Articulation,
        states: &[BodyState],
        h: f64,
    ) -> Option<Vec<(usize, BodyState)>> {
        if self.articulation.gravity != whole.gravity {
            self.articulation.gravity = whole.gravity;
            self.forget();
        }
        for (own, &k) in self.constraints.iter().enumerate() {
            self.articulation.set_motor(own, whole.constraints()[k].motor);
        }
        let start: Vec<BodyState> = self.bodies.iter().map(|&i| states[i]).collect();
        let kinetic = self.articulation.kinetic_energy(&start);
        let now = kinetic + self.articulation.potential_energy(&start);
        let (energy, largest) = self.energy.unwrap_or((now, kinetic));
        let motors = self.articulation.constraints().iter().any(|c| c.motor != 0.0);
        let mut parts = (self.parts / 2).max(1);
        while parts <= MOST_PARTS {
            let mut states = start.clone();
            let before = self.stepper.fallbacks;
            self.stepper.restart(&self.articulation, &states);
            for _ in 0..parts {
                self.stepper.step(&self.articulation, &mut states, h / f64::from(parts));
            }
            let kinetic = self.articulation.kinetic_energy(&states);
            let after = kinetic + self.articulation.potential_energy(&states);
            let largest = largest.max(kinetic);
            // Motors do work; friction takes some.
            let kept = match (motors, self.articulation.is_driven()) {
                (true, _) => true,
                (false, true) => after - now <= STEP_TOLERANCE * largest,
                (false, false) => {
                    let (error, before) = ((after - energy).abs(), (now - energy).abs());
                    let resolved = (after - now).abs() <= STEP_TOLERANCE * largest
                        && (error <= ENERGY_TOLERANCE * largest || error <= before);
                    resolved || parts == MOST_PARTS && error <= MOST_ERROR * largest
                }
            };
            if kept && self.stepper.fallbacks == before && states.iter().all(BodyState::is_finite) {
                (self.energy, self.parts) = (Some((energy, largest)), parts);
                return Some(self.bodies.iter().copied().zip(states).collect());
            }
            parts *= 2;
        }
        self.forget();
        None
    }
}
