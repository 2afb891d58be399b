//! Inverse kinematics: joint rotations from effector targets.
//!
//! A [`Mechanism`] is a skeleton with degrees of freedom and joint limits; a [`Task`] is a goal with error, Jacobian
//! and weight; every [`Solver`] takes both, changes a pose and reports in an [`Outcome`] which tasks are reached.
//! Space: local poses, targets in model space. Units: metres, radians.
//!
#![doc = include_str!("scenes.md")]

mod boxed;
mod ccd;
mod stacked_jacobian;
mod fabrik;
mod freedom;
mod jacobian;
mod limit;
mod mechanism;
mod outcome;
mod range;
mod reaching;
mod swing_twist;
mod task;
mod task_rows;
mod tree_algebra;
mod tree_coupling;
mod tree_eliminate;
mod tree_follow;
mod tree_gate;
mod tree_kernel;
mod tree_limits;
mod tree_quadratic;
mod tree_run;
mod tree_solver;
mod tree_targets;
mod joint_rotation;
mod two_bone;

pub use crate::body::PointMass;
pub use boxed::Boxed;
pub use ccd::Ccd;
pub use fabrik::Fabrik;
pub use freedom::Freedom;
pub use jacobian::{Jacobian, Method};
pub use limit::Limit;
pub use mechanism::Mechanism;
pub use outcome::{Effector, Outcome, Reach, Solver, Stop};
pub use range::Range;
pub(crate) use reaching::Reaching;
pub(crate) use reaching::soft_reach;
pub use swing_twist::SwingTwist;
pub use task::{Goal, Task};
pub use tree_solver::{TreeSolver, Workspace};
#[cfg(test)]
pub(crate) use two_bone::bend_limb;
pub(crate) use two_bone::reframe;
pub use two_bone::{Elbow, Limb, TwoBone, planar};

#[cfg(test)]
mod tests;
