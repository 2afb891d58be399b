//! A world that steps at velocity level: trees of constraints exactly, contacts, limits and motors by bounded
//! impulses.
//!
//! Sources: K. Durikovic and K. Numata, "Human Hand Model based on Rigid Body Dynamics", 2004 (velocity-level rows with
//! bounds, motors as rows, ERP and CFM with the sign corrected, see [`BoxedProblem`](super::BoxedProblem)); D. Baraff 1996 for
//! splitting tree rows from the rest; friction and springs of constraints as implicit resistances, stable at any step
//! (Tan, Liu, Turk 2011). Steps: contacts; the tree factorised once; velocities without auxiliary impulses; one
//! response per auxiliary row; the boxed problem, warm-started by feature; velocities, positions, closing of the
//! constraints. Space: world. Units: SI; impulses are forces times the step.

use super::articulation::Articulation;
use super::body::BodyState;
use super::constraint::{Constraint, of};
use super::contact::{Contact, contacts_of_pair};
use super::drive::{CoordinateLimit, Drive, Motor, Pull, Spring};
use super::project::close_constraints;
use super::rows::Support;
use super::shape::{Collider, Shape};
use super::tree::Solver;
use crate::math::Transform;
use std::collections::BTreeMap;
use std::ops::Range;

/// The constants of a world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WorldSettings {
    /// Error reduction parameter: the part of a violation that one step takes back.
    pub erp: f64,
    /// The compliance of auxiliary rows, velocity per impulse.
    pub compliance: f64,
    /// The depth in metres that contacts leave alone.
    pub slop: f64,
    /// Slower impacts (m/s) do not bounce.
    pub bounce_speed: f64,
    /// Contacts are found this far ahead in metres, besides what the bodies cover in a step.
    pub margin: f64,
    /// The most Gauss-Seidel sweeps of a step.
    pub sweeps: usize,
    /// Friction held to a cone instead of a pyramid.
    pub cone: bool,
    /// Whether a step may not raise the energy, for worlds that nothing drives. Velocities that would are shortened, all by
    /// one factor: then constraints, contacts and limits hold as before, and nothing is made faster.
    pub passive: bool,
    /// Whether the sweeps are followed by an exact solution of the rows that they leave free: slower, and the same to
    /// the last digits.
    pub polish: bool,
}

impl Default for WorldSettings {
    fn default() -> Self {
        Self {
            erp: 0.2,
            compliance: 1e-7,
            slop: 2e-4,
            bounce_speed: 0.1,
            margin: 1e-3,
            sweeps: 150,
            cone: false,
            passive: false,
            polish: true,
        }
    }
}

/// Bodies, what links them, what they touch, and the instant.
#[derive(Clone, Debug)]
pub struct World {
    /// The bodies and the constraints between them.
    pub articulation: Articulation,
    /// The instant of every body.
    pub states: Vec<BodyState>,
    /// What can touch.
    pub colliders: Vec<Collider>,
    /// The motors; their set-points may change between steps.
    pub motors: Vec<Motor>,
    /// The bounds of coordinates.
    pub limits: Vec<CoordinateLimit>,
    /// The springs.
    pub springs: Vec<Spring>,
    /// The drives of balls; their targets may change between steps.
    pub drives: Vec<Drive>,
    /// The pulls; they may change between steps.
    pub pulls: Vec<Pull>,
    /// Points that stand on immovable ground besides the contacts; they may change between steps.
    pub supports: Vec<Support>,
    /// The constants.
    pub settings: WorldSettings,
    /// Seconds since the start.
    pub time: f64,
    contacts: Vec<Contact>,
    pub(super) solver: Solver,
    /// The links of every tree.
    pub(super) trees: Vec<Range<usize>>,
    /// By link: which tree.
    pub(super) tree_of: Vec<usize>,
    apart: Vec<(usize, usize)>,
    memory: BTreeMap<RowKey, f64>,
}

/// Rounds of the closing of constraints after a step; one or two are used unless a body turns wildly.
const CLOSING_ROUNDS: usize = 10;

/// What an impulse belongs to, so that the next step starts from it.
pub(super) type RowKey = (u8, usize, usize, u32);

