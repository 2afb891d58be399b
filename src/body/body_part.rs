//! The parts of a body, the same for every body, however many joints it has.

use crate::model::{Role, Side};
use std::fmt;

/// A part of a body that has a capsule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BodyPart {
    /// The trunk at the hip joints.
    Pelvis,
    /// The trunk at the belly.
    Waist,
    /// The trunk at the lower ribs.
    Ribs,
    /// The trunk below the shoulders.
    Chest,
    /// The neck.
    Neck,
    /// The head.
    Head,
    /// From shoulder to elbow.
    UpperArm(Side),
    /// From elbow to wrist.
    LowerArm(Side),
    /// The palm and the first links of the fingers.
    Hand(Side),
    /// From hip to knee.
    UpperLeg(Side),
    /// From knee to ankle.
    LowerLeg(Side),
    /// From heel to toes.
    Foot(Side),
}

impl BodyPart {
    /// The side, for parts that have one.
    pub fn side(self) -> Option<Side> {
        match self {
            BodyPart::UpperArm(s)
            | BodyPart::LowerArm(s)
            | BodyPart::Hand(s)
            | BodyPart::UpperLeg(s)
            | BodyPart::LowerLeg(s)
            | BodyPart::Foot(s) => Some(s),
            _ => None,
        }
    }
}

impl fmt::Display for BodyPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            BodyPart::Pelvis => write!(f, "pelvis"),
            BodyPart::Waist => write!(f, "waist"),
            BodyPart::Ribs => write!(f, "ribs"),
            BodyPart::Chest => write!(f, "chest"),
            BodyPart::Neck => write!(f, "neck"),
            BodyPart::Head => write!(f, "head"),
            BodyPart::UpperArm(s) => write!(f, "{}", Role::UpperArm(s)),
            BodyPart::LowerArm(s) => write!(f, "{}", Role::LowerArm(s)),
            BodyPart::Hand(s) => write!(f, "{}", Role::Hand(s)),
            BodyPart::UpperLeg(s) => write!(f, "{}", Role::UpperLeg(s)),
            BodyPart::LowerLeg(s) => write!(f, "{}", Role::LowerLeg(s)),
            BodyPart::Foot(s) => write!(f, "{}", Role::Foot(s)),
        }
    }
}
