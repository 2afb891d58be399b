//! A floating tree of bodies linked by balls, in joint coordinates: kinematics, inverse dynamics, implicit velocity steps.
//!
//! Coordinates are those of MuJoCo's free and ball joints: the position of the root's origin in world axes, the rotation of
//! the root (root to world), and for every other body its rotation (child to parent). Rates and forces have the same layout:
//! the linear part of the root in world axes, angular parts in the axes of the body itself. Since bodies follow from the
//! coordinates, links never drift apart. Inverse dynamics is the recursive Newton-Euler algorithm (Featherstone 2008,
//! chapter 5); velocity steps use the factorisation of [`ArticulationSolver`]. Units: SI.

use super::articulated_solver::{ArticulationSolver, Resistance};
use super::articulation::{Articulation, ArticulationError};
use super::constraint::{Constraint, ConstraintKind, matrix};
use super::joint_vector::{JointState, JointVector};
use super::rigid_body::{Body, BodyState};
use super::spatial::Wrench;
use crate::math::{Mat3, Mat6, Quat, Vec3, hat};
use std::ops::Range;

/// One body of the tree.
#[derive(Clone, Debug)]
pub struct BallLink {
    /// Name in messages.
    pub name: String,
    /// The parent body, which comes earlier; `None` for the root, which is the first.
    pub parent: Option<usize>,
    /// The ball's centre in the parent's axes, from the parent's origin, metres. The origin of a body is its ball's centre.
    pub offset: Vec3,
    /// Mass, kilograms.
    pub mass: f64,
    /// Centre of mass from the origin, own axes, metres.
    pub centre: Vec3,
    /// Inertia about the centre of mass, own axes, kg m^2.
    pub inertia: Mat3<f64>,
}

/// The bodies of a tree in one state, world axes.
#[derive(Clone, Debug)]
pub struct Placement {
    /// Body to world.
    pub rotation: Vec<Mat3<f64>>,
    /// The origins.
    pub origin: Vec<Vec3>,
    /// From the origin to the centre of mass.
    to_centre: Vec<Vec3>,
    orientation: Vec<Quat>,
}

impl Placement {
    /// The world position of a point of a body.
    pub fn point(&self, body: usize, at: &Vec3) -> Vec3 {
        self.origin[body] + self.rotation[body] * at
    }

    /// A world position in the axes of a body, from its origin.
    pub fn within(&self, body: usize, at: &Vec3) -> Vec3 {
        self.rotation[body].tr_mul(&(at - self.origin[body]))
    }
}

/// The tree and the workspace of its solver.
#[derive(Clone, Debug)]
pub struct BallTree {
    links: Vec<BallLink>,
    articulation: Articulation,
    solver: ArticulationSolver,
    states: Vec<BodyState>,
    /// Link numbers of the articulation, by body.
    link_of: Vec<usize>,
}

impl BallTree {
    /// A tree of these bodies, parents first.
    ///
    /// # Errors
    /// [`ArticulationError`] where an offset is not finite.
    pub fn new(links: Vec<BallLink>) -> Result<Self, ArticulationError> {
        let body = |l: &BallLink| Body::new(l.name.clone(), l.mass, l.inertia);
        let bodies: Vec<Body> = links.iter().filter_map(|l| body(l).ok()).collect();
        let impossible = || ArticulationError::Number { constraint: "body".into(), what: "mass or inertia" };
        if bodies.len() != links.len() {
            return Err(impossible());
        }
        let states = vec![BodyState::at_rest(Vec3::zeros(), Quat::identity()); links.len()];
        let ball = |(k, link): (usize, &BallLink)| {
            let parent = link.parent?;
            let mut ball = Constraint::in_pose(
                link.name.clone(),
                ConstraintKind::Ball,
                (Some(parent), &states[parent]),
                (Some(k), &states[k]),
                &Vec3::zeros(),
                &Vec3::zeros(),
                &Vec3::zeros(),
            );
            ball.anchor_a = link.offset - links[parent].centre;
            ball.anchor_b = -link.centre;
            Some(ball)
        };
        let balls = links.iter().enumerate().filter_map(ball).collect();
        let articulation = Articulation::new(bodies, balls, Vec3::zeros())?;
        if !articulation.floats_as_one() {
            return Err(impossible());
        }
        let link_of = (0..links.len()).map(|body| articulation.link_of(body)).collect();
        let solver = ArticulationSolver::new(&articulation);
        Ok(Self { links, articulation, solver, states, link_of })
    }

