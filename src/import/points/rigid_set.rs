//! Fits a rigid set of points to its observed positions.
//!
//! Source: Horn 1987, Closed-form solution of absolute orientation using unit quaternions. Space and units: those of the
//! points.

use crate::math::{Mat3, Quat, Vec3, best_rotation, median_of};
use crate::parallel;

/// A rigid set of points in its own space.
pub(super) struct RigidSet {
    /// The positions of its points.
    pub(super) rest: Vec<Vec3>,
}

impl RigidSet {
    /// The median positions of the observed points relative to `origins`, in the frames `rotations`.
    pub(super) fn median(observed: &[&[Vec3]], rotations: &[Quat], origins: &[Vec3]) -> Self {
        let local = |track: &&[Vec3]| {
            let frames = track.iter().zip(rotations.iter().zip(origins));
            median_of(frames.map(|(p, (q, o))| q.inverse_transform_vector(&(p - o))))
        };
        Self { rest: observed.iter().map(local).collect() }
    }

    /// The rotation and the shift of each frame with `observed = rotation * rest + shift`, by weighted least squares.
    pub(super) fn fitted(&self, observed: &[&[Vec3]], weights: &[f64]) -> (Vec<Quat>, Vec<Vec3>) {
        let total: f64 = weights.iter().sum();
        let mean = |points: &mut dyn Iterator<Item = Vec3>| {
            points.zip(weights).map(|(p, w)| p * (w / total)).sum::<Vec3>()
        };
        let rest_mean = mean(&mut self.rest.iter().copied());
        let frames = observed.first().map_or(0, |track| track.len());
        let one = |frame: usize| {
            let at = || observed.iter().map(|track| track[frame]);
            let observed_mean = mean(&mut at());
            let mut products = Mat3::zeros();
            for ((rest, p), w) in self.rest.iter().zip(at()).zip(weights) {
                products += (rest - rest_mean) * (p - observed_mean).transpose() * *w;
            }
            let (rotation, _) = best_rotation(&products);
            (rotation, observed_mean - rotation * rest_mean)
        };
        parallel::map(frames, 64, one).into_iter().unzip()
    }
}
