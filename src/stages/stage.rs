//! A stage's three moments: written (config parsed), resolved (names and ranges checked against the rig that
//! will arrive), applied (no look-ups, no more ways to be misconfigured).

use crate::body::MeasuredBody;
use crate::model::{Character, Mark, Motion};
use crate::report::Report;
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What surrounds a stage when it is resolved.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The character that will arrive with the motion.
    pub arriving: Arc<Character>,
    /// The character that the pipeline retargets onto, where it names one.
    pub target: Option<Arc<Character>>,
    /// The folder that relative paths in the configuration start from.
    pub folder: PathBuf,
    /// The target as it has been measured, by the roles of its own file; nothing where nobody did.
    pub(crate) body: Option<Arc<MeasuredBody>>,
}

impl Setting {
    /// That of a pipeline without a character, whose stages find files in `folder`.
    pub fn new(arriving: Arc<Character>, folder: impl Into<PathBuf>) -> Self {
        Self { arriving, target: None, folder: folder.into(), body: None }
    }
}

/// Why a stage cannot be resolved or applied.
///
/// The message is one sentence in lower case without a full stop; a hint follows on a line of its own.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct StageError {
    /// The configuration key at fault, where one is.
    pub key: Option<&'static str>,
    /// What is wrong, and what to do about it.
    pub message: String,
    /// The file that it is in where the stage reads one, and where in it, in bytes.
    pub place: Option<(PathBuf, Range<usize>)>,
}

impl StageError {
    /// A fault of one configuration key.
    pub fn key(key: &'static str, message: impl Into<String>) -> Self {
        Self { key: Some(key), message: message.into(), place: None }
    }

    /// A fault of the stage as a whole.
    pub fn new(message: impl Into<String>) -> Self {
        Self { key: None, message: message.into(), place: None }
    }
}

/// A stage as written: a struct with one field per key, each with a default and a doc comment that becomes
/// its help, its reference and its schema.
pub trait StageConfig: DeserializeOwned + Serialize + JsonSchema + Default + Send + Sync + 'static {
    /// The word behind `use =`.
    const NAME: &'static str;

    /// Why a pipeline has no use for a second one, where that is so: the end of a sentence.
    const ONCE: Option<&'static str> = None;

    /// Checks what can be checked without a file: ranges of numbers, words that exclude each other.
    ///
    /// # Errors
    /// All faults, each with its key.
    fn validate(&self) -> Result<(), Vec<StageError>> {
        Ok(())
    }

    /// The files that the stage reads besides the motion, as written in its keys: outputs are out of date once
    /// one of them changes.
    fn files(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// What is wrong with names and files as far as it shows before there is a take: on `character`, onto which the pipeline
    /// carries its takes, with relative paths from `folder`. Each fault comes with the value that it is about.
    fn foresee(&self, _character: &Character, _folder: &Path) -> Vec<(String, StageError)> {
        Vec::new()
    }

    /// The stage for the character that will arrive: names become joints here.
    ///
    /// # Errors
    /// A [`StageError`] that names what is missing on that character.
    fn resolve(&self, setting: &Setting) -> Result<Box<dyn Stage>, StageError>;
}

/// A stage that is ready: a pure function of the motion.
pub trait Stage: Send + Sync + std::fmt::Debug {
    /// The motion with its rotations copied plainly and nothing else: what a report measures the result against. Only where the
    /// stage carries motion over.
    fn plain(&self, _: &Motion) -> Option<Motion> {
        None
    }

    /// The character that leaves with the motion; `arriving` unless the stage changes it.
    fn leaving(&self, arriving: &Arc<Character>) -> Arc<Character> {
        Arc::clone(arriving)
    }

    /// What a preview shows beside the figure, for the motion that arrives: places to be reached, contacts.
    fn marks(&self, _arriving: &Motion) -> Vec<Mark> {
        Vec::new()
    }

    /// The motion after this stage; warnings and measurements go to the report.
    ///
    /// # Errors
    /// A [`StageError`] where this very motion cannot be handled.
    fn apply(&self, motion: Motion, report: &mut Report) -> Result<Motion, StageError>;
}
