//! Joint map, rest alignment, transfer.

mod joint_map;

pub use joint_map::{JointMap, map};
