//! Reads FBX files: the scene is converted to a GLB in memory, which the glTF importer reads.
//!
//! So bind poses, folded scale, roles, meshes, previews and the lossless export handle one kind of document. The reader is
//! `ufbx`: FBX 3.0 to 7.7, binary and ASCII; it evaluates pivots, rotation orders, layers, tangents and extrapolation.

mod mesh;
mod stacks;
mod scene_to_glb;
mod fbx_format;
mod joint_nodes;
mod material;
mod fbx_rest_pose;
mod skin_weights;
mod not_finite;

pub use fbx_format::FORMAT;