    /// The bodies.
    #[cfg(any(test, feature = "formats"))]
    pub fn links(&self) -> &[BallLink] {
        &self.links
    }

    /// The bodies in a state.
    pub fn place(&self, state: &JointState) -> Placement {
        let n = self.links.len();
        let mut placed = Placement {
            rotation: Vec::with_capacity(n),
            origin: Vec::with_capacity(n),
            to_centre: Vec::with_capacity(n),
            orientation: Vec::with_capacity(n),
        };
        for (link, q) in self.links.iter().zip(&state.rotations) {
            let (orientation, origin) = match link.parent {
                None => (*q, state.position),
                Some(p) => (placed.orientation[p] * q, placed.point(p, &link.offset)),
            };
            let rotation = matrix(&orientation);
            placed.orientation.push(orientation);
            placed.rotation.push(rotation);
            placed.origin.push(origin);
            placed.to_centre.push(rotation * link.centre);
        }
        placed
    }

    /// The wrenches that move the bodies, about their origins, in world axes: with these rates, this acceleration, and
    /// gravity (an acceleration, world) to be held against.
    pub fn wrenches(
        &self,
        placed: &Placement,
        rates: &JointVector,
        acceleration: &JointVector,
        gravity: &Vec3,
    ) -> Vec<Wrench> {
        let n = self.links.len();
        // Angular velocity, angular acceleration, and acceleration of the origin, by body.
        let mut moving: Vec<[Vec3; 3]> = Vec::with_capacity(n);
        let mut wrenches = Vec::with_capacity(n);
        for (k, link) in self.links.iter().enumerate() {
            let r = &placed.rotation[k];
            let (own, own_change) = (r * rates.angular[k], r * acceleration.angular[k]);
            let [w, dw, a] = match link.parent {
                None => [own, own_change, acceleration.linear - gravity],
                Some(p) => {
                    let [wp, dwp, ap] = moving[p];
                    let arm = placed.origin[k] - placed.origin[p];
                    let a = ap + dwp.cross(&arm) + wp.cross(&wp.cross(&arm));
                    [wp + own, dwp + own_change + wp.cross(&own), a]
                }
            };
            moving.push([w, dw, a]);
            let d = &placed.to_centre[k];
            let force = (a + dw.cross(d) + w.cross(&w.cross(d))) * link.mass;
            let inside = r.tr_mul(&w);
            let spin = link.inertia * r.tr_mul(&dw) + inside.cross(&(link.inertia * inside));
            wrenches.push(Wrench { moment: r * spin + d.cross(&force), force });
        }
        wrenches
    }

    /// The generalised force of wrenches on the bodies, about their origins; `wrenches` is used up.
    pub fn gathered(&self, placed: &Placement, mut wrenches: Vec<Wrench>) -> JointVector {
        let mut force = JointVector::zeros(self.links.len());
        for (k, link) in self.links.iter().enumerate().rev() {
            let own = wrenches[k];
            force.angular[k] = placed.rotation[k].tr_mul(&own.moment);
            match link.parent {
                Some(p) => {
                    let arm = placed.origin[k] - placed.origin[p];
                    wrenches[p].add_scaled(&own.about(&arm), 1.0);
                }
                None => force.linear = own.force,
            }
        }
        force
    }

    /// The generalised force of the accelerations, gyroscopic effects and gravity: inverse dynamics.
    pub fn inverse_dynamics(
        &self,
        placed: &Placement,
        rates: &JointVector,
        acceleration: &JointVector,
        gravity: &Vec3,
    ) -> JointVector {
        self.gathered(placed, self.wrenches(placed, rates, acceleration, gravity))
    }

