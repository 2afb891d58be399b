//! Writes any skeleton and its motion as BVH text.

mod bvh_anim_conversion;
mod bvh_format;
mod bvh_writer;

pub use super::decimal_text::Decimals;
pub use super::euler_angles::RotationOrder;
pub use bvh_anim_conversion::BvhAnimError;
pub use bvh_format::FORMAT;
pub use bvh_writer::{BvhWriteOptions, write};
