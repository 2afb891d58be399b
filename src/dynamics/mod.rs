//! Rigid-body dynamics: bodies linked by constraints become motion; nothing here knows skeletons.
//!
//! [`solve_note`] is Hakenberg's system as printed (and corrected); [`solve_blocks`] and [`Solver`] give the same
//! answer in O(n). [`Stepper`] carries articulations without contacts through time.

mod articulation;
mod blocks;
mod body;
mod constraint;
mod dense;
mod integrate;
mod spatial;
mod tree;

pub use articulation::{Articulation, ArticulationError};
pub use blocks::{BlockSolution, solve_blocks};
pub use body::{Body, BodyAcceleration, BodyError, BodyForce, BodyState, solid};
pub use constraint::{Constraint, ConstraintKind};
pub use dense::{NoteSolution, solve_note};
pub use integrate::{
    Integrator, Stabilization, Stepper, accelerations, project_positions, project_velocities,
};
pub use tree::Solver;
