//! Runs a pipeline on one take and writes one file, without a manifest.

use super::commit::Commit;
use super::jobs::{Destination, Jobs};
use super::path_ownership::PathOwnership;
use crate::pipeline::{Pipeline, RunError, TakeFile, make_with_report};
use crate::report::Report;
use std::path::Path;
use std::time::SystemTime;

impl Pipeline {
    /// Converts one take into one file, as `posemill retarget TAKE --onto CHARACTER -o OUTPUT` does: every clip of the take,
    /// in the format of the output's extension, replacing a file of that name.
    ///
    /// # Errors
    /// A [`RunError`]: then nothing is written.
    pub fn run(&self, take: impl AsRef<Path>, output: impl AsRef<Path>) -> Result<Report, RunError> {
        let (path, when) = (take.as_ref().to_owned(), SystemTime::now());
        let take = TakeFile { relative: path.file_name().unwrap_or_default().into(), path };
        let destination = Destination::File(output.as_ref().to_owned());
        let inputs: Vec<_> = self.character_file.iter().cloned().collect();
        let jobs = Jobs::new([take].into_iter().collect(), &[], &destination, &inputs)?;
        let job = jobs.get(0);
        let (outputs, report) = make_with_report(self, &job, false)?;
        let owners = PathOwnership::of(std::iter::once(&jobs));
        Commit { manifest: None, owners: &owners, force: false }.write(&job, self, outputs, when)?;
        Ok(report)
    }
}
