//! Hakenberg's dense linear system (6), solved by the pseudoinverse: the reference for the O(n) solvers.
//!
//! Source: J. Hakenberg, "Animation of Skeletons with Hinges and Spherical Joints", equations (1) to (6). A body `i` has
//! `(p, R, v, omega, m, I)`, a joint `j` connects `E(j,1)` and `E(j,2)`; the unknowns are the force `c_j` and the vector
//! `d_j` of every joint, world axes. A ball has the axis zero. The note's `A` equals `-J M^-1 J^T`, symmetric and
//! negative semidefinite of rank `5 n_h + 3 n_s`, so the pseudoinverse is formed from its eigenvalues. Gravity and the
//! world as a body are additions: gravity enters `b`, the world has no columns.
//!
//! Corrections to the note that this file follows:
//! * the second row block of (3) for body `E(j,2)` starts with `Z_{j,j2}`, as in equation (5);
//! * in the note's last remark (the delta form of `A`), the second and third matrix must use `L_{k,j1}, Z_{k,j1}`
//!   and `L_{k,j2}, Z_{k,j2}`: the deltas mean that body `j1`, or `j2`, is the shared body. This file uses (5);
//! * the rank `5 n_h + 3 n_s` holds only where the joints satisfy (1). With an angle `eps` between the two axes of
//!   a hinge the sixth row becomes an equation with a singular value `O(eps^2)`, and the pseudoinverse jumps by O(1)
//!   as soon as `eps^2` exceeds the cut-off; the full-rank forms of [`solve_blocks`](super::solve_blocks) and
//!   [`ArticulationSolver`](super::ArticulationSolver) change by `O(eps)` only, and the integrators use those;
//! * the exact solution keeps the conservation laws and (1), (2), the note's time step does not: see
//!   [`Integrator`](super::Integrator);
//! * solid ellipsoids of inertia have the semi-axes of
//!   [`Body::ellipsoid_of_inertia`](super::Body::ellipsoid_of_inertia), not the principal moments;
//! * `mu_j` is viscous, not Coulomb friction; a ball has no motor; a positive `beta_j` rotates body `E(j,1)` about
//!   `+z` relative to body `E(j,2)`; "the four bodies" of the example under (4) are three; `z_{j1}` in the remark about the
//!   rank is `z_{j,j1}`; where a print shows `I_{j,j1}` after `Omega . Omega`, `l_{j,j1}` is meant.

use super::articulation::{Articulation, hinge_motor};
use super::constraint::{ConstraintKind, matrix, of};
use super::rigid_body::{BodyAcceleration, BodyState};
use crate::math::{DMatrix, DVector, Mat3, Vec3, hat};

/// The solution of the note's system: accelerations, the vectors `c_j`, `d_j`, and the system itself.
#[derive(Clone, Debug)]
pub struct NoteSolution {
    /// The acceleration of every body.
    pub accelerations: Vec<BodyAcceleration>,
    /// The force of every joint on its body `a`, world, newtons.
    pub c: Vec<Vec3>,
    /// The vector whose cross product with the axis is the joint's torque, world.
    pub d: Vec<Vec3>,
    /// The matrix of (6).
    pub matrix: DMatrix<f64>,
    /// The right-hand side of (6).
    pub rhs: DVector<f64>,
    /// The number of singular values above the cut-off.
    pub rank: usize,
}

/// Singular values below this fraction of the largest count as zero: well above rounding, far below those of real rows.
const CUT_OFF: f64 = 1e-12;

/// Whether the note covers all constraints: only hinges and balls.
pub(super) fn knows_note(articulation: &Articulation) -> bool {
    articulation.constraints().iter().all(|c| matches!(c.kind, ConstraintKind::Hinge | ConstraintKind::Ball))
}

/// Solves the note's system (6) for hinges and balls; `None` where another kind of constraint occurs.
pub fn solve_note(articulation: &Articulation, states: &[BodyState]) -> Option<NoteSolution> {
    if !knows_note(articulation) {
        return None;
    }
    let joints = NoteJoints::new(articulation, states);
    let (matrix, rhs) = joints.system();
    let (x, rank) = pseudo_solve(&matrix, &rhs);
    let n = articulation.constraints().len();
    let part = |j: usize, from: usize| Vec3::new(x[6 * j + from], x[6 * j + from + 1], x[6 * j + from + 2]);
    let c: Vec<Vec3> = (0..n).map(|j| part(j, 0)).collect();
    let d: Vec<Vec3> = (0..n).map(|j| part(j, 3)).collect();
    let accelerations = (0..states.len()).map(|i| joints.acceleration(i, &c, &d)).collect();
    Some(NoteSolution { accelerations, c, d, matrix, rhs, rank })
}

/// The joints of an articulation in one state, in the note's variables.
struct NoteJoints<'a> {
    articulation: &'a Articulation,
    states: &'a [BodyState],
    /// For each joint the torque `e_j` of motor and friction on body `E(j,1)`, world, N m.
    torque: Vec<Vec3>,
    /// For each body the joints attached to it.
    attached: Vec<Vec<usize>>,
}

