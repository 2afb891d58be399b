//! The stages of a pipeline: each maps a motion to a motion, with its keys, their help and their checks.

mod contacts;
mod effector;
mod face;
mod filter;
#[cfg(feature = "physics")]
mod flights;
mod foot_lock;
mod ground;
mod ik;
pub mod written_keys;
mod limits;
mod r#loop;
mod mirror_partners;
mod mirror;
#[cfg(feature = "physics")]
mod perform;
#[cfg(feature = "physics")]
mod ragdoll;
mod reach;
mod reduce;
mod registry;
mod repair;
mod resample;
mod onto_robot;
mod retarget;
mod root_motion;
mod self_contact;
#[cfg(feature = "physics")]
mod secondary;
mod stage;
mod take_change;
mod take_cuts;
mod trim;

pub(crate) use contacts::ContactsConfig;
#[cfg(feature = "cli")]
pub(crate) use effector::read_targets;
pub(crate) use face::FaceConfig;
pub(crate) use filter::FilterConfig;
#[cfg(feature = "physics")]
pub(crate) use flights::FlightsConfig;
pub(crate) use foot_lock::FootLockConfig;
pub(crate) use ground::GroundConfig;
pub(crate) use ik::IkConfig;
pub(crate) use limits::LimitsConfig;
pub(crate) use r#loop::LoopConfig;
pub(crate) use mirror::MirrorConfig;
#[cfg(feature = "physics")]
pub(crate) use perform::PerformConfig;
#[cfg(feature = "physics")]
pub(crate) use ragdoll::RagdollConfig;
pub(crate) use reduce::ReduceConfig;
pub(crate) use registry::WrittenStage;
pub use registry::{STAGES, StageEntry};
pub(crate) use repair::RepairConfig;
pub(crate) use resample::ResampleConfig;
pub(crate) use retarget::RetargetConfig;
pub(crate) use root_motion::RootMotionConfig;
#[cfg(feature = "physics")]
pub(crate) use secondary::SecondaryConfig;
pub(crate) use self_contact::SelfContactConfig;
pub use stage::{Setting, Stage, StageConfig, StageError};
pub(crate) use take_change::changed_take;
pub(crate) use trim::TrimConfig;

#[cfg(test)]
mod tests;
