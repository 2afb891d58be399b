//! A character becomes a body whose hands have something to be near to: its capsules, its arms and its height.
//!
//! Measured in the bind pose, else in the rest pose. Units: metres.

use super::body_part::BodyPart;
use super::capsules::{Capsule, capsules, stature};
use crate::anatomy::Figure;
use crate::model::{Character, JointId, Rig, Role, Side};

/// An upright body with arms, measured.
#[derive(Clone, Debug, PartialEq)]
pub struct ArmedBody {
    pub(super) capsules: Vec<Capsule>,
    pub(super) shoulders: [Option<JointId>; 2],
    /// The mean length of its arms, from shoulder to wrist, metres.
    pub(super) arm: f64,
    /// From the sole to the top of the head, metres.
    pub(super) height: f64,
}

impl ArmedBody {
    /// Measures a character; `None` of one without arms or on four legs.
    pub fn of(character: &Character, rig: &Rig) -> Option<ArmedBody> {
        ArmedBody::from_capsules(character, rig, capsules(character, rig))
    }

    /// As `ArmedBody::of` with the capsules of the character known.
    pub fn from_capsules(character: &Character, rig: &Rig, capsules: Vec<Capsule>) -> Option<ArmedBody> {
        let bind = character.calibration_pose();
        let figure = Figure::of(rig, &bind)?;
        let at = |role: Role| rig.joint(role).map(|id| bind.position(id));
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
        let height = stature(&capsules, &figure, &bind);
        let shoulders = Side::BOTH.map(|side| rig.joint(Role::UpperArm(side)));
        (upright && length > 0.0).then_some(ArmedBody { capsules, shoulders, arm: length, height })
    }

    /// The capsule of a part.
    pub(super) fn capsule(&self, part: BodyPart) -> Option<Capsule> {
        self.capsules.iter().find(|c| c.part == part).copied()
    }

    /// The joint of a shoulder.
    pub(super) fn shoulder(&self, side: Side) -> Option<JointId> {
        self.shoulders[usize::from(side == Side::Right)]
    }
}
