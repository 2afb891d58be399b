//! Writes the motion of a robot in the layouts of trainers and trackers.
//!
//! [`layout`] is the table of them, [`robot_track`] computes what they hold, [`write_layout`] writes one.

mod layout;
mod robot_track;
mod pickle;
mod write_layout;

pub use layout::{ROBOT_LAYOUTS, RobotLayout};
pub use write_layout::{PKL, RobotOptions};
pub(super) use write_layout::{Written, written};
