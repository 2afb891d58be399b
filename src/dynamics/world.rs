//! A world that steps at velocity level: trees of constraints exactly, contacts, limits and motors by bounded
//! impulses.
//!
//! Sources: K. Durikovic and K. Numata, "Human Hand Model based on Rigid Body Dynamics", 2004 (velocity-level rows with
//! bounds, motors as rows, ERP and CFM with the sign corrected, see [`BoxedProblem`]); D. Baraff 1996 for
//! splitting tree rows from the rest; friction and springs of constraints as implicit resistances, stable at any step
//! (Tan, Liu, Turk 2011). Steps: contacts; the tree factorised once; velocities without auxiliary impulses; one
//! response per auxiliary row; the boxed problem, warm-started by feature; velocities, positions, closing of the
//! constraints. Space: world. Units: SI; impulses are forces times the step.

use super::articulation::{Articulation, Link};
use super::body::{Body, BodyState};
use super::constraint::{Constraint, ConstraintKind, of};
use super::contact::{Contact, contacts_of_pair};
use super::drive::{Drive, Pull};
use super::integrate::{close_constraints, momentum};
use super::lcp::BoxedProblem;
use super::rows::{CONTACT_NORMAL, Row, contact_rows, limit_rows, motor_row};
use super::shape::{Collider, Shape};
use super::spatial::Wrench;
use super::tree::{Resistance, Solver};
use crate::math::{Mat3, Transform, Vec3, hat, log};
use std::collections::BTreeMap;
use std::ops::Range;

/// Drives the rate of `b` against `a` of a hinge (rad/s) or slider (m/s), with a bounded torque or force.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Motor {
    /// Which constraint.
    pub constraint: usize,
    /// The wanted rate.
    pub speed: f64,
    /// The largest torque (N m) or force (N), either way.
    pub limit: f64,
}

/// Keeps the coordinate of a hinge (rad) or slider (m) within bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoordinateLimit {
    /// Which constraint.
    pub constraint: usize,
    /// The lower bound.
    pub low: f64,
    /// The upper bound.
    pub high: f64,
}

