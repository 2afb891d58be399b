//! Detection of roles and rest poses on made and real bodies.

mod bind_pose;
mod names;
mod rest_pose;
mod role_faults;
mod shape_bodies;
mod up_axis;
