//! A rig with its skinned meshes and the document it came from. Never changed by a stage.

use super::{Calibration, CalibrationSource, Document, Mesh, ModelPose, Rig, Skeleton};

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
    /// The pose in which this body is compared with others, where that is neither its bind pose nor, without one, its
    /// rest pose. Ask [`Character::calibration_pose`].
    pub calibration: Option<Calibration>,
    /// The skinned meshes that could be read.
    pub meshes: Vec<Mesh>,
    /// The file, for a lossless way back.
    pub document: Option<Document>,
}

impl Character {
    /// A bare rig: no skin, no document, compared with others as it rests.
    pub fn new(name: impl Into<String>, rig: Rig) -> Self {
        Self { name: name.into(), rig, bind: None, calibration: None, meshes: Vec::new(), document: None }
    }

    /// The joint tree.
    pub fn skeleton(&self) -> &Skeleton {
        self.rig.skeleton()
    }

    /// The pose in which this body is compared with others, in model space: the one that was told or estimated, else
    /// the bind pose, else the rest pose.
    pub fn calibration_pose(&self) -> ModelPose {
        let told = self.calibration.as_ref().map(|c| &c.pose);
        told.or(self.bind.as_ref()).cloned().unwrap_or_else(|| self.skeleton().rest_model_pose())
    }

    /// Where [`Character::calibration_pose`] is from.
    pub fn calibration_source(&self) -> CalibrationSource {
        match (&self.calibration, &self.bind) {
            (Some(told), _) => told.from,
            (None, Some(_)) => CalibrationSource::Bind,
            (None, None) => CalibrationSource::Rest,
        }
    }
}
