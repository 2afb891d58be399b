//! Feet that slide, float or sink become feet that stand: contacts locked, the pelvis placed, the rest kept out of the floor.
//!
//! [`plant`] is the whole; the labels come with the motion. Space: model space, Y up. Units: metres, radians, frames.

mod closure;
mod foot;
mod leg;
mod lock;
mod pelvis;
mod plant;
mod ramp;
mod tops;

pub use leg::{Leg, Sole, Step};
pub use plant::{FootWork, TRANSITION, Work, plant};
