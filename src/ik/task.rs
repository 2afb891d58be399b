//! A goal becomes an error and a Jacobian: all that a solver knows of it (Caron et al., pink; Zakka, mink).
//!
//! The error says how far off, the Jacobian how the quantity changes with the joints, so that `J step = error` closes
//! the gap. A Jacobian row is a list of wrenches on joints: a joint that moves with the twist `(w, v)` about the
//! common point `origin` changes the row by `moment . w + force . v`. Dense solvers sum them over the joints below
//! each axis, the tree solver never leaves this form. Space: model space. Units: metres and radians.

use crate::math::{Mat3, Quat, Transform, Vec2, Vec3, hat, log};
use crate::model::{JointId, ModelPose, Pose};
use std::sync::Arc;

/// A mass that a joint carries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointMass {
    /// The joint.
    pub joint: JointId,
    /// Where it is, in joint space, metres.
    pub point: Vec3,
    /// How heavy it is, in any unit; above 0.
    pub mass: f64,
}

/// What shall be reached. Points and directions are in joint space, targets in model space.
#[derive(Clone, Debug, PartialEq)]
pub enum Goal {
    /// A point of a joint shall be at a place.
    Position {
        /// The effector.
        joint: JointId,
        /// The point in joint space.
        point: Vec3,
        /// The place.
        target: Vec3,
    },
    /// A joint shall be turned as given.
    Orientation {
        /// The effector.
        joint: JointId,
        /// Model space from joint space.
        target: Quat,
    },
    /// An axis of a joint shall point at a place.
    Aim {
        /// The effector.
        joint: JointId,
        /// Where the axis starts, in joint space.
        point: Vec3,
        /// The axis, a unit vector in joint space.
        axis: Vec3,
        /// The place to look at.
        target: Vec3,
    },
    /// The middle joint of a limb shall lie in the half plane through the limb's ends and a place.
    Pole {
        /// The limb's first joint.
        root: JointId,
        /// The joint that bends.
        middle: JointId,
        /// The limb's last joint.
        end: JointId,
        /// The place.
        target: Vec3,
    },
    /// A point of one joint shall be away from a point of another as given.
    Relative {
        /// The joint and the point in its space that are placed.
        placed: (JointId, Vec3),
        /// The joint and the point in its space they are placed against.
        against: (JointId, Vec3),
        /// From the second point to the first, model axes.
        offset: Vec3,
    },
    /// The centre of all masses shall be at a place.
    CentreOfMass {
        /// The masses.
        masses: Arc<[PointMass]>,
        /// The place.
        target: Vec3,
    },
    /// The centre of all masses shall be above a polygon on the ground.
    Balance {
        /// The masses.
        masses: Arc<[PointMass]>,
        /// The corners of a convex polygon, (X, Z), in either sense of rotation.
        support: Arc<[Vec2<f64>]>,
    },
    /// Joints shall be turned, and free or sliding ones placed, as in a pose.
    Posture {
        /// The pose.
        reference: Arc<Pose>,
        /// How much each joint matters, in joint order, as a factor on the weight.
        stiffness: Arc<[f64]>,
    },
}

/// A goal and how much it matters.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// What shall be reached.
    pub goal: Goal,
    /// The factor on the squared error (of metres or radians); at least 0.
    pub weight: f64,
    /// 0 is served first; solvers with priorities serve later ones as far as earlier ones allow, others weigh only.
    pub priority: u8,
    /// Whether it is a pin: the whole-body solver pulls until it is reached, whatever softer tasks of whatever weight
    /// say; others weigh only.
    pub hard: bool,
}

/// One wrench of a Jacobian row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Term {
    /// The row.
    pub row: usize,
    /// The joint whose twist it multiplies.
    pub joint: JointId,
    /// What multiplies the angular velocity.
    pub moment: Vec3,
    /// What multiplies the velocity of the point of the joint's space that is at the common origin.
    pub force: Vec3,
}

/// The error and the Jacobian of a task at one pose.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows {
    /// The error of each row: target minus current.
    pub error: Vec<f64>,
    /// The factor of each row on the weight of the task.
    pub factor: Vec<f64>,
    /// The Jacobian.
    pub terms: Vec<Term>,
}

impl Rows {
    fn row(&mut self, error: f64) -> usize {
        self.error.push(error);
        self.factor.push(1.0);
        self.error.len() - 1
    }

    /// The row grows by `direction . velocity` of the point `y` of a joint.
    fn point(&mut self, row: usize, joint: JointId, y: &Vec3, direction: &Vec3) {
        self.terms.push(Term { row, joint, moment: y.cross(direction), force: *direction });
    }

    fn turn(&mut self, row: usize, joint: JointId, direction: &Vec3) {
        self.terms.push(Term { row, joint, moment: *direction, force: Vec3::zeros() });
    }
}

impl Task {
    /// A task of weight 1, served first.
    pub fn new(goal: Goal) -> Self {
        Self { goal, weight: 1.0, priority: 0, hard: false }
    }

