//! The loop of a worker process: makes the outputs of jobs in memory and sends them back; writes no files.

use super::pipeline_spec::PipelineSpec;
use super::run_jobs::isolated;
use super::worker_protocol::{JobRequest, WorkerReply};
use crate::pipeline::make;
use std::io::{self, Write};

/// Replies to each of `lines` on `out`: the first line is the [`PipelineSpec`] of the pipeline, each of the others a job.
///
/// # Errors
/// The error of the system if a reply cannot be written or a line is no request.
pub fn serve(mut lines: impl Iterator<Item = String>, out: &mut impl Write) -> io::Result<()> {
    let Some(spec) = lines.next() else { return Ok(()) };
    let pipeline = match serde_json::from_str::<PipelineSpec>(&spec)?.pipeline() {
        Ok(pipeline) => pipeline,
        Err(error) => return WorkerReply::Failed(error.to_string()).write(out),
    };
    WorkerReply::Ready(pipeline.fingerprint.clone()).write(out)?;
    for line in lines {
        let request: JobRequest = serde_json::from_str(&line)?;
        let to_folder = request.to_folder;
        let job = request.job();
        let reply = match isolated(|| make(&pipeline, &job, to_folder)) {
            Ok(outputs) => WorkerReply::Made(outputs),
            Err(error) => WorkerReply::Failed(error.to_string()),
        };
        reply.write(out)?;
    }
    Ok(())
}
