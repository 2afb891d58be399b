//! A motion becomes bytes; a character's own file leaves as it came, with animations added.

mod gltf;
mod gltf_nodes;
mod gltf_splice;
mod gltf_visible;

pub use gltf::{GltfOptions, GltfOutput, write as write_gltf};
