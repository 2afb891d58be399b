//! Laws of positions to rotations, on a figure made in code and on arrays made from captured takes.

mod figure;
mod files;
mod laws;
mod samples;