impl<'a> NoteJoints<'a> {
    fn new(articulation: &'a Articulation, states: &'a [BodyState]) -> Self {
        let constraints = articulation.constraints();
        let torque: Vec<Vec3> = constraints
            .iter()
            .map(|c| {
                let (a, b) = (of(states, c.a), of(states, c.b));
                let relative = a.world_angular_velocity() - b.world_angular_velocity();
                a.orientation * c.axis_a * hinge_motor(c) - relative * c.friction
            })
            .collect();
        let mut attached: Vec<Vec<usize>> = vec![Vec::new(); states.len()];
        for (k, c) in constraints.iter().enumerate() {
            for i in [c.a, c.b].into_iter().flatten() {
                attached[i].push(k);
            }
        }
        Self { articulation, states, torque, attached }
    }

    /// `sigma`, `l`, `z` of joint `k` for body `i`; `None` where the joint is not attached to the body.
    fn side(&self, k: usize, i: usize) -> Option<(f64, Vec3, Vec3)> {
        let c = &self.articulation.constraints()[k];
        let axis = |z: Vec3| if c.kind == ConstraintKind::Ball { Vec3::zeros() } else { z };
        if c.a == Some(i) {
            Some((1.0, c.anchor_a, axis(c.axis_a)))
        } else if c.b == Some(i) {
            Some((-1.0, c.anchor_b, axis(c.axis_b)))
        } else {
            None
        }
    }

    /// The matrix and the right-hand side of (6).
    fn system(&self) -> (DMatrix<f64>, DVector<f64>) {
        let (articulation, states) = (self.articulation, self.states);
        let n = articulation.constraints().len();
        let mut a = DMatrix::zeros(6 * n, 6 * n);
        let mut rhs = DVector::zeros(6 * n);
        for (j, c) in articulation.constraints().iter().enumerate() {
            for (i, side) in [(c.a, 1.0), (c.b, -1.0)] {
                let Some(i) = i else { continue };
                let Some((_, l, z)) = self.side(j, i) else { continue };
                let (body, s) = (&articulation.bodies()[i], &states[i]);
                let (r, inverse, w) = (matrix(&s.orientation), &body.inverse_inertia, s.angular_velocity);
                let (rl, rz) = (r * hat(&l), r * hat(&z));
                let mut e = Vec3::zeros();
                for &k in &self.attached[i] {
                    let Some((sigma, lk, zk)) = self.side(k, i) else { continue };
                    e += self.torque[k] * sigma;
                    let (lk, zk) = (hat(&lk) * r.transpose(), hat(&zk) * r.transpose());
                    let blocks = [
                        (0, 0, rl * inverse * lk - Mat3::from_diagonal_element(1.0 / body.mass)),
                        (0, 3, rl * inverse * zk),
                        (3, 0, rz * inverse * lk),
                        (3, 3, rz * inverse * zk),
                    ];
                    for (row, column, block) in blocks {
                        let mut view = a.fixed_view_mut::<3, 3>(6 * j + row, 6 * k + column);
                        view += block * (side * sigma);
                    }
                }
                // I^-1 (Omega I omega - R^-1 sum sigma e)
                let angular =
                    inverse * (w.cross(&(body.inertia * w)) - s.orientation.inverse_transform_vector(&e));
                let upper = s.orientation * w.cross(&w.cross(&l)) + rl * angular + articulation.gravity;
                let lower = s.orientation * w.cross(&w.cross(&z)) + rz * angular;
                for q in 0..3 {
                    rhs[6 * j + q] += side * upper[q];
                    rhs[6 * j + 3 + q] += side * lower[q];
                }
            }
        }
        (a, rhs)
    }

    /// The acceleration of body `i` under the joint forces `c` and the vectors `d`.
    fn acceleration(&self, i: usize, c: &[Vec3], d: &[Vec3]) -> BodyAcceleration {
        let (body, s) = (&self.articulation.bodies()[i], &self.states[i]);
        let mut linear = self.articulation.gravity;
        let mut tau = Vec3::zeros();
        for &k in &self.attached[i] {
            let Some((sigma, l, z)) = self.side(k, i) else { continue };
            let into = |v: &Vec3| s.orientation.inverse_transform_vector(v);
            linear += c[k] * (sigma / body.mass);
            tau += (l.cross(&into(&c[k])) + z.cross(&into(&d[k])) + into(&self.torque[k])) * sigma;
        }
        let w = s.angular_velocity;
        BodyAcceleration { linear, angular: body.inverse_inertia * (tau - w.cross(&(body.inertia * w))) }
    }
}

/// The least-norm, least-squares solution of the symmetric system `a x = b`, and the rank of `a`.
fn pseudo_solve(a: &DMatrix<f64>, b: &DVector<f64>) -> (DVector<f64>, usize) {
    if a.is_empty() {
        return (DVector::zeros(0), 0);
    }
    let eigen = ((a + a.transpose()) * 0.5).symmetric_eigen();
    let cut = CUT_OFF * eigen.eigenvalues.amax();
    let mut rank = 0;
    let mut y = eigen.eigenvectors.tr_mul(b);
    for (value, s) in y.iter_mut().zip(eigen.eigenvalues.iter()) {
        if s.abs() > cut {
            rank += 1;
            *value /= s;
        } else {
            *value = 0.0;
        }
    }
    (eigen.eigenvectors * y, rank)
}
