//! The steps of a pipeline: each takes a motion and gives a motion.

mod stage;

pub use stage::{Setting, Stage, StageConfig, StageError};
