//! Rigid-body dynamics: bodies linked by constraints become motion; nothing here knows skeletons.
//!
//! [`solve_note`] is Hakenberg's system as printed (and corrected); [`solve_blocks`] and [`Solver`] give the same
//! answer in O(n). [`Stepper`] carries articulations without contacts through time; [`World`] steps scenes with
//! contacts, motors and limits.

mod articulation;
mod blocks;
mod body;
mod box_contact;
mod condition;
mod constraint;
mod contact;
mod dense;
mod drive;
mod integrate;
mod lcp;
mod recording;
mod rows;
mod scene;
mod sensor;
mod shape;
mod simulate;
mod spatial;
mod tree;
mod world;

pub use articulation::{Articulation, ArticulationError};
pub use blocks::{BlockSolution, solve_blocks};
pub use body::{Body, BodyAcceleration, BodyError, BodyForce, BodyState, solid};
pub use condition::{Comparison, Condition, ConditionError, Quantity};
pub use constraint::{Constraint, ConstraintKind};
pub use contact::{Contact, contacts_of_pair};
pub use dense::{NoteSolution, solve_note};
pub use drive::{Drive, Pull};
pub use integrate::{
    Integrator, Stabilization, Stepper, accelerations, project_positions, project_velocities,
};
pub use lcp::{Bound, BoxedProblem, dantzig};
pub use recording::{ConstraintGeometry, Frame, Recording};
pub use scene::{BodyGeometry, Method, Scene, SceneError, SceneFault};
pub use sensor::{Controller, Rule, Sensor, SetPoint};
pub use shape::{Collider, Shape};
pub use simulate::{Simulation, SimulationError, simulate};
pub use tree::Solver;
pub use world::{CoordinateLimit, Motor, Spring, World, WorldSettings, largest_speed};
