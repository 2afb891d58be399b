//! Directions over the ground.

use super::Vec3;

/// The horizontal part of a vector, Y up.
pub(crate) fn horizontal(v: &Vec3) -> Vec3 {
    Vec3::new(v.x, 0.0, v.z)
}
