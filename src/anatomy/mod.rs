//! Detects the role of every joint of a skeleton, and the body's up axis, front and size.
//!
//! Evidence in order of precedence: a humanoid map in the file (VRM), the words in joint names, the shape of the
//! joint tree, the joint positions at rest. Every role has a confidence and a reason.

mod body_hierarchy;
mod detached_paws;
#[cfg(feature = "formats")]
mod body_points;
#[cfg(feature = "formats")]
mod point_layouts;
mod figure_measures;
mod fingers;
mod group_nodes;
mod shape_gaps;
mod humanoid;
mod length_unit;
mod joint_label;
mod named_limbs;
mod named_sides;
mod orientation;
mod joint_names;
mod rest_pose;
mod role_weights;
mod roles;
mod second_bodies;
mod shape;
mod shared_ends;
mod spelling;
mod spread_feet;
mod t_pose;
mod trunk_chains;
mod up_axis;
mod vocabulary;

pub(crate) use body_hierarchy::{parent_joint, parent_role};
#[cfg(feature = "formats")]
pub(crate) use body_points::BodyPoint;
pub(crate) use figure_measures::{Figure, Posture, on_four_legs, posture, tilt, uprighting};
pub(crate) use fingers::BENDING;
pub(crate) use humanoid::HumanoidMap;
pub(crate) use joint_label::{JointLabel, same_words};
pub(crate) use joint_names::JointNames;
pub(crate) use length_unit::guess_unit;
pub(crate) use orientation::{Orientation, motion_up, orientation};
#[cfg(feature = "formats")]
pub(crate) use point_layouts::{ArrayAxes, PointsLayout};
pub use rest_pose::rest_from_motion;
pub(crate) use rest_pose::{
    CONTRADICTED, Estimate, RestFault, UNSURE, folded_arms, posed_rest, rest_fault, rotate_below,
    standing_soles, straightened_trunk, with_estimated_arms,
};
pub(crate) use roles::DetectedRig;
pub use roles::detect_roles;
pub(crate) use roles::detect_roles_from;
pub(crate) use second_bodies::{RESTS_ON, bodies_apart, length_of, second_bodies, second_body};
pub(crate) use shape::ShapeEvidence;
pub(crate) use shape::{is_rigid, skin_mass};
pub(crate) use spread_feet::foot_roll;
pub(crate) use t_pose::TPose;
pub(crate) use vocabulary::{NamedPart, Vocabulary};
pub use vocabulary::{Word, WordError};

#[cfg(test)]
mod tests;
