//! Retargets takes onto humanoid robots: any take, any robot, one solve over hinges and base for all frames.
//!
//! The take's limbs give directions, its pelvis, torso, feet and hands rotations, its feet paths that rest where they rest; hinges
//! stay inside their ranges, nothing is in the floor or in the body, nothing jumps. `take_body` reads the take, `robot_goals` what the
//! robot should do, `starting_poses` finds a first guess, `robot_equations` and `solve` the result.
//!
//! Space: the robot's world, X front, Y left, Z up, floor at height 0 or a ramp through the origin. Units: metres, radians, seconds.

mod robot_settings;
mod take_body;
mod robot_goals;
mod raised_stance;
mod robot_state;
mod small_system;
mod trunk_start;
mod starting_poses;
mod equation_rows;
mod normal_equations;
mod chain_rows;
mod robot_equations;
mod frame_couplings;
mod collisions;
mod solve;
mod window_seams;
mod between_states;
mod time_levels;
mod same_robot;
mod ramp;
mod retarget_robot;

pub(crate) use ramp::uneven_ground;
pub use retarget_robot::{RobotRetarget, RobotRetargetError};

#[cfg(test)]
mod tests;
