//! The stages of a pipeline, resolved for the character that arrives at each.

use super::plan::Pipeline;
use super::run_error::RunError;
use crate::model::Character;
use crate::stages::{Setting, Stage, StageError};
use std::sync::Arc;

/// A stage that is resolved for the character that arrives at it.
pub(super) struct ResolvedStage {
    /// Its position in the pipeline file, from 1.
    pub(super) number: usize,
    /// Its name.
    pub(super) name: &'static str,
    /// The measures that it makes meaningless on purpose.
    pub(super) meaningless: &'static [&'static str],
    pub(super) stage: Box<dyn Stage>,
}

/// The error of the stage with this position and name.
pub(super) fn stage_error(number: usize, name: &'static str) -> impl Fn(StageError) -> RunError {
    move |error| RunError::Stage { number, name, error }
}

#[cfg(feature = "cli")]
impl Pipeline {
    /// Whether every stage can work on takes of this character.
    ///
    /// # Errors
    /// The error with which the first stage that cannot refuses a take.
    pub(crate) fn check_take(&self, arriving: &Arc<Character>) -> Result<(), RunError> {
        resolve(self, arriving).map(drop)
    }
}

/// Every stage, resolved for the character that arrives at it.
pub(super) fn resolve(
    pipeline: &Pipeline,
    arriving: &Arc<Character>,
) -> Result<Vec<ResolvedStage>, RunError> {
    let mut arriving = Arc::clone(arriving);
    let mut stages = Vec::with_capacity(pipeline.stages.len());
    for (k, written) in pipeline.stages.iter().enumerate() {
        let number = pipeline.stage_numbers.get(k).copied().unwrap_or(k + 1);
        let name = written.name();
        let setting = Setting {
            arriving: Arc::clone(&arriving),
            target: pipeline.character.clone(),
            folder: pipeline.folder.clone(),
            body: pipeline.body(),
        };
        let stage = written.resolve(&setting).map_err(stage_error(number, name))?;
        arriving = stage.leaving(&arriving);
        stages.push(ResolvedStage { number, name, meaningless: written.meaningless(), stage });
    }
    Ok(stages)
}
