//! Filters and resampling of time series of positions and rotations.
//!
//! Positions are filtered per coordinate, rotations as rotation vectors relative to a slowly varying base, never as
//! Euler angles. Every resulting clip has quaternions of continuous sign. Space: that of the channel. Units: metres, radians, seconds, hertz.

mod banded;
mod correction;
mod distinct;
mod gaussian;
mod hemisphere;
mod lowpass;
mod monotone;
mod polynomial;
mod rate;
mod resample;
mod smoothing;
mod spans;
mod white_noise;
mod whittaker;

pub(crate) use banded::{BEND, Bands, FactoredBands, JERK, solve_once};
pub(crate) use correction::corrections;
pub(crate) use distinct::distinct_frames;
pub(crate) use gaussian::gaussian;
#[cfg(feature = "physics")]
pub(crate) use gaussian::gaussian_reach;
pub(crate) use hemisphere::{fix_hemispheres, fix_sequence, with_poses};
pub(crate) use lowpass::Butterworth;
#[cfg(feature = "physics")]
pub(crate) use lowpass::odd_reflection;
pub(crate) use monotone::monotone;
pub(crate) use polynomial::{Parabola, SavitzkyGolay};
pub use rate::Rate;
pub(crate) use resample::RotationInterpolation;
pub(crate) use resample::{Resampling, hermite, resample};
pub(crate) use smoothing::{smooth_positions, smooth_rotations};
pub(crate) use spans::spans;
pub(crate) use white_noise::{LEAST_WHITENESS, SquaredDifferences, WhiteNoise};
pub(crate) use whittaker::{Difference, whittaker, whittaker_penalty};

#[cfg(test)]
mod tests;
