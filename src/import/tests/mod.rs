//! Tests of reading that need bodies made elsewhere.

#[cfg(feature = "draco")]
mod draco;
mod kept_and_told;
mod neutral_poses;
mod stated_units;
mod two_bodies;
