//! A goal becomes an error and a Jacobian: all that a solver knows of it (Caron et al., pink; Zakka, mink).
//!
//! The error says how far off, the Jacobian how the quantity changes with the joints, so that `J step = error` closes
//! the gap. A Jacobian row is a list of wrenches on joints: a joint that moves with the twist `(w, v)` about the
//! common point `origin` changes the row by `moment . w + force . v`. Dense solvers sum them over the joints below
//! each axis, the tree solver never leaves this form. Space: model space. Units: metres and radians.

use super::task_rows::{TaskRows, aim, balance, centre_of_mass, point_rows, pole, posture, rotation_error};
use crate::body::PointMass;
use crate::math::{Quat, Transform, Vec2, Vec3};
use crate::model::{JointId, ModelPose, Pose};
use std::sync::Arc;

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
        rows: &mut TaskRows,
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
                let (error, jacobian) = rotation_error(&(target * model.joint(*joint).rotation.inverse()));
                for k in 0..3 {
                    let row = rows.row(error[k]);
                    rows.rotation(row, *joint, &jacobian.row(k).transpose());
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
        rows: &mut TaskRows,
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
    m.mass.is_finite() && m.mass > 0.0 && m.at.iter().all(|x| x.is_finite())
}
