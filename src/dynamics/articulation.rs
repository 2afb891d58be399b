//! Bodies and the constraints between them, ordered as a forest: parents first.
//!
//! Space and units as in [`Body`] and [`Constraint`]. The recursions run over spanning trees; a constraint that closes a loop
//! is kept aside and added by its rows (`loop_closures.rs`). Hakenberg's statement about the rank holds for trees only.
//! Momenta and energies follow the note, section "Generic equations of motion".

use super::constraint::{Constraint, ConstraintKind, of, slide_rate};
use super::rigid_body::{Body, BodyForce, BodyState};
use crate::math::Vec3;
use std::ops::Range;

/// Why bodies and constraints form no articulation.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ArticulationError {
    /// A constraint refers to a body that does not exist.
    #[error("constraint `{constraint}` names body {body}, there are {bodies}")]
    NoSuchBody {
        /// The constraint's name.
        constraint: String,
        /// The index of the missing body.
        body: usize,
        /// The number of bodies.
        bodies: usize,
    },
    /// Both ends of a constraint are the same body, or the world.
    #[error(
        "constraint `{constraint}` joins a body to itself\n  hint: name two different bodies, or `world` once"
    )]
    SameBody {
        /// The constraint's name.
        constraint: String,
        /// Its index.
        index: usize,
    },
    /// A number of a constraint is not finite, an axis has no direction, or friction is negative.
    #[error("constraint `{constraint}` has an impossible {what}")]
    Number {
        /// The constraint's name.
        constraint: String,
        /// Which property.
        what: &'static str,
    },
}

/// One body of the forest and its connection to its parent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ArticulatedLink {
    pub(super) body: usize,
    /// The index of the parent's link; `None` where the parent is the world, and for a floating root.
    pub(super) parent: Option<usize>,
    /// The constraint to the parent or to the world; `None` for a floating root.
    pub(super) constraint: Option<usize>,
    /// Whether the body is side `a` of its constraint.
    pub(super) child_is_a: bool,
    /// The first link of the same tree.
    pub(super) root: usize,
}

/// Bodies, constraints and gravity: the constant part of a simulation.
#[derive(Clone, Debug)]
pub struct Articulation {
    bodies: Vec<Body>,
    constraints: Vec<Constraint>,
    /// Acceleration of gravity, world, m/s^2.
    pub gravity: Vec3,
    links: Vec<ArticulatedLink>,
    link_of: Vec<usize>,
    /// The constraints that close loops, ascending.
    closures: Vec<usize>,
}

impl Articulation {
    /// Bodies and constraints as a forest, with the constraints that close loops aside.
    ///
    /// # Errors
    /// [`ArticulationError`] where the constraints refer to missing bodies or twice to one, or have invalid numbers.
    pub fn new(
        bodies: Vec<Body>,
        constraints: Vec<Constraint>,
        gravity: Vec3,
    ) -> Result<Self, ArticulationError> {
        for (index, c) in constraints.iter().enumerate() {
            check(c, bodies.len())?;
            if c.a == c.b {
                return Err(ArticulationError::SameBody { constraint: c.name.clone(), index });
            }
        }
        let (links, link_of, closures) = order(&constraints, bodies.len());
        Ok(Self { bodies, constraints, gravity, links, link_of, closures })
    }

    /// The bodies.
    pub fn bodies(&self) -> &[Body] {
        &self.bodies
    }

    /// The constraints.
    pub fn constraints(&self) -> &[Constraint] {
        &self.constraints
    }

    /// Sets the constant motor torque (slider: force) of one constraint.
    pub fn set_motor(&mut self, constraint: usize, torque: f64) {
        self.constraints[constraint].motor = torque;
    }

    pub(super) fn links(&self) -> &[ArticulatedLink] {
        &self.links
    }

    pub(super) fn link_of(&self, body: usize) -> usize {
        self.link_of[body]
    }

    /// The constraints that close loops, by index, ascending. Both ends of each are in one tree, or one end is the world.
    pub(super) fn closures(&self) -> &[usize] {
        &self.closures
    }

    /// The links of the tree that contains `link`.
    pub(super) fn tree(&self, link: usize) -> Range<usize> {
        let root = self.links[link].root;
        let count = self.links[root..].iter().take_while(|l| l.root == root).count();
        root..root + count
    }

    /// The tree with the links `tree` alone: its bodies in the order of its links, and for each of its constraints the index
    /// in this articulation.
    pub(super) fn part(&self, tree: Range<usize>) -> (Self, Vec<usize>) {
        let bodies: Vec<usize> = self.links[tree].iter().map(|l| l.body).collect();
        let place = |body: usize| bodies.iter().position(|&b| b == body);
        let (mut constraints, mut indices) = (Vec::new(), Vec::new());
        for (k, c) in self.constraints.iter().enumerate() {
            let (a, b) = (c.a.and_then(place), c.b.and_then(place));
            if a.is_some() || b.is_some() {
                constraints.push(Constraint { a, b, ..c.clone() });
                indices.push(k);
            }
        }
        let (links, link_of, closures) = order(&constraints, bodies.len());
        let bodies = bodies.iter().map(|&i| self.bodies[i].clone()).collect();
        (Self { bodies, constraints, gravity: self.gravity, links, link_of, closures }, indices)
    }

