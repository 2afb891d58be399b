//! Everything that a worker process needs to make the same pipeline.

use crate::pipeline::{Pipeline, PipelineConfig, PlanError};
use crate::stages::STAGES;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The specification of a pipeline: all that it is made from, apart from the content of the files that it names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PipelineSpec {
    /// The name in messages: the path of the pipeline file.
    pub name: String,
    /// The text of the file.
    pub text: String,
    /// Overrides, as `PATH=VALUE`.
    pub sets: Vec<String>,
    /// The folder that relative paths start from.
    pub folder: PathBuf,
    /// The character, as the pipeline names it.
    pub character: Option<String>,
    /// As [`Pipeline::every_page`].
    pub every_page: bool,
    /// As [`Pipeline::verdict`].
    pub verdict: bool,
}

impl PipelineSpec {
    /// The pipeline.
    ///
    /// # Errors
    /// A [`PlanError`] with every fault of the text, or for a file that cannot be read.
    pub fn pipeline(&self) -> Result<Pipeline, PlanError> {
        self.pipeline_of(&PipelineConfig::parse(&self.name, &self.text, &self.sets, STAGES)?)
    }

    /// The pipeline of a text that is parsed already.
    ///
    /// # Errors
    /// A [`PlanError`], for a file that cannot be read above all.
    pub fn pipeline_of(&self, config: &PipelineConfig) -> Result<Pipeline, PlanError> {
        let pipeline = Pipeline::new(config, &self.folder, self.character.as_deref())?;
        Ok(Pipeline { every_page: self.every_page, verdict: self.verdict, ..pipeline })
    }
}
