//! Rigid-body dynamics: bodies, constraints, contacts, motors. Independent of skeletons.
//!
//! [`solve_note`] solves the dense linear system of Hakenberg's note as printed, with corrections; [`solve_blocks`] and
//! [`ArticulationSolver`] solve the same equations in O(n). [`Stepper`] integrates articulations without contacts; `World` steps
//! scenes with contacts, motors and limits.

mod articulation;
mod joint_vector;
mod ball_tree;
mod block_elimination;
mod bounded_minimum;
mod rigid_body;
mod body_target;
mod box_contact;
mod condition;
mod constraint;
mod contact_point;
mod controller;
mod shape_contact;
mod note_system;
mod drive;
mod free_tree;
mod impulses;
mod integrate;
mod lcp;
mod lcp_active_set;
mod loop_closures;
mod constraint_projection;
mod recording;
mod conservation;
mod impulse_rows;
mod resting_trees;
mod scene;
mod sensor;
mod shape;
mod simulation;
mod spatial;
mod articulated_solver;
mod articulated_factor;
mod articulated_passes;
mod variational;
mod world;

pub use articulated_solver::ArticulationSolver;
pub use articulation::{Articulation, ArticulationError};
pub(crate) use ball_tree::{BallLink, BallTree, Placement};
pub use block_elimination::solve_blocks;
pub use body_target::BodyTarget;
pub(crate) use bounded_minimum::{bounded_minimum, bounded_minimum_of_columns};
pub use constraint::{Constraint, ConstraintKind};
pub(crate) use constraint_projection::project_velocities;
pub(crate) use drive::{BallDrive, Pull, Support};
pub use integrate::{Integrator, Stabilization, Stepper, System, accelerations};
pub(crate) use joint_vector::{JointState, JointVector};
pub use note_system::solve_note;
pub(crate) use recording::ConstraintGeometry;
pub use recording::{Frame, Recording};
pub(crate) use rigid_body::solid;
pub use rigid_body::{Body, BodyAcceleration, BodyError, BodyState};
#[cfg(feature = "cli")]
pub(crate) use scene::SCENE_KEYS;
pub use scene::{Scene, SceneError, SceneFault};
pub(crate) use shape::Shape;
pub use simulation::{Simulation, SimulationError, simulate};
pub(crate) use world::{World, WorldSettings};

#[cfg(test)]
mod tests;
