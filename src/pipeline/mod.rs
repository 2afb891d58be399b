//! Pipelines: the file as written, the resolved plan, and the run of one job in memory.
//!
//! [`PipelineConfig::parse`] reads a pipeline file and reports all its faults at once; [`Pipeline::new`] resolves it: it
//! loads the character and the other files that it names. [`Pipeline::apply`] runs it on one motion.
//! [`Pipeline::standard`] is the pipeline of `posemill retarget`. Many takes, and folders of outputs, are the business of
//! [`crate::batch`].

mod atomic_write;
mod clip_choice;
mod config;
mod config_error;
mod config_keys;
mod config_parts;
mod contact_sidecar;
#[cfg(feature = "physics")]
mod force_sidecar;
#[cfg(all(feature = "physics", feature = "formats"))]
mod force_arrays;
mod default_pipeline;
mod file_hash;
mod file_names;
mod fingerprint;
mod input_section;
mod job;
mod job_step;
mod memory;
mod output_section;
mod plan;
mod plan_error;
mod planned_files;
#[cfg(feature = "render")]
mod preview_output;
#[cfg(not(feature = "render"))]
#[path = "no_preview_output.rs"]
mod preview_output;
mod provenance;
mod reference_motion;
#[cfg(feature = "cli")]
mod reference_text;
mod run_error;
mod skeleton_hash;
mod resolved_stage;
mod run_job;
mod hints;
mod section_keys;
mod section_values;
mod split_stage;
mod stage_monitor;
mod standard;
mod take_clips;

pub use atomic_write::WriteError;
pub(crate) use atomic_write::whole as write_whole;
pub(crate) use atomic_write::{AtomicFile, sweep};
pub use clip_choice::find_clip;
#[cfg(feature = "cli")]
pub(crate) use clip_choice::{is_bare_take, is_skinned};
pub use config::PipelineConfig;
pub use config_error::{ConfigError, ConfigFault, ConfigSource};
pub use default_pipeline::{CONVERT_NAME, DEFAULT_NAME, DEFAULT_PIPELINE};
pub use file_hash::FileHash;
pub(crate) use file_hash::{hash_of, slashed};
pub(crate) use file_names::{CLIP_PAGE, CONTACT_TABLE, REPORT, REPORT_PAGE};
#[cfg(feature = "cli")]
pub(crate) use hints::hints;
pub use input_section::{InputSection, Up};
pub(crate) use job::output_format;
pub use job::{Collision, Job, TakeFile};
pub use memory::Memory;
pub use output_section::{OutputFormat, OutputSection, Preview};
pub use plan::Pipeline;
pub use plan_error::PlanError;
pub use preview_output::WorstSeries;
#[cfg(feature = "cli")]
pub(crate) use provenance::MadeBy;
pub use provenance::provenance;
#[cfg(feature = "cli")]
pub(crate) use reference_motion::lacks_its_robot;
pub use reference_motion::{ReferenceMotion, assess_alone};
#[cfg(feature = "cli")]
pub(crate) use reference_text::{reference, schema, stage_help, stage_list};
pub use run_error::RunError;
pub(crate) use run_job::{JobOutputs, PendingFile, make, make_with_report};
pub use section_values::Units;
pub use standard::save;

#[cfg(test)]
mod tests;
