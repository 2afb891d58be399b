//! Detects degenerate rest poses, and estimates a reference pose from motion instead.
//!
//! Exporters of rigs with joint orientation put every bone along one local axis: with all channels at zero the legs
//! fold onto the trunk or the arms point straight up, while the animated frames are correct. The world direction of
//! every bone in every frame is known; unknown is one constant rotation `C` per joint: the orientation of its axes
//! when the body stands in a T-pose, facing +Z, its left along +X. It is found from lines that are fixed in the
//! joint's axes (bones, the line between the hip joints, the shoulders), from the flexion axes of elbows and knees,
//! from gravity while the body is upright and while the soles are planted, and from the average posture where nothing
//! else is known.
//!
//! Space: the world of the clips, rotated to Y up; `C` is model space from joint axes. Units: those of the skeleton,
//! seconds, radians. No published method covers all of it; flexion axes are estimated from motion in biomechanics too
//! (Seel, Raisch and Schauer 2014), here with known positions.

mod axis_convention;
mod bent_trunk;
mod estimate;
mod flexion_axis;
mod motion_samples;
mod partial_estimate;
mod rest_fault;
mod standing_feet;
mod folded_arms;
mod t_pose_feet;
mod t_pose_hands;
mod t_pose_limbs;
mod t_pose_assembly;
mod t_pose_trunk;

pub use bent_trunk::{rotate_below, straightened_trunk};
pub use estimate::{CONTRADICTED, Estimate, rest_from_motion};
pub use folded_arms::{UNSURE, folded_arms, with_estimated_arms};
pub use rest_fault::{RestFault, posed_rest, rest_fault};
pub use standing_feet::standing_soles;
