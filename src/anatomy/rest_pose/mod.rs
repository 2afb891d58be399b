//! A rest pose that says nothing is found out, and a calibration pose is read off the motion instead.
//!
//! Exports of rigs with joint orientation put every bone along one local axis: with all channels at zero the legs lie on
//! the trunk or the arms point straight up, while every frame is plain. The world direction of every bone in every
//! frame is true; unknown is one constant rotation for each joint, `C`: how its axes stand when the body stands upright
//! in a T-pose, facing +Z, its left along +X. It is found from lines that are fixed in the joint's axes (bones, the line
//! of the hip joints, of the shoulders), from how elbows and knees bend, from gravity while the body is upright and
//! while the soles rest, and from the average posture where nothing else speaks.
//!
//! Space: the world of the clips, turned so that Y is up; `C` is model space from joint axes. Units: those of the
//! skeleton, seconds, radians. No published text has the whole of it; the bend axes are those of biomechanics, which
//! finds them from motion too (Seel, Raisch and Schauer 2014), here with the positions known.

mod axis_convention;
mod estimate;
mod motion_samples;
mod rest_fault;
mod t_pose_feet;
mod t_pose_hands;
mod t_pose_limbs;
mod t_pose_assembly;
mod t_pose_trunk;

pub use estimate::{CONTRADICTED, Estimate, rest_from_motion};
pub use rest_fault::{RestFault, posed_rest, rest_fault};
