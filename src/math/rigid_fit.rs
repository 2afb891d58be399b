//! Least-squares fit of one set of points to another by a rotation, a translation and, if wanted, a scale.
//!
//! Source: Horn 1987, Closed-form solution of absolute orientation using unit quaternions.

use super::{Mat3, Quat, Vec3, best_rotation};

/// The fit of weighted pairs of points (a, b): `b = rotation * (a - from) + to` for rigid sets.
pub struct RigidFit {
    /// The rotation.
    pub rotation: Quat,
    /// The scale about the means that brings the rotated points nearest; 1 where all are at their mean.
    pub scale: f64,
    /// The weighted mean of the first points.
    pub from: Vec3,
    /// The weighted mean of the second ones.
    pub to: Vec3,
}

impl RigidFit {
    /// Fits pairs (a, b) with these weights.
    pub fn of(pairs: impl Iterator<Item = (Vec3, Vec3, f64)> + Clone) -> Self {
        let all: f64 = pairs.clone().map(|(_, _, w)| w).sum();
        let from = pairs.clone().map(|(a, _, w)| a * (w / all)).sum::<Vec3>();
        let to = pairs.clone().map(|(_, b, w)| b * (w / all)).sum::<Vec3>();
        let (mut products, mut size) = (Mat3::zeros(), 0.0);
        for (a, b, w) in pairs {
            products += (a - from) * (b - to).transpose() * w;
            size += (a - from).norm_squared() * w;
        }
        let (rotation, fit) = best_rotation(&products);
        Self { rotation, scale: if size > 0.0 { fit / size } else { 1.0 }, from, to }
    }

    /// The translation with `b = rotation * a + translation`.
    #[cfg(feature = "formats")]
    pub fn translation(&self) -> Vec3 {
        self.to - self.rotation * self.from
    }
}
