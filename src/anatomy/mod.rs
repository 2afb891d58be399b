//! A skeleton becomes a rig: what its joints are for, which way it stands and looks, how big it is.
//!
//! Evidence is weighed in this order: a humanoid map that the file carries (VRM), the words of the joint names,
//! the shape of the tree, and where the joints lie at rest. Every role comes with a confidence and a reason.

mod carrier;
mod figure;
mod fingers;
mod gaps;
mod humanoid;
mod labels;
mod limbs;
mod names;
mod rest_pose;
mod roles;
mod shape;
mod spelling;
mod t_pose;
mod trunk;
mod vocabulary;

pub(crate) use carrier::{body_parent, carrier};
pub(crate) use figure::{Figure, orientation};
pub(crate) use figure::{guess_unit, motion_up, on_four_legs};
pub(crate) use humanoid::Humanoid;
pub(crate) use labels::Label;
pub(crate) use labels::same_words;
pub(crate) use names::Names;
pub(crate) use rest_pose::CONTRADICTED;
pub(crate) use rest_pose::Estimate;
pub use rest_pose::rest_from_motion;
pub(crate) use rest_pose::{RestFault, posed_rest, rest_fault};
pub(crate) use roles::Understood;
pub use roles::understand;
pub(crate) use roles::understand_by;
pub(crate) use shape::Evidence;
pub(crate) use shape::skin_mass;
pub(crate) use t_pose::TPose;
pub(crate) use vocabulary::{Part as NamedPart, Vocabulary};
pub use vocabulary::{Word, WordError};

#[cfg(test)]
mod tests;
