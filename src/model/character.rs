//! A rig with its skinned meshes and its source document. No stage changes it.

use super::{BodyMass, Calibration, CalibrationSource, Document, Mesh, ModelPose, Rig, Robot, Skeleton};
use std::sync::Arc;

/// A rig, its skinned meshes (none for BVH) and its source document.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct Character {
    /// The name of the file or of the model.
    pub name: String,
    /// The skeleton and the roles of its joints.
    pub rig: Rig,
    /// The pose in which the skin was bound, in model space, for every joint; `None` if the file has no usable
    /// inverse bind matrices. Often differs from the rest pose, which in many files is the first frame of some clip.
    pub bind: Option<ModelPose>,
    /// The reference pose, if it is neither the bind pose nor (without one) the rest pose. Read it through
    /// [`Character::reference_pose`].
    pub calibration: Option<Calibration>,
    /// The readable skinned meshes.
    pub meshes: Vec<Mesh>,
    /// The source file, for lossless export.
    pub document: Option<Document>,
    /// The robot, if the character is one: its skeleton is [`Robot::skeleton`].
    pub robot: Option<Arc<Robot>>,
    /// The mass that physics gives the body.
    pub mass: BodyMass,
}

impl Character {
    /// A bare rig without skin or document; its reference pose is the rest pose.
    pub fn new(name: impl Into<String>, rig: Rig) -> Self {
        Self {
            name: name.into(),
            rig,
            bind: None,
            calibration: None,
            meshes: Vec::new(),
            document: None,
            robot: None,
            mass: BodyMass::default(),
        }
    }

    /// The joint tree.
    pub fn skeleton(&self) -> &Skeleton {
        self.rig.skeleton()
    }

    /// The reference pose for retargeting, in model space: the user-specified or estimated one, else the bind pose,
    /// else the rest pose.
    pub fn reference_pose(&self) -> ModelPose {
        let calibration = self.calibration.as_ref().map(|c| &c.pose);
        calibration.or(self.bind.as_ref()).cloned().unwrap_or_else(|| self.skeleton().rest_model_pose())
    }

    /// The origin of [`Character::reference_pose`].
    pub fn calibration_source(&self) -> CalibrationSource {
        match (&self.calibration, &self.bind) {
            (Some(calibration), _) => calibration.from,
            (None, Some(_)) => CalibrationSource::Bind,
            (None, None) => CalibrationSource::Rest,
        }
    }
}
