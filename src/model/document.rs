//! The source glTF file of a character, kept unmodified for lossless export.

use super::StaticMeshes;
use crate::math::Quat;
use std::sync::Arc;

/// How a glTF document is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub enum Container {
    /// One binary file (`.glb`, `.vrm`).
    Glb,
    /// JSON with buffers in sidecar files or data URIs (`.gltf`).
    Gltf,
}

/// An unmodified glTF file and the mapping of its nodes to joints.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct Document {
    /// How the bytes are packed.
    pub container: Container,
    /// The whole file.
    pub bytes: Arc<Vec<u8>>,
    /// For `.gltf`: the files referenced by URI that were read, as URI and content, in order of first use.
    pub resources: Vec<(String, Arc<[u8]>)>,
    /// The node of each joint, in joint order; `None` for joints added by the import.
    pub nodes: Vec<Option<usize>>,
    /// The FBX file that `bytes` were built from, if the source was FBX.
    pub fbx: Option<Arc<Vec<u8>>>,
    /// Meshes that no joint moves.
    pub static_meshes: StaticMeshes,
    /// Model space (facing +Z) from the file's own world space; the same metres.
    pub model_from_file: Quat,
}
