//! Degrees of freedom of a joint.

use crate::math::Vec3;

/// How a joint may move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Freedom {
    /// Not at all.
    Fixed,
    /// About one axis, a unit vector in joint space.
    Hinge(Vec3),
    /// About a first axis fixed in the joint's rest frame, then about a second one fixed in the joint itself: two
    /// unit vectors in joint space, perpendicular to each other.
    TwoAxis(Vec3, Vec3),
    /// About every axis.
    Ball,
    /// Along one axis, a unit vector in the joint's rest frame (a prismatic joint).
    Slide(Vec3),
    /// About and along every axis; only the root, a ball elsewhere.
    Free,
}

impl Freedom {
    /// How many numbers a step of this joint has.
    pub fn dofs(&self) -> usize {
        match self {
            Freedom::Fixed => 0,
            Freedom::Hinge(_) | Freedom::Slide(_) => 1,
            Freedom::TwoAxis(..) => 2,
            Freedom::Ball => 3,
            Freedom::Free => 6,
        }
    }
}
