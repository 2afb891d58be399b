//! Bodies of made and real characters.

mod capsules;
mod hand_targets;
mod laws;
mod props;
mod range_of_motion;
#[cfg(feature = "physics")]
mod skin_volume;
mod sole_height;
mod thighs;
