//! Bytes become an asset in normal form: metres, Y up, parents first, one root, unique names, uniform frames.

mod gltf;
mod gltf_accessor;
mod gltf_animation;
mod gltf_bind;
mod gltf_mesh;
mod gltf_resources;
mod gltf_skeleton;
mod gltf_track;

pub use gltf::{GltfFile, import as import_gltf};
pub use gltf_skeleton::{Humanoid, VrmVersion};
