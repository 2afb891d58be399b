//! Tests of the transfer: properties, joint map gaps, real takes.

mod floor;
mod front_legs;
mod helpers;
mod laws;
mod missing;
mod morph_weights;
mod real;
mod repaired;
mod skinned_roots;