    /// Whether all bodies form one tree that is not attached to the world.
    pub fn floats_as_one(&self) -> bool {
        !self.links.is_empty() && self.links.iter().all(|l| l.root == 0) && self.links[0].constraint.is_none()
    }

    /// Whether any constraint has friction or a motor.
    pub fn is_driven(&self) -> bool {
        self.constraints.iter().any(|c| c.friction != 0.0 || c.motor != 0.0)
    }

    /// The total mass, kilograms.
    pub fn total_mass(&self) -> f64 {
        self.bodies.iter().map(|b| b.mass).sum()
    }

    /// The centre of mass of all bodies, world, metres.
    pub fn centre_of_mass(&self, states: &[BodyState]) -> Vec3 {
        let sum: Vec3 = self.bodies.iter().zip(states).map(|(b, s)| s.position * b.mass).sum();
        sum / self.total_mass()
    }

    /// The linear momentum of all bodies, world, kg m/s.
    pub fn linear_momentum(&self, states: &[BodyState]) -> Vec3 {
        self.bodies.iter().zip(states).map(|(b, s)| s.velocity * b.mass).sum()
    }

    /// The angular momentum of all bodies about the world origin, world axes, kg m^2/s.
    pub fn angular_momentum(&self, states: &[BodyState]) -> Vec3 {
        let of_body = |(b, s): (&Body, &BodyState)| {
            s.position.cross(&(s.velocity * b.mass)) + s.orientation * (b.inertia * s.angular_velocity)
        };
        self.bodies.iter().zip(states).map(of_body).sum()
    }

    /// The kinetic energy of all bodies, joules.
    pub fn kinetic_energy(&self, states: &[BodyState]) -> f64 {
        let of_body = |(b, s): (&Body, &BodyState)| {
            let w = s.angular_velocity;
            0.5 * (b.mass * s.velocity.norm_squared() + w.dot(&(b.inertia * w)))
        };
        self.bodies.iter().zip(states).map(of_body).sum()
    }

    /// The potential energy in uniform gravity, zero at the world origin, joules.
    pub fn potential_energy(&self, states: &[BodyState]) -> f64 {
        // Subtracted from zero: a zero sum gives 0.0, not -0.0.
        0.0 - self.bodies.iter().zip(states).map(|(b, s)| b.mass * self.gravity.dot(&s.position)).sum::<f64>()
    }

    /// The largest violation of a constraint at position level (metres or radians).
    pub fn constraint_error(&self, states: &[BodyState]) -> f64 {
        self.constraints.iter().map(|c| c.error(states)).fold(0.0, f64::max)
    }

    /// The power of friction and motors, watts: the sum of `e . (R_a w_a - R_b w_b)`; negative with friction alone.
    pub fn drive_power(&self, states: &[BodyState]) -> f64 {
        let of_constraint = |c: &Constraint| {
            let (a, b) = (of(states, c.a), of(states, c.b));
            if c.kind == ConstraintKind::Slider {
                let rate = c.rate(states);
                (-c.friction * rate + c.motor) * rate
            } else {
                let relative = a.world_angular_velocity() - b.world_angular_velocity();
                (-relative * c.friction + a.orientation * c.axis_a * hinge_motor(c)).dot(&relative)
            }
        };
        self.constraints.iter().map(of_constraint).sum()
    }

    /// The forces of gravity, friction and motors on every body, without the gyroscopic torque.
    pub fn applied_forces(&self, states: &[BodyState]) -> Vec<BodyForce> {
        self.forces(states, true)
    }

    /// [`Articulation::applied_forces`], with or without the friction of the constraints.
    pub(super) fn forces(&self, states: &[BodyState], with_friction: bool) -> Vec<BodyForce> {
        let mut forces = Vec::new();
        self.write_forces(states, with_friction, &mut forces);
        forces
    }

