//! Feet that slide, float or sink become feet that stand: contacts locked, the pelvis placed, the rest kept out of the
//! floor.
//!
//! [`plant`] locks feet, the labels come with the motion; [`plant_within`] does so within ranges; [`ground()`] puts a
//! motion on the floor. Space: model space, Y up. Units: metres, radians, frames.

mod arrived;
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
mod ranges;
mod tops;
mod work;
mod write;

pub use astray::astray;
pub use ground::{GroundWork, ground, own_ground};
pub use leg::{Leg, Sole, Step};
pub use lock::levelled;
pub use plant::{Options, plant, plant_within};
pub use ramp::envelope;
pub use ranges::Ranges;
pub use work::{FootWork, Work};
