//! Writes the motion of a robot in the layouts of trainers and trackers.
//!
//! [`RobotLayout`](crate::model::RobotLayout) is an entry of their table, [`robot_track`] computes what they hold, [`write_layout`]
//! writes one.

mod robot_track;
mod lead_collisions;
mod default_pose;
mod pickle;
mod write_layout;

pub use write_layout::PKL;
pub(super) use write_layout::robot_bytes;
