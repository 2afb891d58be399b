//! A glTF file opened for both ends: its chunks, its JSON text by top-level key, and its node tree as affine maps.
//!
//! Space: the file's own world, right-handed, Y up. Units: metres. Here nodes are nodes; `import` turns them
//! into joints and `export` turns joints back into nodes.

mod affine;
mod container;
mod error;
mod json;
mod size;
mod tree;

pub use affine::{Affine, Local, World};
pub use container::{Chunks, glb_with_room, write_glb};
pub use error::GltfError;
pub use json::Json;
pub use size::figure_size;
pub use tree::{Node, NodeTree};

/// The member of an animation's extras that says that posemill added it.
pub const ADDED: &str = "posemill";
