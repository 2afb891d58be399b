//! FBX files become assets: the scene is built as a GLB in memory, and that goes through the glTF importer.
//!
//! So bind poses, folded scale, roles, meshes, previews and the lossless way back know one kind of document. The reader is
//! `ufbx`: FBX 3.0 to 7.7, binary and ASCII; it evaluates pivots, rotation orders, layers, tangents and extrapolation.

mod mesh;
mod stacks;
mod scene_to_glb;
mod fbx_format;
mod joint_nodes;
mod material;
mod fbx_rest_pose;
mod skin_weights;

pub use fbx_format::FORMAT;
