//! A scene becomes a recording: where every body was, what was conserved, what touched.
//!
//! Space: world, as the scene has it. Units: SI. Frames lie at the output rate, each the first step at or after its
//! time, so that a step that divides the frame time gives exact times.

use super::body::BodyState;
use super::contact::Contact;
use super::integrate::Stepper;
use super::scene::{BodyGeometry, Method, Scene};
use crate::math::{Transform, Vec3};
use crate::report::Report;
use std::fmt::Write;

/// One recorded instant.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// Seconds.
    pub time: f64,
    /// World from body, by body.
    pub bodies: Vec<Transform>,
    /// Joules.
    pub kinetic_energy: f64,
    /// Joules, zero at the world origin.
    pub potential_energy: f64,
    /// World, kg m/s.
    pub linear_momentum: Vec3,
    /// About the world origin, kg m^2/s.
    pub angular_momentum: Vec3,
    /// The largest violation of a constraint, metres or radians.
    pub constraint_error: f64,
    /// The contacts found at the start of the last step.
    pub contacts: Vec<Contact>,
    /// By sensor: whether it touched.
    pub sensors: Vec<bool>,
}

/// A constraint to be drawn: a cylinder along the axis of a hinge, a sphere for a ball.
#[derive(Clone, Debug, PartialEq)]
pub struct ConstraintGeometry {
    /// The constraint's name.
    pub name: String,
    /// What it leaves free.
    pub kind: super::constraint::ConstraintKind,
    /// The body it is drawn on.
    pub body: usize,
    /// Its anchor in that body's axes.
    pub anchor: Vec3,
    /// Its axis in that body's axes; zero for kinds without one.
    pub axis: Vec3,
}

/// All that a simulation leaves behind.
#[derive(Clone, Debug)]
pub struct Recording {
    /// The scene's title.
    pub name: String,
    /// The direction that points up.
    pub up: Vec3,
    /// Frames a second.
    pub output_rate: f64,
    /// By body.
    pub names: Vec<String>,
    /// By body: how it is drawn.
    pub geometry: Vec<BodyGeometry>,
    /// How the constraints are drawn.
    pub constraints: Vec<ConstraintGeometry>,
    /// The instants.
    pub frames: Vec<Frame>,
    /// The bodies at the end.
    pub last: Vec<BodyState>,
    /// By sensor: its name and when it first touched.
    pub first_touches: Vec<(String, Option<f64>)>,
    /// The largest depth of any contact, metres, over all steps.
    pub deepest_contact: f64,
    /// The largest violation of a constraint over all steps, metres or radians.
    pub largest_constraint_error: f64,
}

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

/// Carries a scene to its end.
///
/// # Errors
/// [`SimulationError`] where the state stops being finite.
pub fn simulate(scene: &Scene) -> Result<Recording, SimulationError> {
    let mut world = scene.world.clone();
    let mut controller = scene.controller.clone();
    let mut stepper = match scene.method {
        Method::World => None,
        Method::Stepper(integrator, stabilization) => {
            Some(Stepper::new(&world.articulation, &world.states, integrator, stabilization))
        }
    };
    let steps = (scene.duration / scene.step).round().max(1.0) as usize;
    let mut recording = Recording {
        name: scene.name.clone(),
        up: scene.up,
        output_rate: scene.output_rate,
        names: world.articulation.bodies().iter().map(|b| b.name.clone()).collect(),
        geometry: scene.geometry.clone(),
        constraints: constraint_geometry(&world),
        frames: Vec::new(),
        last: Vec::new(),
        first_touches: Vec::new(),
        deepest_contact: f64::NEG_INFINITY,
        largest_constraint_error: 0.0,
    };
    for k in 0..=steps {
        let time = k as f64 * scene.step;
        // Half a step of slack: the frame at 1/60 s is recorded although 4 / 240 may fall short of it by rounding.
        let due = recording.frames.len() as f64 / scene.output_rate;
        if stepper.is_none() {
            world.time = time;
            world.find_contacts(scene.step);
            controller.act(&mut world);
        }
        let error = world.articulation.constraint_error(&world.states);
        recording.largest_constraint_error = recording.largest_constraint_error.max(error);
        for c in world.contacts() {
            recording.deepest_contact = recording.deepest_contact.max(c.depth);
        }
        if time >= due - 1e-9 {
            let sensors = controller.sensors.iter().map(|s| s.on).collect();
            recording.frames.push(frame(&world, time, error, sensors));
        }
        if k == steps {
            break;
        }
        match &mut stepper {
            Some(stepper) => stepper.step(&world.articulation, &mut world.states, scene.step),
            None => world.advance(scene.step),
        }
        if let Some(i) = world.states.iter().position(|s| !s.is_finite()) {
            return Err(SimulationError::Diverged {
                body: recording.names[i].clone(),
                time: time + scene.step,
            });
        }
    }
    recording.first_touches = controller.sensors.iter().map(|s| (s.name.clone(), s.first_touch)).collect();
    recording.last = world.states;
    Ok(recording)
}

