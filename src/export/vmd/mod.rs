//! Writes motions for MikuMikuDance (`.vmd`).
//!
//! A character that was read from a `.pmx` file, or from a GLB made of one, has its own bones: what its joints do is written so that
//! the program shows just that. Other characters move the bones of a standard figure, by the roles of their joints. Rotations are
//! written for the joints of legs as well, and the chains that would pull them are switched off.

mod model_bones;
mod figure_bones;
mod vmd_writer;
mod vmd_format;
mod needed_keys;
mod own_motion;

pub use vmd_format::FORMAT;
