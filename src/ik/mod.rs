//! Inverse kinematics: where effectors shall be becomes how joints turn.
//!
//! A [`Mechanism`] is a skeleton whose joints have degrees of freedom and limits; a [`Task`] is a goal as error,
//! Jacobian and weight; every [`Solver`] takes both, moves a pose, and says in an [`Outcome`] what it reached.
//! Space: local poses, targets in model space. Units: metres, radians.

mod dense;
mod limit;
mod mechanism;
mod outcome;
mod task;
mod tree_kernel;
mod tree_solver;

pub use dense::{Stack, stack};
pub use limit::{Limit, Range, SwingTwist};
pub use mechanism::{Axis, Freedom, Mechanism};
pub use outcome::{Effector, Outcome, Progress, Reach, Solver, Stop};
pub use task::{Goal, PointMass, Rows, Task, Term};
pub use tree_solver::TreeSolver;
