//! Feet that slide, float or sink become feet that stand: contacts locked, the pelvis placed, the rest kept out of the floor.
//!
//! [`plant`] locks feet, the labels come with the motion; [`ground()`] puts a motion on the floor. Space: model space, Y up. Units: metres, radians, frames.

mod astray;
mod closure;
mod foot;
mod ground;
mod heel_rise;
mod leg;
mod lock;
mod pelvis;
mod plant;
mod ramp;
mod tops;
mod write;

pub use astray::astray;
pub use ground::{GroundWork, ground, own_ground};
pub use leg::{Leg, Sole, Step};
pub use lock::levelled;
pub use plant::{FootWork, Options, Work, plant, raise_heels};
pub use ramp::envelope;
