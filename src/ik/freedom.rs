//! Degrees of freedom of a joint.

use crate::math::Vec3;

/// The degrees of freedom of a joint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Freedom {
    /// None.
    Fixed,
    /// Rotation about one axis, a unit vector in joint space.
    Hinge(Vec3),
    /// Rotation about a first axis fixed in the joint's rest frame, then about a second one fixed in the joint: two
    /// perpendicular unit vectors in joint space.
    TwoAxis(Vec3, Vec3),
    /// Rotation about every axis.
    Ball,
    /// Translation along one axis, a unit vector in the joint's rest frame (a prismatic joint).
    Slide(Vec3),
    /// Rotation and translation; for the root only, treated as [`Freedom::Ball`] elsewhere.
    Free,
}

impl Freedom {
    /// Number of degrees of freedom.
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
