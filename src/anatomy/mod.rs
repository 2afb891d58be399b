//! A skeleton becomes a rig: what its joints are for, which way it stands and looks, how big it is.
//!
//! ShapeEvidence is weighed in this order: a humanoid map that the file carries (VRM), the words of the joint names,
//! the shape of the tree, and where the joints lie at rest. Every role comes with a confidence and a reason.

mod body_hierarchy;
mod figure;
mod fingers;
mod shape_gaps;
mod humanoid;
mod joint_label;
mod named_limbs;
mod joint_names;
mod rest_pose;
mod roles;
mod shape;
mod spelling;
mod t_pose;
mod trunk_chains;
mod vocabulary;

pub(crate) use body_hierarchy::{parent_joint, parent_role};
pub(crate) use figure::{Figure, orientation};
pub(crate) use figure::{guess_unit, motion_up, on_four_legs};
pub(crate) use humanoid::HumanoidMap;
pub(crate) use joint_label::JointLabel;
pub(crate) use joint_label::same_words;
pub(crate) use joint_names::JointNames;
pub(crate) use rest_pose::CONTRADICTED;
pub(crate) use rest_pose::Estimate;
pub use rest_pose::rest_from_motion;
pub(crate) use rest_pose::{RestFault, posed_rest, rest_fault};
pub(crate) use roles::DetectedRig;
pub use roles::detect_roles;
pub(crate) use roles::detect_roles_from;
pub(crate) use shape::ShapeEvidence;
pub(crate) use shape::skin_mass;
pub(crate) use t_pose::TPose;
pub(crate) use vocabulary::{NamedPart, Vocabulary};
pub use vocabulary::{Word, WordError};

#[cfg(test)]
mod tests;
