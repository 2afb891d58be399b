//! Support points of neck and head, and how far bending the neck raises them.
//!
//! Space: joint space in, model space out, Y up. Units: metres, radians.

use super::lowest_point::lowest;
use crate::math::{DEGREE, Vec3, exp};
use crate::model::{JointId, ModelPose, Skeleton};

/// The support points of neck and head, which bending the neck raises.
#[derive(Clone, Debug, PartialEq)]
pub struct HeadSupport {
    /// The lowest joint of the neck, else the head.
    pub pivot: JointId,
    points: Vec<(JointId, Vec3)>,
    /// No point is further from the pivot, however the neck bends.
    reach: f64,
}

impl HeadSupport {
    /// The largest angle by which the neck bends, radians (35 degrees): half of what people's necks can. With half of it the
    /// bodies with the three largest heads of the development characters lie 0.04, 0.26 and 0.29 leg lengths above the floor
    /// instead of 0, 0 and 0.12; with double none is lifted, but chins are in the chest.
    const MOST: f64 = 35.0 * DEGREE;
    /// Bisection steps for an angle: to a hundredth of a degree.
    const BISECTIONS: usize = 12;

    /// Of points in the spaces of their joints, listed joint by joint.
    pub fn of(skeleton: &Skeleton, pivot: JointId, points: Vec<(JointId, Vec3)>) -> HeadSupport {
        let chain = |joint: JointId| skeleton.path_to_root(joint).take_while(|id| *id != pivot);
        let length = |joint| chain(joint).map(|id| skeleton.joint(id).rest.translation.norm()).sum::<f64>();
        let reach = points.iter().map(|(joint, at)| length(*joint) + at.norm()).fold(0.0, f64::max);
        HeadSupport { pivot, points, reach }
    }

    /// The height of the lowest point.
    pub fn lowest(&self, pose: &ModelPose) -> f64 {
        lowest(&self.points, pose)
    }

    /// Whether no point is lower than a height.
    pub fn is_above(&self, pose: &ModelPose, height: f64) -> bool {
        pose.position(self.pivot).y - self.reach >= height || self.lowest(pose) >= height
    }

    /// The joints whose positions are needed.
    pub fn joints(&self) -> impl Iterator<Item = JointId> {
        self.points.iter().map(|(joint, _)| *joint).chain([self.pivot])
    }

    /// The horizontal axis about which a positive angle raises the head; `None` for a head straight above or below its neck.
    pub fn axis(&self, pose: &ModelPose) -> Option<Vec3> {
        let middle = self.points.iter().map(|(joint, at)| pose.joint(*joint).point(at)).sum::<Vec3>();
        let along = middle / self.points.len() as f64 - pose.position(self.pivot);
        along.cross(&Vec3::y()).try_normalize(1e-9)
    }

    /// The least angle of the neck that raises the head to the height `floor`, else the one that raises it most.
    pub fn least_bend(&self, pose: &ModelPose, floor: f64) -> f64 {
        if self.is_above(pose, floor) {
            return 0.0;
        }
        let (most, highest) = self.highest_lift(pose);
        if highest <= floor {
            return most;
        }
        let (mut low, mut high) = (0.0, most);
        for _ in 0..Self::BISECTIONS {
            let middle = 0.5 * (low + high);
            if self.lowest_at(pose, middle) < floor { low = middle } else { high = middle }
        }
        high
    }

    /// The angle of the neck that raises the lowest point of the head most, of a few, and the height of that point then.
    pub fn highest_lift(&self, pose: &ModelPose) -> (f64, f64) {
        let angles = [0.0, 0.25, 0.5, 0.75, 1.0].map(|share| share * Self::MOST);
        let lifts = angles.map(|angle| (angle, self.lowest_at(pose, angle)));
        lifts.into_iter().fold(lifts[0], |best, lift| if lift.1 > best.1 { lift } else { best })
    }

    /// The height of the lowest point with the neck at an angle.
    fn lowest_at(&self, pose: &ModelPose, angle: f64) -> f64 {
        let Some(axis) = self.axis(pose) else { return self.lowest(pose) };
        let (pivot, rotation) = (pose.position(self.pivot), exp(&(axis * angle)));
        let height = |(joint, at): &(JointId, Vec3)| (rotation * (pose.joint(*joint).point(at) - pivot)).y;
        self.points.iter().map(height).fold(f64::INFINITY, f64::min) + pivot.y
    }
}
