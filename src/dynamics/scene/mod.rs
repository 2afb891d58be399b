//! Reads scene files (`SCENE.toml`) into worlds that can be simulated; every error has its line.
//!
//! Entries are deserialised first, then checked and converted section by section.

mod bodies;
mod constraints;
mod error;
mod file;
mod keys;
mod parse;
mod reader;
mod rules;

pub use error::{SceneError, SceneFault};
#[cfg(feature = "cli")]
pub use keys::SCENE_KEYS;
pub use parse::{BodyGeometry, Method, Scene};
