//! Runs a scene step by step and records it.
//!
//! Space: world of the scene. Units: SI.

use super::body_target::BodyTarget;
use super::constraint::Constraint;
use super::controller::Controller;
use super::integrate::Stepper;
use super::recording::{ConstraintGeometry, Frame, Recording};
use super::scene::{Scene, SteppingMethod};
use super::shape::Shape;
use super::world::World;
use crate::math::Transform;
use crate::report::{Warnings, one_line};

/// Why a simulation failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SimulationError {
    /// A state is not finite.
    #[error(
        "body `{body}` left the finite numbers at {time} s\n  hint: take a smaller step, or `project` the constraints"
    )]
    Diverged {
        /// The first such body.
        body: String,
        /// Seconds.
        time: f64,
    },
}

/// A running simulation, for callers that report progress.
#[derive(Clone, Debug)]
pub struct Simulation {
    world: World,
    controller: Controller,
    targets: Vec<BodyTarget>,
    stepper: Option<Stepper>,
    step: f64,
    done: usize,
    steps: usize,
    recording: Recording,
}

/// Runs a scene to its end.
///
/// # Errors
/// [`SimulationError`] where the state stops being finite.
pub fn simulate(scene: &Scene) -> Result<Recording, SimulationError> {
    let mut simulation = Simulation::new(scene);
    while simulation.advance()? {}
    Ok(simulation.finish())
}

impl Simulation {
    /// A simulation at the start of a scene.
    pub fn new(scene: &Scene) -> Self {
        let world = scene.world.clone();
        let stepper = match scene.method {
            SteppingMethod::World => None,
            SteppingMethod::Stepper(integrator, system, stabilization) => {
                let stepper = Stepper::new(&world.articulation, &world.states, integrator, stabilization);
                stepper.with_system(&world.articulation, system)
            }
        };
        let grounds = world.colliders.iter().filter(|c| c.body.is_none() && c.shape == Shape::Plane);
        let recording = Recording {
            name: scene.name.clone(),
            up: scene.up,
            output_rate: scene.output_rate,
            names: world.articulation.bodies().iter().map(|b| b.name.clone()).collect(),
            geometry: scene.geometry.clone(),
            planes: grounds.map(|c| c.body_from_shape).collect(),
            constraints: constraint_geometry(&world),
            frames: Vec::new(),
            last: Vec::new(),
            first_touches: Vec::new(),
            deepest_contact: f64::NEG_INFINITY,
            largest_constraint_error: 0.0,
            warnings: Warnings::new(),
        };
        let steps = (scene.duration / scene.step).round().max(1.0) as usize;
        let controller = scene.controller.clone();
        let targets = scene.targets.clone();
        Self { world, controller, targets, stepper, step: scene.step, done: 0, steps, recording }
    }

    /// Steps done and the total number of steps.
    pub fn progress(&self) -> (usize, usize) {
        (self.done.min(self.steps), self.steps)
    }

