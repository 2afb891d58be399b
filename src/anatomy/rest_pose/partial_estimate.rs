//! Intermediate result of the T-pose estimate: orientations, weights and confidences of the parts known so far.

use super::motion_samples::MotionSamples;
use crate::math::{Quat, Vec3, mean_rotation, rotation_between};
use crate::model::Role;
use std::collections::BTreeMap;

/// The orientations that are known so far; the parts of the body are added one after the other.
#[derive(Default)]
pub(super) struct PartialEstimate {
    /// `C`: the orientation of a role's joint axes in the T-pose.
    pub(super) c: BTreeMap<Role, Quat>,
    /// Confidence and reason of each.
    pub(super) how: BTreeMap<Role, (f64, String)>,
    /// Direction of some roles' bones in the T-pose.
    pub(super) bones: BTreeMap<Role, Vec3>,
    /// Whether the joint axes follow the body.
    pub(super) conventional: bool,
    /// Weight of each frame: high where the trunk is upright.
    pub(super) weights: Vec<f64>,
    /// Lean of the trunk in each frame, degrees.
    pub(super) lean: Vec<f64>,
    /// The length of the trunk.
    pub(super) size: f64,
    /// Whether the take moves enough to distinguish a rigid joint from one that happens to be still.
    pub(super) moves: bool,
    /// Rotation of the hips away from the T-pose in each frame.
    pub(super) hips: Vec<Quat>,
    /// The same of the chest.
    pub(super) chest: Vec<Quat>,
}

/// Degrees, root mean square, below which a joint does not rotate against its parent: above the rounding of text
/// files.
const RIGID: f64 = 0.5;

impl PartialEstimate {
    /// Sets the orientation of a role, its confidence and the reason.
    pub(super) fn set(&mut self, role: Role, c: Quat, confidence: f64, reason: impl Into<String>) {
        self.c.insert(role, c);
        self.how.insert(role, (confidence, reason.into()));
    }

    /// The rotation of a role away from the T-pose in each frame.
    pub(super) fn rotation_from_t_pose(&self, e: &MotionSamples, role: Role) -> Vec<Quat> {
        let back = self.c[&role].inverse();
        e.at(role).iter().map(|s| s.rotation * back).collect()
    }

    /// The average rotation of a role relative to the frames `above`, and whether it is constant.
    pub(super) fn relative_rotation(&self, e: &MotionSamples, above: &[Quat], role: Role) -> (Quat, bool) {
        let relative: Vec<Quat> =
            above.iter().zip(e.at(role)).map(|(a, s)| a.inverse() * s.rotation).collect();
        self.mean_and_rigidity(&relative, &self.weights)
    }

    /// The average of relative rotations, and whether they are constant.
    pub(super) fn mean_and_rigidity(&self, relative: &[Quat], weights: &[f64]) -> (Quat, bool) {
        let mean = mean_rotation(relative, weights);
        (mean, self.moves && spread(&mean, relative) < RIGID)
    }
}

/// Root mean square of the angles between rotations and their mean, degrees.
pub(super) fn spread(mean: &Quat, rotations: &[Quat]) -> f64 {
    let sum: f64 = rotations.iter().map(|q| rotation_between(mean, q).powi(2)).sum();
    (sum / rotations.len().max(1) as f64).sqrt().to_degrees()
}
