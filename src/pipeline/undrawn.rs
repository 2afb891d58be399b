//! What stands for pictures and pages in a program that was built without the feature `render`: nothing, and a warning.

use super::batch::Outcome;
use super::jobs::Job;
use super::sections::Preview;
use crate::model::{Mark, Motion};
use crate::report::{Report, Warnings};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A course that nobody draws.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum WorstCourse {}

impl WorstCourse {
    /// None.
    pub fn of_json(_: &Value) -> Option<Self> {
        None
    }

    /// Nowhere.
    pub fn place(&self, _: &str) -> Option<String> {
        match *self {}
    }
}

/// No preview, which is told where one is asked for.
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
    _: &[Motion],
    _: &[Motion],
    report: &mut Report,
    _: Vec<&str>,
    _: bool,
) -> Option<(PathBuf, Vec<u8>)> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let message = "there is no page: this program was built without the feature `render`";
    report.warnings.add("page", message, stem);
    None
}

/// The page of a folder, which is not made.
pub(super) enum Overview {}

impl Overview {
    /// None.
    pub(super) fn new(_: String) -> Option<Self> {
        None
    }

    /// Nothing.
    pub(super) fn add(&mut self, _: &Path, _: &Outcome) {
        match *self {}
    }

    /// Nothing.
    pub(super) fn write(
        self,
        _: &Path,
        _: impl FnMut(usize) -> io::Result<Outcome>,
        _: &mut impl Write,
    ) -> io::Result<()> {
        match self {}
    }
}

/// Nothing.
pub(super) fn worst(_: &Report, _: f64) -> Option<Value> {
    None
}
