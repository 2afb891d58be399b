//! Faults of a recording are found, each by a test of its own, and mended where the take itself tells how, else told.
//!
//! [`mend`] is the one judge of takes: it looks for frames that were held, sides that changed places, spikes, steps of the
//! whole body, cuts and noise; then, of bodies that walk on two legs, for a floor that rises, leans or lies elsewhere, for
//! a path that drifts or is scaled, and for feet that slide. Limits are relative to the take, and a step acts only where
//! the data agree about the one number that it needs; a take without faults comes back bit for bit. Space: model space,
//! Y up. Units: metres of the body with legs of 0.86 m inside, the take's own in what is told.

mod held;
mod ledger;
mod level;
mod mend;
mod noise;
mod path;
mod robust;
mod root_step;
mod slide;
mod spike;
mod stances;
mod swap;
mod take;
mod tilt;
mod travel;
mod vertical_drift;

pub use mend::{Faults, Mended, mend};
#[cfg(feature = "physics")]
pub(crate) use take::LEG;

#[cfg(test)]
mod tests;
