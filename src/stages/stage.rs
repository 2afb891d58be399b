//! Interface of a stage, in three steps: written (keys parsed), resolved (names and ranges checked against the rig that
//! will arrive), applied (no look-ups, no configuration errors left).

use crate::body::CharacterBody;
use crate::model::{Character, Mark, Motion};
use crate::report::{Report, TakeChange, Warning};
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The context in which a stage is resolved.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The character that will arrive with the motion.
    pub arriving: Arc<Character>,
    /// The character that the pipeline retargets onto, where it names one.
    pub target: Option<Arc<Character>>,
    /// The folder that relative paths in the configuration refer to.
    pub folder: PathBuf,
    /// The measured body of the target, by the roles of its own file; `None` if it has not been measured.
    pub(crate) body: Option<Arc<CharacterBody>>,
}

impl Setting {
    /// The context of a pipeline without a target character; relative paths refer to `folder`.
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
    /// The problem and a hint.
    pub message: String,
    /// The file with the error, if the stage reads one, and the byte range in it.
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

/// Reports that a stage, or a part of it, does nothing to this motion as its keys are written; `message` names the key.
pub(super) fn idle(report: &mut Report, motion: &Motion, message: impl Into<String>) {
    let (message, first) = (message.into(), motion.clip.name.clone());
    report.warnings.push(Warning { code: "stage-idle", message, first, count: 1, sure: false, fix: None });
}

/// The faults that [`StageConfig::validate`] finds.
#[derive(Debug, Default)]
pub(super) struct KeyFaults(pub(super) Vec<StageError>);

impl KeyFaults {
    /// A fault of `key` unless its value is `good`.
    pub(super) fn need(&mut self, good: bool, key: &'static str, text: impl Into<String>) {
        if !good {
            self.0.push(StageError::key(key, text));
        }
    }

    /// A fault of `key` unless its value is from `low` to `high`.
    pub(super) fn within(&mut self, key: &'static str, value: f64, [low, high]: [f64; 2]) {
        let text = format!("`{key}` is {value}, allowed is {low} to {high}");
        self.need(low <= value && value <= high, key, text);
    }

    /// A fault of `key` unless its value is finite and above 0.
    pub(super) fn above_0(&mut self, key: &'static str, value: f64) {
        let text = format!("`{key}` is {value}, allowed is above 0");
        self.need(value > 0.0 && value.is_finite(), key, text);
    }

    /// A fault of `key` unless its value is left out or finite.
    pub(super) fn finite(&mut self, key: &'static str, value: Option<f64>) {
        let value = value.unwrap_or_default();
        self.need(value.is_finite(), key, format!("`{key}` is {value}, allowed is a finite number"));
    }

    /// The faults, if there are any.
    pub(super) fn found(self) -> Result<(), Vec<StageError>> {
        if self.0.is_empty() { Ok(()) } else { Err(self.0) }
    }
}

/// A stage as written: a struct with one field per key. Each field has a default and a doc comment, which is the text of
/// its help, reference and schema.
pub trait StageConfig: DeserializeOwned + Serialize + JsonSchema + Default + Send + Sync + 'static {
    /// The name after `use =`.
    const NAME: &'static str;

    /// For a stage that may occur only once in a pipeline, the reason: the end of a sentence.
    const ONCE: Option<&'static str> = None;

    /// Checks what can be checked without a file: ranges of numbers, keys that exclude each other.
    ///
    /// # Errors
    /// All faults, each with its key.
    fn validate(&self) -> Result<(), Vec<StageError>> {
        Ok(())
    }

    /// The names of measures that mean nothing once this stage has done what it is asked to: they are not judged. Only what is
    /// changed on purpose belongs here, and never what the stage may do wrong.
    fn meaningless(&self) -> &'static [&'static str] {
        &[]
    }

    /// The files that the stage reads besides the motion, as written in its keys. Outputs are out of date when one of
    /// them changes.
    fn files(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Checks names and files that can be checked before a take is read, against `character`, the target of the pipeline;
    /// relative paths refer to `folder`. Returns each error with the value that causes it.
    fn foresee(&self, _character: &Character, _folder: &Path) -> Vec<(String, StageError)> {
        Vec::new()
    }

    /// Resolves the stage for the character that will arrive; joints are looked up by name here.
    ///
    /// # Errors
    /// A [`StageError`] that names what is missing on that character.
    fn resolve(&self, setting: &Setting) -> Result<Box<dyn Stage>, StageError>;
}

/// A resolved stage: a pure function of the motion.
pub trait Stage: Send + Sync + std::fmt::Debug {
    /// The motion with its rotations transferred directly and no other change, against which a report measures the result.
    /// `None` for stages that do not retarget.
    fn direct_transfer(&self, _: &Motion) -> Option<Motion> {
        None
    }

    /// Whether [`Stage::apply_with_direct`] uses the motion with its rotations transferred directly.
    fn needs_direct_transfer(&self) -> bool {
        false
    }

    /// The direct transfer of an earlier stage ([`Stage::direct_transfer`]) after this stage: as it is, unless the stage cuts,
    /// moves or mirrors frames, which the direct transfer then needs too. `None` where it has no counterpart any more.
    fn apply_to_direct_transfer(&self, direct: Motion) -> Option<Motion> {
        Some(direct)
    }

    /// What the stage does to the frames of this motion that its take can undergo as well; `None` for other changes.
    fn take_change(&self, _: &Motion) -> Option<TakeChange> {
        None
    }

    /// The kind of body that its results have, and the names of measures that mean nothing of such: they are not judged.
    fn not_judged(&self) -> Option<(&'static str, Vec<&'static str>)> {
        None
    }

    /// Whether the stage changes nothing but what it reports as a fixed finding.
    fn only_fixes(&self) -> bool {
        false
    }

    /// The character of the resulting motion; `arriving` unless the stage changes it.
    fn leaving(&self, arriving: &Arc<Character>) -> Arc<Character> {
        Arc::clone(arriving)
    }

    /// Markers that a preview draws for the motion that arrives: targets, contacts.
    fn marks(&self, _arriving: &Motion) -> Vec<Mark> {
        Vec::new()
    }

    /// Applies the stage to a motion; warnings and measurements go to the report.
    ///
    /// # Errors
    /// A [`StageError`] if the stage cannot process this motion.
    fn apply(&self, motion: Motion, report: &mut Report) -> Result<Motion, StageError>;

    /// As [`Stage::apply`], with the direct transfer ([`Stage::direct_transfer`]) of the take by an earlier stage: what the performer did,
    /// frame by frame on the same skeleton. `None` if there is none with the frames of this motion.
    ///
    /// # Errors
    /// As those of [`Stage::apply`].
    fn apply_with_direct(
        &self,
        motion: Motion,
        _direct: Option<&Motion>,
        report: &mut Report,
    ) -> Result<Motion, StageError> {
        self.apply(motion, report)
    }
}