/// Pulls a hinge, slider or ball towards a coordinate; implicit, so stable at any stiffness.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spring {
    /// Which constraint.
    pub constraint: usize,
    /// N m/rad or N/m.
    pub stiffness: f64,
    /// N m s/rad or N s/m.
    pub damping: f64,
    /// The coordinate of rest; a ball's rest is its first relative orientation.
    pub target: f64,
    /// The rate of the target.
    pub rate: f64,
}

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
    /// The constants.
    pub settings: WorldSettings,
    /// Seconds since the start.
    pub time: f64,
    contacts: Vec<Contact>,
    /// By contact: the normal force of the last step. By pull: its force.
    contact_forces: Vec<f64>,
    pull_forces: Vec<f64>,
    solver: Solver,
    /// The links of every tree.
    trees: Vec<Range<usize>>,
    /// By link: which tree.
    tree_of: Vec<usize>,
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
            settings,
            time: 0.0,
            contacts: Vec::new(),
            contact_forces: Vec::new(),
            pull_forces: Vec::new(),
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

    /// Replaces the contacts of the last search, for callers that know better what touches where.
    pub fn set_contacts(&mut self, contacts: Vec<Contact>) {
        self.contacts = contacts;
    }

    /// The normal force of every contact over the last step, newtons, in the order of [`World::contacts`].
    pub fn contact_forces(&self) -> &[f64] {
        &self.contact_forces
    }

    /// The force (N) or torque (N m) of every pull over the last step.
    pub fn pull_forces(&self) -> &[f64] {
        &self.pull_forces
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
        self.pull_forces = x[..self.pulls.len()].iter().map(|x| x / h).collect();
        let is_normal = |row: &(&Row, &f64)| row.0.key.0 == CONTACT_NORMAL;
        self.contact_forces = rows.iter().zip(&x).filter(is_normal).map(|(_, x)| x / h).collect();
        self.memory = rows.iter().zip(&x).filter(|(_, x)| **x != 0.0).map(|(r, x)| (r.key, *x)).collect();
        for (row, x) in rows.iter().zip(&x) {
            for (link, wrench) in row.ends() {
                impulses[link].add_scaled(&wrench, *x);
            }
        }
        self.solver.respond(&impulses, &[]);
        for (k, link) in self.articulation.links().iter().enumerate() {
            let motion = self.solver.center_motion(k);
            let state = &mut self.states[link.body];
            state.velocity = motion.linear;
            state.angular_velocity = state.orientation.inverse_transform_vector(&motion.angular);
            state.advance(h);
        }
        close_constraints(&mut self.solver, &self.articulation, &mut self.states, CLOSING_ROUNDS, 1e-10);
        self.time += h;
    }

    /// Momenta after the forces of the step, as wrenches about the links' reference points.
    fn momenta(&self, h: f64) -> Vec<Wrench> {
        let forces = self.articulation.forces(&self.states, false);
        let of_link = |(k, link): (usize, &Link)| {
            let body = &self.articulation.bodies()[link.body];
            let mut state = self.states[link.body];
            state.angular_velocity = implicit_gyroscopic(body, &state.angular_velocity, h);
            let to_center = self.solver.to_center(k);
            let mut wrench = momentum(&self.articulation, &state, link.body, to_center);
            let force = &forces[link.body];
            let applied =
                Wrench { moment: state.orientation * force.torque, force: force.force }.about(to_center);
            wrench.add_scaled(&applied, h);
            wrench
        };
        self.articulation.links().iter().enumerate().map(of_link).collect()
    }

    /// Friction and springs of every constraint as implicit resistances of one step.
    fn resistances(&self, h: f64) -> Vec<Resistance> {
        let constraints = self.articulation.constraints();
        let mut all: Vec<Resistance> = constraints
            .iter()
            .map(|c| Resistance { stiffness: h * c.friction, drive: Vec3::zeros() })
            .collect();
        // The link of the constraint is the one whose way up it is.
        let links = self.articulation.links();
        let child_is_a = |k: usize| {
            constraints[k].a.is_some_and(|i| links[self.articulation.link_of(i)].constraint == Some(k))
        };
        for drive in &self.drives {
            let k = drive.constraint;
            drive.resist(self, &constraints[k], child_is_a(k), h, &mut all[k]);
        }
        for spring in &self.springs {
            let c = &constraints[spring.constraint];
            let sign = if child_is_a(spring.constraint) { -1.0 } else { 1.0 };
            let gain = h * (spring.damping + h * spring.stiffness);
            let r = &mut all[spring.constraint];
            r.stiffness += gain;
            if c.kind == ConstraintKind::Ball {
                let (a, b) = (of(&self.states, c.a), of(&self.states, c.b));
                let back = log(&(a.orientation * c.a_from_b * b.orientation.inverse()));
                r.drive += back * (h * spring.stiffness * sign);
            } else {
                let error = c.coordinate(&self.states) - spring.target;
                r.drive.x += (gain * spring.rate - h * spring.stiffness * error) * sign;
            }
        }
        all
    }

    fn rows(&self, h: f64) -> Vec<Row> {
        let mut rows: Vec<Row> = self.pulls.iter().map(|pull| pull.row(self, h)).collect();
        for motor in &self.motors {
            rows.extend(motor_row(self, motor, h));
        }
        for limit in &self.limits {
            rows.extend(limit_rows(self, limit, h));
        }
        for contact in &self.contacts {
            contact_rows(self, contact, h, &mut rows);
        }
        rows
    }

    /// A wrench acting at a world point of a body, about the reference point of its link.
    pub(super) fn at_link(&self, body: usize, point: &Vec3, moment: Vec3, force: Vec3) -> (usize, Wrench) {
        let link = self.articulation.link_of(body);
        let reference = self.states[body].position - self.solver.to_center(link);
        (link, Wrench { moment, force }.about(&(point - reference)))
    }

    /// The velocity along a row after the last response.
    fn rate(&self, row: &Row) -> f64 {
        row.ends().map(|(link, wrench)| self.solver.motion(link).dot(&wrench)).sum()
    }

    fn problem(&mut self, rows: &[Row], free: &[f64]) -> BoxedProblem {
        let mut of_tree: Vec<Vec<usize>> = vec![Vec::new(); self.trees.len()];
        let mut problem = BoxedProblem {
            rows: vec![Vec::new(); rows.len()],
            b: rows.iter().zip(free).map(|(r, v)| v - r.target).collect(),
            bounds: rows.iter().map(|r| r.bound).collect(),
        };
        let mut touched: Vec<Range<usize>> = Vec::new();
        let mut trees: Vec<usize> = Vec::new();
        let mut others: Vec<usize> = Vec::new();
        let mut ends: Vec<(usize, Wrench)> = Vec::new();
        for (i, row) in rows.iter().enumerate() {
            trees.clear();
            ends.clear();
            ends.extend(row.ends());
            for (link, _) in &ends {
                let tree = self.tree_of[*link];
                if !trees.contains(&tree) {
                    trees.push(tree);
                    of_tree[tree].push(i);
                }
            }
            touched.clear();
            touched.extend(trees.iter().map(|&t| self.trees[t].clone()));
            self.solver.respond_to(&touched, &ends);
            others.clear();
            for &t in &trees {
                others.extend(&of_tree[t]);
            }
            others.sort_unstable();
            others.dedup();
            for &j in &others {
                let mut value = 0.0;
                for (link, wrench) in rows[j].ends() {
                    if trees.contains(&self.tree_of[link]) {
                        value += self.solver.motion(link).dot(&wrench);
                    }
                }
                if i == j {
                    problem.rows[i].push((i, value + row.compliance));
                } else if value != 0.0 {
                    problem.rows[i].push((j, value));
                    problem.rows[j].push((i, value));
                }
            }
        }
        problem
    }
}

