//! The result of a simulation: body transforms, energies, momenta, contacts, sensors.
//!
//! Space: world of the scene. Units: SI. Frames follow the output rate; each is the first step at or after its time, so
//! that a step that divides the frame time gives exact times.

use super::constraint::ConstraintKind;
use super::contact_point::Contact;
use super::rigid_body::BodyState;
use super::scene::BodyGeometry;
use crate::math::{Transform, Vec3};
use crate::report::{Report, Warnings, csv_field, one_line};
use std::fmt::Write;

/// One recorded frame.
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
    /// For each sensor whether it touched.
    pub sensors: Vec<bool>,
}

/// A constraint as it is drawn: a cylinder along the axis of a hinge, a sphere for a ball.
#[derive(Clone, Debug, PartialEq)]
pub struct ConstraintGeometry {
    /// The constraint's name.
    pub name: String,
    /// The kind.
    pub kind: ConstraintKind,
    /// The body that it is drawn on.
    pub body: usize,
    /// The body at its other end; `None` for the world.
    pub other: Option<usize>,
    /// Its anchor in that body's axes.
    pub anchor: Vec3,
    /// Its axis in that body's axes; zero for kinds without one.
    pub axis: Vec3,
}

/// The result of a simulation.
#[derive(Clone, Debug)]
pub struct Recording {
    /// The scene's title.
    pub name: String,
    /// The direction that points up.
    pub up: Vec3,
    /// Frames per second.
    pub output_rate: f64,
    /// For each body its name.
    pub names: Vec<String>,
    /// For each body how it is drawn.
    pub geometry: Vec<BodyGeometry>,
    /// The planes that bodies can rest on: world from plane, whose normal is z.
    pub planes: Vec<Transform>,
    /// How the constraints are drawn.
    pub constraints: Vec<ConstraintGeometry>,
    /// The recorded frames.
    pub frames: Vec<Frame>,
    /// The states of the bodies at the end.
    pub last: Vec<BodyState>,
    /// For each sensor its name and the time of its first touch, seconds.
    pub first_touches: Vec<(String, Option<f64>)>,
    /// The largest depth of any contact, metres, over all steps.
    pub deepest_contact: f64,
    /// The largest violation of a constraint over all steps, metres or radians.
    pub largest_constraint_error: f64,
    /// Probable mistakes in the scene.
    pub warnings: Warnings,
}

impl Recording {
    /// A table of the frames: time, energies, momenta, constraint error, contacts, sensors.
    pub fn to_csv(&self) -> String {
        let mut text = String::from(
            "time,kinetic_energy,potential_energy,total_energy,px,py,pz,lx,ly,lz,constraint_error,contacts,\
             deepest_contact",
        );
        for (name, _) in &self.first_touches {
            // Names are free text: as fields, so that commas, quotes and formulas do no harm.
            let _ = write!(text, ",{}", csv_field(&one_line(name)));
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

    /// The measurements of the whole run.
    pub fn report(&self) -> Report {
        let mut report = Report { warnings: self.warnings.clone(), ..Report::default() };
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
