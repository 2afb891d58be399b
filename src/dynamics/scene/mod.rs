//! A scene file becomes a world that can be simulated; every fault names its line.
//!
//! `file` holds the keys as they are written, `keys` says in words what they mean, `reader` makes numbers and names of them, the other files what the entries
//! stand for.

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