/// One Newton step of the implicit gyroscopic equation `I (w' - w) + h w' x I w' = 0`, never gaining energy.
fn implicit_gyroscopic(body: &Body, w: &Vec3, h: f64) -> Vec3 {
    let inertia = &body.inertia;
    let spin = inertia * w;
    let slope: Mat3<f64> = inertia + (hat(w) * inertia - hat(&spin)) * h;
    let Some(inverse) = slope.try_inverse() else { return *w };
    let next = w - inverse * w.cross(&spin) * h;
    let (before, after) = (w.dot(&spin), next.dot(&(inertia * next)));
    if after > before { next * (before / after).sqrt() } else { next }
}

/// Stillness, for callers that wait for a scene to settle: the largest speed of any body, m/s and rad/s.
pub fn largest_speed(states: &[BodyState]) -> f64 {
    states.iter().fold(0.0, |m, s| m.max(s.velocity.norm()).max(s.angular_velocity.norm()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dynamics::solid;

    #[test]
    fn the_implicit_gyroscopic_step_is_first_order_and_gains_nothing() {
        let inertia = Mat3::from_diagonal(&Vec3::new(1.0, 2.0, 2.7));
        let body = Body::new("top", 1.0, inertia).unwrap();
        let w = Vec3::new(3.0, -2.0, 5.0);
        let rate = -body.inverse_inertia * w.cross(&(inertia * w));
        for h in [1e-4, 1e-5] {
            let next = implicit_gyroscopic(&body, &w, h);
            assert!(((next - w) / h - rate).norm() < 2e3 * h);
        }
        let violent = implicit_gyroscopic(&body, &(w * 100.0), 0.1);
        assert!(violent.dot(&(inertia * violent)) <= 1e4 * w.dot(&(inertia * w)) * (1.0 + 1e-12));
    }

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
