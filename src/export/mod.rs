//! A motion becomes bytes; a character's own file leaves as it came, with animations added.
//!
//! [`save`] is the door; [`bvh`] writes any skeleton as BVH text.

#[cfg(feature = "formats")]
mod archive;
pub mod bvh;
mod bvh_angles;
pub mod csv;
mod decimal;
#[cfg(feature = "formats")]
mod fbx;
mod format;
mod gltf;
mod gltf_beside;
mod gltf_carried;
mod gltf_file;
mod gltf_local;
mod gltf_nodes;
mod gltf_splice;
mod gltf_thin;
mod gltf_visible;
#[cfg(feature = "formats")]
pub mod npz;
#[cfg(feature = "formats")]
mod rate;
mod reduce;
mod save;
#[cfg(feature = "formats")]
pub mod usd;
pub mod vrma;

#[cfg(feature = "formats")]
pub use fbx::FbxOptions;
pub use format::{FORMATS, Format};
pub use gltf::{GltfOptions, GltfOutput, write as write_gltf};
pub(crate) use gltf_beside::decoded_uri;
pub use gltf_beside::made_by;
pub use save::{ExportError, Options, OutputFile, save};

#[cfg(test)]
mod tests;
