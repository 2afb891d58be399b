//! Rigid-body dynamics: bodies, constraints, contacts, motors. Independent of skeletons.
//!
//! [`solve_note`] solves the dense linear system of Hakenberg's note as printed, with corrections; [`solve_blocks`] and
//! [`Solver`] solve the same equations in O(n). [`Stepper`] integrates articulations without contacts; `World` steps
//! scenes with contacts, motors and limits.

mod articulation;
mod blocks;
mod body;
mod box_contact;
mod condition;
mod constraint;
mod contact;
mod dense;
mod drive;
mod impulses;
mod integrate;
mod lcp;
mod project;
mod recording;
mod restore;
mod rows;
mod scene;
mod sensor;
mod shape;
mod simulate;
mod spatial;
mod tree;
mod tree_factor;
mod tree_sweep;
mod variational;
mod world;

pub use articulation::{Articulation, ArticulationError};
pub use blocks::solve_blocks;
pub(crate) use body::solid;
pub use body::{Body, BodyAcceleration, BodyError, BodyState};
pub use constraint::{Constraint, ConstraintKind};
pub use dense::solve_note;
pub(crate) use drive::{Drive, Pull};
pub use integrate::{Integrator, Stabilization, Stepper, System, accelerations};
pub(crate) use project::project_velocities;
pub(crate) use recording::ConstraintGeometry;
pub use recording::{Frame, Recording};
pub(crate) use rows::Support;
#[cfg(feature = "cli")]
pub(crate) use scene::SCENE_KEYS;
pub use scene::{Scene, SceneError, SceneFault};
pub(crate) use shape::Shape;
pub use simulate::{Simulation, SimulationError, simulate};
pub use tree::Solver;
pub(crate) use world::{World, WorldSettings};

#[cfg(test)]
mod tests;
