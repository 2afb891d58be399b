//! A clip performed by a body: hits, weak muscles and missing support as deviations from the clip.
//!
//! The forces that the clip itself needs are applied in the arithmetic of the step, and every other term acts on the deviation
//! from the clip alone, so that an undisturbed clip is a solution: it comes out as it went in, bit for bit. Space: model space,
//! Y up. Units: SI for a body whose leg (thigh and shin) is 0.86 m; other bodies are scaled to it and back. Its mass is
//! 70 kg unless the user gives another: forces are in proportion to it.

mod part_kind;
mod part_masses;
mod performing_body;
mod part_inertia;
mod reference;
mod foot_points;
mod load_points;
mod contact_forces;
mod feed_forward;
mod blow;
mod performer;
mod touching_parts;
mod step_contacts;
mod hit_record;
mod performed_clip;
mod clip_forces;

pub(crate) use blow::{Blow, Hit};
pub(crate) use clip_forces::{ClipForces, FrameForces};
pub(crate) use hit_record::HitRecord;
pub(crate) use load_points::OTHER_PARTS;
pub(crate) use performed_clip::{OnFall, PerformOptions, PerformedClip, perform};
pub(crate) use performer::Controls;
pub(crate) use performing_body::PerformingBody;

#[cfg(test)]
mod tests;
