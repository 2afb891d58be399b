//! The reference pose of a character for retargeting (Unreal: retarget pose), and its origin.
//!
//! Retargeting transfers rotations relative to a pose that both bodies share, such as a T-pose. A skin's bind pose is
//! usable, a skeleton's rest pose often is. Where joint axes are baked into the rotations, the rest pose is
//! degenerate, and the reference pose is estimated from the motion or specified by the user.
//!
//! Space: model space. Units: metres.

use super::{JointId, ModelPose};
use std::fmt;

/// A reference pose that is neither the bind pose nor the rest pose.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct Calibration {
    /// Joint transforms with the body upright in a T-pose (or the user-specified pose), facing +Z.
    pub pose: ModelPose,
    /// The origin of the pose.
    pub from: CalibrationSource,
    /// Confidence per joint; only for a pose estimated from a motion.
    pub joints: Vec<CalibratedJoint>,
}

/// Confidence in the orientation of one joint of a reference pose.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct CalibratedJoint {
    /// The joint.
    pub joint: JointId,
    /// From 0 to 1: errors are typically 9 degrees below 0.45, and less than 1 degree above 0.85.
    pub confidence: f64,
    /// The evidence, as text for the user.
    pub reason: String,
}

/// The origin of a reference pose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub enum CalibrationSource {
    /// The bind pose of the skin.
    Bind,
    /// The skeleton's own rest pose.
    Rest,
    /// Estimated from the motion.
    Motion,
    /// One frame of the take, unchanged.
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
