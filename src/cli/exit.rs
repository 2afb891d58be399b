//! Exit codes and the errors behind them.

use crate::batch::{BatchError, ShardsError, TakesError};
use crate::dynamics::SimulationError;
use crate::import::ImportError;
use crate::pipeline::{ConfigError, PlanError, WriteError};
use std::process::ExitCode;

/// The exit codes that scripts depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Success.
    Good,
    /// Some inputs failed, or a threshold was exceeded.
    SomeFailed,
    /// Nothing could start: bad arguments, a bad pipeline.
    NoStart,
}

/// The exit codes as help lists them.
pub const EXIT_CODES: &str = "Exit codes:
  0  nothing failed; verdicts do not change it
  1  some inputs failed or were not processed, a path could not be read, a threshold was exceeded, or \
     standard output lost data
  2  nothing could start: a wrong option, an error in the pipeline, or a folder that cannot be written";

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        match exit {
            Exit::Good => ExitCode::SUCCESS,
            Exit::SomeFailed => ExitCode::from(1),
            Exit::NoStart => ExitCode::from(2),
        }
    }
}

/// Why a command ends early.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The pipeline.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The takes.
    #[error(transparent)]
    Takes(#[from] TakesError),
    /// The joint map.
    #[error(transparent)]
    Map(#[from] crate::retarget::MapError),
    /// An input file that exists but cannot be read.
    #[error("`{path}`: {error}")]
    Import {
        /// The file.
        path: String,
        /// The reason.
        error: ImportError,
    },
    /// A file without a clip, where one is needed.
    #[error("`{0}` holds no motion\n  hint: list its content with `posemill inspect`")]
    NoMotion(String),
    /// An output file.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// Standard output, for the reason of the system.
    #[error("standard output cannot be written: {0}")]
    Output(String),
    /// A scene file.
    #[error(transparent)]
    Scene(ConfigError),
    /// A simulation that failed.
    #[error("{scene}: {error}")]
    Simulation {
        /// The scene file.
        scene: String,
        /// The reason.
        error: SimulationError,
    },
    /// An invalid argument.
    #[error("{0}")]
    Argument(String),
}

impl From<BatchError> for Failure {
    fn from(error: BatchError) -> Self {
        match error {
            BatchError::Write(error) => Self::Write(error),
            error => Self::Argument(error.to_string()),
        }
    }
}

impl From<ShardsError> for Failure {
    fn from(error: ShardsError) -> Self {
        match error {
            ShardsError::Write(error) => Self::Write(error),
            error => Self::Argument(error.to_string()),
        }
    }
}

impl Failure {
    /// The exit code. A file that exists but is invalid is an input that failed.
    pub fn exit(&self) -> Exit {
        match self {
            Failure::Map(_)
            | Failure::Import { .. }
            | Failure::NoMotion(_)
            | Failure::Write(_)
            | Failure::Output(_)
            | Failure::Simulation { .. } => Exit::SomeFailed,
            Failure::Plan(_) | Failure::Takes(_) | Failure::Scene(_) | Failure::Argument(_) => Exit::NoStart,
        }
    }
}