    /// A joint's own position as an effector.
    pub fn position(joint: JointId, target: Vec3) -> Self {
        Self::new(Goal::Position { joint, point: Vec3::zeros(), target })
    }

    /// A joint's orientation as an effector.
    pub fn orientation(joint: JointId, target: Quat) -> Self {
        Self::new(Goal::Orientation { joint, target })
    }

    /// The same task with another weight; what is negative or no number counts as 0.
    #[must_use]
    pub fn weigh(mut self, weight: f64) -> Self {
        self.weight = if weight.is_finite() { weight.max(0.0) } else { 0.0 };
        self
    }

    /// The same task, served later.
    #[must_use]
    pub fn after(mut self, priority: u8) -> Self {
        self.priority = priority;
        self
    }

    /// The same task as a pin, see [`Task::hard`]. Positions and orientations can be pins, other goals weigh.
    #[must_use]
    pub fn pinned(mut self) -> Self {
        self.hard = true;
        self
    }

    /// Whether the error is an angle rather than a length.
    pub fn is_angular(&self) -> bool {
        matches!(
            self.goal,
            Goal::Orientation { .. } | Goal::Aim { .. } | Goal::Pole { .. } | Goal::Posture { .. }
        )
    }

    /// Whether every number of the goal is finite.
    pub fn is_finite(&self) -> bool {
        let v = |v: &Vec3| v.iter().all(|x| x.is_finite());
        self.weight.is_finite()
            && match &self.goal {
                Goal::Position { point, target, .. } => v(point) && v(target),
                Goal::Orientation { target, .. } => target.coords.iter().all(|x| x.is_finite()),
                Goal::Aim { point, axis, target, .. } => v(point) && v(axis) && v(target),
                Goal::Pole { target, .. } => v(target),
                Goal::Relative { placed, against, offset } => v(&placed.1) && v(&against.1) && v(offset),
                Goal::CentreOfMass { masses, target } => v(target) && masses.iter().all(finite_mass),
                Goal::Balance { masses, support } => {
                    masses.iter().all(finite_mass)
                        && support.iter().all(|p| p.x.is_finite() && p.y.is_finite())
                }
                Goal::Posture { reference, stiffness } => {
                    reference.local().iter().all(Transform::is_finite)
                        && stiffness.iter().all(|x| x.is_finite())
                }
            }
    }

    /// The joints whose motion the task sees.
    pub fn joints(&self) -> Vec<JointId> {
        match &self.goal {
            Goal::Position { joint, .. } | Goal::Orientation { joint, .. } | Goal::Aim { joint, .. } => {
                vec![*joint]
            }
            Goal::Pole { root, middle, end, .. } => vec![*root, *middle, *end],
            Goal::Relative { placed, against, .. } => vec![placed.0, against.0],
            Goal::CentreOfMass { masses, .. } | Goal::Balance { masses, .. } => {
                masses.iter().map(|m| m.joint).collect()
            }
            Goal::Posture { stiffness, .. } => {
                (0..stiffness.len()).filter(|&j| stiffness[j] > 0.0).map(JointId::new).collect()
            }
        }
    }

    /// Error and Jacobian at a pose, given in local and in model space, written over `rows`.
    ///
    /// `parents` are those of the skeleton; wrenches are about `origin`.
    pub fn linearize(
        &self,
        parents: &[Option<JointId>],
        pose: &Pose,
        model: &ModelPose,
        origin: &Vec3,
        rows: &mut Rows,
    ) {
        rows.error.clear();
        rows.factor.clear();
        rows.terms.clear();
        match &self.goal {
            Goal::Position { joint, point, target } => {
                let y = model.joint(*joint).point(point);
                point_rows(rows, &(target - y), &[(*joint, y - origin, 1.0)]);
            }
            Goal::Orientation { joint, target } => {
                let (error, jacobian) = turn_error(&(target * model.joint(*joint).rotation.inverse()));
                for k in 0..3 {
                    let row = rows.row(error[k]);
                    rows.turn(row, *joint, &jacobian.row(k).transpose());
                }
            }
            Goal::Aim { joint, point, axis, target } => {
                aim(rows, model, origin, *joint, (point, axis), target)
            }
            Goal::Pole { root, middle, end, target } => {
                pole(rows, model, origin, [*root, *middle, *end], target)
            }
            Goal::Relative { placed, against, offset } => {
                let [a, b] = [placed, against].map(|(joint, point)| model.joint(*joint).point(point));
                let moved = [(placed.0, a - origin, 1.0), (against.0, b - origin, -1.0)];
                point_rows(rows, &(offset - (a - b)), &moved);
            }
            Goal::CentreOfMass { masses, target } => {
                let (centre, moved) = centre_of_mass(masses, model, origin);
                point_rows(rows, &(target - centre), &moved);
            }
            Goal::Balance { masses, support } => balance(rows, model, origin, masses, support),
            Goal::Posture { reference, stiffness } => {
                posture(rows, parents, pose, model, origin, reference, stiffness);
            }
        }
    }

