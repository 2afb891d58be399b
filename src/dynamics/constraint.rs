//! Constraints between two bodies, or a body and the world, and their rows in a linear system.
//!
//! Kinds: ball, hinge, universal, slider, fixed. Rows have the sign "a minus b" as in Hakenberg's equations (1) to (3),
//! reduced to full rank: 5 rows for a hinge (its two axes must agree in the plane perpendicular to them), 3 for a ball.
//! Space: anchors and axes in object axes of their body, from its centre of mass; for the world, world
//! coordinates. Units: SI.

use super::rigid_body::BodyState;
use super::spatial::Twist;
use crate::math::{DMatrix, DVector, Mat3, Quat, Vec3, hat, log};

/// The kind of a constraint, by the relative motions that it allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConstraintKind {
    /// Three rotations about the common anchor.
    Ball,
    /// One rotation about the common axis.
    Hinge,
    /// Two rotations: about the axis fixed in `a` and about the axis fixed in `b`, which stay perpendicular.
    Universal,
    /// One translation along the axis of `a`.
    Slider,
    /// No relative motion.
    Fixed,
}

impl ConstraintKind {
    /// The number of constrained degrees of freedom.
    pub fn rows(self) -> usize {
        6 - self.freedoms()
    }

    /// The number of free degrees of freedom.
    pub fn freedoms(self) -> usize {
        match self {
            ConstraintKind::Ball => 3,
            ConstraintKind::Universal => 2,
            ConstraintKind::Hinge | ConstraintKind::Slider => 1,
            ConstraintKind::Fixed => 0,
        }
    }
}

/// A connection of two bodies; `None` is the immovable world.
#[derive(Clone, Debug, PartialEq)]
pub struct Constraint {
    /// Name in messages and outputs.
    pub name: String,
    /// The kind.
    pub kind: ConstraintKind,
    /// The first body, `E(j, 1)` of the note.
    pub a: Option<usize>,
    /// The second body, `E(j, 2)` of the note.
    pub b: Option<usize>,
    /// The common point, object axes of `a`.
    pub anchor_a: Vec3,
    /// The common point, object axes of `b`.
    pub anchor_b: Vec3,
    /// Hinge and slider: the common axis in `a`. Universal: the axis fixed in `a`. Unit length.
    pub axis_a: Vec3,
    /// Hinge and slider: the common axis in `b`. Universal: the axis fixed in `b`. Unit length.
    pub axis_b: Vec3,
    /// Fixed and slider: the constant relative orientation.
    pub a_from_b: Quat,
    /// Viscous friction, N m s/rad (slider: N s/m): the note's `mu_j`.
    pub friction: f64,
    /// Constant motor torque about the axis, N m (slider: N): the note's `beta_j`.
    ///
    /// A positive torque rotates body `a` about `+z` relative to body `b`, so that the angle of `b` relative to `a` falls.
    pub motor: f64,
}

impl Constraint {
    /// A constraint that holds exactly in the given states of the two bodies; anchor and axes are in world coordinates.
    /// Only a universal constraint uses `second_axis`.
    pub fn in_pose(
        name: impl Into<String>,
        kind: ConstraintKind,
        (a, state_a): (Option<usize>, &BodyState),
        (b, state_b): (Option<usize>, &BodyState),
        anchor: &Vec3,
        axis: &Vec3,
        second_axis: &Vec3,
    ) -> Self {
        let into = |state: &BodyState, p: &Vec3| state.orientation.inverse_transform_vector(p);
        let second = if kind == ConstraintKind::Universal { second_axis } else { axis };
        Self {
            name: name.into(),
            kind,
            a,
            b,
            anchor_a: into(state_a, &(anchor - state_a.position)),
            anchor_b: into(state_b, &(anchor - state_b.position)),
            axis_a: into(state_a, axis),
            axis_b: into(state_b, second),
            a_from_b: state_a.orientation.inverse() * state_b.orientation,
            friction: 0.0,
            motor: 0.0,
        }
    }

    /// The coordinate of `b` relative to `a` along the free motion: radians for a hinge (within pi), metres for a slider,
    /// zero for the other kinds.
    ///
    /// The angle of a hinge is zero at the relative orientation `a_from_b`.
    pub fn coordinate(&self, states: &[BodyState]) -> f64 {
        let (a, b) = (of(states, self.a), of(states, self.b));
        match self.kind {
            ConstraintKind::Slider => {
                let apart = b.point(&self.anchor_b) - a.point(&self.anchor_a);
                (a.orientation * self.axis_a).dot(&apart)
            }
            ConstraintKind::Hinge => {
                let rotation = a.orientation.inverse() * b.orientation * self.a_from_b.inverse();
                crate::math::twist_angle(&rotation, &self.axis_a)
            }
            _ => 0.0,
        }
    }

