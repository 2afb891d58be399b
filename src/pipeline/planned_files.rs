//! Reads the files that a pipeline names, and collects the faults of those that cannot be read.

use super::config::{PipelineConfig, PlacedText};
use super::config_error::ConfigFault;
use super::plan_error::PlanError;
use std::path::Path;

/// The files of a pipeline while it is resolved.
pub(super) struct PlannedFiles<'a> {
    config: &'a PipelineConfig,
    /// The folder that relative paths start from.
    pub(super) folder: &'a Path,
    /// The faults so far.
    pub(super) faults: Vec<ConfigFault>,
}

impl<'a> PlannedFiles<'a> {
    pub(super) fn new(config: &'a PipelineConfig, folder: &'a Path) -> Self {
        Self { config, folder, faults: Vec::new() }
    }

    /// The content of a file; nothing and a fault if it cannot be read and its name is one of `texts`.
    ///
    /// # Errors
    /// [`PlanError::File`] for a file that no text names.
    pub(super) fn read(&mut self, texts: &[PlacedText], path: &str) -> Result<Vec<u8>, PlanError> {
        read(self.folder, path).or_else(|error| match texts.iter().find(|t| t.0 == path) {
            Some((_, place)) => {
                self.faults.push(ConfigFault::from_error(Some(place.clone()), &error.to_string()));
                Ok(Vec::new())
            }
            None => Err(error),
        })
    }

    /// # Errors
    /// All faults, if there are any.
    pub(super) fn check(&mut self) -> Result<(), PlanError> {
        match std::mem::take(&mut self.faults) {
            none if none.is_empty() => Ok(()),
            faults => Err(self.config.error(faults).into()),
        }
    }
}

impl PipelineConfig {
    /// A fault for each file that the pipeline names, takes excepted, and that cannot be read. A name that is not in the
    /// text is reported once the text has no faults.
    pub(crate) fn missing_files(&self, folder: &Path) -> Vec<ConfigFault> {
        let mut files = PlannedFiles::new(self, folder);
        for path in self.files().into_iter().chain(&self.input.character) {
            let _ = files.read(&self.texts, path);
        }
        for stage in &self.stages {
            for path in stage.stage.files() {
                let _ = files.read(&stage.texts, &path.to_string_lossy());
            }
        }
        files.faults
    }
}

fn read(folder: &Path, path: &str) -> Result<Vec<u8>, PlanError> {
    let fault = |reason: String| PlanError::File { path: path.to_owned(), reason };
    let file = folder.join(path);
    // Reading a pipe or a device may never end.
    if std::fs::metadata(&file).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
        return Err(fault("it is a pipe or a device, not a file".into()));
    }
    std::fs::read(file).map_err(|e| fault(crate::report::io_reason(&e)))
}
