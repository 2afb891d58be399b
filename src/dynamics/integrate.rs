//! Steps in time for articulations without contacts, and what keeps them from drifting.
//!
//! Sources: the step of Hakenberg's note; the classic fourth-order Runge-Kutta method on `(p, q, v, omega)`;
//! Lie-group RATTLE (Leok, Lee, McClamroch 2007) for the variational step. After a step the pose is projected
//! onto the constraints and the velocities onto their tangent, both orthogonally in the mass metric; a free
//! skeleton may have its momenta and energy restored exactly by splitting the velocity into the rigid motion of
//! the locked skeleton and an internal rest. Space and units as in [`BodyState`].

use super::articulation::Articulation;
use super::body::{BodyAcceleration, BodyForce, BodyState};
use super::spatial::{Sym3, Twist, Wrench};
use super::tree::{Solver, closing_twist};
use crate::math::{Mat3, Quat, RawQuat, Vec3, exp, hat};

/// How a state is carried over one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Integrator {
    /// The note's own: `v += h a`, `p += h v`, `omega += h omega'`, `R = R exp(h omega)`. First order; keeps linear
    /// momentum only. For comparison.
    Note,
    /// Fourth order; the default for passive motion, at 1/120 s.
    RungeKutta4,
    /// Lie-group RATTLE: second order, time-reversible; keeps momenta and constraints to solver tolerance at any
    /// step, and the energy error bounded.
    Variational,
}

/// What is done after a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stabilization {
    /// Nothing: the joints drift apart.
    None,
    /// Poses and velocities are projected onto the constraints.
    Project,
    /// Projected; and where one free skeleton moves without contacts, its momenta (and, without friction and
    /// motors, its energy) are restored exactly.
    Restore,
}

/// The conserved quantities of a free skeleton at the start, and the time since then.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Conserved {
    linear: Vec3,
    /// About the centre of mass.
    angular: Vec3,
    center: Vec3,
    energy: Option<f64>,
    elapsed: f64,
}

/// Carries the states of one articulation through time.
#[derive(Clone, Debug)]
pub struct Stepper {
    solver: Solver,
    integrator: Integrator,
    stabilization: Stabilization,
    conserved: Option<Conserved>,
    accelerations: Vec<BodyAcceleration>,
    /// How often the energy could not be restored: the scale left 0.9 to 1.1.
    pub refused_scalings: usize,
}

/// Rounds of Newton's method of one position projection.
const PROJECTION_ROUNDS: usize = 4;
/// The residual at which a projection stops, metres and radians.
const PROJECTION_TOLERANCE: f64 = 1e-14;
/// Rounds of the chord iteration for the variational step's multipliers.
const VARIATIONAL_ROUNDS: usize = 60;

impl Stepper {
    /// A stepper that holds the momenta and the energy of `states` where `stabilization` says so.
    pub fn new(
        articulation: &Articulation,
        states: &[BodyState],
        integrator: Integrator,
        stabilization: Stabilization,
    ) -> Self {
        let hold = stabilization == Stabilization::Restore && articulation.floats_as_one();
        let conserved = hold.then(|| {
            let center = articulation.center_of_mass(states);
            let linear = articulation.linear_momentum(states);
            let energy = articulation.kinetic_energy(states) + articulation.potential_energy(states);
            Conserved {
                linear,
                angular: articulation.angular_momentum(states) - center.cross(&linear),
                center,
                energy: (!articulation.is_driven()).then_some(energy),
                elapsed: 0.0,
            }
        });
        Self {
            solver: Solver::new(articulation),
            integrator,
            stabilization,
            conserved,
            accelerations: Vec::new(),
            refused_scalings: 0,
        }
    }

    /// Advances `states` by `h` seconds.
    pub fn step(&mut self, articulation: &Articulation, states: &mut [BodyState], h: f64) {
        match self.integrator {
            Integrator::Note => self.note(articulation, states, h),
            Integrator::RungeKutta4 => self.runge_kutta(articulation, states, h),
            Integrator::Variational => self.variational(articulation, states, h),
        }
        if self.stabilization != Stabilization::None {
            project_positions(&mut self.solver, articulation, states);
            project_velocities(&mut self.solver, articulation, states);
        }
        self.restore(articulation, states, h);
    }

