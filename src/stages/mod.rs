//! The steps of a pipeline: each takes a motion and gives a motion.

mod ik;
mod limits;
mod retarget;
mod stage;

pub use ik::{EffectorConfig, GoalWord, IkConfig, SolverWord};
pub use limits::LimitsConfig;
pub use retarget::{RetargetConfig, Scale, ScaleWord};
pub use stage::{Setting, Stage, StageConfig, StageError};
