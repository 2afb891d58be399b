//! Stands in for the report page of a folder in a build without the feature `render`: there is none.

use super::job_outcome::JobOutcome;
use std::io::{self, Write};
use std::path::Path;

/// The page of a folder, which is not made.
pub(super) enum FolderPage {}

impl FolderPage {
    /// None.
    pub(super) fn new(_: String) -> Option<Self> {
        None
    }

    /// Nothing.
    pub(super) fn add(&mut self, _: &Path, _: &JobOutcome) {
        match *self {}
    }

    /// Nothing.
    pub(super) fn write(
        self,
        _: &Path,
        _: impl FnMut(usize) -> io::Result<JobOutcome>,
        _: &mut impl Write,
    ) -> io::Result<()> {
        match self {}
    }
}
