//! Bytes become an asset in normal form.
//!
//! [`bvh`] reads BVH text: a tolerant scanner for the hierarchy, rows decoded straight into a clip, and a hook
//! that turns the file's own units and axes into metres, Y up.

pub mod bvh;
mod bvh_angles;
mod bvh_error;
mod bvh_model;
mod bvh_motion;
mod bvh_number;
mod bvh_rows;
mod bvh_scan;

pub use bvh_error::{BvhError, Place};
