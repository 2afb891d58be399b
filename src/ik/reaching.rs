//! Two-bone IK whose result varies continuously with the pose and the target.
//!
//! A target beyond reach is moved inside along the line to it: up to most of the limb's length it is reached exactly,
//! beyond that the remaining length is approached exponentially (Harrison 2009). The limb bends about its current bend
//! axis (law of cosines) and swings from its current direction to the target via a central direction of its range of
//! motion. Such a swing is discontinuous in one direction only: opposite the central direction, which limbs cannot
//! reach. A direct swing would be discontinuous opposite the current direction, e.g. for a hanging arm that reaches
//! overhead. Space: model space. Units: metres, radians.

use crate::math::{Quat, Vec3, angle_between, any_perpendicular, arc, exp};
use crate::model::{JointId, ModelPose, Pose, Skeleton};

/// A limb that is straighter than its soft zone stays so unless its end is to move by about this share of its length or
/// more.
const MOVED: f64 = 0.1;
/// Margin from the fully folded limb, as a share of its length: near it the middle joint's speed is unbounded.
const FOLDED: f64 = 0.02;

/// A limb of two bones; further joints may lie on the bones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reaching {
    /// The first joint, which swings.
    pub root: JointId,
    /// The middle joint, which bends.
    pub middle: JointId,
    /// The end effector.
    pub end: JointId,
    /// The central direction of the limb, a unit vector in the space of the root's parent.
    pub centre: Vec3,
    /// The soft zone, as a share of the limb's length. Halving it makes the middle joint 1.5 times as fast where a
    /// target leaves reach, and more targets are reached exactly.
    pub soft: f64,
}

/// Soft reach: `wanted` up to `free`, beyond that approaching `longest` exponentially.
pub fn soft_reach(wanted: f64, free: f64, longest: f64) -> f64 {
    let left = longest - free;
    if wanted <= free || left <= 0.0 {
        wanted.min(free)
    } else {
        free + left * (1.0 - libm::exp(-(wanted - free) / left))
    }
}

impl Reaching {
    /// The lengths of the two bones.
    fn lengths(&self, model: &ModelPose) -> [f64; 2] {
        let [a, b, c] = [self.root, self.middle, self.end].map(|id| model.position(id));
        [(b - a).norm(), (c - b).norm()]
    }

    /// The distance up to which the limb reaches exactly, for a pose and a target.
    fn free(&self, model: &ModelPose, target: &Vec3) -> f64 {
        let length: f64 = self.lengths(model).iter().sum();
        let here = model.position(self.end);
        let now = (here - model.position(self.root)).norm();
        let least = (1.0 - self.soft) * length;
        let moved = (target - here).norm_squared();
        let stays = 1.0 / (1.0 + moved / (MOVED * length).powi(2));
        least + (now - least).clamp(0.0, length - least) * stays
    }

    /// The vector from the farthest exactly reachable point to the target; zero if the target is reachable.
    pub fn beyond(&self, model: &ModelPose, target: &Vec3) -> Vec3 {
        let offset = target - model.position(self.root);
        let distance = offset.norm();
        offset * ((distance - self.free(model, target)).max(0.0) / distance.max(1e-12))
    }

    /// The reachable position on the line to a target.
    pub fn reachable(&self, model: &ModelPose, target: &Vec3) -> Vec3 {
        let lengths = self.lengths(model);
        let length = lengths[0] + lengths[1];
        let root = model.position(self.root);
        let now = model.position(self.end) - root;
        let offset = target - root;
        let shortest = ((lengths[0] - lengths[1]).abs() + FOLDED * length).min(now.norm());
        let distance = soft_reach(offset.norm(), self.free(model, target), length).max(shortest);
        let towards = offset.try_normalize(1e-9).or_else(|| now.try_normalize(1e-9));
        root + towards.unwrap_or_else(Vec3::x) * distance
    }

