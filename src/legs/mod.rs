//! Retargets legs so that feet are planted where the source's are and knees bend as the source's do.
//!
//! `course` retargets legs without contact labels; [`repair`] removes foot sliding during labelled contacts. Both solve one
//! linear system over the whole clip ([`Settings`] lists the tuned parameters) and then every leg by two-bone IK. A
//! character's own clip does not change, planted feet stay planted, cycles stay cycles, and a cut separates all terms.
//! [`ground()`] places a motion on the floor. After Hodgins and Pollard (1997, scaling of motions), Gleicher (1998, the whole
//! clip at once), Kovar, Schreiner and Gleicher (2002, foot planting without popping knees), Perona and Malik (1990,
//! edge-weighted diffusion).
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
