//! The file as written, the plan as understood, the run.
//!
//! [`PipelineConfig::parse`] reads a pipeline file with every fault at once; [`Pipeline::new`] loads what it
//! names; [`find_takes`] and [`Jobs`] say what goes where; [`run_all`] carries each job from its takes to its outputs, on
//! its own, skipping what the [`Manifest`] knows to be up to date. [`Pipeline::standard`] is `posemill retarget` in memory.

mod batch;
mod beside;
mod claims;
mod clips;
mod compared;
mod config;
mod direct;
#[cfg(feature = "render")]
mod drawn;
#[cfg(not(feature = "render"))]
#[path = "undrawn.rs"]
mod drawn;
mod fault;
mod jobs;
mod known;
mod line;
mod manifest;
mod memory;
mod plan;
mod put;
mod quality;
#[cfg(feature = "cli")]
mod reference;
mod report;
mod rows;
mod run;
mod sections;
mod seen;
mod take_list;
mod takes;
mod tidy;
mod walk;
mod watch;
mod write;

pub use batch::{Batch, BatchOptions, Outcome, Status, run_all};
#[cfg(feature = "cli")]
pub(crate) use batch::{isolated, run_all_with};
pub use claims::Claims;
pub use clips::find_clip;
#[cfg(feature = "cli")]
pub(crate) use clips::{is_bare_take, is_skinned};
pub use compared::{Beside, assess_alone};
pub use config::PipelineConfig;
pub use direct::save;
pub use fault::{ConfigError, ConfigFault, Source};
pub use jobs::{Job, Jobs, Placement};
#[cfg(feature = "cli")]
pub(crate) use line::hash_of;
pub use line::{FileHash, Record};
pub use manifest::{Manifest, State};
pub use memory::Memory;
pub use plan::{DEFAULT_PIPELINE, Pipeline, PlanError};
pub use quality::passed;
#[cfg(feature = "cli")]
pub(crate) use reference::{reference, schema, stage_help, stage_list};
#[cfg(feature = "cli")]
pub(crate) use report::REPORT;
#[cfg(feature = "cli")]
pub(crate) use report::REPORT_PAGE;
pub use report::write_reports;
pub use rows::Rows;
pub use run::RunError;
#[cfg(feature = "cli")]
pub(crate) use run::{Made, make};
pub use sections::{Input, Output, OutputFormat, Preview, Units, Up};
pub use take_list::TakeList;
pub use takes::{Shard, Take, Takes, TakesError, find as find_takes, listed as listed_takes};
pub use write::WriteError;
#[cfg(feature = "cli")]
pub(crate) use write::whole as write_whole;

#[cfg(test)]
mod tests;
