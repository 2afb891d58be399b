//! Errors and Jacobian rows of the task goals.
//!
//! `J step = error` closes the error. A Jacobian row is a list of wrenches on joints: a joint that moves with the twist
//! `(w, v)` about the common point `origin` changes the row by `moment . w + force . v`. Dense solvers sum the wrenches
//! over the joints below each axis; the tree solver uses them in this form. Space: model space. Units: metres and
//! radians.

use crate::body::PointMass;
use crate::math::{Mat3, Quat, Vec2, Vec3, hat, log};
use crate::model::{JointId, ModelPose, Pose};

/// One wrench of a Jacobian row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Term {
    /// The row.
    pub row: usize,
    /// The joint whose twist it applies to.
    pub joint: JointId,
    /// Coefficient of the angular velocity.
    pub moment: Vec3,
    /// Coefficient of the linear velocity of the joint-fixed point at the common origin.
    pub force: Vec3,
}

/// The error and the Jacobian of a task at one pose.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TaskRows {
    /// The error of each row: target minus current.
    pub error: Vec<f64>,
    /// Factor of each row on the task's weight.
    pub factor: Vec<f64>,
    /// The Jacobian.
    pub terms: Vec<Term>,
}

impl TaskRows {
    pub(super) fn row(&mut self, error: f64) -> usize {
        self.error.push(error);
        self.factor.push(1.0);
        self.error.len() - 1
    }

    /// Adds `direction . velocity` of the point `y` of a joint to a row.
    fn point(&mut self, row: usize, joint: JointId, y: &Vec3, direction: &Vec3) {
        self.terms.push(Term { row, joint, moment: y.cross(direction), force: *direction });
    }

    pub(super) fn rotation(&mut self, row: usize, joint: JointId, direction: &Vec3) {
        self.terms.push(Term { row, joint, moment: *direction, force: Vec3::zeros() });
    }
}

/// Three rows for a point that moves as the weighted sum of joint-fixed points (relative to the origin).
pub(super) fn point_rows(rows: &mut TaskRows, error: &Vec3, moved: &[(JointId, Vec3, f64)]) {
    for k in 0..3 {
        let row = rows.row(error[k]);
        let direction = Vec3::from_fn(|r, _| if r == k { 1.0 } else { 0.0 });
        for (joint, y, share) in moved {
            rows.point(row, *joint, y, &(direction * *share));
        }
    }
}

/// The rotation vector `r` of `gap`, and minus its derivative with respect to a rotation of the joint in model axes: `J_r^-1(r)`.
///
/// `J_r^-1(r) = 1 + hat(r)/2 + (1 - (t/2) cot(t/2)) hat(n)^2`
/// for the angle `t` about the unit axis `n`.
pub(super) fn rotation_error(gap: &Quat) -> (Vec3, Mat3<f64>) {
    let r = log(gap);
    let angle = r.norm();
    if angle < 1e-6 {
        return (r, Mat3::identity() + hat(&r) * 0.5);
    }
    let half = 0.5 * angle;
    let n = hat(&(r / angle));
    (r, Mat3::identity() + n * half + n * n * (1.0 - half / libm::tan(half)))
}

/// The chord between the axis and the direction to the target: `d* - d` on unit vectors, whose length
/// `2 sin(angle / 2)` decreases monotonically from 180 degrees to 0.
pub(super) fn aim(
    rows: &mut TaskRows,
    model: &ModelPose,
    origin: &Vec3,
    joint: JointId,
    ray: (&Vec3, &Vec3),
    target: &Vec3,
) {
    let at = model.joint(joint);
    let y = at.point(ray.0);
    let to = target - y;
    let distance = to.norm();
    let (Some(wanted), Some(axis)) = (to.try_normalize(1e-9), at.vector(ray.1).try_normalize(1e-9)) else {
        return;
    };
    for k in 0..3 {
        let row = rows.row(wanted[k] - axis[k]);
        let direction = Vec3::from_fn(|r, _| if r == k { 1.0 } else { 0.0 });
        // d(axis) = w x axis; d(wanted) = -(1 - wanted wanted^T) dy / distance.
        rows.rotation(row, joint, &axis.cross(&direction));
        let slide = (direction - wanted * wanted[k]) / distance;
        rows.point(row, joint, &(y - origin), &slide);
    }
}

/// The angle of the two half planes through the limb's ends, a dihedral angle, with its exact gradient
/// (Blondel and Karplus 1996, eqs. 15 to 27). A straight limb, or a pole on its line, has no error.
pub(super) fn pole(rows: &mut TaskRows, model: &ModelPose, origin: &Vec3, limb: [JointId; 3], target: &Vec3) {
    let [root, middle, end] = limb.map(|j| model.position(j));
    let (f, g, h) = (middle - root, root - end, target - end);
    let (a, b) = (f.cross(&g), h.cross(&g));
    let length = g.norm();
    let (a2, b2) = (a.norm_squared(), b.norm_squared());
    // Straighter than about half a degree, the bend direction is undefined.
    let straight = |side2: f64, arm: &Vec3| side2 < 1e-4 * arm.norm_squared() * length * length;
    if length < 1e-9 || straight(a2, &f) || straight(b2, &h) {
        return;
    }
    // The dihedral angle from the middle's half plane to the target's, counted about g; 0 when they agree.
    let angle = libm::atan2(b.cross(&a).dot(&g) / length, a.dot(&b));
    let row = rows.row(-angle);
    let by_middle = a * (-length / a2);
    let inner = a * (f.dot(&g) / (a2 * length)) - b * (h.dot(&g) / (b2 * length));
    let by_root = a * (length / a2) + inner;
    let by_end = -inner - b * (length / b2);
    for (joint, y, gradient) in
        [(limb[1], middle, by_middle), (limb[0], root, by_root), (limb[2], end, by_end)]
    {
        rows.point(row, joint, &(y - origin), &gradient);
    }
}

