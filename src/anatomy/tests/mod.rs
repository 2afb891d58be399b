//! What is understood of bodies, made and real.

mod bind_pose;
mod capsules;
mod hand_places;
mod names;
mod range_of_motion;
mod rest_pose;
mod shape_bodies;
