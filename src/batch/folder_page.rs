//! The report page of a folder of outputs.

use super::job_outcome::JobOutcome;
use crate::measure::Reading;
use crate::page::{BatchPage, BatchRow, batch_page};
use crate::pipeline::{CLIP_PAGE, slashed};
use serde_json::Value;
use std::io::{self, Write};
use std::path::Path;

/// The page of a folder while outcomes are added.
pub(super) struct FolderPage(BatchPage);

impl FolderPage {
    /// A page with this title.
    pub(super) fn new(title: String) -> Option<Self> {
        Some(Self(BatchPage::new(title)))
    }

    /// Adds the outcome of one job.
    pub(super) fn add(&mut self, folder: &Path, outcome: &JobOutcome) {
        self.0.add(&row(folder, outcome));
    }

    /// Writes the page; `outcome` returns the outcome that was added with a number.
    pub(super) fn write(
        self,
        folder: &Path,
        mut outcome: impl FnMut(usize) -> io::Result<JobOutcome>,
        out: &mut impl Write,
    ) -> io::Result<()> {
        batch_page(self.0, |number| Ok(row(folder, &outcome(number)?)), out)
    }
}

fn row(folder: &Path, outcome: &JobOutcome) -> BatchRow {
    let relative = |path: &Path| slashed(path.strip_prefix(folder).unwrap_or(path));
    let page = outcome.outputs.first().map(|o| o.with_extension(CLIP_PAGE));
    // In a large batch not every take has a page, and a page from an earlier run does not belong to it.
    let page = page.filter(|p| outcome.outputs.contains(p));
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    BatchRow {
        name: outcome.outputs.first().or(outcome.inputs.first()).map_or_else(String::new, |p| relative(p)),
        page: page.map(|p| relative(&p)),
        error: outcome.error.clone(),
        warnings: list(&outcome.warnings).iter().filter(|w| w["sure"] != true).count(),
        measures: list(&outcome.metrics).iter().filter_map(Reading::of_json).collect(),
        worst_series: outcome.worst_series.clone(),
    }
}
