//! Batches: many takes through a pipeline, in parallel, isolated from each other, into folders that remember their origin.
//!
//! [`find_takes`] lists takes, [`Jobs`] assigns output files to them, [`run_batches`] runs the jobs: outputs that the
//! [`Manifest`] of their folder records as up to date are skipped, a job that fails or panics leaves the others alone. With a
//! [`WorkerProgram`] jobs run in processes of their own, within [`JobLimits`] of time and memory.

mod batch_error;
mod batch_metrics;
mod commit;
mod compaction;
mod config_takes;
mod file_times;
mod folder_hint;
mod folder_outcomes;
#[cfg(feature = "render")]
mod folder_page;
#[cfg(not(feature = "render"))]
#[path = "no_folder_page.rs"]
mod folder_page;
mod folder_reports;
mod folder_walk;
mod job_limits;
mod job_outcome;
mod jobs;
mod journal_index;
mod journal_line;
#[cfg(feature = "cli")]
mod left_over;
mod manifest;
mod outcome_spool;
mod output_origin;
mod path_ownership;
mod pipeline_spec;
mod repro_command;
#[cfg(feature = "cli")]
mod result_table;
#[cfg(feature = "cli")]
mod row_filter;
mod run_batches;
mod run_file;
mod run_jobs;
mod shard;
mod take_list;
mod take_patterns;
#[cfg(feature = "cli")]
mod tar_shards;
#[cfg(feature = "cli")]
mod worker_loop;
mod worker_pool;
mod worker_process;
mod worker_protocol;

pub use batch_error::BatchError;
pub use batch_metrics::passed;
#[cfg(feature = "cli")]
pub(crate) use folder_hint::OFTEN_OTHER;
#[cfg(feature = "cli")]
pub(crate) use folder_reports::FolderReport;
pub use folder_reports::write_reports;
pub use job_limits::{JobLimits, Timeout, WorkerProgram};
pub use job_outcome::{JobOutcome, JobStatus};
pub use jobs::{Destination, Jobs};
pub use journal_line::OutputRecord;
#[cfg(feature = "cli")]
pub(crate) use left_over::left_over;
pub use manifest::{ClaimState, Manifest, OutputState};
pub use outcome_spool::OutcomeSpool;
pub use output_origin::OutputOrigin;
pub use path_ownership::PathOwnership;
pub use pipeline_spec::PipelineSpec;
pub use repro_command::ReproCommand;
#[cfg(feature = "cli")]
pub(crate) use repro_command::quoted;
#[cfg(feature = "cli")]
pub(crate) use result_table::{ResultRow, ResultTable, result_folders};
#[cfg(feature = "cli")]
pub(crate) use row_filter::RowFilter;
#[cfg(feature = "cli")]
pub(crate) use run_batches::report_folders;
#[cfg(feature = "cli")]
pub(crate) use run_batches::{JOB_THREAD, job_threads};
pub use run_batches::{PlannedBatch, RunOptions, run_batches};
pub use run_jobs::{Batch, BatchOptions, run_all};
pub use shard::Shard;
pub use take_list::TakeList;
pub use take_patterns::{FoundTakes, TakesError, find as find_takes, listed as listed_takes};
#[cfg(feature = "cli")]
pub(crate) use tar_shards::{ShardsError, write_shards};
#[cfg(feature = "cli")]
pub(crate) use worker_loop::serve;
