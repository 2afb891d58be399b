//! Detects and fixes capture errors; a clean take is returned unchanged, bit for bit.
//!
//! [`repair_motion`] tests for held frames, gaps, frozen joints, exchanged sides, spikes, flips of single joints, steps of the whole body, cuts and noise; then,
//! for bodies on two legs, for a floor that rises, leans or is offset, for a path that drifts or is scaled, and for
//! sliding feet. Every fault has a test of its own, with limits relative to the take's own statistics. It is fixed
//! only where the data agree about the correction, else only reported. Space: model space, Y up. Units: metres of a
//! body with legs of 0.86 m internally, the take's own in findings.

mod held_frames;
mod frozen_joint;
mod pose_gap;
mod noise_burst;
mod joint_flip;
mod joint_shake;
mod leap;
mod fault_log;
mod floor_level;
mod repair_motion;
mod noise;
mod root_path;
mod robust_statistics;
mod root_step;
mod foot_slide;
mod foot_direction;
mod spike;
mod glitch;
mod stances;
mod side_swap;
mod working_take;
mod floor_tilt;
mod path_drift;
mod drift_onset;
mod vertical_drift;

pub use repair_motion::{Faults, RepairedMotion, repair_motion};
#[cfg(feature = "physics")]
pub(crate) use working_take::LEG;

#[cfg(test)]
mod tests;