impl World {
    /// A world at time zero.
    pub fn new(
        articulation: Articulation,
        states: Vec<BodyState>,
        colliders: Vec<Collider>,
        settings: WorldSettings,
    ) -> Self {
        let solver = Solver::new(&articulation);
        let mut trees: Vec<Range<usize>> = Vec::new();
        let mut tree_of = Vec::new();
        for (i, link) in articulation.links().iter().enumerate() {
            if link.root == i {
                trees.push(i..i);
            }
            tree_of.push(trees.len() - 1);
            if let Some(last) = trees.last_mut() {
                last.end = i + 1;
            }
        }
        let linked = |c: &Constraint| Some((c.a?.min(c.b?), c.a?.max(c.b?)));
        let apart = articulation.constraints().iter().filter_map(linked).collect();
        Self {
            articulation,
            states,
            colliders,
            motors: Vec::new(),
            limits: Vec::new(),
            springs: Vec::new(),
            drives: Vec::new(),
            pulls: Vec::new(),
            supports: Vec::new(),
            settings,
            time: 0.0,
            contacts: Vec::new(),
            solver,
            trees,
            tree_of,
            apart,
            memory: BTreeMap::new(),
        }
    }

    /// Lets two bodies pass through each other; bodies with a common constraint always do.
    pub fn ignore_pair(&mut self, a: usize, b: usize) {
        self.apart.push((a.min(b), a.max(b)));
    }

    /// Lets all bodies of one tree of constraints pass through each other.
    pub fn ignore_within_trees(&mut self) {
        let links = self.articulation.links();
        for range in &self.trees {
            for i in range.clone() {
                for j in i + 1..range.end {
                    let (a, b) = (links[i].body, links[j].body);
                    self.apart.push((a.min(b), a.max(b)));
                }
            }
        }
    }

    /// The contacts of the last search.
    pub fn contacts(&self) -> &[Contact] {
        &self.contacts
    }

    /// Kinetic plus potential energy, joules.
    pub fn energy(&self) -> f64 {
        self.articulation.kinetic_energy(&self.states) + self.articulation.potential_energy(&self.states)
    }

    /// One step of `h` seconds: [`World::find_contacts`], then [`World::advance`].
    pub fn step(&mut self, h: f64) {
        self.find_contacts(h);
        self.advance(h);
    }

    /// Where a collider is in the world.
    pub fn placed(&self, collider: &Collider) -> Transform {
        let s = of(&self.states, collider.body);
        Transform::new(s.orientation, s.position) * collider.body_from_shape
    }

    /// Finds the contacts of the present pose, with those that a step of `h` seconds may bring.
    pub fn find_contacts(&mut self, h: f64) {
        let placed: Vec<Transform> = self.colliders.iter().map(|c| self.placed(c)).collect();
        let speed = |c: &Collider| {
            let s = of(&self.states, c.body);
            s.velocity.norm()
                + s.angular_velocity.norm() * (c.shape.reach() + c.body_from_shape.translation.norm())
        };
        let speeds: Vec<f64> = self
            .colliders
            .iter()
            .map(|c| if c.body.is_some() && c.shape != Shape::Plane { speed(c) } else { 0.0 })
            .collect();
        let mut contacts = Vec::new();
        for i in 0..self.colliders.len() {
            for j in i + 1..self.colliders.len() {
                let (a, b) = (&self.colliders[i], &self.colliders[j]);
                if a.body == b.body {
                    continue;
                }
                if let (Some(x), Some(y)) = (a.body, b.body)
                    && self.apart.contains(&(x.min(y), x.max(y)))
                {
                    continue;
                }
                let margin = self.settings.margin + h * (speeds[i] + speeds[j]);
                let reach = a.shape.reach() + b.shape.reach() + margin;
                if (placed[i].translation - placed[j].translation).norm() > reach {
                    continue;
                }
                contacts_of_pair((i, (a, &placed[i])), (j, (b, &placed[j])), margin, &mut contacts);
            }
        }
        self.contacts = contacts;
    }

