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
mod rotation;
mod spans;
mod whittaker;

pub use banded::{BEND, Bands, FactoredBands, JERK, solve_once};
pub use correction::corrections;
pub use gaussian::gaussian;
pub use hemisphere::{fix_hemispheres, fix_sequence, with_poses};
pub use lowpass::Butterworth;
pub use monotone::monotone;
pub use polynomial::{Parabola, SavitzkyGolay, SavitzkyGolayError};
pub use rate::Rate;
pub use resample::{Resampling, RotationInterpolation, hermite, resample};
pub use rotation::{smooth_positions, smooth_rotations};
pub use spans::spans;
pub use whittaker::{Difference, whittaker, whittaker_penalty};
