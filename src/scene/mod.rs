//! A glTF file opened, or built, for both ends: its chunks, its JSON text by top-level key, and its node tree as affine maps.
//!
//! What reading a file of any format may take of memory is counted here too ([`Allowance`]).
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

pub use affine::{Affine, Local, World};
pub use allowance::{Allowance, CEILING, OverAllowance};
pub use binary::{Binary, FLOAT, UNSIGNED_INT, UNSIGNED_SHORT, floats};
pub use container::{Chunks, glb_with_room, write_glb};
pub use error::GltfError;
#[cfg(feature = "fbx")]
pub use fbx::{FbxView, open_fbx};
pub use json::{ADDED, Json};
pub use size::figure_size;
pub use tree::{Node, NodeTree};
