//! Reads arrays of joint positions, as motion models, video trackers and depth cameras write them, and fits a motion with
//! rotations to them.
//!
//! [`points_format`] reads the files (numbers: [`point_array`], text: [`json_points`], with [`frame_times`]) and knows which number is which
//! point of the body (`anatomy::PointsLayout`, [`layout_table`]); [`several_people`] chooses one of several; [`image_points`]
//! refuses keypoints in an image. [`repair_points`], [`side_swaps`] and [`whole_take_sides`] correct
//! the points, [`path_from_feet`] and [`free_fall`] find the path of arrays whose origin is the pelvis, [`noise_filter`] removes noise. Then
//! rotations: [`trunk`] by rigid sets of points, [`limbs`] by bone directions and the solver of the rotation about a bone
//! ([`bone_twist`]) over all frames, [`extremities`] for hands and feet. [`fitted_skeleton`] joins them to a skeleton in T-pose
//! with a clip. Markers on the skin ([`markers`]) become points first.
//!
//! Space: Y up; a rotation is that of a body part relative to the T-pose facing +Z, left = +X. Units: metres, seconds.

mod bone_twist;
mod extremities;
mod fitted_skeleton;
mod frame_times;
mod free_fall;
mod humanml_vectors;
mod image_points;
mod json_points;
mod layout_table;
mod limbs;
mod markers;
mod noise_filter;
mod point_array;
mod point_tracks;
mod points_error;
mod points_format;
mod repair_points;
mod bone_directions;
mod rigid_set;
mod path_from_feet;
mod several_people;
mod side_swaps;
mod trunk;
mod whole_take_sides;

pub use markers::{C3D, TRC};
pub use points_error::PointsError;
pub use points_format::FORMAT;
pub(super) use points_format::{ARCHIVED, archived};

#[cfg(test)]
mod tests;
