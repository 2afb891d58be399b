//! Channels over time become smoother channels, or the same channels at another rate.
//!
//! Positions are filtered as numbers and rotations in the logarithm around a slowly varying base, never as
//! angles. Every clip that leaves keeps its quaternions in one hemisphere from frame to frame.
//! Space: whatever the channel is in. Units: metres, radians, seconds, hertz.

mod banded;
mod correction;
mod gaussian;
mod hemisphere;
mod lowpass;
mod monotone;
mod polynomial;
mod rate;
mod resample;
mod smoothing;
mod spans;
mod whittaker;

pub(crate) use banded::{BEND, Bands, FactoredBands, JERK, solve_once};
pub(crate) use correction::corrections;
pub(crate) use gaussian::gaussian;
pub(crate) use hemisphere::{fix_hemispheres, fix_sequence, with_poses};
pub(crate) use lowpass::Butterworth;
pub(crate) use monotone::monotone;
pub(crate) use polynomial::{Parabola, SavitzkyGolay};
pub use rate::Rate;
pub(crate) use resample::RotationInterpolation;
pub(crate) use resample::{Resampling, hermite, resample};
pub(crate) use smoothing::{smooth_positions, smooth_rotations};
pub(crate) use spans::spans;
pub(crate) use whittaker::{Difference, whittaker, whittaker_penalty};