    /// Rotates the limb of `pose` so that its end is at `position`; `model` is the same pose in model space.
    ///
    /// The position is a result of [`Reaching::reachable`]; a limb without two bones is unchanged.
    pub fn bend(&self, skeleton: &Skeleton, pose: &mut Pose, model: &ModelPose, position: &Vec3) {
        let [a, b, c] = [self.root, self.middle, self.end].map(|id| model.position(id));
        let (upper, lower, offset) = (b - a, c - b, position - a);
        let [l1, l2] = [upper.norm(), lower.norm()];
        let (Some(now), Some(to)) = ((c - a).try_normalize(1e-9), offset.try_normalize(1e-9)) else { return };
        if l1 < 1e-9 || l2 < 1e-9 {
            return;
        }
        let axis = now.cross(&upper).try_normalize(1e-12).unwrap_or_else(|| any_perpendicular(&now));
        let cosine = (l1 * l1 + l2 * l2 - offset.norm_squared()) / (2.0 * l1 * l2);
        let bend = exp(&(axis * (libm::acos(cosine.clamp(-1.0, 1.0)) - angle_between(&-upper, &lower))));
        let end = upper + bend * lower;
        let back = exp(&(axis * libm::atan2(axis.dot(&end.cross(&now)), end.dot(&now))));
        let above =
            |id: JointId| skeleton.parent(id).map_or_else(Quat::identity, |p| model.joint(p).rotation);
        let centre = above(self.root) * self.centre;
        let swing = arc(&centre, &to, &axis) * arc(&centre, &now, &axis).inverse();
        for (id, rotation) in [(self.root, swing * back), (self.middle, bend)] {
            let above = above(id);
            let local = &mut pose.local_mut()[id.index()].rotation;
            *local = above.inverse() * rotation * above * *local;
            local.renormalize();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Transform;
    use crate::model::Joint;
    use proptest::prelude::*;

    /// A hanging arm with a bent elbow and a twist joint in each bone.
    fn arm(rotation: Vec3, elbow: f64) -> (Reaching, Skeleton, Pose) {
        let at = [[0.2, 1.4, 0.0], [0.15, 0.0, 0.0], [0.15, 0.0, 0.0], [0.12, 0.0, 0.0], [0.13, 0.0, 0.0]];
        let joint = |(k, at): (usize, [f64; 3])| {
            let rest = Transform::from_translation(Vec3::from(at));
            Joint::new(format!("{k}"), k.checked_sub(1).map(JointId::new), rest)
        };
        let skeleton = Skeleton::new(at.into_iter().enumerate().map(joint).collect()).unwrap();
        let mut pose = skeleton.rest_pose();
        pose.local_mut()[0].rotation = exp(&rotation);
        pose.local_mut()[1].rotation = exp(&Vec3::new(0.2, 0.0, 0.0));
        pose.local_mut()[2].rotation = exp(&Vec3::new(0.0, -elbow, 0.0));
        let [root, middle, end] = [0, 2, 4].map(JointId::new);
        let centre = Vec3::new(0.6, -0.3, 0.75).normalize();
        (Reaching { root, middle, end, centre, soft: 0.03 }, skeleton, pose)
    }

    fn reached(arm: &Reaching, skeleton: &Skeleton, pose: &Pose, target: &Vec3) -> (Pose, Vec3) {
        let model = ModelPose::of(skeleton, pose);
        let position = arm.reachable(&model, target);
        let mut result = pose.clone();
        arm.bend(skeleton, &mut result, &model, &position);
        (result, position)
    }

    const SHOULDER: Vec3 = Vec3::new(0.2, 1.4, 0.0);
    const LENGTH: f64 = 0.55;

    prop_compose! {
        /// A vector from the shoulder to a target, neither near the opposite of the centre nor near the shoulder.
        fn offset()(v in [-1.0..1.0f64, -1.0..1.0f64, -1.0..1.0f64], far in 0.12..2.0f64) -> Vec3 {
            let v = Vec3::from(v);
            let v = v.try_normalize(0.1).unwrap_or_else(Vec3::x);
            let opposite = -Vec3::new(0.6, -0.3, 0.75).normalize();
            (if v.angle(&opposite) < 0.5 { -v } else { v }) * far
        }
    }

    proptest! {
        #[test]
        fn targets_in_reach_are_reached_and_others_are_pointed_at(
            rotation in [-1.0..1.0f64, -1.0..1.0f64, -1.0..1.0f64], elbow in 0.12..2.2f64, offset in offset(),
        ) {
            let (arm, skeleton, pose) = arm(Vec3::from(rotation), elbow);
            let target = SHOULDER + offset;
            let (result, position) = reached(&arm, &skeleton, &pose, &target);
            let end = ModelPose::of(&skeleton, &result).position(arm.end);
            prop_assert!((end - position).norm() < 1e-9);
            prop_assert!((end - SHOULDER).angle(&offset) < 1e-7);
            prop_assert!(offset.norm() > 0.97 * LENGTH || (end - target).norm() < 1e-9);
            prop_assert!(offset.norm() < 1.5 * LENGTH || (end - SHOULDER).norm() > 0.999 * LENGTH);
        }

        /// The rotation per metre of target motion is bounded, also across the border of reach.
        #[test]
        fn small_steps_of_the_target_are_small_rotations(
            rotation in [-1.0..1.0f64, -1.0..1.0f64, -1.0..1.0f64], elbow in 0.12..2.2f64, offset in offset(),
            step in [-1.0..1.0f64, -1.0..1.0f64, -1.0..1.0f64],
        ) {
            let (arm, skeleton, pose) = arm(Vec3::from(rotation), elbow);
            let target = SHOULDER + offset;
            let step = Vec3::from(step) * 1e-4;
            let [(a, _), (b, _)] = [target, target + step].map(|t| reached(&arm, &skeleton, &pose, &t));
            for (p, q) in a.local().iter().zip(b.local()) {
                let angle = p.rotation.angle_to(&q.rotation);
                prop_assert!(angle < 30.0 * step.norm() + 1e-7, "{angle} for {}", step.norm());
            }
        }

        #[test]
        fn a_limb_at_its_target_is_unchanged(
            rotation in [-1.0..1.0f64, -1.0..1.0f64, -1.0..1.0f64], elbow in 0.01..2.2f64,
        ) {
            let (arm, skeleton, pose) = arm(Vec3::from(rotation), elbow);
            let here = ModelPose::of(&skeleton, &pose).position(arm.end);
            let (result, _) = reached(&arm, &skeleton, &pose, &here);
            for (p, q) in pose.local().iter().zip(result.local()) {
                prop_assert!(p.rotation.angle_to(&q.rotation) < 1e-6);
            }
        }
    }
}
