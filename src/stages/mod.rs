//! The steps of a pipeline: each takes a motion and gives a motion.

mod retarget;
mod stage;

pub use retarget::{RetargetConfig, Scale, ScaleWord};
pub use stage::{Setting, Stage, StageConfig, StageError};
