//! Decodes the meshes outside of the skeleton from a document that was read, for the formats that write them.

use super::accessors::Accessors;
use super::mesh_context::MeshContext;
use super::node_joints::{Joints, skin_joints};
use super::primitives::{WantedMeshes, meshes};
use super::resources::Resources;
use super::{checked_document, draco, materials, skin_bind};
use crate::gltf_document::{Chunks, GltfError, Json, NodeTree};
use crate::memory_budget::MemoryBudget;
use crate::model::{Mesh, StaticMeshes};
use crate::report::Warnings;
use std::sync::Arc;

/// The meshes of the document `bytes` with these further files, which is valid: it was read before.
pub(super) fn on_demand(bytes: &Arc<Vec<u8>>, files: &[(String, Arc<[u8]>)]) -> StaticMeshes {
    let (bytes, files) = (Arc::clone(bytes), files.to_vec());
    StaticMeshes::new(move || {
        let mut warnings = Warnings::new();
        let read = decoded(&bytes, files, &mut warnings).unwrap_or_else(|error| {
            let said = format!("meshes outside of the skeleton were not read: {error}");
            warnings.add("gltf-mesh-unreadable", said, "");
            Vec::new()
        });
        (read, warnings)
    })
}

fn decoded(
    bytes: &[u8],
    files: Vec<(String, Arc<[u8]>)>,
    warnings: &mut Warnings,
) -> Result<Vec<Mesh>, GltfError> {
    let size = bytes.len() + files.iter().map(|(_, bytes)| bytes.len()).sum::<usize>();
    let budget = MemoryBudget::new(size as u64, None);
    // What is said of the rest of the document was said when it was read.
    let mut known = Warnings::new();
    let mut resources = Resources::of(files, &budget);
    let chunks = Chunks::open(bytes)?;
    let json = Json::parse(chunks.json, chunks.json_offset)?;
    let tree = NodeTree::read(&json, &mut known)?;
    let mut accessors = Accessors::read(&json, chunks.bin, &mut resources, &budget)?;
    draco::unpack(&json, &mut accessors, &mut known)?;
    let skins = json.list::<::gltf::json::Skin>("skins")?;
    let skin_joints = skin_joints(&skins, tree.nodes().len())?;
    let worlds = tree.worlds();
    let joints = Joints::read(&json, &tree, &skin_joints, &worlds, &mut known)?;
    let skins = skin_bind::skins(&skins, skin_joints, &accessors, &mut known)?;
    let view = checked_document::view(&json, tree.nodes().len(), accessors.list(), &mut known)?;
    let images = materials::images(&json, &accessors, &mut resources, &mut known)?;
    let source = MeshContext {
        json: &json,
        view: &view,
        tree: &tree,
        worlds: &worlds,
        skins: &skins,
        joints: &joints,
        accessors: &accessors,
        images: &images,
    };
    Ok(meshes(&source, WantedMeshes::Unmoved, warnings)?.read)
}