    fn accelerate(&mut self, articulation: &Articulation, states: &[BodyState]) {
        let forces = articulation.applied_forces(states);
        self.solver.accelerations(articulation, states, &forces, &mut self.accelerations);
    }

    fn note(&mut self, articulation: &Articulation, states: &mut [BodyState], h: f64) {
        self.accelerate(articulation, states);
        for (state, a) in states.iter_mut().zip(&self.accelerations) {
            state.velocity += a.linear * h;
            state.angular_velocity += a.angular * h;
            state.advance(h);
        }
    }

    fn runge_kutta(&mut self, articulation: &Articulation, states: &mut [BodyState], h: f64) {
        let start = states.to_vec();
        let mut sum = vec![Rate::zero(); states.len()];
        let mut stage = start.clone();
        for (weight, next) in [(1.0, Some(0.5)), (2.0, Some(0.5)), (2.0, Some(1.0)), (1.0, None)] {
            self.accelerate(articulation, &stage);
            for i in 0..stage.len() {
                let rate = Rate::of(&stage[i], &self.accelerations[i]);
                sum[i].add(&rate, weight / 6.0);
                if let Some(c) = next {
                    stage[i] = rate.applied(&start[i], c * h);
                }
            }
        }
        for i in 0..states.len() {
            states[i] = sum[i].applied(&start[i], h);
        }
    }

    /// Half a kick with the constraint forces of the start, the free rotation exactly by its discrete equation,
    /// the multipliers by a chord iteration on the constraints of the end, the second half kick, and a projection
    /// of the velocities.
    fn variational(&mut self, articulation: &Articulation, states: &mut [BodyState], h: f64) {
        let bodies = articulation.bodies();
        self.accelerate(articulation, states);
        // The first guess: the momenta half a step on, constraint forces included, without the gyroscopic torque.
        let mut half: Vec<(Vec3, Vec3)> = (0..states.len())
            .map(|i| {
                let (b, s, a) = (&bodies[i], &states[i], &self.accelerations[i]);
                let spin = b.inertia * s.angular_velocity;
                let torque = b.inertia * a.angular + s.angular_velocity.cross(&spin);
                ((s.velocity + a.linear * (0.5 * h)) * b.mass, spin + torque * (0.5 * h))
            })
            .collect();
        let start = states.to_vec();
        self.solver.factor(articulation, &start, &[]);
        let nothing = vec![Wrench::zero(); states.len()];
        let mut turns = vec![Vec3::zeros(); states.len()];
        let mut best = f64::INFINITY;
        for _ in 0..VARIATIONAL_ROUNDS {
            for (i, state) in states.iter_mut().enumerate() {
                let (linear, angular) = half[i];
                turns[i] = discrete_turn(&bodies[i].inertia, &bodies[i].inverse_inertia, &(angular * h));
                state.position = start[i].position + linear * (h / bodies[i].mass);
                state.orientation = start[i].orientation * exp(&turns[i]);
            }
            let error = articulation.constraint_error(states);
            // The iteration contracts until rounding: it has converged when it stops getting better.
            if error < PROJECTION_TOLERANCE || (error < 1e-12 && error >= best) {
                break;
            }
            best = error;
            let closing = self.solver.closing(articulation, states);
            self.solver.respond(&nothing, &closing);
            for (k, link) in articulation.links().iter().enumerate() {
                // The displacement that closes the constraints, as a change of the momenta half a step on.
                let shift = self.solver.center_motion(k);
                let i = link.body;
                let turn = start[i].orientation.inverse_transform_vector(&shift.angular);
                half[i].0 += shift.linear * (bodies[i].mass / h);
                half[i].1 += bodies[i].inertia * turn / h;
            }
        }
        for (i, state) in states.iter_mut().enumerate() {
            let b = &bodies[i];
            state.orientation.renormalize();
            state.velocity = half[i].0 / b.mass;
            let carried = exp(&turns[i]).inverse_transform_vector(&half[i].1);
            state.angular_velocity = b.inverse_inertia * carried;
        }
        let forces = articulation.applied_forces(states);
        for (i, state) in states.iter_mut().enumerate() {
            state.velocity += forces[i].force * (0.5 * h / bodies[i].mass);
            state.angular_velocity += bodies[i].inverse_inertia * forces[i].torque * (0.5 * h);
        }
        project_velocities(&mut self.solver, articulation, states);
    }

