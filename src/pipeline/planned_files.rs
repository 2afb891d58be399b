//! Reads the files that a pipeline names, and collects the faults of those that cannot be read.

use super::config::PipelineConfig;
use super::config_error::ConfigFault;
use super::config_keys::PlacedText;
use super::plan_error::PlanError;
use crate::import::MAX_FILE_BYTES;
use crate::regular_file::{MAX_TEXT_BYTES, read_regular};
use std::path::Path;

/// The files of a pipeline while it is resolved.
pub(super) struct PlannedFiles<'a> {
    config: &'a PipelineConfig,
    /// The folder that relative paths start from.
    pub(super) folder: &'a Path,
    /// The faults so far.
    pub(super) faults: Vec<ConfigFault>,
    /// The first fault of something that no text names.
    unplaced: Option<PlanError>,
}

impl<'a> PlannedFiles<'a> {
    pub(super) fn new(config: &'a PipelineConfig, folder: &'a Path) -> Self {
        Self { config, folder, faults: Vec::new(), unplaced: None }
    }

    /// The content of a file; `None` and a fault if it cannot be read. The fault is placed where one of `texts` names the file.
    pub(super) fn read(&mut self, texts: &[PlacedText], path: &str) -> Option<Vec<u8>> {
        read(self.folder, path, MAX_FILE_BYTES).map_err(|error| self.add(texts, path, error)).ok()
    }

    /// The content of a text that a stage names: a map, a table.
    pub(super) fn read_text(&mut self, texts: &[PlacedText], path: &Path) -> Option<Vec<u8>> {
        let path = path.to_string_lossy();
        read(self.folder, &path, MAX_TEXT_BYTES).map_err(|error| self.add(texts, &path, error)).ok()
    }

    /// Adds a fault of the file at `path`.
    pub(super) fn add(&mut self, texts: &[PlacedText], path: &str, error: PlanError) {
        match texts.iter().find(|t| t.0 == path) {
            Some((_, place)) => {
                self.faults.push(ConfigFault::from_error(Some(place.clone()), &error.to_string()))
            }
            None => _ = self.unplaced.get_or_insert(error),
        }
    }

    pub(super) fn check(mut self) -> Result<(), PlanError> {
        match self.unplaced {
            Some(error) if self.faults.is_empty() => return Err(error),
            unplaced => self.faults.extend(unplaced.map(|e| ConfigFault::from_error(None, &e.to_string()))),
        }
        if self.faults.is_empty() { Ok(()) } else { Err(self.config.error(self.faults).into()) }
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
                let _ = files.read_text(&stage.texts, &path);
            }
        }
        files.faults
    }
}

fn read(folder: &Path, path: &str, most: u64) -> Result<Vec<u8>, PlanError> {
    let at = folder.join(path);
    read_regular(&at, most).map_err(|e| PlanError::unread(path, &at, &e))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stages::STAGES;

    #[test]
    fn a_map_that_is_too_long_for_a_text_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        // It has a length and no content.
        let map = std::fs::File::create(folder.path().join("map.toml")).unwrap();
        let text = "[[stage]]\nuse = \"retarget\"\nmap = \"map.toml\"\n";
        let config = PipelineConfig::parse("p.toml", text, &[], STAGES).unwrap();
        assert!(config.missing_files(folder.path()).is_empty());
        map.set_len(MAX_TEXT_BYTES + 1).unwrap();
        assert_eq!(config.missing_files(folder.path()).len(), 1);
    }
}
