//! The takes that a pipeline file names, with the faults of everything else that it names.

use super::take_patterns::{FoundTakes, TakesError, find_all};
use crate::pipeline::{ConfigError, ConfigFault, Pipeline, PipelineConfig, PlanError};
use crate::stages::StageEntry;
use std::path::Path;

impl PipelineConfig {
    /// As [`PipelineConfig::parse`], for a file in `folder`: reports files that it names and that do not exist together with
    /// the faults of the text.
    ///
    /// # Errors
    /// Every fault of the text and of `sets`, and then every missing file.
    pub fn parse_in(
        folder: &Path,
        name: &str,
        text: &str,
        sets: &[String],
        registry: &[StageEntry],
    ) -> Result<Self, ConfigError> {
        let (config, mut faults) = Self::parse_partly(name, text, sets, registry)?;
        if faults.is_empty() {
            return Ok(config);
        }
        faults.extend(config.find_takes(folder, &folder.join(&config.output.dir)).1);
        faults.extend(config.missing_files(folder));
        Err(config.error(faults))
    }

    /// The takes of `[input]`, with relative paths from `folder`; outputs below `except` are not takes.
    ///
    /// # Errors
    /// Every pattern that matches no take, together with all other faults of what the pipeline names: files that do not
    /// exist, names that a character lacks.
    pub fn takes(&self, folder: &Path, except: &Path) -> Result<FoundTakes, ConfigError> {
        let (takes, faults) = self.find_takes(folder, except);
        if faults.is_empty() {
            return Ok(takes);
        }
        let mut found = self.error(faults);
        let characters: Vec<Option<&str>> = match self.input.character.as_slice() {
            [] => vec![None],
            all => all.iter().map(|c| Some(c.as_str())).collect(),
        };
        for character in characters {
            if let Err(PlanError::Config(more)) = Pipeline::new(self, folder, character) {
                found = found.and(more.faults);
            }
        }
        Err(found)
    }

    /// The takes of `[input]`, and a fault for each pattern that matches none.
    fn find_takes(&self, folder: &Path, except: &Path) -> (FoundTakes, Vec<ConfigFault>) {
        let (takes, errors) = find_all(folder, &self.input.motion, Some(except));
        let fault = |(pattern, error): (String, TakesError)| {
            ConfigFault::from_error(self.place_of_text(&pattern), &error.to_string())
        };
        (takes, errors.into_iter().map(fault).collect())
    }
}
