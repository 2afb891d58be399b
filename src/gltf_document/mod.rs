//! A glTF file opened or built: container, JSON text, node tree with affine maps.
//!
//! Space: the file's own world, right-handed, Y up. Units: metres. Nodes stay nodes here; `import` maps them to joints, and
//! `export` maps joints back to nodes.

mod container;
mod glb_builder;
mod gltf_error;
mod json;
mod node_transforms;
mod node_tree;

pub(crate) use container::{Chunks, glb_with_room, write_glb};
#[cfg(feature = "formats")]
pub(crate) use glb_builder::bounds;
pub(crate) use glb_builder::{
    CLAMP, EMISSIVE_STRENGTH, FLOAT, GlbBuilder, MIRROR, UNSIGNED_INT, UNSIGNED_SHORT, floats,
};
pub use gltf_error::GltfError;
pub(crate) use json::{ADDED, Json, RATE, is_added, stated_rate};
pub(crate) use node_transforms::{Affine, LocalTransform, WorldTransform};
pub(crate) use node_tree::{GltfNode, NodeTree};
