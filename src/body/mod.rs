//! The body of a character: height, arms, masses, capsules, contact points, support points of the skin, ranges of motion.
//!
//! [`CharacterBody`] holds all of them, each computed on first use. Measured in the reference pose (bind pose, else rest
//! pose). Units: metres, radians, shares of the body's mass.

mod body_part;
mod surface_samples;
mod capsules;
mod height;
mod held_pieces;
mod arms;
mod contact_points;
mod hanging_cloth;
mod lowest_point;
mod lowest_skin;
mod head_support;
mod support_points;
mod skin_soles;
mod landmarks;
mod trunk_parts;
mod radius_table;
mod hand_shape;
mod body_surface;
pub(crate) mod segment_table;
#[cfg(feature = "physics")]
mod skin_volume;
mod point_masses;
mod character_body;
mod hand_targets;
mod loose_joints;
mod self_contact;
mod mobility;
mod range_of_motion;

pub use body_part::BodyPart;
pub(crate) use body_surface::{BodySurface, FOREARM_POINTS};
pub use capsules::{Capsule, capsules};
pub use character_body::CharacterBody;
#[cfg(test)]
pub(crate) use hand_shape::HandShape;
pub(crate) use hand_targets::HandTargets;
pub(crate) use height::COMMON_HEIGHT;
pub(crate) use landmarks::{BodyLengths, LandmarkPose, Landmarks};
pub(crate) use loose_joints::{LooseJoint, follow, loose_joints, loose_on_roles};
pub(crate) use lowest_point::lowest_on_joint;
pub(crate) use lowest_skin::{LowestSkin, leads_to_roles};
pub(crate) use mobility::MobilityOverride;
pub use point_masses::PointMass;
pub(crate) use range_of_motion::{MotionRange, range_of_motion};
#[cfg(feature = "physics")]
pub(crate) use segment_table::{COMMON_MASS, segment_of};
pub(crate) use self_contact::{Overlap, SelfContact};
pub(crate) use skin_soles::skin_soles;
#[cfg(feature = "physics")]
pub(crate) use skin_volume::skin_volume;
pub(crate) use support_points::{SupportPoints, outermost};
pub(crate) use trunk_parts::{AroundSegment, PartLine, PartSegment, TOUCHED_PARTS, TouchedPart};

#[cfg(test)]
mod tests;
