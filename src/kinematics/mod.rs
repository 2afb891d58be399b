//! Local rotations become model-space transforms, one pose at a time or a clip in batches of frames, and small
//! turns of joints become motions of a point (Jacobians).
//!
//! Space: local in, model space out. Units: metres, radians.

mod forward;
mod jacobian;

pub use forward::{Block, Forward, forward, map_blocks, map_frames};
pub use jacobian::{Jacobian, jacobian};
