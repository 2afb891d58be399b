//! The list of all stages: name, documentation and reader of each.

use super::written_keys::{self, KeyFault, WrittenKey};
use super::{
    ContactsConfig, FaceConfig, FilterConfig, FootLockConfig, GroundConfig, IkConfig, LimitsConfig,
    LoopConfig, MirrorConfig, ReduceConfig, RepairConfig, ResampleConfig, RetargetConfig, RootMotionConfig,
    SelfContactConfig, Setting, Stage, StageConfig, StageError, TrimConfig,
};
#[cfg(feature = "physics")]
use super::{FlightsConfig, PerformConfig, RagdollConfig, SecondaryConfig};
use crate::model::Character;
use serde_json::Value;
use std::fmt;
use std::path::{Path, PathBuf};

/// All stages, in the order in which a pipeline commonly uses them.
pub static STAGES: &[StageEntry] = &[
    StageEntry::of::<TrimConfig>(),
    StageEntry::of::<RepairConfig>(),
    StageEntry::of::<ResampleConfig>(),
    StageEntry::of::<FilterConfig>(),
    StageEntry::of::<MirrorConfig>(),
    StageEntry::of::<ContactsConfig>(),
    StageEntry::of::<RetargetConfig>(),
    StageEntry::of::<FaceConfig>(),
    StageEntry::of::<GroundConfig>(),
    StageEntry::of::<FootLockConfig>(),
    StageEntry::of::<IkConfig>(),
    StageEntry::of::<SelfContactConfig>(),
    StageEntry::of::<LimitsConfig>(),
    #[cfg(feature = "physics")]
    StageEntry::of::<FlightsConfig>(),
    #[cfg(feature = "physics")]
    StageEntry::of::<PerformConfig>(),
    #[cfg(feature = "physics")]
    StageEntry::of::<RagdollConfig>(),
    #[cfg(feature = "physics")]
    StageEntry::of::<SecondaryConfig>(),
    StageEntry::of::<LoopConfig>(),
    StageEntry::of::<RootMotionConfig>(),
    StageEntry::of::<ReduceConfig>(),
];

/// A stage as written, independent of its type.
pub trait WrittenStage: Send + Sync {
    /// The name after `use =`.
    fn name(&self) -> &'static str;

    /// Every key with its value; equal for stages that do the same.
    fn canonical(&self) -> Value;

    /// See [`StageConfig::validate`].
    ///
    /// # Errors
    /// All faults, each with its key.
    fn validate(&self) -> Result<(), Vec<StageError>>;

    /// See [`StageConfig::files`].
    fn files(&self) -> Vec<PathBuf>;

    /// See [`StageConfig::ONCE`].
    fn once(&self) -> Option<&'static str>;

    /// See [`StageConfig::meaningless`].
    fn meaningless(&self) -> &'static [&'static str];

    /// See [`StageConfig::foresee`].
    fn foresee(&self, character: &Character, folder: &Path) -> Vec<(String, StageError)>;

    /// See [`StageConfig::resolve`].
    ///
    /// # Errors
    /// A [`StageError`] that names what is missing on the character that arrives.
    fn resolve(&self, setting: &Setting) -> Result<Box<dyn Stage>, StageError>;
}

impl<C: StageConfig> WrittenStage for C {
    fn name(&self) -> &'static str {
        C::NAME
    }

    fn canonical(&self) -> Value {
        serde_json::to_value(self).expect("a configuration is plain data")
    }

    fn validate(&self) -> Result<(), Vec<StageError>> {
        StageConfig::validate(self)
    }

    fn files(&self) -> Vec<PathBuf> {
        StageConfig::files(self)
    }

    fn once(&self) -> Option<&'static str> {
        C::ONCE
    }

    fn meaningless(&self) -> &'static [&'static str] {
        StageConfig::meaningless(self)
    }

    fn foresee(&self, character: &Character, folder: &Path) -> Vec<(String, StageError)> {
        StageConfig::foresee(self, character, folder)
    }

    fn resolve(&self, setting: &Setting) -> Result<Box<dyn Stage>, StageError> {
        StageConfig::resolve(self, setting)
    }
}

impl fmt::Debug for dyn WrittenStage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name(), self.canonical())
    }
}

type Read = for<'k, 'i> fn(&'k [WrittenKey<'i>]) -> Result<Box<dyn WrittenStage>, Vec<KeyFault>>;

/// One stage of the registry.
#[derive(Clone, Copy, Debug)]
pub struct StageEntry {
    /// The name after `use =`.
    pub name: &'static str,
    read: Read,
    schema: fn() -> Value,
    defaults: fn() -> Value,
}

impl StageEntry {
    /// The entry of a stage.
    pub const fn of<C: StageConfig>() -> Self {
        Self {
            name: C::NAME,
            read: |keys| {
                written_keys::read::<C>(keys, &[written_keys::ENABLED])
                    .map(|c| Box::new(c) as Box<dyn WrittenStage>)
            },
            schema: written_keys::inlined_schema::<C>,
            defaults: || C::default().canonical(),
        }
    }

    /// Reads the stage from these keys.
    ///
    /// # Errors
    /// All errors.
    pub fn read(&self, keys: &[WrittenKey<'_>]) -> Result<Box<dyn WrittenStage>, Vec<KeyFault>> {
        (self.read)(keys)
    }

    /// The JSON Schema of the keys; descriptions are the doc comments of the stage.
    pub fn schema(&self) -> Value {
        (self.schema)()
    }

    /// Every key with its default.
    pub fn defaults(&self) -> Value {
        (self.defaults)()
    }
}
