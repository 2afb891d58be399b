//! The file as written, the plan as understood, the run.
//!
//! [`PipelineConfig::parse`] reads a pipeline file with every fault at once; [`Pipeline::new`] loads what it
//! names; [`find_takes`] and [`jobs`] say what goes where; [`run`] carries one job from its takes to its
//! outputs, and [`run_all`] many of them, each on its own, skipping what the [`Manifest`] knows to be up to date.

mod batch;
mod beside;
mod clips;
mod config;
mod fault;
mod manifest;
mod memory;
mod plan;
mod quality;
mod reference;
mod report;
mod run;
mod sections;
mod takes;
mod watch;
mod write;

pub use batch::{BatchOptions, Outcome, Status, run_all};
pub use clips::{find_clip, is_skinned, swapped};
pub use config::{PipelineConfig, StageAsWritten};
pub use fault::{ConfigError, ConfigFault, Source};
pub use manifest::{FileHash, MANIFEST, Manifest, Record, State, hash_of};
pub use plan::{DEFAULT_PIPELINE, Job, Pipeline, Placement, PlanError, jobs};
pub use quality::{passed, summary};
pub use reference::{reference, schema, stage_help, stage_list};
pub use report::{REPORT, REPORT_PAGE, write_reports};
pub use run::{Done, RunError, run};
pub use sections::{BvhPositions, Input, Output, OutputFormat, Preview, Units, Up};
pub use takes::{Take, TakesError, find as find_takes};
pub use write::{WriteError, reason as io_reason, whole as write_whole};
