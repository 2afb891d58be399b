//! Motion of one rig becomes motion of another: the joint map, the alignment of the rest poses, the transfer.
//!
//! Rotations are carried over as world rotations away from a calibration pose, so local axes, joint orientations
//! and parents never matter (`ALGORITHMS`: global form). The take's frames never take part in the calibration.

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
