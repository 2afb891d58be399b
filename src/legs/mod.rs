//! Legs of one body perform what legs of another do: feet rest where the source's rest, knees bend as its knees bend.
//!
//! `course` carries legs over and knows no contacts; [`repair`] takes away what labelled feet drift by themselves.
//! Both are one linear solve over the whole clip ([`Settings`] lists what is tuned), then a closure of every leg: a
//! character's own clip stays as it is, what rests rests, cycles stay cycles, nothing reaches across a cut. [`ground()`]
//! puts a motion on the floor. After Hodgins and Pollard (1997, scaling of motions), Gleicher (1998, the whole clip at once),
//! Kovar, Schreiner and Gleicher (2002, closing without popping knees), Perona and Malik (1990, edge-weighted diffusion).
//! Space: model space, Y up. Units: metres, seconds, radians; speeds in leg lengths per second.

mod closure;
mod envelope;
mod equations;
mod foot_tilt;
mod ground;
mod hip_tilt;
mod leg;
mod raise;
mod repair;
mod settings;
mod soles;
mod timeline;
mod toes;
mod transfer;
mod treadmill;
mod write;

pub use ground::ground;
pub(crate) use leg::places;
pub(crate) use leg::{Leg, Step, steps};
pub use repair::repair;
pub use settings::Settings;
pub(crate) use timeline::Timeline;
pub(crate) use transfer::{Course, hands_out_of_floor};
pub(crate) use transfer::{LegPair, course, leg_ratio};
#[cfg(feature = "physics")]
pub(crate) use write::shifted;

#[cfg(test)]
mod tests;
