//! Writes motions to bytes; a character's own file is preserved, with animations added.
//!
//! [`save`] is the entry point; [`bvh`] writes any skeleton as BVH text.

mod save;
mod export_options;
mod format;
mod gltf;
#[cfg(feature = "formats")]
mod fbx;
pub mod bvh;
pub mod vrma;
#[cfg(feature = "formats")]
pub mod usd;
#[cfg(feature = "formats")]
mod vmd;
#[cfg(feature = "formats")]
pub mod npz;
#[cfg(feature = "formats")]
pub mod npy;
#[cfg(feature = "formats")]
pub(crate) mod numpy_arrays;
#[cfg(feature = "formats")]
mod humanml_features;
pub mod csv;
mod key_reduction;
mod euler_angles;
mod file_rate;
mod decimal_text;
mod nominal_rate;
pub(crate) mod robot;
mod synthetic_root;
mod surface_hash;
#[cfg(feature = "formats")]
mod omitted_parts;
#[cfg(feature = "formats")]
mod texture_file;
#[cfg(feature = "formats")]
mod whole_mesh;
#[cfg(feature = "formats")]
mod zip_archive;

pub use export_options::{ExportOptions, FbxBind, FbxOptions, RobotOptions};
pub use format::FORMATS;
pub(crate) use gltf::decoded_uri;
#[cfg(feature = "cli")]
pub(crate) use gltf::lost_buffer;
pub use gltf::{GltfOptions, GltfOutput, made_by, write as write_gltf};
pub use save::{ExportError, Format, OutputFile, save};

#[cfg(test)]
mod tests;
