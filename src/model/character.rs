//! A rig with its skinned meshes and the document it came from. Never changed by a stage.

use super::{Document, Mesh, ModelPose, Rig, Skeleton};

/// A rig, its skinned meshes (none for BVH) and the document it came from.
#[derive(Clone, Debug, PartialEq)]
pub struct Character {
    /// The name of the file or of the model.
    pub name: String,
    /// The skeleton and what its joints are for.
    pub rig: Rig,
    /// Where the skin was attached, in model space, for every joint; `None` where the file has no usable
    /// inverse bind matrices. Not the rest pose: files often rest in the first frame of some clip.
    pub bind: Option<ModelPose>,
    /// The skinned meshes that could be read.
    pub meshes: Vec<Mesh>,
    /// The file, for a lossless way back.
    pub document: Option<Document>,
}

impl Character {
    /// The joint tree.
    pub fn skeleton(&self) -> &Skeleton {
        self.rig.skeleton()
    }
}
