//! The arms of an upright body: shoulder joints and arm length, which scale the distances of hands from the body.
//!
//! Measured in the reference pose. Units: metres.

use crate::anatomy::Figure;
use crate::model::{JointId, ModelPose, Rig, Role, Side};

/// The arms of an upright body.
#[derive(Clone, Debug, PartialEq)]
pub struct ArmMeasures {
    /// The shoulder joints, left and right.
    pub shoulders: [Option<JointId>; 2],
    /// The mean length of the arms, from shoulder to wrist, metres.
    pub length: f64,
}

impl ArmMeasures {
    /// The arms of a rig in its reference pose; `None` for a body without arms or on four legs.
    pub fn of(rig: &Rig, reference_pose: &ModelPose, figure: &Figure) -> Option<ArmMeasures> {
        let at = |role: Role| rig.joint(role).map(|id| reference_pose.position(id));
        let arm = |s: Side| {
            let (shoulder, wrist) = (at(Role::UpperArm(s))?, at(Role::Hand(s))?);
            let elbow = at(Role::LowerArm(s))?;
            Some((elbow - shoulder).norm() + (wrist - elbow).norm())
        };
        let arms = [arm(Side::Left), arm(Side::Right)];
        let length = arms.iter().flatten().sum::<f64>() / arms.iter().flatten().count().max(1) as f64;
        let shoulder = at(Role::UpperArm(Side::Left)).or_else(|| at(Role::UpperArm(Side::Right)))?;
        let trunk = shoulder - figure.pelvis;
        let upright = trunk.dot(&figure.up) > 0.7 * trunk.norm();
        let shoulders = Side::BOTH.map(|side| rig.joint(Role::UpperArm(side)));
        (upright && length > 0.0).then_some(ArmMeasures { shoulders, length })
    }
}
