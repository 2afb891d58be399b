//! FBX files become assets: the scene is built as a GLB in memory, and that goes through the glTF importer.
//!
//! So bind poses, folded scale, roles, meshes, previews and the lossless way back know one kind of document. The reader is
//! `ufbx`: FBX 3.0 to 7.7, binary and ASCII; it evaluates pivots, rotation orders, layers, tangents and extrapolation.

mod bodies;
mod clips;
mod document;
mod file;
mod joints;
mod looks;
mod rest;
mod skins;

pub use file::FORMAT;
