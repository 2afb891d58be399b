//! Reads the bytes of a glTF, GLB, VRM or VRM animation file.
//!
//! [`GltfFile::read`] returns joints with their rest and bind pose, clips, meshes and the humanoid map of VRM. The caller
//! then detects the roles of the joints and the rotation that makes the character face +Z; [`GltfFile::into_asset`] applies
//! both.
//!
//! Space: the file's own world (right-handed, Y up) until that rotation, then model space. Units: metres, seconds. Source:
//! glTF 2.0 specification (Khronos, ISO/IEC 12113:2022).

use super::accessors::Accessors;
use super::mesh_context::MeshContext;
use super::node_joints::{Joints, VrmHumanoid, skin_joints};
use super::primitives::WantedMeshes;
use super::required_extensions::warn_of_required;
use super::resources::Resources;
use super::{
    animations, checked_document, draco, materials, not_finite, primitives, skin_bind, static_meshes,
};
use crate::gltf_document::{Chunks, GltfError, GltfNode, Json, NodeTree, is_added};
use crate::math::{Quat, Transform};
use crate::memory_budget::MemoryBudget;
use crate::model::{
    Asset, Assignment, Character, Clip, Container, Document, Joint, JointId, Mesh, ModelPose, Rig, Role,
    Skeleton, StaticMeshes,
};
use crate::report::Warnings;
use std::path::Path;
use std::sync::Arc;

/// The content of a glTF file, in normal form except for the facing direction, which is still the file's.
#[derive(Clone, Debug)]
pub struct GltfFile {
    /// The joints.
    pub skeleton: Skeleton,
    /// The bind pose of every joint, in the file's own space.
    pub bind: Option<ModelPose>,
    /// The clips, in file order.
    pub clips: Vec<Clip>,
    /// The first clip that posemill added, else 0: see [`Asset::meant`].
    pub meant: usize,
    /// The meshes that the joints move and that could be read.
    pub meshes: Vec<Mesh>,
    /// The humanoid map, where the file is a VRM or a VRM animation.
    pub humanoid: Option<VrmHumanoid>,
    /// The tree of nodes, by its first node, of each joint without a parent in the file: those of one character are in one tree.
    pub trees: Vec<Option<usize>>,
    /// Whether a scale below zero mirrors more than half of the joints: the body, and not one of its sides.
    pub mirrored: bool,
    /// The file as it was read.
    pub document: Document,
    /// What was corrected.
    pub warnings: Warnings,
}

impl GltfFile {
    /// The GLB that a file with this frame rate was converted to. Its times are 32-bit floats, and a single frame defines no rate.
    pub(in crate::import) fn of_glb(
        glb: Vec<u8>,
        rate: f64,
        budget: &MemoryBudget,
        mut warnings: Warnings,
    ) -> Result<Self, GltfError> {
        let mut file = Self::read_within(Arc::new(glb), None, budget)?;
        for clip in &mut file.clips {
            if clip.frames() == 1 || (clip.sample_rate / rate - 1.0).abs() < 1e-3 {
                clip.sample_rate = rate;
            }
        }
        warnings.extend(file.warnings);
        Ok(Self { warnings, ..file })
    }

    /// Reads the file `bytes`, whose relative URIs lie in `folder`.
    ///
    /// # Errors
    /// A [`GltfError`] with the position where skeleton or clips violate the specification. Faults of meshes, materials and
    /// images are warnings.
    pub fn read(bytes: &[u8], folder: Option<&Path>) -> Result<Self, GltfError> {
        let budget = MemoryBudget::new(bytes.len() as u64, None);
        Self::read_within(Arc::new(bytes.to_vec()), folder, &budget)
    }

