//! A pipeline as another process can make it again: the text, what was set on top of it, and where its paths start.

use crate::pipeline::{Pipeline, PipelineConfig, PlanError};
use crate::stages::STAGES;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// All that a pipeline is made from, but for the files that it names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recipe {
    /// What people call it: the path of its file.
    pub name: String,
    /// The text of its file.
    pub text: String,
    /// What was set on top of it, as `PATH=VALUE`.
    pub sets: Vec<String>,
    /// The folder that its relative paths start from.
    pub folder: PathBuf,
    /// The character, as the pipeline names it.
    pub character: Option<String>,
    /// As [`Pipeline::every_page`].
    pub every_page: bool,
    /// As [`Pipeline::verdict`].
    pub verdict: bool,
}

impl Recipe {
    /// The pipeline.
    ///
    /// # Errors
    /// A [`PlanError`] with every fault of the text, or for a file that cannot be read.
    pub fn pipeline(&self) -> Result<Pipeline, PlanError> {
        self.pipeline_of(&PipelineConfig::parse(&self.name, &self.text, &self.sets, STAGES)?)
    }

    /// The pipeline, whose text was read already.
    ///
    /// # Errors
    /// A [`PlanError`], for a file that cannot be read above all.
    pub fn pipeline_of(&self, config: &PipelineConfig) -> Result<Pipeline, PlanError> {
        let pipeline = Pipeline::new(config, &self.folder, self.character.as_deref())?;
        Ok(Pipeline { every_page: self.every_page, verdict: self.verdict, ..pipeline })
    }
}