    /// The generalised force of forces at points: body, position and force, world.
    pub fn of_forces(&self, placed: &Placement, forces: &[(usize, Vec3, Vec3)]) -> JointVector {
        let mut wrenches = vec![Wrench::default(); self.links.len()];
        for (body, at, force) in forces {
            let arm = at - placed.origin[*body];
            wrenches[*body].add_scaled(&Wrench { moment: arm.cross(force), force: *force }, 1.0);
        }
        self.gathered(placed, wrenches)
    }

    /// The inertia of the whole tree, rigid, about the root's origin: maps (linear, angular) of the root to force and moment,
    /// world axes.
    pub fn root_inertia(&self, placed: &Placement) -> Mat6<f64> {
        let (mut mass, mut first, mut second) = (0.0, Vec3::zeros(), Mat3::zeros());
        for (k, link) in self.links.iter().enumerate() {
            let r = &placed.rotation[k];
            let c = placed.origin[k] + placed.to_centre[k] - placed.origin[0];
            mass += link.mass;
            first += c * link.mass;
            let away = Mat3::identity() * c.norm_squared() - c * c.transpose();
            second += r * link.inertia * r.transpose() + away * link.mass;
        }
        let mut whole = Mat6::zeros();
        let coupling = hat(&first);
        whole.fixed_view_mut::<3, 3>(0, 0).copy_from(&(Mat3::identity() * mass));
        whole.fixed_view_mut::<3, 3>(0, 3).copy_from(&-coupling);
        whole.fixed_view_mut::<3, 3>(3, 0).copy_from(&coupling);
        whole.fixed_view_mut::<3, 3>(3, 3).copy_from(&second);
        whole
    }

    /// The change of rates under a generalised impulse, where every ball resists with `gain` (impulse per rate, by body).
    /// The factorisation stays for [`BallTree::respond`].
    pub fn step(&mut self, placed: &Placement, gains: &[f64], impulse: &JointVector) -> JointVector {
        for (k, state) in self.states.iter_mut().enumerate() {
            state.orientation = placed.orientation[k];
            state.position = placed.origin[k] + placed.to_centre[k];
        }
        let resistance =
            |k: usize| Resistance { gain: gains[k], drive: placed.rotation[k] * impulse.angular[k] };
        let resistances: Vec<Resistance> = (1..self.links.len()).map(resistance).collect();
        self.solver.factor(&self.articulation, &self.states, &resistances);
        let mut wrenches = vec![Wrench::default(); self.links.len()];
        // The solver's root is referred to its centre of mass.
        let moment = placed.rotation[0] * impulse.angular[0] - placed.to_centre[0].cross(&impulse.linear);
        wrenches[self.link_of[0]] = Wrench { moment, force: impulse.linear };
        self.solver.respond(&wrenches, &[]);
        self.rates(placed)
    }

    /// The links of these bodies and of all those between them and the root.
    pub fn paths(&self, bodies: impl Iterator<Item = usize>) -> Vec<Range<usize>> {
        let mut on_path = vec![false; self.links.len()];
        for body in bodies {
            let up = std::iter::successors(Some(body), |&body| self.links[body].parent);
            up.for_each(|body| on_path[self.link_of[body]] = true);
        }
        let mut paths: Vec<Range<usize>> = Vec::new();
        for link in (0..on_path.len()).filter(|&link| on_path[link]) {
            match paths.last_mut().filter(|path| path.end == link) {
                Some(path) => path.end += 1,
                None => paths.push(link..link + 1),
            }
        }
        paths
    }

    /// Computes the motion under impulses at points (body, position, impulse; world), in the pose of the last
    /// [`BallTree::step`]; it is read by [`BallTree::velocity_at`] and [`BallTree::rates`].
    pub fn respond(&mut self, placed: &Placement, impulses: impl Iterator<Item = (usize, Vec3, Vec3)>) {
        self.respond_on(std::slice::from_ref(&(0..self.links.len())), placed, impulses);
    }

