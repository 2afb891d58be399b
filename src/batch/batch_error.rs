//! Errors that end a batch as a whole.

use crate::pipeline::{RunError, WriteError};
use crate::report::io_reason;
use std::io;

/// Why a batch cannot run, or has no result.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BatchError {
    /// A report would replace a file that this program did not write.
    #[error(transparent)]
    Report(#[from] RunError),
    /// A manifest or a report cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The folder of outputs cannot be written, so that nothing is begun.
    #[error(transparent)]
    Folder(WriteError),
    /// Outcomes cannot be kept in a temporary file.
    #[error(
        "the outcomes of the files cannot be kept in `{folder}`: {reason}\n  hint: set `TMPDIR` to a folder with free space",
        folder = std::env::temp_dir().display()
    )]
    Spool {
        /// The reason that the system gives.
        reason: String,
    },
    /// Threads cannot be started.
    #[error("the threads cannot be started: {0}")]
    Threads(String),
    /// Limits are kept by worker processes, which make the pipeline from its specification.
    #[error(
        "limits of time and memory need the specification of the pipeline\n  hint: set `PlannedBatch::spec`"
    )]
    NoSpec,
    /// The system cannot limit the memory of a process.
    #[error(
        "`--memory` works on Linux only\n  hint: limit the memory for reading a file instead, on every system: `--set input.memory=2GB`"
    )]
    NoMemoryLimit,
}

impl BatchError {
    /// A fault of the temporary file of outcomes.
    pub(crate) fn spool(error: &io::Error) -> Self {
        Self::Spool { reason: io_reason(error) }
    }
}
