//! Forward kinematics of single poses and of clips in batches of frames; detection of cuts and cycles.
//!
//! Space: local in, model space out. Units: metres, radians.

mod cuts;
mod figure_size;
mod forward;
mod frame_poses;
mod gravity;
mod still_ends;
mod sunk_shots;

pub(crate) use cuts::{cuts, shots, shots_between, size, turning};
pub(crate) use cuts::{is_cycle, is_loop};
pub(crate) use figure_size::figure_size;
pub(crate) use forward::Towards;
pub use forward::{Block, Forward, forward};
pub(crate) use forward::{map_frames, map_frames_towards};
pub(crate) use frame_poses::FramePoses;
pub(crate) use gravity::GRAVITY;
pub(crate) use still_ends::without_still_ends;
pub(crate) use sunk_shots::sunk_shots;
