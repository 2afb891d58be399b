//! A scene is carried to its end, step by step, and becomes a recording.
//!
//! Space: world, as the scene has it. Units: SI.

use super::constraint::Constraint;
use super::integrate::Stepper;
use super::recording::{ConstraintGeometry, Frame, Recording};
use super::scene::{Method, Scene};
use super::sensor::Controller;
use super::shape::Shape;
use super::world::World;
use crate::math::Transform;

/// Why a simulation has no result.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SimulationError {
    /// The state stopped being finite.
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

/// A scene on its way, for callers that want to say how far it is.
#[derive(Clone, Debug)]
pub struct Simulation {
    world: World,
    controller: Controller,
    stepper: Option<Stepper>,
    step: f64,
    done: usize,
    steps: usize,
    recording: Recording,
}

/// Carries a scene to its end.
///
/// # Errors
/// [`SimulationError`] where the state stops being finite.
pub fn simulate(scene: &Scene) -> Result<Recording, SimulationError> {
    let mut simulation = Simulation::new(scene);
    while simulation.advance()? {}
    Ok(simulation.finish())
}

impl Simulation {
    /// The first instant of a scene.
    pub fn new(scene: &Scene) -> Self {
        let world = scene.world.clone();
        let stepper = match scene.method {
            Method::World => None,
            Method::Stepper(integrator, stabilization) => {
                Some(Stepper::new(&world.articulation, &world.states, integrator, stabilization))
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
        };
        let steps = (scene.duration / scene.step).round().max(1.0) as usize;
        let controller = scene.controller.clone();
        Self { world, controller, stepper, step: scene.step, done: 0, steps, recording }
    }

    /// Steps done and steps in all.
    pub fn progress(&self) -> (usize, usize) {
        (self.done.min(self.steps), self.steps)
    }

    /// Records the present instant where a frame is due and takes one step; `false` at the end.
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
        }
        let error = world.articulation.constraint_error(&world.states);
        recording.largest_constraint_error = recording.largest_constraint_error.max(error);
        for c in world.contacts() {
            recording.deepest_contact = recording.deepest_contact.max(c.depth);
        }
        // Slack: the frame at 1/60 s is recorded although 4 / 240 may fall short of it by rounding.
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
            Some(stepper) => stepper.step(&world.articulation, &mut world.states, self.step),
            None => world.advance(self.step),
        }
        match world.states.iter().position(|s| !s.is_finite()) {
            Some(i) => {
                let body = recording.names[i].clone();
                Err(SimulationError::Diverged { body, time: time + self.step })
            }
            None => Ok(true),
        }
    }

    /// What was recorded.
    pub fn finish(self) -> Recording {
        let touched = self.controller.sensors.into_iter().map(|s| (s.name, s.first_touch));
        Recording { first_touches: touched.collect(), last: self.world.states, ..self.recording }
    }
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