    /// The same, within what is left of `budget`, of bytes that the document keeps.
    pub(crate) fn read_within(
        bytes: Arc<Vec<u8>>,
        folder: Option<&Path>,
        budget: &MemoryBudget,
    ) -> Result<Self, GltfError> {
        let mut warnings = Warnings::new();
        let mut resources = Resources::new(folder, budget);
        let bytes = not_finite::repaired(bytes, &mut resources, budget, &mut warnings)?;
        let chunks = Chunks::open(&bytes)?;
        let json = Json::parse(chunks.json, chunks.json_offset)?;
        check_version(&json)?;
        lists(&json, budget)?;
        warn_of_required(&json, &mut warnings);
        let tree = NodeTree::read(&json, &mut warnings)?;
        let mut accessors = Accessors::read(&json, chunks.bin, &mut resources, budget)?;
        draco::unpack(&json, &mut accessors, &mut warnings)?;
        let skins = json.list::<::gltf::json::Skin>("skins")?;
        let skin_joints = skin_joints(&skins, tree.nodes().len())?;
        let worlds = tree.worlds();
        let joints = Joints::read(&json, &tree, &skin_joints, &worlds, &mut warnings)?;
        let skins = skin_bind::skins(&skins, skin_joints, &accessors, &mut warnings)?;
        let bind = skin_bind::bind(&skins, &tree, &worlds, &joints, budget, &mut warnings)?;
        let view = checked_document::view(&json, tree.nodes().len(), accessors.list(), &mut warnings)?;
        let images = materials::images(&json, &accessors, &mut resources, &mut warnings)?;
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
        let meshes = primitives::meshes(&source, WantedMeshes::Moved, &mut warnings)?;
        // The skin of a picture of a skeleton binds at the rest pose of a take, which is no pose that somebody chose.
        let pictured = meshes.read.is_empty() && view.meshes().any(|mesh| is_added(mesh.extras()));
        let bind = bind.filter(|_| !pictured);
        let (clips, meant) = animations::clips(&view, &tree, &accessors, &joints, &mut warnings)?;
        let container = if chunks.glb { Container::Glb } else { Container::Gltf };
        let resources = resources.into_read();
        let static_meshes = match meshes.more {
            true => static_meshes::on_demand(&bytes, &resources),
            false => StaticMeshes::default(),
        };
        let document = Document {
            container,
            bytes,
            resources,
            nodes: joints.nodes,
            fbx: None,
            static_meshes,
            model_from_file: Quat::identity(),
        };
        Ok(Self {
            skeleton: joints.skeleton,
            bind,
            clips,
            meant,
            meshes: meshes.read,
            humanoid: joints.humanoid,
            trees: joints.trees,
            mirrored: joints.mirrored,
            document,
            warnings,
        })
    }

    /// The asset with these roles, rotated by `model_from_file` so that the character faces +Z.
    ///
    /// `assignments` name joints of [`GltfFile::skeleton`].
    pub fn into_asset(
        self,
        name: impl Into<String>,
        assignments: impl IntoIterator<Item = (Role, Assignment)>,
        model_from_file: Quat,
    ) -> Asset {
        let rotation = Transform::from_rotation(model_from_file);
        let root = JointId::new(0);
        let mut joints: Vec<Joint> = self.skeleton.joints().to_vec();
        joints[0].rest = rotation * joints[0].rest;
        let skeleton =
            Skeleton::new(joints).expect("a rotated skeleton keeps its tree, names and finite numbers");
        let mut clips = self.clips;
        for clip in clips.iter_mut().filter(|_| model_from_file != Quat::identity()) {
            let translated = clip.translated().first() == Some(&root);
            for frame in 0..clip.frames() {
                let q = &mut clip.rotations_mut(frame)[0];
                *q = model_from_file * *q;
                if translated {
                    let t = &mut clip.translations_mut(frame)[0];
                    *t = model_from_file * *t;
                }
            }
        }
        let rotated = |pose: ModelPose| ModelPose::new(pose.joints().iter().map(|t| rotation * *t).collect());
        let character = Character {
            bind: self.bind.map(rotated),
            meshes: self.meshes,
            document: Some(Document { model_from_file, ..self.document }),
            ..Character::new(name, Rig::new(skeleton, assignments))
        };
        Asset { meant: self.meant, ..Asset::new(character, clips, self.warnings) }
    }
}

/// Reserves the memory of the parsed lists of the document: an empty entry is only three bytes of text.
fn lists(json: &Json, budget: &MemoryBudget) -> Result<(), GltfError> {
    let count = |key| json.items(key).map_or(0, |items| items.len() as u64);
    let what = |key: &str| format!("the list `{key}`");
    // A node is parsed twice, and stored in the tree and often as a joint.
    budget.reserve_list::<([::gltf::json::Node; 2], GltfNode, Joint)>(count("nodes"), || what("nodes"))?;
    budget.reserve_list::<::gltf::json::Material>(count("materials"), || what("materials"))?;
    budget.reserve_list::<[::gltf::json::Accessor; 2]>(count("accessors"), || what("accessors"))?;
    budget.reserve_list::<[::gltf::json::buffer::View; 2]>(count("bufferViews"), || what("bufferViews"))?;
    Ok(())
}

fn check_version(json: &Json) -> Result<(), GltfError> {
    let asset = json.value("asset").unwrap_or_default();
    match asset.get("version").and_then(|v| v.as_str()) {
        Some(version) if version.starts_with("2.") => Ok(()),
        Some(version) => Err(GltfError::Version { found: version.into() }),
        None => Err(GltfError::value("asset.version", "missing")),
    }
}
