//! Stands in for previews and report pages in a build without the feature `render`: there are none, which is a warning.

use super::job::Job;
use super::output_section::Preview;
use crate::model::{Mark, Motion};
use crate::report::{Report, Warnings};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// A time series, of which there is none in this build.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub enum WorstSeries {}

impl WorstSeries {
    /// None.
    pub fn of_json(_: &Value) -> Option<Self> {
        None
    }

    /// Nowhere.
    pub fn place(&self, _: &str) -> Option<String> {
        match *self {}
    }
}

/// No preview, and a warning if one is asked for.
pub(super) fn picture(
    kind: Preview,
    _: &[Motion],
    _: Vec<Vec<Mark>>,
    path: &Path,
    warnings: &mut Warnings,
) -> Option<(PathBuf, Vec<u8>)> {
    kind.extension()?;
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    warnings.add("preview", "there is no preview: this program was built without the feature `render`", stem);
    None
}

/// No page.
pub(super) fn page(
    _: &Job,
    path: &Path,
    _: (&[Motion], &[Option<Motion>]),
    _: &[Motion],
    report: &mut Report,
    _: bool,
) -> Option<(PathBuf, Vec<u8>)> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let message = "there is no page: this program was built without the feature `render`";
    report.warnings.add("page", message, stem);
    None
}

/// Nothing.
pub(super) fn worst(_: &Report, _: f64) -> Option<Value> {
    None
}
