//! A glTF file opened, or built, for both ends: its chunks, its JSON text by top-level key, and its node tree as affine maps.
//!
//! What reading a file of any format may take of memory is counted here too (`Allowance`).
//!
//! Space: the file's own world, right-handed, Y up. Units: metres. Here nodes are nodes; `import` turns them
//! into joints and `export` turns joints back into nodes.

mod affine;
mod allowance;
mod binary;
mod container;
mod error;
#[cfg(feature = "fbx")]
mod fbx;
mod json;
mod size;
mod tree;

pub(crate) use affine::World;
pub(crate) use affine::{Affine, Local};
pub(crate) use allowance::{Allowance, CEILING, OverAllowance};
pub(crate) use binary::floats;
pub(crate) use binary::{Binary, FLOAT, UNSIGNED_INT, UNSIGNED_SHORT};
pub(crate) use container::Chunks;
pub(crate) use container::{glb_with_room, write_glb};
pub use error::GltfError;
#[cfg(feature = "fbx")]
pub(crate) use fbx::{FbxView, open_fbx};
pub(crate) use json::{ADDED, Json};
pub(crate) use size::figure_size;
pub(crate) use tree::Node;
pub(crate) use tree::NodeTree;
