//! The body of a humanoid robot, found from its shape: limbs and their roles, soles, capsules for collisions.
//!
//! Names are a second witness only: some robots call the twist of the upper arm "elbow". Space: the robot's world (X front, Y left, Z up) in
//! the zero pose, where every hinge is at its zero and the base at the origin, or the space of a link. Units: metres, radians.

mod zero_pose;
mod hinge_chains;
mod rigid_foot;
mod robot_limbs;
mod robot_names;
mod robot_roles;
mod sole;
mod link_capsules;
mod spread_pose;
mod body;
mod robot_stance;

pub(crate) use body::RobotBody;
pub(crate) use link_capsules::LinkCapsule;
#[cfg(feature = "render")]
pub(crate) use link_capsules::shape_capsules;
pub(crate) use robot_limbs::{RobotLimb, centre_joints};
pub(crate) use robot_roles::robot_roles;
pub(crate) use robot_stance::stand;
pub(crate) use sole::Sole;

#[cfg(test)]
mod tests;