    /// Advances by `h` seconds under the contacts of the last search.
    pub fn advance(&mut self, h: f64) {
        let resistances = self.resistances(h);
        self.solver.factor(&self.articulation, &self.states, &resistances);
        let mut impulses = self.momenta(h);
        self.solver.respond(&impulses, &[]);
        let rows = self.rows(h);
        let free: Vec<f64> = rows.iter().map(|r| self.rate(r)).collect();
        let problem = self.problem(&rows, &free);
        let mut x: Vec<f64> = rows.iter().map(|r| self.memory.get(&r.key).copied().unwrap_or(0.0)).collect();
        if self.settings.polish {
            problem.solve(&mut x, self.settings.sweeps);
        } else {
            problem.gauss_seidel(&mut x, self.settings.sweeps, 1e-6);
        }
        self.memory = rows.iter().zip(&x).filter(|(_, x)| **x != 0.0).map(|(r, x)| (r.key, *x)).collect();
        for (row, x) in rows.iter().zip(&x) {
            for (link, wrench) in &row.ends {
                impulses[*link].add_scaled(wrench, *x);
            }
        }
        self.solver.respond(&impulses, &[]);
        let before = self.articulation.kinetic_energy(&self.states);
        for (k, link) in self.articulation.links().iter().enumerate() {
            let motion = self.solver.center_motion(k);
            let state = &mut self.states[link.body];
            state.velocity = motion.linear;
            state.angular_velocity = state.orientation.inverse_transform_vector(&motion.angular);
        }
        let share = if self.settings.passive { self.passive_share(before, h) } else { 1.0 };
        for state in &mut self.states {
            if share < 1.0 {
                state.velocity *= share;
                state.angular_velocity *= share;
            }
            state.advance(h);
        }
        close_constraints(&mut self.solver, &self.articulation, &mut self.states, CLOSING_ROUNDS, 1e-10);
        self.time += h;
    }
}

impl World {
    /// The part `s` of the velocities with which a step of `h` seconds leaves no more energy than there was, `before` of it
    /// kinetic: the larger root of `s^2 K + s h dP/dt = before`, at most 1. The closing of constraints between bodies
    /// leaves their centre of mass where it is, and the energy as it is.
    fn passive_share(&self, before: f64, h: f64) -> f64 {
        let kinetic = self.articulation.kinetic_energy(&self.states);
        let climb = -h * self.articulation.gravity.dot(&self.articulation.linear_momentum(&self.states));
        if kinetic + climb <= before {
            return 1.0;
        }
        let root = (climb * climb + 4.0 * kinetic * before).sqrt();
        // The one of two forms in which nothing cancels.
        let share =
            if climb < 0.0 { (root - climb) / (2.0 * kinetic) } else { 2.0 * before / (root + climb) };
        if share.is_finite() { share.min(1.0) } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dynamics::{Body, ConstraintKind, solid};
    use crate::math::Vec3;

    #[test]
    fn force_mixing_slows_and_never_reverses() {
        // Corrected sign: v+ = C v / (h/m + C), here with the compliance in velocity per impulse, C / h.
        let (m, v0) = (2.0, 1.0);
        let body = Body::new("b", m, solid::sphere(m, 0.1)).unwrap();
        for compliance in [0.1, 1.0, 10.0] {
            let mut state = BodyState::at_rest(Vec3::zeros(), crate::math::Quat::identity());
            state.velocity = Vec3::x() * v0;
            let slider = Constraint::in_pose(
                "s",
                ConstraintKind::Slider,
                (None, &of(&[], None)),
                (Some(0), &state),
                &Vec3::zeros(),
                &Vec3::x(),
                &Vec3::x(),
            );
            let articulation = Articulation::new(vec![body.clone()], vec![slider], Vec3::zeros()).unwrap();
            let settings = WorldSettings { compliance, ..Default::default() };
            let mut world = World::new(articulation, vec![state], Vec::new(), settings);
            world.motors.push(Motor { constraint: 0, speed: 0.0, limit: f64::INFINITY });
            world.step(0.01);
            let wanted = compliance * v0 / (1.0 / m + compliance);
            assert!((world.states[0].velocity.x - wanted).abs() < 1e-9, "{}", world.states[0].velocity.x);
        }
    }
}
