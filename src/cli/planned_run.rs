//! A pipeline with its jobs, as the commands hand it to the runner.

use crate::batch::{Jobs, PipelineSpec, ReproCommand};
use crate::pipeline::Pipeline;

/// A pipeline with its jobs.
#[derive(Debug)]
pub struct PlannedRun {
    /// What worker processes make the pipeline from.
    pub spec: PipelineSpec,
    /// The pipeline.
    pub pipeline: Pipeline,
    /// The command that repeats one job.
    pub repro: ReproCommand,
    /// The jobs.
    pub jobs: Jobs,
    /// Whether outputs stay at their paths; otherwise they are on their way to standard output.
    pub named: bool,
    /// One sentence for each place that could not be searched for takes.
    pub unseen: Vec<String>,
}
