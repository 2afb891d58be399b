//! Detection of roles and rest poses on made and real bodies.

mod animals;
mod bind_pose;
mod dressed_bodies;
mod folded_arms;
mod group_nodes;
mod names;
mod rest_pose;
mod role_faults;
mod second_bodies;
mod shape_bodies;
mod skin_on_helpers;
mod up_axis;
mod weights;
