//! Skinning of meshes: skinning transforms, linear blend, dual quaternions.
//!
//! Space: mesh space in, model space out. Units: metres out; the mesh may be in any unit, which its bindings convert.

mod linear_blend;
mod linear_blend_kernel;
mod dual_quaternion;
mod skinning_transforms;

pub use dual_quaternion::dual_quaternion_blend;
pub use linear_blend::{LinearBlend, Skin, linear_blend};
pub use skinning_transforms::{skinning_from_bind, skinning_transforms};

#[cfg(test)]
mod tests;
