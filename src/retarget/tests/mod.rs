//! Tests of the transfer: properties, joint map gaps, real takes.

#[cfg(all(feature = "formats", feature = "fbx"))]
mod again;
mod floor;
mod front_legs;
mod held;
mod held_props;
mod helpers;
mod in_air;
mod laws;
mod loose;
mod low_feet;
mod missing;
mod morph_weights;
mod palms;
mod planted_hands;
mod posed;
mod real;
mod repaired;
mod reported;
mod roll_joints;
mod skinned_roots;
mod sloping;
mod without_feet;