    /// The time derivative of [`Constraint::coordinate`].
    pub fn rate(&self, states: &[BodyState]) -> f64 {
        let (a, b) = (of(states, self.a), of(states, self.b));
        let axis = a.orientation * self.axis_a;
        match self.kind {
            ConstraintKind::Slider => axis.dot(&slide_rate(self, &a, &b)),
            ConstraintKind::Hinge => axis.dot(&(b.world_angular_velocity() - a.world_angular_velocity())),
            _ => 0.0,
        }
    }

    /// The largest violation at position level: metres for the anchors, radians (small angles) for the axes.
    pub fn error(&self, states: &[BodyState]) -> f64 {
        self.block(states).residual.amax()
    }

    /// The rows of this constraint in the given pose.
    pub(super) fn block(&self, states: &[BodyState]) -> ConstraintRows {
        let (a, b) = (of(states, self.a), of(states, self.b));
        let mut block = ConstraintRows::new(self.kind.rows());
        match self.kind {
            ConstraintKind::Slider => self.slider_rows(&a, &b, &mut block),
            _ => self.anchor_rows(&a, &b, &mut block),
        }
        match self.kind {
            ConstraintKind::Ball => {}
            ConstraintKind::Hinge => self.hinge_rows(&a, &b, &mut block),
            ConstraintKind::Universal => self.universal_row(&a, &b, &mut block),
            ConstraintKind::Slider => self.orientation_rows(&a, &b, 2, &mut block),
            ConstraintKind::Fixed => self.orientation_rows(&a, &b, 3, &mut block),
        }
        block
    }

    fn anchor_rows(&self, a: &BodyState, b: &BodyState, block: &mut ConstraintRows) {
        let side = |s: &BodyState, l: &Vec3| {
            let r = matrix(&s.orientation);
            let (w, arm) = (s.angular_velocity, r * l);
            (r * hat(l), s.orientation * w.cross(&w.cross(l)), s.position + arm)
        };
        let (ja, ga, xa) = side(a, &self.anchor_a);
        let (jb, gb, xb) = side(b, &self.anchor_b);
        block.put3(0, &Mat3::identity(), &-ja, &-Mat3::identity(), &jb);
        block.rest3(0, &(ga - gb), &(xa - xb));
    }

    fn hinge_rows(&self, a: &BodyState, b: &BodyState, block: &mut ConstraintRows) {
        let side = |s: &BodyState, z: &Vec3| {
            let w = s.angular_velocity;
            let r = matrix(&s.orientation);
            (r * z, r * hat(z), s.orientation * w.cross(&w.cross(z)))
        };
        let (za, ja, ga) = side(a, &self.axis_a);
        let (zb, jb, gb) = side(b, &self.axis_b);
        for (k, across) in plane_basis(&(za + zb)).iter().enumerate() {
            block.put(3 + k, &Vec3::zeros(), &-ja.tr_mul(across), &Vec3::zeros(), &jb.tr_mul(across));
            block.rest(3 + k, across.dot(&(ga - gb)), across.dot(&(za - zb)));
        }
    }

    fn universal_row(&self, a: &BodyState, b: &BodyState, block: &mut ConstraintRows) {
        let (xa, xb) = (a.orientation * self.axis_a, b.orientation * self.axis_b);
        let (wa, wb) = (a.world_angular_velocity(), b.world_angular_velocity());
        let k = xa.cross(&xb);
        let dk = wa.cross(&xa).cross(&xb) + xa.cross(&wb.cross(&xb));
        let into = |s: &BodyState, v: &Vec3| s.orientation.inverse_transform_vector(v);
        block.put(3, &Vec3::zeros(), &into(a, &k), &Vec3::zeros(), &-into(b, &k));
        block.rest(3, dk.dot(&(wa - wb)), xa.dot(&xb));
    }

    fn orientation_rows(&self, a: &BodyState, b: &BodyState, from: usize, block: &mut ConstraintRows) {
        let (ra, rb) = (matrix(&a.orientation), matrix(&b.orientation));
        block.put3(from, &Mat3::zeros(), &ra, &Mat3::zeros(), &-rb);
        let apart = log(&(a.orientation * self.a_from_b * b.orientation.inverse()));
        block.rest3(from, &Vec3::zeros(), &apart);
    }

    fn slider_rows(&self, a: &BodyState, b: &BodyState, block: &mut ConstraintRows) {
        let (wa, wb) = (a.world_angular_velocity(), b.world_angular_velocity());
        let (arm_a, arm_b) = (a.orientation * self.anchor_a, b.orientation * self.anchor_b);
        let apart = b.position + arm_b - a.position - arm_a;
        let rate = b.velocity + wb.cross(&arm_b) - a.velocity - wa.cross(&arm_a);
        let bias = wb.cross(&wb.cross(&arm_b)) - wa.cross(&wa.cross(&arm_a));
        let into = |s: &BodyState, v: &Vec3| s.orientation.inverse_transform_vector(v);
        for (k, across) in plane_basis(&self.axis_a).iter().enumerate() {
            let n = a.orientation * across;
            let ja = into(a, &(n.cross(&apart) - arm_a.cross(&n)));
            block.put(k, &-n, &ja, &n, &into(b, &arm_b.cross(&n)));
            let dn = wa.cross(&n);
            let gamma = n.dot(&bias) + 2.0 * dn.dot(&rate) + wa.cross(&dn).dot(&apart);
            block.rest(k, gamma, n.dot(&apart));
        }
    }
}