    /// Sets momenta and energy to what they should be; every constraint still holds, because a rigid motion of the
    /// whole satisfies all of them, and the rest is only scaled.
    fn restore(&mut self, articulation: &Articulation, states: &mut [BodyState], h: f64) {
        let Some(wanted) = &mut self.conserved else { return };
        let (bodies, mass, gravity) =
            (articulation.bodies(), articulation.total_mass(), articulation.gravity);
        wanted.elapsed += h;
        let (mut wanted, t) = (*wanted, wanted.elapsed);
        // The parabola from the start, not step by step: rounding would add up sideways.
        wanted.center += wanted.linear * (t / mass) + gravity * (0.5 * t * t);
        wanted.linear += gravity * (t * mass);
        let moved = wanted.center - articulation.center_of_mass(states);
        for s in states.iter_mut() {
            s.position += moved;
        }
        let center = articulation.center_of_mass(states);
        let momentum = articulation.linear_momentum(states);
        let angular = articulation.angular_momentum(states) - center.cross(&momentum);
        let Some(inverse) = locked_inertia(articulation, states, &center).try_inverse() else { return };
        let rigid = |v: Vec3, w: Vec3, s: &BodyState| {
            (v + w.cross(&(s.position - center)), s.orientation.inverse_transform_vector(&w))
        };
        let (v, w) = (momentum / mass, inverse * angular);
        let v_wanted = wanted.linear / mass;
        let mut internal: Vec<(Vec3, Vec3)> = states
            .iter()
            .map(|s| {
                let (linear, turning) = rigid(v, w, s);
                (s.velocity - linear, s.angular_velocity - turning)
            })
            .collect();
        if let Some(energy) = wanted.energy {
            let square = |b: &super::body::Body, (v, w): &(Vec3, Vec3)| {
                0.5 * (b.mass * v.norm_squared() + w.dot(&(b.inertia * w)))
            };
            let of_internal: f64 = bodies.iter().zip(&internal).map(|(b, x)| square(b, x)).sum();
            let kinetic = energy - articulation.potential_energy(states);
            let of_linear = 0.5 * wanted.linear.dot(&v_wanted);
            if of_internal <= 1e-12 * kinetic {
                turn_to_energy(articulation, states, &center, &wanted.angular, kinetic - of_linear);
            } else {
                let of_rigid = of_linear + 0.5 * wanted.angular.dot(&(inverse * wanted.angular));
                let scale = ((kinetic - of_rigid).max(0.0) / of_internal).sqrt();
                if (0.9..=1.1).contains(&scale) {
                    for (v, w) in &mut internal {
                        *v *= scale;
                        *w *= scale;
                    }
                } else {
                    self.refused_scalings += 1;
                }
            }
        }
        let Some(inverse) = locked_inertia(articulation, states, &center).try_inverse() else { return };
        let w_wanted = inverse * wanted.angular;
        for (s, (linear, turning)) in states.iter_mut().zip(internal) {
            let (v, w) = rigid(v_wanted, w_wanted, s);
            s.velocity = v + linear;
            s.angular_velocity = w + turning;
        }
    }
}

/// The inertia of the whole, as if its constraints were locked, about `center`, world axes.
fn locked_inertia(articulation: &Articulation, states: &[BodyState], center: &Vec3) -> Mat3<f64> {
    let of_body = |(b, s): (&super::body::Body, &BodyState)| {
        let r = s.position - center;
        let turned = Sym3::upper(&b.inertia).turned(&s.orientation.to_rotation_matrix().into_inner());
        turned.full() - hat(&r) * hat(&r) * b.mass
    };
    articulation.bodies().iter().zip(states).map(of_body).sum()
}

