//! The file as written, the plan as understood, the run.
//!
//! [`PipelineConfig::parse`] reads a pipeline file with every fault at once; [`Pipeline::new`] loads what it
//! names; [`find_takes`] and [`Jobs`] say what goes where; [`run_all`] carries each job from its takes to its outputs, on
//! its own, skipping what the [`Manifest`] knows to be up to date. [`Pipeline::standard`] is `posemill retarget` in memory.

mod again;
mod batch;
mod beside;
mod bounds;
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
mod recipe;
mod reference;
mod report;
mod rows;
mod run;
mod sections;
mod seen;
mod serve;
mod take_list;
mod takes;
mod tidy;
mod walk;
mod watch;
mod wire;
mod workers;
mod write;

pub use again::Again;
pub use batch::{Batch, BatchOptions, Outcome, Status, run_all};
pub use bounds::{Bounds, Timeout};
pub use claims::Claims;
pub use clips::{find_clip, swapped};
pub use compared::{Beside, assess_alone};
pub use config::PipelineConfig;
pub use direct::save;
pub use fault::{ConfigError, ConfigFault, Source};
pub use jobs::{Job, Jobs, Placement};
pub use line::{FileHash, Record, hash_of};
pub use manifest::{MANIFEST, Manifest, State};
pub use memory::Memory;
pub use plan::{DEFAULT_PIPELINE, Pipeline, PlanError};
pub use quality::passed;
pub use recipe::Recipe;
pub use reference::{reference, schema, stage_help, stage_list};
pub use report::{REPORT, REPORT_PAGE, write_reports};
pub use rows::Rows;
pub use run::RunError;
pub use sections::{Input, Output, OutputFormat, Preview, Units, Up};
pub use serve::serve;
pub use take_list::TakeList;
pub use takes::{Shard, Take, Takes, TakesError, find as find_takes, listed as listed_takes};
pub use workers::Workers;
pub use write::{WriteError, whole as write_whole};
