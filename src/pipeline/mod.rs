//! The file as written, the plan as understood, the run.
//!
//! [`PipelineConfig::parse`] reads a pipeline file with every fault at once; [`Pipeline::new`] loads what it
//! names; [`find_takes`] and [`jobs`] say what goes where; [`run_all`] carries each job from its takes to its outputs, on
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
mod line;
mod manifest;
mod memory;
mod plan;
mod put;
mod quality;
mod reference;
mod report;
mod rows;
mod run;
mod sections;
mod seen;
mod takes;
mod tidy;
mod walk;
mod watch;
mod write;

pub use batch::{Batch, BatchOptions, Outcome, Status, run_all};
pub use claims::Claims;
pub use clips::{find_clip, is_skinned, swapped};
pub use compared::{Beside, assess_alone};
pub use config::{PipelineConfig, StageAsWritten};
pub use direct::save;
pub use fault::{ConfigError, ConfigFault, Source};
pub use line::{FileHash, Record, hash_of};
pub use manifest::{MANIFEST, Manifest, State};
pub use plan::{Collision, DEFAULT_PIPELINE, Job, Pipeline, Placement, PlanError, jobs};
pub use quality::{Measured, passed};
pub use reference::{reference, schema, stage_help, stage_list};
pub use report::{REPORT, REPORT_PAGE, write_reports};
pub use rows::Rows;
pub use run::RunError;
pub use sections::{BvhPositions, Input, Output, OutputFormat, Preview, Units, Up};
pub use takes::{Shard, Take, Takes, TakesError, find as find_takes, listed as listed_takes};
pub use write::{WriteError, reason as io_reason, whole as write_whole};
