//! Reads scene files (`SCENE.toml`) into worlds that can be simulated; every error has its line.
//!
//! Entries are deserialised first, then checked and converted section by section.

mod body_entries;
mod constraint_entries;
mod scene_error;
mod scene_entries;
mod scene_keys;
mod parse;
mod reader;
mod rule_entries;

pub use parse::{BodyGeometry, Scene, SteppingMethod};
pub use scene_error::{SceneError, SceneFault};
#[cfg(feature = "cli")]
pub use scene_keys::SCENE_KEYS;
