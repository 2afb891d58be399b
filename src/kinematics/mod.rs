//! Local rotations become model-space transforms, one pose at a time or a clip in batches of frames, and small
//! turns of joints become motions of a point (Jacobians); a clip becomes where it is cut and whether it is a cycle.
//!
//! Space: local in, model space out. Units: metres, radians.

mod continuity;
mod forward;
mod jacobian;

pub(crate) use continuity::is_cycle;
pub use continuity::{cuts, shots, size, turning};
pub use forward::{Block, Forward, Towards, forward};
pub(crate) use forward::{map_frames, map_frames_towards};
pub use jacobian::{Jacobian, jacobian};
