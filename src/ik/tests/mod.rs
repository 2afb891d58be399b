//! Laws of inverse kinematics.

mod laws;
mod tree;
