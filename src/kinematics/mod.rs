//! Local rotations become model-space transforms, one pose at a time or a clip in batches of frames;
//! a clip becomes where it is cut and whether it is a cycle.
//!
//! Space: local in, model space out. Units: metres, radians.

mod continuity;
mod figure_size;
mod forward;

pub(crate) use continuity::is_cycle;
pub(crate) use continuity::{cuts, shots, size, turning};
pub(crate) use figure_size::figure_size;
pub(crate) use forward::Towards;
pub use forward::{Block, Forward, forward};
pub(crate) use forward::{map_frames, map_frames_towards};
