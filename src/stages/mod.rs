//! The steps of a pipeline: each takes a motion and gives a motion.

pub mod keys;
mod registry;
mod stage;

pub use registry::{Entry, STAGES, WrittenStage};
pub use stage::{Setting, Stage, StageConfig, StageError};
