//! Velocity-level time stepping: constraint trees are solved exactly, contacts, limits and motors by bounded impulses.
//!
//! Sources: K. Durikovic and K. Numata, "Human Hand Model based on Rigid Body Dynamics", 2004 (velocity-level rows with
//! bounds, motors as rows, ERP and CFM with the sign corrected, see [`BoxedProblem`](super::lcp::BoxedProblem)); D. Baraff 1996 for
//! splitting tree rows from the rest; friction and springs of constraints as implicit resistances, stable at any step
//! (Tan, Liu, Turk 2011). Trees on which nothing of this acts take a variational step (`free_tree.rs`). Steps: contacts; the tree factorised once; velocities without auxiliary impulses; one
//! response per auxiliary row; the boxed problem, warm-started by feature; velocities, positions, projection onto the
//! constraints. Space: world. Units: SI; impulses are forces times the step.

use super::articulated_solver::ArticulationSolver;
use super::articulation::{ArticulatedLink, Articulation};
use super::constraint::{Constraint, of};
use super::constraint_projection::close_constraints;
use super::contact_point::Contact;
use super::drive::{BallDrive, CoordinateLimit, Motor, Pull, Spring, Support};
use super::free_tree::FreeTree;
use super::rigid_body::BodyState;
use super::shape::{Collider, Shape};
use super::shape_contact::contacts_of_pair;
use crate::math::{Transform, Vec3};
use std::collections::BTreeMap;
use std::ops::Range;

/// Settings of a world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WorldSettings {
    /// Error reduction parameter: the fraction of a violation that one step corrects.
    pub erp: f64,
    /// The compliance of auxiliary rows, velocity per impulse.
    pub compliance: f64,
    /// The penetration depth that contacts do not correct, metres.
    pub slop: f64,
    /// Impacts slower than this do not bounce, m/s.
    pub bounce_speed: f64,
    /// Contacts are found within this distance, metres, plus the distance that the bodies travel in a step.
    pub margin: f64,
    /// The most Gauss-Seidel sweeps per step.
    pub sweeps: usize,
    /// Whether friction is limited by a cone instead of a pyramid.
    pub cone: bool,
    /// Whether a step must not raise the energy, for worlds without motors. Velocities that would are all scaled down by
    /// one factor: constraints, contacts and limits still hold, and nothing accelerates.
    pub passive: bool,
    /// Whether the sweeps are followed by an exact solution for the rows that are not at a bound: slower, and equal but
    /// for the last digits.
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
            cone: true,
            passive: false,
            polish: true,
        }
    }
}

/// Bodies, constraints, contacts, and their current state.
#[derive(Clone, Debug)]
pub struct World {
    /// The bodies and the constraints between them.
    pub articulation: Articulation,
    /// The state of every body.
    pub states: Vec<BodyState>,
    /// The shapes that take part in contacts.
    pub colliders: Vec<Collider>,
    /// The motors; their set-points may change between steps.
    pub motors: Vec<Motor>,
    /// The limits of coordinates.
    pub limits: Vec<CoordinateLimit>,
    /// The springs.
    pub springs: Vec<Spring>,
    /// The drives of ball joints; their targets may change between steps.
    pub drives: Vec<BallDrive>,
    /// The pulls; they may change between steps.
    pub pulls: Vec<Pull>,
    /// Points supported by immovable ground, in addition to the contacts; they may change between steps.
    pub supports: Vec<Support>,
    /// The settings.
    pub settings: WorldSettings,
    /// Seconds since the start.
    pub time: f64,
    contacts: Vec<Contact>,
    pub(super) solver: ArticulationSolver,
    /// The links of every tree.
    pub(super) trees: Vec<Range<usize>>,
    /// For each link the index of its tree.
    pub(super) tree_of: Vec<usize>,
    apart: Vec<(usize, usize)>,
    pub(super) memory: BTreeMap<RowKey, f64>,
    /// For each tree its own integrator, from the first step that needs it.
    free: Vec<Option<FreeTree>>,
    /// For each tree how long it has hardly moved, seconds, and whether its next step is skipped.
    pub(super) calm: Vec<f64>,
    /// See above.
    pub(super) asleep: Vec<bool>,
    /// For each tree the pairs of colliders that touched in the last step.
    pub(super) touching: Vec<Vec<[usize; 2]>>,
}

/// The most iterations of the projection onto the constraints after a step; one or two suffice unless a body rotates very
/// fast.
const CLOSING_ROUNDS: usize = 10;

/// Identifies the row of an impulse, so that the next step starts from it.
pub(super) type RowKey = (u8, usize, usize, u32);