/// Where nothing moves inside, the angular momentum and the orientation fix the energy: the smallest turn of the
/// whole about `center` that gives the wanted one.
fn turn_to_energy(
    articulation: &Articulation,
    states: &mut [BodyState],
    center: &Vec3,
    angular: &Vec3,
    energy: f64,
) {
    for _ in 0..3 {
        let Some(inverse) = locked_inertia(articulation, states, center).try_inverse() else { return };
        let w = inverse * angular;
        let missing = energy - 0.5 * w.dot(angular);
        // The energy grows by theta . (w x L) when the whole turns by theta.
        let slope = w.cross(angular);
        let turn = slope * (missing / slope.norm_squared());
        // Near a steady rotation the slope vanishes, and so does what could be gained.
        let small = turn.norm() < 1e-3;
        if missing.abs() <= 1e-15 * energy || !small {
            return;
        }
        let turn = exp(&turn);
        for s in states.iter_mut() {
            s.position = center + turn * (s.position - center);
            s.orientation = turn * s.orientation;
            s.orientation.renormalize();
        }
    }
}

/// Closes the constraints by Newton's method, each round orthogonal in the mass metric. Returns the largest
/// violation left (metres or radians).
pub fn project_positions(solver: &mut Solver, articulation: &Articulation, states: &mut [BodyState]) -> f64 {
    close_constraints(solver, articulation, states, PROJECTION_ROUNDS, PROJECTION_TOLERANCE)
}

/// [`project_positions`] with at most `rounds` rounds, down to `tolerance`.
pub(super) fn close_constraints(
    solver: &mut Solver,
    articulation: &Articulation,
    states: &mut [BodyState],
    rounds: usize,
    tolerance: f64,
) -> f64 {
    let size =
        |closing: &[Twist]| closing.iter().fold(0.0f64, |m, t| m.max(t.angular.amax()).max(t.linear.amax()));
    let nothing = vec![Wrench::zero(); states.len()];
    let mut closing = solver.closing(articulation, states);
    let mut error = size(&closing);
    let mut before = states.to_vec();
    for _ in 0..rounds {
        if error < tolerance {
            break;
        }
        solver.factor(articulation, states, &[]);
        solver.respond(&nothing, &closing);
        before.copy_from_slice(states);
        // Far from the constraints the whole correction may overshoot: then half of it, and so on.
        let mut part = 1.0;
        let now = loop {
            for (k, link) in articulation.links().iter().enumerate() {
                let mut state = before[link.body];
                displace(&mut state, &solver.center_motion(k), part);
                states[link.body] = state;
            }
            closing = solver.closing(articulation, states);
            let now = size(&closing);
            if now < error || part < 0.1 || error < 1e-9 {
                break now;
            }
            part *= 0.5;
        };
        // Rounding is reached when a round no longer helps.
        if now >= error {
            states.copy_from_slice(&before);
            break;
        }
        error = now;
    }
    if error > HANG_ABOVE {
        hang_on_parents(articulation, states, tolerance);
        error = size(&solver.closing(articulation, states));
    }
    error
}

/// A violation (metres, radians) that Newton's method leaves only where a body turned by radians in one step.
const HANG_ABOVE: f64 = 1e-6;

/// Moves every body onto its parent, parents first, whatever the masses: the last resort, which always closes.
fn hang_on_parents(articulation: &Articulation, states: &mut [BodyState], tolerance: f64) {
    for link in articulation.links() {
        let Some(k) = link.constraint else { continue };
        let c = &articulation.constraints()[k];
        let anchor = if link.child_is_a { c.anchor_a } else { c.anchor_b };
        // The corrections of axes are of first order: repeated, they converge.
        for _ in 0..PROJECTION_ROUNDS * 5 {
            let by = closing_twist(c, states, link.child_is_a);
            if by.linear.amax().max(by.angular.amax()) <= tolerance {
                break;
            }
            let state = &mut states[link.body];
            let point = state.point(&anchor) + by.linear;
            state.orientation = exp(&by.angular) * state.orientation;
            state.orientation.renormalize();
            state.position = point - state.orientation * anchor;
        }
    }
}

fn displace(state: &mut BodyState, by: &Twist, part: f64) {
    state.position += by.linear * part;
    state.orientation = exp(&(by.angular * part)) * state.orientation;
    state.orientation.renormalize();
}

