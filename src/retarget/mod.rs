//! Transfers motion from one rig to another: joint map, alignment of the rest poses, transfer.
//!
//! Rotations are transferred as world-space rotations from a reference pose, so the result does not depend on local axes,
//! joint orientations and parents. The frames of a take do not affect the reference pose.

mod body_plan;
mod candidates;
mod joint_map;
mod map_gaps;
mod map_doubts;
mod digit_order;
mod map_error;
mod find_map;
mod map_file;
mod map_text;
mod toml_string;
mod rest_alignment;
mod same_bones;
mod roll_joints;
mod joint_drive;
mod position_source;
mod stretch;
mod pelvis_path;
mod trunk_lean;
mod twist_joints;
mod joint_transfer;
mod direct_transfer;
mod skinned_roots;
mod on_skin;
mod performance;
mod morph_meanings;
mod morph_weights;
mod transfer;

pub(crate) use body_plan::outward;
pub(crate) use direct_transfer::PART;
pub(crate) use find_map::postures_differ;
pub use find_map::{MapDraft, draft, map};
pub use joint_map::JointMap;
pub use map_error::{FileFault, MapError};
pub use map_gaps::second_best;
#[cfg(feature = "cli")]
pub(crate) use map_gaps::{Gap, MapEnd};
pub(crate) use map_gaps::{gaps, warnings};
pub(crate) use morph_weights::{listed_targets, lost_weights, shares_targets, transferred};
pub(crate) use skinned_roots::skinned_above;
pub use transfer::{Retarget, RootScale};

#[cfg(test)]
mod tests;