/// The centre of mass, and the share of each mass in its motion.
pub(super) fn centre_of_mass(
    masses: &[PointMass],
    model: &ModelPose,
    origin: &Vec3,
) -> (Vec3, Vec<(JointId, Vec3, f64)>) {
    let total: f64 = masses.iter().map(|m| m.mass).sum();
    let mut centre = Vec3::zeros();
    let mut moved = Vec::with_capacity(masses.len());
    for m in masses {
        let (y, share) = (model.joint(m.joint).point(&m.at), m.mass / total);
        centre += y * share;
        moved.push((m.joint, y - origin, share));
    }
    (centre, moved)
}

/// Two rows, X and Z, that move the centre of mass to the nearest point of the support.
pub(super) fn balance(
    rows: &mut TaskRows,
    model: &ModelPose,
    origin: &Vec3,
    masses: &[PointMass],
    support: &[Vec2<f64>],
) {
    let (centre, moved) = centre_of_mass(masses, model, origin);
    let c = Vec2::new(centre.x, centre.z);
    let Some((nearest, normal)) = nearest_of_polygon(support, &c) else { return };
    // At an edge only the direction across it counts; at a corner both.
    for k in 0..2 {
        let along = match normal {
            Some(n) => n * n[k],
            None => Vec2::new(if k == 0 { 1.0 } else { 0.0 }, if k == 1 { 1.0 } else { 0.0 }),
        };
        let row = rows.row(along.dot(&(nearest - c)));
        for (joint, y, share) in &moved {
            rows.point(row, *joint, y, &(Vec3::new(along.x, 0.0, along.y) * *share));
        }
    }
}

/// The point of a convex polygon nearest to `c`, and the unit normal of its edge (`None` at a corner); `None` if `c` is
/// inside or the polygon is empty.
fn nearest_of_polygon(corners: &[Vec2<f64>], c: &Vec2<f64>) -> Option<(Vec2<f64>, Option<Vec2<f64>>)> {
    let n = corners.len();
    let cross = |a: Vec2<f64>, b: Vec2<f64>| a.x * b.y - a.y * b.x;
    let edges = (0..n).map(|i| (corners[i], corners[(i + 1) % n]));
    let area: f64 = edges.clone().map(|(a, b)| cross(a, b)).sum();
    let inside = area != 0.0 && edges.clone().all(|(a, b)| cross(b - a, c - a) * area >= 0.0);
    if inside {
        return None;
    }
    let on_edge = |(a, b): (Vec2<f64>, Vec2<f64>)| {
        let along = b - a;
        let t = along.dot(&(c - a)) / along.norm_squared().max(1e-30);
        let p = a + along * t.clamp(0.0, 1.0);
        let normal = (0.0 < t && t < 1.0).then(|| (c - p).try_normalize(1e-12)).flatten();
        (p, normal)
    };
    edges.map(on_edge).min_by(|p, q| (p.0 - c).norm().total_cmp(&(q.0 - c).norm()))
}

/// Three rows per joint: the rotation from the local rotation to the reference's, in parent axes; three more for the
/// root's position.
pub(super) fn posture(
    rows: &mut TaskRows,
    parents: &[Option<JointId>],
    pose: &Pose,
    model: &ModelPose,
    origin: &Vec3,
    reference: &Pose,
    stiffness: &[f64],
) {
    for (j, (&stiff, parent)) in stiffness.iter().zip(parents).enumerate() {
        if stiff <= 0.0 {
            continue;
        }
        let joint = JointId::new(j);
        let parent_world = parent.map_or(Quat::identity(), |p| model.joint(p).rotation);
        let gap = reference.joint(joint).rotation * pose.joint(joint).rotation.inverse();
        // In the parent's axes, which are independent of the joint's own rotation.
        let (error, jacobian) = rotation_error(&gap);
        for k in 0..3 {
            let row = rows.row(error[k]);
            rows.factor[row] = stiff;
            let direction = parent_world * jacobian.row(k).transpose();
            rows.rotation(row, joint, &direction);
            if let Some(p) = parent {
                rows.rotation(row, *p, &-direction);
            }
        }
        if parent.is_none() {
            let x = model.position(joint);
            let first = rows.error.len();
            point_rows(rows, &(reference.joint(joint).translation - x), &[(joint, x - origin, 1.0)]);
            rows.factor[first..].fill(stiff);
        }
    }
}