/// Takes from the velocities what would part the constraints: orthogonal in the mass metric, so momenta stay and
/// kinetic energy can only fall.
pub fn project_velocities(solver: &mut Solver, articulation: &Articulation, states: &mut [BodyState]) {
    solver.factor(articulation, states, &[]);
    let momenta: Vec<Wrench> = articulation
        .links()
        .iter()
        .enumerate()
        .map(|(k, link)| momentum(articulation, &states[link.body], link.body, solver.to_center(k)))
        .collect();
    solver.respond(&momenta, &[]);
    for (k, link) in articulation.links().iter().enumerate() {
        let motion = solver.center_motion(k);
        let state = &mut states[link.body];
        state.velocity = motion.linear;
        state.angular_velocity = state.orientation.inverse_transform_vector(&motion.angular);
    }
}

/// The momentum of a body as a wrench about the point from which its centre lies `to_center` away.
pub(super) fn momentum(
    articulation: &Articulation,
    state: &BodyState,
    body: usize,
    to_center: &Vec3,
) -> Wrench {
    let b = &articulation.bodies()[body];
    let linear = state.velocity * b.mass;
    let angular = state.orientation * (b.inertia * state.angular_velocity);
    Wrench { moment: angular, force: linear }.about(to_center)
}

/// The rotation vector `f` of one step with `sin|f|/|f| I f + (1 - cos|f|)/|f|^2 f x I f = h pi` (Newton).
fn discrete_turn(inertia: &Mat3<f64>, inverse: &Mat3<f64>, h_pi: &Vec3) -> Vec3 {
    let mut f = inverse * h_pi;
    for _ in 0..30 {
        let square = f.norm_squared();
        let spin = inertia * f;
        let (a, b, da, db);
        if square < 1e-8 {
            a = 1.0 - square / 6.0 + square * square / 120.0;
            b = 0.5 - square / 24.0 + square * square / 720.0;
            da = -1.0 / 3.0 + square / 30.0;
            db = -1.0 / 12.0 + square / 180.0;
        } else {
            let t = square.sqrt();
            a = t.sin() / t;
            b = (1.0 - t.cos()) / square;
            da = (t.cos() - a) / square;
            db = (a - 2.0 * b) / square;
        }
        let swirl = f.cross(&spin);
        let residual = spin * a + swirl * b - h_pi;
        if residual.amax() <= 1e-15 * h_pi.amax() {
            break;
        }
        let slope = inertia * a
            + spin * (f * da).transpose()
            + (hat(&f) * inertia - hat(&spin)) * b
            + swirl * (f * db).transpose();
        match slope.try_inverse() {
            Some(inverse) => f -= inverse * residual,
            None => break,
        }
    }
    f
}

/// The time derivative of a body's state.
#[derive(Clone, Copy)]
struct Rate {
    velocity: Vec3,
    quaternion: RawQuat,
    linear: Vec3,
    angular: Vec3,
}

impl Rate {
    fn zero() -> Self {
        let z = Vec3::zeros();
        Rate { velocity: z, quaternion: RawQuat::from_parts(0.0, z), linear: z, angular: z }
    }

    fn of(state: &BodyState, acceleration: &BodyAcceleration) -> Self {
        let half = RawQuat::from_parts(0.0, state.angular_velocity * 0.5);
        Rate {
            velocity: state.velocity,
            quaternion: state.orientation.into_inner() * half,
            linear: acceleration.linear,
            angular: acceleration.angular,
        }
    }

    fn add(&mut self, other: &Rate, k: f64) {
        self.velocity += other.velocity * k;
        self.quaternion += other.quaternion * k;
        self.linear += other.linear * k;
        self.angular += other.angular * k;
    }

    fn applied(&self, state: &BodyState, h: f64) -> BodyState {
        BodyState {
            position: state.position + self.velocity * h,
            orientation: Quat::new_normalize(state.orientation.into_inner() + self.quaternion * h),
            velocity: state.velocity + self.linear * h,
            angular_velocity: state.angular_velocity + self.angular * h,
        }
    }
}

/// The accelerations of `states` under gravity, friction and motors: one pass of the O(n) kernel.
pub fn accelerations(articulation: &Articulation, states: &[BodyState]) -> Vec<BodyAcceleration> {
    let forces: Vec<BodyForce> = articulation.applied_forces(states);
    let mut out = Vec::new();
    Solver::new(articulation).accelerations(articulation, states, &forces, &mut out);
    out
}