fn frame(world: &super::world::World, time: f64, constraint_error: f64, sensors: Vec<bool>) -> Frame {
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

fn constraint_geometry(world: &super::world::World) -> Vec<ConstraintGeometry> {
    let draw = |c: &super::constraint::Constraint| {
        let (body, anchor, axis) = match (c.a, c.b) {
            (_, Some(b)) => (b, c.anchor_b, c.axis_b),
            (Some(a), None) => (a, c.anchor_a, c.axis_a),
            (None, None) => return None,
        };
        Some(ConstraintGeometry { name: c.name.clone(), kind: c.kind, body, anchor, axis })
    };
    world.articulation.constraints().iter().filter_map(draw).collect()
}

impl Recording {
    /// A table of the frames: time, energies, momenta, constraint error, contacts, sensors.
    pub fn to_csv(&self) -> String {
        let mut text = String::from(
            "time,kinetic_energy,potential_energy,total_energy,px,py,pz,lx,ly,lz,constraint_error,contacts,\
             deepest_contact",
        );
        for (name, _) in &self.first_touches {
            // Names are free text; a comma or a quote in one must not break the table.
            let _ = write!(text, ",\"{}\"", name.replace('"', "\"\""));
        }
        text.push('\n');
        for f in &self.frames {
            let (p, l) = (&f.linear_momentum, &f.angular_momentum);
            let deepest = f.contacts.iter().map(|c| c.depth).fold(f64::NEG_INFINITY, f64::max);
            let deepest = if deepest.is_finite() { format!("{deepest:.9e}") } else { String::new() };
            let total = f.kinetic_energy + f.potential_energy;
            let _ = write!(
                text,
                "{:.9},{:.12e},{:.12e},{:.12e},{:.12e},{:.12e},{:.12e},{:.12e},{:.12e},{:.12e},{:.3e},{},{}",
                f.time,
                f.kinetic_energy,
                f.potential_energy,
                total,
                p.x,
                p.y,
                p.z,
                l.x,
                l.y,
                l.z,
                f.constraint_error,
                f.contacts.len(),
                deepest
            );
            for on in &f.sensors {
                text.push_str(if *on { ",1" } else { ",0" });
            }
            text.push('\n');
        }
        text
    }

    /// The figures of the whole run.
    pub fn report(&self) -> Report {
        let mut report = Report::default();
        let (Some(first), Some(last)) = (self.frames.first(), self.frames.last()) else { return report };
        let energy = |f: &Frame| f.kinetic_energy + f.potential_energy;
        let drift = |f: &Frame| (energy(f) - energy(first)).abs();
        report.measure("duration", last.time, "s");
        report.measure("energy_start", energy(first), "J");
        report.measure("energy_end", energy(last), "J");
        report.measure("energy_drift", self.frames.iter().map(drift).fold(0.0, f64::max), "J");
        let change =
            |f: fn(&Frame) -> Vec3| self.frames.iter().map(|x| (f(x) - f(first)).norm()).fold(0.0, f64::max);
        report.measure("linear_momentum_change", change(|f| f.linear_momentum), "kg m/s");
        report.measure("angular_momentum_change", change(|f| f.angular_momentum), "kg m^2/s");
        report.measure("constraint_error", self.largest_constraint_error, "m");
        report.measure("deepest_contact", self.deepest_contact.max(0.0), "m");
        for (name, time) in &self.first_touches {
            if let Some(time) = time {
                report.measure(format!("first_touch.{name}"), *time, "s");
            }
        }
        report
    }
}
