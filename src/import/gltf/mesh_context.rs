//! What readers of meshes, their weights and their materials share.

use super::accessors::Accessors;
use super::node_joints::Joints;
use super::skin_bind::GltfSkin;
use crate::gltf_document::{Json, NodeTree, WorldTransform};
use ::gltf::mesh::{Primitive, Semantic};
use std::sync::Arc;

/// The parts of a document from which meshes are read.
pub(super) struct MeshContext<'a> {
    pub(super) json: &'a Json<'a>,
    pub(super) view: &'a ::gltf::Document,
    pub(super) tree: &'a NodeTree,
    pub(super) worlds: &'a [WorldTransform],
    pub(super) skins: &'a [GltfSkin],
    pub(super) joints: &'a Joints,
    pub(super) accessors: &'a Accessors<'a>,
    pub(super) images: &'a [Option<Arc<[u8]>>],
}

/// The index of the accessor of an attribute.
pub(super) fn attribute(primitive: &Primitive, semantic: Semantic) -> Option<usize> {
    primitive.get(&semantic).map(|a| a.index())
}
