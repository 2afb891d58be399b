//! A job: the takes that one run reads and the files that it makes.

use super::output_section::OutputFormat;
use super::plan_error::PlanError;
use crate::export;
use crate::report::Shown;
use std::path::{Path, PathBuf};

/// One motion file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakeFile {
    /// Its path.
    pub path: PathBuf,
    /// Its path below the fixed part of the pattern that found it: outputs keep these sub-folders.
    pub relative: PathBuf,
}

/// The work of one run: some takes, usually one, into some formats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// The takes; several if they become the animations of one file.
    pub takes: Vec<TakeFile>,
    /// The formats and the output file of each.
    pub outputs: Vec<(OutputFormat, PathBuf)>,
    /// Another take that would be written to one of the outputs: then neither is written.
    pub collision: Option<Collision>,
}

/// Two takes would be written to one file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{other}` would go to `{output}` too, and {outcome}\n  hint: \
     give their common folder as a glob (`takes/**/*.bvh`), which keeps sub-folders, or rename one",
    other = other.shown(), output = output.shown(), outcome = outcome(*other_is_written)
)]
pub struct Collision {
    /// The other take.
    pub other: PathBuf,
    /// The file.
    pub output: PathBuf,
    /// Whether the other take is written there, since only the extension tells the format of this one.
    pub other_is_written: bool,
}

fn outcome(other_is_written: bool) -> &'static str {
    match other_is_written {
        true => "is written: of this one, only the extension tells the format",
        false => "neither does",
    }
}

/// The format of an output that the user named.
pub(crate) fn output_format(path: &Path) -> Result<OutputFormat, PlanError> {
    let extension = path.extension().unwrap_or_default().to_string_lossy();
    let allowed = || export::FORMATS.iter().map(|f| format!("`.{}`", f.name)).collect::<Vec<_>>().join(", ");
    export::Format::of(&extension)
        .map(OutputFormat)
        .ok_or_else(|| PlanError::Extension { output: path.shown(), allowed: allowed() })
}
