//! A skeleton becomes a rig: what its joints are for, which way it stands and looks, how big it is.
//!
//! Evidence is weighed in this order: a humanoid map that the file carries (VRM), the words of the joint names,
//! the shape of the tree, and where the joints lie at rest. Every role comes with a confidence and a reason.

mod armed_body;
mod body_part;
mod body_skin;
mod capsules;
mod carrier;
mod contact_points;
mod figure;
mod foot_skin;
mod fingers;
mod gaps;
mod hand_places;
mod humanoid;
mod labels;
mod limbs;
mod measured_body;
mod mobility;
mod names;
mod range_of_motion;
mod rest_pose;
mod roles;
mod self_contact;
mod shape;
mod skin;
mod spelling;
mod t_pose;
mod trunk;
mod vocabulary;

pub(crate) use armed_body::ArmedBody;
pub use body_part::BodyPart;
pub(crate) use body_skin::BodySkin;
pub(crate) use capsules::stature;
pub use capsules::{Capsule, capsules};
pub(crate) use carrier::{body_parent, carrier};
pub(crate) use contact_points::contact_points;
pub(crate) use figure::{Figure, orientation};
pub(crate) use figure::{guess_unit, motion_up, on_four_legs};
pub(crate) use foot_skin::foot_skin;
pub(crate) use hand_places::HandPlaces;
pub(crate) use humanoid::Humanoid;
pub(crate) use labels::Label;
pub(crate) use labels::same_words;
pub(crate) use measured_body::MeasuredBody;
pub(crate) use mobility::ToldMobility;
pub(crate) use names::Names;
pub(crate) use range_of_motion::MotionRange;
pub(crate) use range_of_motion::range_of_motion;
pub(crate) use rest_pose::CONTRADICTED;
pub(crate) use rest_pose::Estimate;
pub use rest_pose::rest_from_motion;
pub(crate) use rest_pose::{RestFault, posed_rest, rest_fault};
pub(crate) use roles::Understood;
pub use roles::understand;
pub(crate) use roles::understand_by;
pub(crate) use self_contact::{Overlap, SelfContact};
pub(crate) use shape::Evidence;
pub(crate) use shape::skin_mass;
pub(crate) use t_pose::TPose;
pub(crate) use vocabulary::Vocabulary;
pub use vocabulary::{Word, WordError};

#[cfg(test)]
mod tests;
