//! Laws of positions to rotations, on a figure made in code and on arrays made from captured takes.

pub(super) mod figure;
mod files;
mod laws;
mod samples;