    /// The same for the bodies on some paths alone, which all impulses are on.
    pub fn respond_on(
        &mut self,
        paths: &[Range<usize>],
        placed: &Placement,
        impulses: impl Iterator<Item = (usize, Vec3, Vec3)>,
    ) {
        let wrench = |(body, at, impulse): (usize, Vec3, Vec3)| {
            let arm = at - self.reference(placed, body);
            (self.link_of[body], Wrench { moment: arm.cross(&impulse), force: impulse })
        };
        let wrenches: Vec<(usize, Wrench)> = impulses.map(wrench).collect();
        self.solver.respond_to(paths, &wrenches);
    }

    /// The point of a body that the solver refers its motion to.
    fn reference(&self, placed: &Placement, body: usize) -> Vec3 {
        let at_centre = if body == 0 { placed.to_centre[0] } else { Vec3::zeros() };
        placed.origin[body] + at_centre
    }

    /// The velocity of a point (world) of a body in the last motion.
    pub fn velocity_at(&self, placed: &Placement, body: usize, at: &Vec3) -> Vec3 {
        self.solver.motion(self.link_of[body]).at(&(at - self.reference(placed, body))).linear
    }

    /// The rates of the last motion.
    pub fn rates(&self, placed: &Placement) -> JointVector {
        let angular = |k: usize| {
            let own = self.solver.motion(self.link_of[k]).angular;
            let above = self.links[k].parent.map(|p| self.solver.motion(self.link_of[p]).angular);
            placed.rotation[k].tr_mul(&(own - above.unwrap_or_default()))
        };
        JointVector {
            linear: self.velocity_at(placed, 0, &placed.origin[0]),
            angular: (0..self.links.len()).map(angular).collect(),
        }
    }

    /// The velocities of points (body, world position) with these rates.
    pub fn point_velocities(
        &self,
        placed: &Placement,
        rates: &JointVector,
        points: &[(usize, Vec3)],
    ) -> Vec<Vec3> {
        let mut moving: Vec<[Vec3; 2]> = Vec::with_capacity(self.links.len());
        for (k, link) in self.links.iter().enumerate() {
            let own = placed.rotation[k] * rates.angular[k];
            moving.push(match link.parent {
                None => [own, rates.linear],
                Some(p) => {
                    let [w, v] = moving[p];
                    [w + own, v + w.cross(&(placed.origin[k] - placed.origin[p]))]
                }
            });
        }
        let velocity = |(body, at): &(usize, Vec3)| {
            let [w, v] = moving[*body];
            v + w.cross(&(at - placed.origin[*body]))
        };
        points.iter().map(velocity).collect()
    }

    /// Mass, kilograms.
    pub fn mass(&self) -> f64 {
        self.articulation.total_mass()
    }

    /// Linear momentum with these rates, and kinetic energy, world axes.
    pub fn momentum_and_energy(&self, placed: &Placement, rates: &JointVector) -> (Vec3, f64) {
        let centres: Vec<(usize, Vec3)> =
            (0..self.links.len()).map(|k| (k, placed.origin[k] + placed.to_centre[k])).collect();
        let (mut momentum, mut energy) = (Vec3::zeros(), 0.0);
        let mut spins: Vec<Vec3> = Vec::with_capacity(self.links.len());
        for (k, v) in self.point_velocities(placed, rates, &centres).into_iter().enumerate() {
            let link = &self.links[k];
            let above = link.parent.map(|p| spins[p]).unwrap_or_default();
            spins.push(above + placed.rotation[k] * rates.angular[k]);
            let inside = placed.rotation[k].tr_mul(&spins[k]);
            momentum += v * link.mass;
            energy += 0.5 * (link.mass * v.norm_squared() + inside.dot(&(link.inertia * inside)));
        }
        (momentum, energy)
    }

    /// The centre of mass of the whole tree, world, metres.
    pub fn centre_of_mass(&self, placed: &Placement) -> Vec3 {
        let weighted = |(k, link): (usize, &BallLink)| (placed.origin[k] + placed.to_centre[k]) * link.mass;
        self.links.iter().enumerate().map(weighted).sum::<Vec3>() / self.mass()
    }
}
