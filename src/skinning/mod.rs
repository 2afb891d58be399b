//! Skinning of meshes: skinning transforms, linear blend, dual quaternions.
//!
//! Space: mesh space in, model space out. Units: metres out; the mesh may be in any unit, which its bindings convert.

mod blend;
mod blend_kernel;
mod dual;
mod transforms;

pub use blend::{LinearBlend, Skin, linear_blend};
pub use dual::dual_quaternion_blend;
pub use transforms::{skinning_from_bind, skinning_transforms};
