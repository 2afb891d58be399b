//! A motion becomes bytes; a character's own file leaves as it came, with animations added.
//!
//! [`save`] is the door; [`bvh`] writes any skeleton as BVH text.

pub mod bvh;
mod bvh_angles;
mod decimal;
mod gltf;
mod gltf_local;
mod gltf_nodes;
mod gltf_splice;
mod gltf_thin;
mod gltf_visible;
mod reduce;
mod save;

pub use gltf::{GltfOptions, GltfOutput, write as write_gltf};
pub use reduce::{Keys, reduce};
pub use save::{ExportError, Format, Options, OutputFile, save};
