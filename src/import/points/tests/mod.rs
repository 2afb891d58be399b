//! Laws of positions to rotations, on a figure made in code and on arrays made from captured takes.

mod arrayed_takes;
pub(super) mod chance;
mod every_layout;
mod faulty_arrays;
mod feet_and_noise;
pub(super) mod figure;
mod files;
mod jumps;
mod laws;
mod naive_fits;
mod onto_characters;
mod own_error;
mod samples;
