//! The steps of a pipeline: each takes a motion and gives a motion.

mod contacts;
mod effector;
mod filter;
mod foot_lock;
mod ground;
mod ik;
pub mod keys;
mod limits;
mod r#loop;
mod mirror;
mod reach;
mod reduce;
mod registry;
mod repair;
mod resample;
mod retarget;
mod root_motion;
mod self_contact;
#[cfg(feature = "physics")]
mod settle;
mod stage;
mod trim;

pub use contacts::{ContactsConfig, DetectorWord};
pub use effector::{EffectorConfig, GoalWord};
pub use filter::{FilterConfig, FilterKind};
pub use foot_lock::FootLockConfig;
pub use ground::GroundConfig;
pub use ik::{IkConfig, SolverWord};
pub use limits::LimitsConfig;
pub use r#loop::LoopConfig;
pub use mirror::MirrorConfig;
pub use reduce::ReduceConfig;
pub use registry::{Entry, STAGES, WrittenStage};
pub use repair::RepairConfig;
pub use resample::{ResampleConfig, RotationsBetween};
pub use retarget::{RetargetConfig, Scale, ScaleWord};
pub use root_motion::{RootMotionConfig, RootMotionMode};
pub use self_contact::SelfContactConfig;
#[cfg(feature = "physics")]
pub use settle::{SettleConfig, SettleMode};
pub use stage::{Setting, Stage, StageConfig, StageError};
pub use trim::TrimConfig;

#[cfg(test)]
mod scenes;
