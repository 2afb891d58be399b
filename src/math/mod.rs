//! Vectors, rotations and rigid transforms: the only module that names the linear-algebra crate.
//!
//! Space: whatever the caller's variable names say (`parent_from_joint`, `model_from_joint`).
//! Units: metres and radians. Rotations are Hamilton unit quaternions acting on column vectors,
//! `a * b` meaning "first `b`, then `a`".

mod average;
mod horizontal;
mod lanes;
mod quantile;
mod real;
mod registers;
mod rigid_fit;
mod rotation;
mod segment;
mod slope_fit;
mod smoothstep;
#[cfg(any(feature = "formats", feature = "render"))]
mod srgb;
mod symmetric;
mod transform;
mod triple;

pub(crate) use average::{
    mean_direction, mean_rotation, median_rotation, plain_mean_rotation, rotation_between,
};
pub(crate) use horizontal::horizontal;
pub(crate) use lanes::{LANES, LaneTransform, LaneVec3, lane_quat, lane_vec3, quat_product, splat_vec3};
pub(crate) use nalgebra::DVector;
pub use nalgebra::{DMatrix, Matrix3 as Mat3, Matrix4 as Mat4, Vector2 as Vec2};
#[cfg(feature = "physics")]
pub(crate) use nalgebra::{Matrix6 as Mat6, Vector6 as Vec6};
pub(crate) use quantile::{
    median, median_of, nearest_rank, percentile, percentile_in_place, weighted_quantile,
};
pub use real::Real;
pub(crate) use real::{RealX4, RealX8};
pub(crate) use registers::in_wide_registers;
pub(crate) use rigid_fit::RigidFit;
pub(crate) use rotation::{
    DEGREE, any_perpendicular, best_rotation, hat, nearest_rotation, swing_twist, twist_angle,
};
pub use rotation::{angle_between, arc, exp, from_columns, log, same_hemisphere, slerp};
pub(crate) use segment::{
    nearest_of_segments, nearest_on_segment, nearest_point_on_segment, nearest_points_of_segments,
};
pub(crate) use slope_fit::SlopeFit;
pub(crate) use smoothstep::smoothstep;
#[cfg(any(feature = "fbx", feature = "render"))]
pub(crate) use srgb::linear_of_srgb;
#[cfg(any(feature = "formats", feature = "render"))]
pub(crate) use srgb::srgb_of_linear;
pub(crate) use symmetric::{SYMMETRIC3_ENTRIES, Symmetric3};
pub use transform::Transform;
pub(crate) use triple::{Triple, cross, difference, dot, scaled, sum};

/// A vector or a point of three `f64` coordinates.
pub type Vec3 = nalgebra::Vector3<f64>;
/// A rotation: a unit quaternion of `f64`.
pub type Quat = nalgebra::UnitQuaternion<f64>;
/// A quaternion that is not known to be of unit length.
pub type RawQuat = nalgebra::Quaternion<f64>;
/// A vector of length one.
pub type UnitVec3 = nalgebra::Unit<Vec3>;

/// The coordinates of a vector in single precision.
#[cfg(any(feature = "formats", feature = "render"))]
pub(crate) fn single(v: &Vec3) -> [f32; 3] {
    [v.x as f32, v.y as f32, v.z as f32]
}

#[cfg(test)]
mod tests;
