//! Visualisation of a simulation: converts a recording into a motion with meshes, for export and pictures.
//!
//! Every body is a joint with a rigidly bound mesh, so that software for skinned characters can play simulations.

mod recording_motion;
mod solid_mesh;

pub use recording_motion::motion;
