//! The glTF file a character came from, kept as it is so that export can give it back untouched.

use crate::math::Quat;
use std::sync::Arc;

/// How a glTF document is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Container {
    /// One binary file (`.glb`, `.vrm`).
    Glb,
    /// JSON with buffers beside it or in data URIs (`.gltf`).
    Gltf,
}

/// A glTF file as it came, and how its nodes became joints.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// How the bytes are packed.
    pub container: Container,
    /// The whole file.
    pub bytes: Arc<Vec<u8>>,
    /// For `.gltf`: the files that its URIs name and that were read, URI and content, in first-use order.
    pub resources: Vec<(String, Arc<[u8]>)>,
    /// The node of each joint, in joint order; `None` for joints that the import added.
    pub nodes: Vec<Option<usize>>,
    /// The FBX file that `bytes` were built from, where the character came in one.
    pub fbx: Option<Arc<Vec<u8>>>,
    /// Model space (facing +Z) from the file's own world space; the same metres.
    pub model_from_file: Quat,
}
