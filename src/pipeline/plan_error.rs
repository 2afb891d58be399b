//! Errors that keep a pipeline from starting.

use super::config_error::ConfigError;
use crate::import::ImportError;
use crate::regular_file::similar_file;
use crate::report::{io_reason, one_line};
use std::io;
use std::path::Path;

/// Why a pipeline cannot start.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// Faults of the pipeline file.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The character cannot be loaded.
    #[error("character `{path}`: {error}", path = one_line(path))]
    Character {
        /// The path as written.
        path: String,
        /// The reason.
        error: ImportError,
    },
    /// A file that the pipeline names cannot be read.
    #[error("the file `{path}` cannot be read: {reason}", path = one_line(path))]
    File {
        /// The path as written.
        path: String,
        /// The reason that the system gives, with a hint if a file beside it has a similar name.
        reason: String,
    },
    /// An output would replace an input of the run.
    #[error("`{output}` is an input of this run\n  hint: name another output")]
    OverInput {
        /// The file.
        output: String,
    },
    /// The extension of an output file is not that of a format.
    #[error(
        "`{output}` has no extension of a format that can be written\n  hint: end it with {allowed}, or with `/` for a folder"
    )]
    Extension {
        /// The file.
        output: String,
        /// The known extensions.
        allowed: String,
    },
}

impl PlanError {
    /// The file at `path`, which the pipeline or the user calls `written`, cannot be read: the system's reason, and a file of a similar
    /// name beside it if there is none of this name.
    pub fn unread(written: &str, path: &Path, error: &io::Error) -> Self {
        let missing = error.kind() == io::ErrorKind::NotFound;
        let near = if missing { similar_file(path, Path::new(written)) } else { String::new() };
        Self::File { path: written.to_owned(), reason: io_reason(error) + &near }
    }
}
