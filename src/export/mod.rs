//! A motion becomes bytes.
//!
//! [`bvh`] writes any skeleton as BVH text.

pub mod bvh;
mod bvh_angles;
mod decimal;
