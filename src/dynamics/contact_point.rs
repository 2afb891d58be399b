//! Contact points: of two shapes, and of two colliders of a world.
//!
//! Space: world. Units: metres.

use crate::math::Vec3;

/// One point where two colliders touch or nearly do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// The first collider, towards which the normal points.
    pub first: usize,
    /// The second collider.
    pub second: usize,
    /// Identifies the feature of the pair; stable from step to step.
    pub feature: u32,
    /// Midway between the two surfaces (on the surface of the other shape for a plane), world.
    pub point: Vec3,
    /// From the second towards the first, unit length, world.
    pub normal: Vec3,
    /// Penetration depth, metres; negative while the shapes are apart.
    pub depth: f64,
}

/// A contact point of two shapes, without the indices of their colliders.
#[derive(Clone, Copy, Debug)]
pub(super) struct Touch {
    pub(super) feature: u32,
    pub(super) point: Vec3,
    pub(super) normal: Vec3,
    pub(super) depth: f64,
}
