//! The other side of [`super::workers`]: requests become what a take is made into, and nothing is written.

use super::recipe::Recipe;
use super::wire::{Answer, Request};
use crate::pipeline::{isolated, make};
use std::io::{self, Write};

/// Answers each of `lines` on `out`: the first is the [`Recipe`] of the pipeline, every other one a job.
///
/// # Errors
/// What the system says where an answer cannot be written, or a line is no request.
pub fn serve(mut lines: impl Iterator<Item = String>, out: &mut impl Write) -> io::Result<()> {
    let Some(recipe) = lines.next() else { return Ok(()) };
    let pipeline = match serde_json::from_str::<Recipe>(&recipe)?.pipeline() {
        Ok(pipeline) => pipeline,
        Err(error) => return Answer::Failed(error.to_string()).write(out),
    };
    Answer::Ready(pipeline.fingerprint.clone()).write(out)?;
    for line in lines {
        let request: Request = serde_json::from_str(&line)?;
        let record = request.record;
        let job = request.job();
        let answer = match isolated(|| make(&pipeline, &job, record)) {
            Ok(made) => Answer::Made(made),
            Err(error) => Answer::Failed(error.to_string()),
        };
        answer.write(out)?;
    }
    Ok(())
}