    /// How far off, in metres or radians: the length of the error.
    pub fn distance(
        &self,
        parents: &[Option<JointId>],
        pose: &Pose,
        model: &ModelPose,
        rows: &mut Rows,
    ) -> f64 {
        if let Goal::Aim { joint, point, axis, target } = &self.goal {
            let at = model.joint(*joint);
            return crate::math::angle_between(&at.vector(axis), &(target - at.point(point)));
        }
        self.linearize(parents, pose, model, &Vec3::zeros(), rows);
        rows.error.iter().map(|e| e * e).sum::<f64>().sqrt()
    }
}

fn finite_mass(m: &PointMass) -> bool {
    m.mass.is_finite() && m.mass > 0.0 && m.point.iter().all(|x| x.is_finite())
}

/// Three rows for a point that moves as the weighted sum of points of joints (given about the origin).
fn point_rows(rows: &mut Rows, error: &Vec3, moved: &[(JointId, Vec3, f64)]) {
    for k in 0..3 {
        let row = rows.row(error[k]);
        let direction = Vec3::from_fn(|r, _| if r == k { 1.0 } else { 0.0 });
        for (joint, y, share) in moved {
            rows.point(row, *joint, y, &(direction * *share));
        }
    }
}

/// The rotation vector `r` of `gap`, and how it shrinks with a world turn of the joint: `J_r^-1(r)`.
///
/// `J_r^-1(r) = 1 + hat(r)/2 + (1 - (t/2) cot(t/2)) hat(n)^2`
/// for the angle `t` about the unit axis `n`.
fn turn_error(gap: &Quat) -> (Vec3, Mat3<f64>) {
    let r = log(gap);
    let angle = r.norm();
    if angle < 1e-6 {
        return (r, Mat3::identity() + hat(&r) * 0.5);
    }
    let half = 0.5 * angle;
    let n = hat(&(r / angle));
    (r, Mat3::identity() + n * half + n * n * (1.0 - half / libm::tan(half)))
}

/// The chord between the axis and the direction to the target: `d* - d` on unit vectors, whose length is
/// `2 sin(angle / 2)` and falls all the way from 180 degrees.
fn aim(
    rows: &mut Rows,
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
        rows.turn(row, joint, &axis.cross(&direction));
        let slide = (direction - wanted * wanted[k]) / distance;
        rows.point(row, joint, &(y - origin), &slide);
    }
}

/// The angle of the two half planes through the limb's ends, a dihedral angle, with its exact gradient
/// (Blondel and Karplus 1996, eqs. 15 to 27). A straight limb, or a pole on its line, has no error.
fn pole(rows: &mut Rows, model: &ModelPose, origin: &Vec3, limb: [JointId; 3], target: &Vec3) {
    let [root, middle, end] = limb.map(|j| model.position(j));
    let (f, g, h) = (middle - root, root - end, target - end);
    let (a, b) = (f.cross(&g), h.cross(&g));
    let length = g.norm();
    let (a2, b2) = (a.norm_squared(), b.norm_squared());
    // Straighter than half a degree or so the bend side means nothing.
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

/// The centre of mass, and the shares of the masses in its motion.
fn centre_of_mass(
    masses: &[PointMass],
    model: &ModelPose,
    origin: &Vec3,
) -> (Vec3, Vec<(JointId, Vec3, f64)>) {
    let total: f64 = masses.iter().map(|m| m.mass).sum();
    let mut centre = Vec3::zeros();
    let mut moved = Vec::with_capacity(masses.len());
    for m in masses {
        let (y, share) = (model.joint(m.joint).point(&m.point), m.mass / total);
        centre += y * share;
        moved.push((m.joint, y - origin, share));
    }
    (centre, moved)
}

/// Two rows, X and Z, that bring the centre of mass to the nearest point of the support.
fn balance(rows: &mut Rows, model: &ModelPose, origin: &Vec3, masses: &[PointMass], support: &[Vec2<f64>]) {
    let (centre, moved) = centre_of_mass(masses, model, origin);
    let c = Vec2::new(centre.x, centre.z);
    let Some((nearest, normal)) = nearest_of_polygon(support, &c) else { return };
    // On an edge only the way across it counts; at a corner both.
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

/// The point of a convex polygon nearest to `c`, and the unit normal of the edge it lies on, `None` at a corner;
/// nothing where `c` is inside or the polygon has no corner.
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

/// Three rows a joint: the turn from the local rotation to the reference's, in the parent's axes; three more for the root's place.
fn posture(
    rows: &mut Rows,
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
        // In the parent's axes, which the joint's own turn does not move.
        let (error, jacobian) = turn_error(&gap);
        for k in 0..3 {
            let row = rows.row(error[k]);
            rows.factor[row] = stiff;
            let direction = parent_world * jacobian.row(k).transpose();
            rows.turn(row, joint, &direction);
            if let Some(p) = parent {
                rows.turn(row, *p, &-direction);
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
