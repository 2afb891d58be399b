//! The body of a character, measured: size, masses, capsules, support points of the skin, contact points, ranges of motion.
//!
//! Measured in the bind pose, else in the rest pose. Units: metres, radians, shares of the body's mass.

mod body_part;
mod surface_samples;
mod capsules;
mod height;
mod contact_points;
mod foot_skin;
mod body_skin;
mod armed_body;
mod measured_body;
mod hand_places;
mod self_contact;
mod mobility;
mod range_of_motion;
mod point_masses;
#[cfg(feature = "physics")]
mod segments;

pub(crate) use armed_body::ArmedBody;
pub use body_part::BodyPart;
pub(crate) use body_skin::BodySkin;
pub use capsules::{Capsule, capsules};
pub(crate) use contact_points::contact_points;
pub(crate) use foot_skin::foot_skin;
pub(crate) use hand_places::HandPlaces;
pub(crate) use height::{COMMON_HEIGHT, height};
pub(crate) use measured_body::MeasuredBody;
pub(crate) use mobility::ToldMobility;
#[cfg(feature = "physics")]
pub(crate) use point_masses::masses;
pub(crate) use point_masses::{Particle, particles};
pub(crate) use range_of_motion::{MotionRange, range_of_motion};
#[cfg(feature = "physics")]
pub(crate) use segments::{body_mass, segment_of};
pub(crate) use self_contact::{Overlap, SelfContact};

#[cfg(test)]
mod tests;