    /// Records the current state where a frame is due and takes one step; `false` at the end.
    ///
    /// # Errors
    /// [`SimulationError`] where the state stops being finite.
    pub fn advance(&mut self) -> Result<bool, SimulationError> {
        if self.done > self.steps {
            return Ok(false);
        }
        let (world, recording) = (&mut self.world, &mut self.recording);
        let time = self.done as f64 * self.step;
        if self.stepper.is_none() {
            world.time = time;
            world.find_contacts(self.step);
            self.controller.act(world);
            let compliance = world.settings.compliance;
            let pulls = |(index, target): (usize, &BodyTarget)| {
                target.pulls(index, &world.states[target.body], time + self.step, self.step, compliance)
            };
            world.pulls = self.targets.iter().enumerate().flat_map(pulls).collect();
        }
        let error = world.articulation.constraint_error(&world.states);
        recording.largest_constraint_error = recording.largest_constraint_error.max(error);
        for c in world.contacts() {
            recording.deepest_contact = recording.deepest_contact.max(c.depth);
        }
        if self.done == 0 {
            warn_of_overlap(world, recording);
        }
        // The tolerance records the frame at 1/60 s even if 4 / 240 is smaller by rounding.
        let due = recording.frames.len() as f64 / recording.output_rate;
        if time >= due - 1e-9 {
            let sensors = self.controller.sensors.iter().map(|s| s.on).collect();
            recording.frames.push(frame(world, time, error, sensors));
        }
        self.done += 1;
        if self.done > self.steps {
            return Ok(false);
        }
        match &mut self.stepper {
            Some(stepper) => {
                let (refused, fallbacks) = (stepper.refused_scalings, stepper.fallbacks);
                stepper.step(&world.articulation, &mut world.states, self.step);
                if stepper.refused_scalings > refused {
                    let message =
                        "a step changed the energy by too much to be put right: a smaller `step` helps";
                    recording.warnings.add("energy-not-restored", message, format!("{time:.3} s"));
                }
                if stepper.fallbacks > fallbacks {
                    let message = "the variational equations of a step were not solved, Runge-Kutta took it: a smaller \
                                   `step` helps";
                    recording.warnings.add("variational-fallback", message, format!("{time:.3} s"));
                }
            }
            None => world.advance(self.step),
        }
        match world.states.iter().position(|s| !s.is_finite()) {
            Some(i) => {
                let body = one_line(&recording.names[i]);
                Err(SimulationError::Diverged { body, time: time + self.step })
            }
            None => Ok(true),
        }
    }

    /// Ends the simulation and returns the recording.
    pub fn finish(self) -> Recording {
        let touched = self.controller.sensors.into_iter().map(|s| (s.name, s.first_touch));
        Recording { first_touches: touched.collect(), last: self.world.states, ..self.recording }
    }
}

/// Overlap at the start above this depth, metres, is a warning: it is pushed apart, which may look like an explosion.
const OVERLAP: f64 = 5e-3;

fn warn_of_overlap(world: &World, recording: &mut Recording) {
    let deepest = world.contacts().iter().max_by(|a, b| a.depth.total_cmp(&b.depth));
    let Some(c) = deepest.filter(|c| c.depth > OVERLAP) else { return };
    let name = |collider: usize| match world.colliders[collider].body {
        Some(body) => format!("`{}`", one_line(&recording.names[body])),
        None => "the ground".to_owned(),
    };
    let (depth, first, second) = (c.depth, name(c.first), name(c.second));
    let message = format!("{first} and {second} overlap by {depth:.3} m at the start and are pushed apart");
    recording.warnings.add("overlap-at-start", message, String::new());
}

fn frame(world: &World, time: f64, constraint_error: f64, sensors: Vec<bool>) -> Frame {
    let (articulation, states) = (&world.articulation, &world.states);
    Frame {
        time,
        bodies: states.iter().map(|s| Transform::new(s.orientation, s.position)).collect(),
        kinetic_energy: articulation.kinetic_energy(states),
        potential_energy: articulation.potential_energy(states),
        linear_momentum: articulation.linear_momentum(states),
        angular_momentum: articulation.angular_momentum(states),
        constraint_error,
        contacts: world.contacts().to_vec(),
        sensors,
    }
}

fn constraint_geometry(world: &World) -> Vec<ConstraintGeometry> {
    let draw = |c: &Constraint| {
        let (body, other, anchor, axis) = match (c.a, c.b) {
            (a, Some(b)) => (b, a, c.anchor_b, c.axis_b),
            (Some(a), None) => (a, None, c.anchor_a, c.axis_a),
            (None, None) => return None,
        };
        Some(ConstraintGeometry { name: c.name.clone(), kind: c.kind, body, other, anchor, axis })
    };
    world.articulation.constraints().iter().filter_map(draw).collect()
}
