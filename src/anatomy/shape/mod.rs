//! A tree without words becomes a body: what the shape of a skeleton alone tells of its joints.
//!
//! Branches that mirror each other are found first, then limbs among them, then the two pairs that make a body, the
//! line between and beyond them, fingers, and the front, which tells left from right. Nothing here reads names.
//! Space: the rest pose, Y up if the file says so. Units: any. The method is the project's own.

mod limb_pairs;
mod digits;
mod shape_evidence;
mod find;
mod front;
mod limb;
mod trunk_line;
mod slots;
mod joint_tree;
mod twins;

pub use find::{BodyShape, SIDES, find, knees_bend_backwards};
pub use shape_evidence::{ShapeEvidence, skin_mass};
