//! Tasks: goals with weight and priority, which solvers see as an error and a Jacobian (Caron et al., pink; Zakka, mink).
//!
//! Space: model space. Units: metres and radians.

use super::task_rows::{TaskRows, aim, balance, centre_of_mass, point_rows, pole, posture, rotation_error};
use crate::body::PointMass;
use crate::math::{Quat, Transform, Vec2, Vec3};
use crate::model::{JointId, ModelPose, Pose};
use std::sync::Arc;

/// What is to be reached. Points and directions are in joint space, targets in model space.
#[derive(Clone, Debug, PartialEq)]
pub enum Goal {
    /// A point of a joint at a position.
    Position {
        /// The effector.
        joint: JointId,
        /// The point in joint space.
        point: Vec3,
        /// The position.
        target: Vec3,
    },
    /// A joint in an orientation.
    Orientation {
        /// The effector.
        joint: JointId,
        /// Model space from joint space.
        target: Quat,
    },
    /// An axis of a joint pointing at a position.
    Aim {
        /// The effector.
        joint: JointId,
        /// The origin of the axis, in joint space.
        point: Vec3,
        /// The axis, a unit vector in joint space.
        axis: Vec3,
        /// The position to point at.
        target: Vec3,
    },
    /// The middle joint of a limb in the half plane through the limb's ends and a pole position.
    Pole {
        /// The limb's first joint.
        root: JointId,
        /// The joint that bends.
        middle: JointId,
        /// The limb's last joint.
        end: JointId,
        /// The pole position.
        target: Vec3,
    },
    /// A point of one joint at an offset from a point of another.
    Relative {
        /// The placed joint and the point in its space.
        placed: (JointId, Vec3),
        /// The reference joint and the point in its space.
        against: (JointId, Vec3),
        /// From the second point to the first, model axes.
        offset: Vec3,
    },
    /// The centre of mass at a position.
    CentreOfMass {
        /// The masses.
        masses: Arc<[PointMass]>,
        /// The position.
        target: Vec3,
    },
    /// The centre of mass above a support polygon on the ground.
    Balance {
        /// The masses.
        masses: Arc<[PointMass]>,
        /// The corners of a convex polygon, (X, Z), clockwise or counter-clockwise.
        support: Arc<[Vec2<f64>]>,
    },
    /// Joint rotations, and the root's translation, as in a reference pose.
    Posture {
        /// The pose.
        reference: Arc<Pose>,
        /// Factor on the weight per joint, in joint order.
        stiffness: Arc<[f64]>,
    },
}

/// A goal with weight and priority.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// The goal.
    pub goal: Goal,
    /// Factor on the squared error (metres or radians); at least 0.
    pub weight: f64,
    /// 0 is the highest priority. Solvers with priorities solve lower ones in the null space of higher ones; other solvers
    /// use weights only.
    pub priority: u8,
    /// Whether it is a hard constraint (pin): the whole-body solver enforces it regardless of the weights of other tasks;
    /// other solvers use the weight only.
    pub hard: bool,
}

impl Task {
    /// A task of weight 1 and priority 0.
    pub fn new(goal: Goal) -> Self {
        Self { goal, weight: 1.0, priority: 0, hard: false }
    }

    /// A position task for a joint's own position.
    pub fn position(joint: JointId, target: Vec3) -> Self {
        Self::new(Goal::Position { joint, point: Vec3::zeros(), target })
    }

    /// An orientation task.
    pub fn orientation(joint: JointId, target: Quat) -> Self {
        Self::new(Goal::Orientation { joint, target })
    }

    /// The same task with another weight; negative and non-finite weights count as 0.
    #[must_use]
    pub fn weigh(mut self, weight: f64) -> Self {
        self.weight = if weight.is_finite() { weight.max(0.0) } else { 0.0 };
        self
    }

    /// The same task with another priority.
    #[must_use]
    pub fn after(mut self, priority: u8) -> Self {
        self.priority = priority;
        self
    }

    /// The same task as a hard constraint, see [`Task::hard`]; only positions and orientations can be hard.
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

    /// The joints that the task depends on.
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

    /// Writes error and Jacobian at a pose (given in local and in model space) into `rows`.
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

    /// The length of the error, in metres or radians.
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
