//! Detects the body from the shape of a skeleton alone, without names.
//!
//! Mirrored branches are found first, then limbs among them, the two pairs that form a body, the trunk between and
//! beyond them, fingers, and the front, which distinguishes left from right. Space: the rest pose, Y up if the file
//! defines it. Units: any. The method is the project's own.

mod limb_pairs;
mod digits;
mod shape_evidence;
mod find;
mod front;
mod limb;
mod limb_score;
mod trunk_line;
mod slots;
mod joint_tree;
mod twins;

pub use find::{BodyShape, SIDES, bend_backwards, bend_forwards, find, knees};
pub use shape_evidence::{ShapeEvidence, is_rigid, is_still, rotates, skin_mass};
