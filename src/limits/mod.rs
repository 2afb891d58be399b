//! Brings joints inside their ranges of motion, smoothly over time.
//!
//! First a limb above a hinge rolls, so that an elbow or a knee that bends sideways bends about its hinge while hand and
//! foot stay where they are; then every joint takes the smallest and smoothest change that keeps its range, over time
//! rather than frame by frame. Space: local rotations. Units: radians, seconds, hertz.

mod enforce_over_time;
mod limb_roll;
mod widened_ranges;

pub(crate) use enforce_over_time::keep_relative;
pub use enforce_over_time::{LimitReport, keep};
pub use widened_ranges::LimitOptions;