/// The motion of the child, relative to its parent, that closes the constraint to first order.
pub(super) fn closing_twist(c: &Constraint, states: &[BodyState], child_is_a: bool) -> Twist {
    let (a, b) = (of(states, c.a), of(states, c.b));
    let sign = if child_is_a { -1.0 } else { 1.0 };
    let mut linear = (a.point(&c.anchor_a) - b.point(&c.anchor_b)) * sign;
    let angular = match c.kind {
        ConstraintKind::Ball => Vec3::zeros(),
        // The rotation of b that aligns its axis with that of a.
        ConstraintKind::Hinge => (b.orientation * c.axis_b).cross(&(a.orientation * c.axis_a)) * sign,
        ConstraintKind::Universal => {
            let (xa, xb) = (a.orientation * c.axis_a, b.orientation * c.axis_b);
            let k = xa.cross(&xb);
            k * (xa.dot(&xb) / k.norm_squared() * sign)
        }
        ConstraintKind::Slider | ConstraintKind::Fixed => {
            log(&(a.orientation * c.a_from_b * b.orientation.inverse())) * sign
        }
    };
    if c.kind == ConstraintKind::Slider {
        let axis = a.orientation * c.axis_a;
        let open = linear;
        linear -= axis * axis.dot(&open);
        // The displacement of `b` relative to `a` is measured at the anchor of `b`.
        if child_is_a {
            linear -= angular.cross(&open);
        }
    }
    Twist { angular, linear }
}

/// The velocity of the anchor of `b` relative to the material point of `a` at the same place, world.
pub(super) fn slide_rate(constraint: &Constraint, a: &BodyState, b: &BodyState) -> Vec3 {
    let point = b.point(&constraint.anchor_b);
    let of_b = b.velocity + b.world_angular_velocity().cross(&(point - b.position));
    let of_a = a.velocity + a.world_angular_velocity().cross(&(point - a.position));
    of_b - of_a
}

/// The state of a body; the world is a body at rest at the origin.
pub(super) fn of(states: &[BodyState], body: Option<usize>) -> BodyState {
    body.map_or(BodyState::at_rest(Vec3::zeros(), Quat::identity()), |i| states[i])
}

pub(super) fn matrix(q: &Quat) -> Mat3<f64> {
    q.to_rotation_matrix().into_inner()
}

/// Two unit vectors that form a right-handed frame with the direction of `z` (Duff et al. 2017).
pub(super) fn plane_basis(z: &Vec3) -> [Vec3; 2] {
    let z = z.normalize();
    let s = if z.z >= 0.0 { 1.0 } else { -1.0 };
    let a = -1.0 / (s + z.z);
    let b = z.x * z.y * a;
    [Vec3::new(1.0 + s * z.x * z.x * a, s * b, -s * z.x), Vec3::new(b, s + z.y * z.y * a, -z.y)]
}

/// The rows of one constraint: Jacobians with respect to (world velocity, object angular velocity) of both
/// bodies, the velocity products `gamma`, and the residual at position level.
#[derive(Clone, Debug)]
pub(super) struct ConstraintRows {
    pub(super) jacobian_a: DMatrix<f64>,
    pub(super) jacobian_b: DMatrix<f64>,
    pub(super) gamma: DVector<f64>,
    pub(super) residual: DVector<f64>,
}

impl ConstraintRows {
    fn new(rows: usize) -> Self {
        Self {
            jacobian_a: DMatrix::zeros(rows, 6),
            jacobian_b: DMatrix::zeros(rows, 6),
            gamma: DVector::zeros(rows),
            residual: DVector::zeros(rows),
        }
    }

    fn put(&mut self, row: usize, va: &Vec3, wa: &Vec3, vb: &Vec3, wb: &Vec3) {
        for k in 0..3 {
            self.jacobian_a[(row, k)] = va[k];
            self.jacobian_a[(row, 3 + k)] = wa[k];
            self.jacobian_b[(row, k)] = vb[k];
            self.jacobian_b[(row, 3 + k)] = wb[k];
        }
    }

    fn put3(&mut self, row: usize, va: &Mat3<f64>, wa: &Mat3<f64>, vb: &Mat3<f64>, wb: &Mat3<f64>) {
        let line = |m: &Mat3<f64>, k: usize| Vec3::new(m[(k, 0)], m[(k, 1)], m[(k, 2)]);
        for k in 0..3 {
            self.put(row + k, &line(va, k), &line(wa, k), &line(vb, k), &line(wb, k));
        }
    }

    fn rest(&mut self, row: usize, gamma: f64, residual: f64) {
        self.gamma[row] = gamma;
        self.residual[row] = residual;
    }

    fn rest3(&mut self, row: usize, gamma: &Vec3, residual: &Vec3) {
        for k in 0..3 {
            self.rest(row + k, gamma[k], residual[k]);
        }
    }
}
