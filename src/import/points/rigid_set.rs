//! Fits a rigid set of points to its observed positions. Space and units: those of the points.

use crate::math::{Quat, RigidFit, Vec3, median_of};
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
        let frames = observed.first().map_or(0, |track| track.len());
        let one = |frame: usize| {
            let pairs = self.rest.iter().zip(observed).zip(weights);
            let fit = RigidFit::of(pairs.map(|((rest, track), weight)| (*rest, track[frame], *weight)));
            (fit.rotation, fit.translation())
        };
        parallel::map(frames, 64, one).into_iter().unzip()
    }
}
