//! The pose in which a body is compared with others, and where it is from.
//!
//! Retargeting carries over what a body part has turned away from a pose that both bodies can be thought to stand in.
//! A skin's bind pose is such a pose, a skeleton's rest pose often is; where the axes of a rig's joints are baked into
//! its rotations the rest pose is a heap of bones, and the calibration pose is found from the motion or told.
//!
//! Space: model space. Units: metres.

use super::{JointId, ModelPose};
use std::fmt;

/// The pose in which a body is compared with others, where neither its bind pose nor its rest pose is that pose.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibration {
    /// Every joint as it stands when the body stands upright in a T-pose (or whatever pose was told), facing +Z.
    pub pose: ModelPose,
    /// Where the pose is from.
    pub from: CalibrationSource,
    /// How sure the orientations of single joints are, and why; of a pose that is read off a motion.
    pub joints: Vec<CalibratedJoint>,
}

/// How sure the orientation of one joint in a calibration pose is.
#[derive(Clone, Debug, PartialEq)]
pub struct CalibratedJoint {
    /// The joint.
    pub joint: JointId,
    /// From 0 to 1: below 0.45 errors of 9 degrees are usual, above 0.85 of less than 1.
    pub confidence: f64,
    /// The evidence, for people.
    pub reason: String,
}

/// Where a calibration pose is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CalibrationSource {
    /// Where the skin was attached.
    Bind,
    /// The skeleton's own rest pose.
    Rest,
    /// Estimated from the motion.
    Motion,
    /// One frame of the take, as it is.
    Frame(usize),
    /// Another file.
    File,
}

impl fmt::Display for CalibrationSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CalibrationSource::Bind => write!(f, "bind"),
            CalibrationSource::Rest => write!(f, "rest"),
            CalibrationSource::Motion => write!(f, "motion"),
            CalibrationSource::Frame(n) => write!(f, "frame {n}"),
            CalibrationSource::File => write!(f, "file"),
        }
    }
}