impl World {
    /// A world at time zero.
    pub fn new(
        articulation: Articulation,
        states: Vec<BodyState>,
        colliders: Vec<Collider>,
        settings: WorldSettings,
    ) -> Self {
        let solver = ArticulationSolver::new(&articulation);
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
            free: vec![None; trees.len()],
            calm: vec![0.0; trees.len()],
            asleep: vec![false; trees.len()],
            touching: vec![Vec::new(); trees.len()],
            trees,
            tree_of,
            apart,
            memory: BTreeMap::new(),
        }
    }

    /// Disables contacts between the bodies of each constraint tree.
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

    /// World from shape of a collider.
    pub fn placed(&self, collider: &Collider) -> Transform {
        let s = of(&self.states, collider.body);
        Transform::new(s.orientation, s.position) * collider.body_from_shape
    }

    /// Finds the contacts of the current pose and those that may occur within a step of `h` seconds.
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

    /// Advances by `h` seconds with the contacts of the last search.
    pub fn advance(&mut self, h: f64) {
        self.find_resting(h);
        let resistances = self.resistances(h);
        self.solver.factor(&self.articulation, &self.states, &resistances);
        let mut impulses = self.momenta(h);
        self.solver.respond(&impulses, &[]);
        let rows = self.rows(h);
        let free: Vec<f64> = rows.iter().map(|r| self.rate(r)).collect();
        let problem = self.problem(&rows, &free);
        let mut x: Vec<f64> = rows.iter().map(|r| self.memory.get(&r.key).copied().unwrap_or(0.0)).collect();
        problem.solve_islands(&mut x, self.settings.sweeps, self.settings.polish);
        self.forget_awake();
        self.memory.extend(rows.iter().zip(&x).filter(|(_, x)| **x != 0.0).map(|(r, x)| (r.key, *x)));
        for (row, x) in rows.iter().zip(&x) {
            for (link, wrench) in &row.ends {
                impulses[*link].add_scaled(wrench, *x);
            }
        }
        self.solver.respond(&impulses, &[]);
        let before = self.articulation.kinetic_energy(&self.states);
        let mut free = self.free_trees(&rows, &x, h);
        free.iter_mut().zip(&self.asleep).for_each(|(free, asleep)| *free &= !asleep);
        let mut stepped = Vec::new();
        for (tree, free) in free.iter_mut().enumerate() {
            if !*free {
                self.free[tree].iter_mut().for_each(FreeTree::forget);
                continue;
            }
            let new = || FreeTree::new(&self.articulation, self.trees[tree].clone(), &self.states);
            let part = self.free[tree].get_or_insert_with(new);
            match part.step(&self.articulation, &self.states, h) {
                Some(states) => stepped.extend(states),
                None => *free = false,
            }
        }
        let bounces = rows.iter().zip(&x).any(|(row, x)| row.bounces && *x != 0.0) && !self.is_driven();
        let moved: Vec<bool> = free.iter().zip(&self.asleep).map(|(free, asleep)| !free && !asleep).collect();
        let moved_before = if bounces { self.kinetics(&moved, h).0 } else { 0.0 };
        let stays = |k: usize| !moved[self.tree_of[k]];
        for (k, link) in self.articulation.links().iter().enumerate().filter(|(k, _)| !stays(*k)) {
            let motion = self.solver.centre_motion(k);
            let state = &mut self.states[link.body];
            state.velocity = motion.linear;
            state.angular_velocity = state.orientation.inverse_transform_vector(&motion.angular);
        }
        let share = match (self.settings.passive, bounces) {
            (true, _) => self.passive_share(before, h),
            (false, true) => energy_share(self.kinetics(&moved, h), moved_before),
            (false, false) => 1.0,
        };
        for (_, link) in self.articulation.links().iter().enumerate().filter(|(k, _)| !stays(*k)) {
            let state = &mut self.states[link.body];
            if share < 1.0 {
                state.velocity *= share;
                state.angular_velocity *= share;
            }
            state.advance(h);
        }
        for (body, state) in stepped {
            self.states[body] = state;
        }
        for (link, _) in
            self.articulation.links().iter().zip(&self.tree_of).filter(|(_, tree)| self.asleep[**tree])
        {
            let state = &mut self.states[link.body];
            (state.velocity, state.angular_velocity) = (Vec3::zeros(), Vec3::zeros());
        }
        close_constraints(&mut self.solver, &self.articulation, &mut self.states, CLOSING_ROUNDS, 1e-10);
        self.time += h;
    }
}

impl World {
    /// Whether anything may add energy to the world.
    fn is_driven(&self) -> bool {
        let empty = self.motors.is_empty() && self.springs.is_empty() && self.drives.is_empty();
        !empty || !self.pulls.is_empty() || self.articulation.constraints().iter().any(|c| c.motor != 0.0)
    }

    /// The kinetic energy of these trees, and how much energy of position they gain in `h` seconds, joules.
    fn kinetics(&self, trees: &[bool], h: f64) -> (f64, f64) {
        let links = self.articulation.links().iter().zip(&self.tree_of).filter(|(_, tree)| trees[**tree]);
        let of_link = |(link, _): (&ArticulatedLink, _)| {
            let (body, state) = (&self.articulation.bodies()[link.body], &self.states[link.body]);
            let spin = state.angular_velocity;
            let kinetic =
                0.5 * (body.mass * state.velocity.norm_squared() + spin.dot(&(body.inertia * spin)));
            (kinetic, -h * body.mass * self.articulation.gravity.dot(&state.velocity))
        };
        links.map(of_link).fold((0.0, 0.0), |sum, of| (sum.0 + of.0, sum.1 + of.1))
    }

    /// The scale of the velocities with which a step of `h` seconds does not raise the energy, where `before` is the kinetic energy before
    /// the step. The projection onto constraints between bodies changes neither their centre of mass nor the energy.
    fn passive_share(&self, before: f64, h: f64) -> f64 {
        let kinetic = self.articulation.kinetic_energy(&self.states);
        let climb = -h * self.articulation.gravity.dot(&self.articulation.linear_momentum(&self.states));
        energy_share((kinetic, climb), before)
    }
}

/// The scale `s` of velocities with the kinetic energy `kinetic` that raise the energy of position by `climb`, so that both together are
/// `before`: the larger root of `s^2 kinetic + s climb = before`, at most 1.
fn energy_share((kinetic, climb): (f64, f64), before: f64) -> f64 {
    if kinetic + climb <= before {
        return 1.0;
    }
    let root = (climb * climb + 4.0 * kinetic * before).sqrt();
    // Of the two forms of the root the one without cancellation.
    let share = if climb < 0.0 { (root - climb) / (2.0 * kinetic) } else { 2.0 * before / (root + climb) };
    if share.is_finite() { share.min(1.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dynamics::{Body, ConstraintKind, solid};

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
