//! Transfers motion from one rig to another: joint map, alignment of the rest poses, transfer.
//!
//! Rotations are transferred as world-space rotations from a calibration pose, so the result does not depend on local axes,
//! joint orientations and parents. The frames of a take do not affect the calibration.

mod body_plan;
mod candidates;
mod gaps;
mod joint_map;
mod map_error;
mod map_file;
mod map_text;
mod rest_alignment;
mod transfer;
mod trunk;

pub use gaps::second_best;
pub(crate) use gaps::{gaps, warnings};
pub use joint_map::Draft;
pub use joint_map::draft;
pub use joint_map::{JointMap, map};
pub use map_error::{FileFault, MapError};
pub(crate) use transfer::PART;
pub use transfer::{Retarget, RootScale};

#[cfg(test)]
mod tests;