    /// [`Articulation::forces`], written over `forces`.
    pub(super) fn write_forces(
        &self,
        states: &[BodyState],
        with_friction: bool,
        forces: &mut Vec<BodyForce>,
    ) {
        forces.clear();
        let weight = |b: &Body| BodyForce { force: self.gravity * b.mass, torque: Vec3::zeros() };
        forces.extend(self.bodies.iter().map(weight));
        for c in &self.constraints {
            let friction = if with_friction { c.friction } else { 0.0 };
            if friction == 0.0 && c.motor == 0.0 {
                continue;
            }
            let (a, b) = (of(states, c.a), of(states, c.b));
            if c.kind == ConstraintKind::Slider {
                let axis = a.orientation * c.axis_a;
                let force = axis * (c.motor - friction * axis.dot(&slide_rate(c, &a, &b)));
                // Both forces act at the anchor of `b`, so that their moments cancel.
                let at = b.point(&c.anchor_b);
                for (body, force) in [(c.b, force), (c.a, -force)] {
                    if let Some(i) = body {
                        let more = BodyForce::at_point(&states[i], &at, force);
                        forces[i].force += more.force;
                        forces[i].torque += more.torque;
                    }
                }
                continue;
            }
            let relative = a.world_angular_velocity() - b.world_angular_velocity();
            let e = a.orientation * c.axis_a * hinge_motor(c) - relative * friction;
            if let Some(i) = c.a {
                forces[i].torque += a.orientation.inverse_transform_vector(&e);
            }
            if let Some(i) = c.b {
                forces[i].torque -= b.orientation.inverse_transform_vector(&e);
            }
        }
    }
}

/// The motor torque along the axis of `a`. A ball has no axis and therefore no motor (the note: `z = 0`).
pub(super) fn hinge_motor(c: &Constraint) -> f64 {
    match c.kind {
        ConstraintKind::Ball | ConstraintKind::Fixed => 0.0,
        _ => c.motor,
    }
}

fn check(c: &Constraint, bodies: usize) -> Result<(), ArticulationError> {
    for body in [c.a, c.b].into_iter().flatten() {
        if body >= bodies {
            return Err(ArticulationError::NoSuchBody { constraint: c.name.clone(), body, bodies });
        }
    }
    let wrong = |what| Err(ArticulationError::Number { constraint: c.name.clone(), what });
    if !c.anchor_a.iter().chain(c.anchor_b.iter()).all(|x| x.is_finite()) {
        return wrong("anchor");
    }
    let unit = |v: &Vec3| (v.norm() - 1.0).abs() < 1e-6;
    let needs_axis =
        matches!(c.kind, ConstraintKind::Hinge | ConstraintKind::Slider | ConstraintKind::Universal);
    if needs_axis && !(unit(&c.axis_a) && unit(&c.axis_b)) {
        return wrong("axis (unit length is needed)");
    }
    if !(c.friction.is_finite() && c.friction >= 0.0) {
        return wrong("friction");
    }
    if !c.motor.is_finite() {
        return wrong("motor torque");
    }
    Ok(())
}

/// Depth-first order from the world, then from every body not yet visited: parents before children. The constraints that
/// lead to a body already visited close loops; the third list contains them, ascending.
fn order(constraints: &[Constraint], bodies: usize) -> (Vec<ArticulatedLink>, Vec<usize>, Vec<usize>) {
    let mut at_body: Vec<Vec<usize>> = vec![Vec::new(); bodies];
    let mut at_world = Vec::new();
    for (k, c) in constraints.iter().enumerate() {
        for end in [c.a, c.b] {
            match end {
                Some(i) => at_body[i].push(k),
                None => at_world.push(k),
            }
        }
    }
    let mut links: Vec<ArticulatedLink> = Vec::with_capacity(bodies);
    let mut link_of = vec![usize::MAX; bodies];
    let mut stack: Vec<(usize, Option<usize>, Option<usize>)> = Vec::new();
    let far = |k: usize, from: Option<usize>| {
        if constraints[k].a == from { constraints[k].b } else { constraints[k].a }
    };
    let starts = at_world
        .iter()
        .filter_map(|&k| far(k, None).map(|body| (body, None, Some(k))))
        .chain((0..bodies).map(|body| (body, None, None)));
    for start in starts {
        if link_of[start.0] != usize::MAX {
            continue;
        }
        let root = links.len();
        stack.push(start);
        while let Some((body, parent, constraint)) = stack.pop() {
            if link_of[body] != usize::MAX {
                continue;
            }
            let here = links.len();
            link_of[body] = here;
            let child_is_a = constraint.is_some_and(|k| constraints[k].a == Some(body));
            links.push(ArticulatedLink { body, parent, constraint, child_is_a, root });
            for &k in at_body[body].iter().rev() {
                if Some(k) == constraint {
                    continue;
                }
                // A body that is attached to the world is a root itself.
                if let Some(next) = far(k, Some(body)) {
                    stack.push((next, Some(here), Some(k)));
                }
            }
        }
    }
    let mut in_tree = vec![false; constraints.len()];
    for k in links.iter().filter_map(|l| l.constraint) {
        in_tree[k] = true;
    }
    let closures = (0..constraints.len()).filter(|&k| !in_tree[k]).collect();
    (links, link_of, closures)
}
