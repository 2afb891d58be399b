//! Reads motion-capture and character files into an [`Asset`](crate::model::Asset) in normal form: metres, Y up, facing +Z,
//! parents first, one root, unique joint names, uniformly sampled frames.
//!
//! [`load`] reads a file: `format` detects which of [`FORMATS`] it is, and the folder of that format decodes it. Files
//! whose axes or units may be unknown share `known_axes`, `rig_detection` (roles of joints) and `reference_pose` (the pose in which
//! bodies are compared).

mod load;
mod import_options;
mod import_error;
mod format;
pub mod bvh;
mod gltf;
#[cfg(feature = "fbx")]
mod fbx;
mod asf_amc;
mod csv;
mod face;
mod robot;
#[cfg(feature = "formats")]
mod usd;
#[cfg(feature = "formats")]
mod mmd;
#[cfg(feature = "formats")]
mod npz;
#[cfg(feature = "formats")]
mod points;
#[cfg(feature = "formats")]
mod half_number;
mod known_axes;
mod rig_detection;
mod reference_pose;
mod neutral_pose;
mod file_unit;
mod missing_rows;

pub use asf_amc::AsfError;
pub use bvh::{BvhError, Positions, TextPosition};
pub use face::FaceError;
pub use format::{FORMATS, ReadFormat, SourceFile};
pub use gltf::GltfFile;
pub(crate) use gltf::SCALE_ANIMATED;
pub use import_error::{CsvError, ImportError};
pub use import_options::{Calibrate, ImportOptions, PointLayout, PointOptions, UpAxis};
pub(crate) use load::MAX_FILE_BYTES;
pub(crate) use load::{FormatKnownBy, from_shared, load_blocks, read};
pub use load::{format_name, from_bytes, from_file, load};
#[cfg(feature = "formats")]
pub use mmd::MmdError;
#[cfg(feature = "formats")]
pub use npz::{BodyModelError, NpzError};
#[cfg(feature = "formats")]
pub use points::PointsError;
pub use robot::RobotError;
#[cfg(feature = "formats")]
pub use usd::UsdError;

#[cfg(test)]
mod tests;
