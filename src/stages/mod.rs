//! The stages of a pipeline: each maps a motion to a motion, with its keys, their help and their checks.

mod contacts;
mod effector;
mod face;
mod filter;
mod foot_lock;
mod ground;
mod ik;
pub mod written_keys;
mod limits;
mod r#loop;
mod mirror;
mod reach;
mod reduce;
mod registry;
mod repair;
mod resample;
mod retarget;
mod retarget_robot;
mod root_motion;
mod self_contact;
#[cfg(feature = "physics")]
mod settle;
mod stage;
mod trim;

pub(crate) use contacts::ContactsConfig;
pub(crate) use face::FaceConfig;
pub(crate) use filter::FilterConfig;
pub(crate) use foot_lock::FootLockConfig;
pub(crate) use ground::GroundConfig;
pub(crate) use ik::IkConfig;
pub(crate) use limits::LimitsConfig;
pub(crate) use r#loop::LoopConfig;
pub(crate) use mirror::MirrorConfig;
pub(crate) use reduce::ReduceConfig;
pub(crate) use registry::WrittenStage;
pub use registry::{STAGES, StageEntry};
pub(crate) use repair::RepairConfig;
pub(crate) use resample::ResampleConfig;
pub(crate) use retarget::RetargetConfig;
pub(crate) use root_motion::RootMotionConfig;
pub(crate) use self_contact::SelfContactConfig;
#[cfg(feature = "physics")]
pub(crate) use settle::SettleConfig;
pub use stage::{Setting, Stage, StageConfig, StageError};
pub(crate) use trim::TrimConfig;

#[cfg(test)]
mod scenes;

#[cfg(test)]
mod tests;
