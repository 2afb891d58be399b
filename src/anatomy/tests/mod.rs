//! What is understood of bodies, made and real.

mod bind_pose;
mod names;
mod rest_pose;
mod shape_bodies;
