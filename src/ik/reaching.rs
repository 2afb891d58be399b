//! A limb whose end shall be at a place is turned about its first joint and bent at its middle one, in closed form.
//!
//! The answer varies smoothly with the pose and the place. A place beyond reach is brought inside on the line to it: up
//! to most of the limb's length it is kept, from there on what is left shrinks exponentially (Harrison 2009). The limb
//! bends about the axis that it is bent about, by the law of cosines, and swings from where it points to the place by
//! way of the middle of where such limbs go: the one direction at which such swings tear lies opposite, where they
//! cannot go, and not opposite the pose, where hanging arms are asked overhead. Space: model space. Units: metres, radians.

use crate::math::{Quat, Vec3, angle_between, any_perpendicular, arc, exp};
use crate::model::{JointId, ModelPose, Pose, Skeleton};

/// A limb that arrives straighter than that stays so unless its end shall move by more than this share of its length.
const MOVED: f64 = 0.1;
/// The share of its length by which a limb stays away from folded: there its middle joint turns ever faster.
const FOLDED: f64 = 0.02;

/// A limb of two bones; further joints may lie on them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reaching {
    /// The joint that swings.
    pub root: JointId,
    /// The joint that bends.
    pub middle: JointId,
    /// The joint that reaches.
    pub end: JointId,
    /// The middle of the directions that the limb points in, in the space of the root's parent.
    pub centre: Vec3,
    /// The share of its length in which reaching becomes soft: with half of it a middle joint is half as quick again
    /// where a target leaves reach, and fewer places are missed.
    pub soft: f64,
}

/// How far a limb reaches that shall reach as far as `wanted`, reaches as far as `free` exactly and `longest` at most.
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

    /// How far the limb of a pose reaches exactly for a target.
    fn free(&self, model: &ModelPose, target: &Vec3) -> f64 {
        let length: f64 = self.lengths(model).iter().sum();
        let here = model.position(self.end);
        let now = (here - model.position(self.root)).norm();
        let least = (1.0 - self.soft) * length;
        let moved = (target - here).norm_squared();
        let stays = 1.0 / (1.0 + moved / (MOVED * length).powi(2));
        least + (now - least).clamp(0.0, length - least) * stays
    }

    /// The way from where the limb of a pose reaches exactly to a target, nothing for one that it reaches.
    pub fn beyond(&self, model: &ModelPose, target: &Vec3) -> Vec3 {
        let way = target - model.position(self.root);
        let distance = way.norm();
        way * ((distance - self.free(model, target)).max(0.0) / distance.max(1e-12))
    }

    /// The place on the line to a target that the limb of a pose can be at.
    pub fn place(&self, model: &ModelPose, target: &Vec3) -> Vec3 {
        let lengths = self.lengths(model);
        let length = lengths[0] + lengths[1];
        let root = model.position(self.root);
        let now = model.position(self.end) - root;
        let way = target - root;
        let shortest = ((lengths[0] - lengths[1]).abs() + FOLDED * length).min(now.norm());
        let distance = soft_reach(way.norm(), self.free(model, target), length).max(shortest);
        let towards = way.try_normalize(1e-9).or_else(|| now.try_normalize(1e-9));
        root + towards.unwrap_or_else(Vec3::x) * distance
    }

    /// RotationErrors and bends the limb of a pose, of which `model` is the model pose, so that its end is at a place.
    ///
    /// The place is one of `Reaching::place`; a limb without two bones stays as it is.
    pub fn bend(&self, skeleton: &Skeleton, pose: &mut Pose, model: &ModelPose, place: &Vec3) {
        let [a, b, c] = [self.root, self.middle, self.end].map(|id| model.position(id));
        let (upper, lower, way) = (b - a, c - b, place - a);
        let [l1, l2] = [upper.norm(), lower.norm()];
        let (Some(now), Some(to)) = ((c - a).try_normalize(1e-9), way.try_normalize(1e-9)) else { return };
        if l1 < 1e-9 || l2 < 1e-9 {
            return;
        }
        let axis = now.cross(&upper).try_normalize(1e-12).unwrap_or_else(|| any_perpendicular(&now));
        let cosine = (l1 * l1 + l2 * l2 - way.norm_squared()) / (2.0 * l1 * l2);
        let bend = exp(&(axis * (libm::acos(cosine.clamp(-1.0, 1.0)) - angle_between(&-upper, &lower))));
        let end = upper + bend * lower;
        let back = exp(&(axis * libm::atan2(axis.dot(&end.cross(&now)), end.dot(&now))));
        let above =
            |id: JointId| skeleton.parent(id).map_or_else(Quat::identity, |p| model.joint(p).rotation);
        let centre = above(self.root) * self.centre;
        let swing = arc(&centre, &to, &axis) * arc(&centre, &now, &axis).inverse();
        for (id, turn) in [(self.root, swing * back), (self.middle, bend)] {
            let above = above(id);
            let local = &mut pose.local_mut()[id.index()].rotation;
            *local = above.inverse() * turn * above * *local;
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

    /// A bent arm that hangs, with a twist joint in each bone.
    fn arm(turn: Vec3, elbow: f64) -> (Reaching, Skeleton, Pose) {
        let at = [[0.2, 1.4, 0.0], [0.15, 0.0, 0.0], [0.15, 0.0, 0.0], [0.12, 0.0, 0.0], [0.13, 0.0, 0.0]];
        let joint = |(k, at): (usize, [f64; 3])| {
            let rest = Transform::from_translation(Vec3::from(at));
            Joint::new(format!("{k}"), k.checked_sub(1).map(JointId::new), rest)
        };
        let skeleton = Skeleton::new(at.into_iter().enumerate().map(joint).collect()).unwrap();
        let mut pose = skeleton.rest_pose();
        pose.local_mut()[0].rotation = exp(&turn);
        pose.local_mut()[1].rotation = exp(&Vec3::new(0.2, 0.0, 0.0));
        pose.local_mut()[2].rotation = exp(&Vec3::new(0.0, -elbow, 0.0));
        let [root, middle, end] = [0, 2, 4].map(JointId::new);
        let centre = Vec3::new(0.6, -0.3, 0.75).normalize();
        (Reaching { root, middle, end, centre, soft: 0.03 }, skeleton, pose)
    }

    fn reached(arm: &Reaching, skeleton: &Skeleton, pose: &Pose, target: &Vec3) -> (Pose, Vec3) {
        let model = ModelPose::of(skeleton, pose);
        let place = arm.place(&model, target);
        let mut bent = pose.clone();
        arm.bend(skeleton, &mut bent, &model, &place);
        (bent, place)
    }

    const SHOULDER: Vec3 = Vec3::new(0.2, 1.4, 0.0);
    const LENGTH: f64 = 0.55;

    prop_compose! {
        /// A way from the shoulder to a target, not right behind the centre nor right at the shoulder.
        fn way()(v in [-1.0..1.0f64, -1.0..1.0f64, -1.0..1.0f64], far in 0.12..2.0f64) -> Vec3 {
            let v = Vec3::from(v);
            let v = v.try_normalize(0.1).unwrap_or_else(Vec3::x);
            let opposite = -Vec3::new(0.6, -0.3, 0.75).normalize();
            (if v.angle(&opposite) < 0.5 { -v } else { v }) * far
        }
    }

    proptest! {
        #[test]
        fn places_in_reach_are_reached_and_others_are_pointed_at(
            turn in [-1.0..1.0f64, -1.0..1.0f64, -1.0..1.0f64], elbow in 0.12..2.2f64, way in way(),
        ) {
            let (arm, skeleton, pose) = arm(Vec3::from(turn), elbow);
            let target = SHOULDER + way;
            let (bent, place) = reached(&arm, &skeleton, &pose, &target);
            let end = ModelPose::of(&skeleton, &bent).position(arm.end);
            prop_assert!((end - place).norm() < 1e-9);
            prop_assert!((end - SHOULDER).angle(&way) < 1e-7);
            prop_assert!(way.norm() > 0.97 * LENGTH || (end - target).norm() < 1e-9);
            prop_assert!(way.norm() < 1.5 * LENGTH || (end - SHOULDER).norm() > 0.999 * LENGTH);
        }

        /// A step of the target turns no joint by more than so much for each metre, across the border of reach too.
        #[test]
        fn small_steps_of_the_target_are_small_turns(
            turn in [-1.0..1.0f64, -1.0..1.0f64, -1.0..1.0f64], elbow in 0.12..2.2f64, way in way(),
            step in [-1.0..1.0f64, -1.0..1.0f64, -1.0..1.0f64],
        ) {
            let (arm, skeleton, pose) = arm(Vec3::from(turn), elbow);
            let target = SHOULDER + way;
            let step = Vec3::from(step) * 1e-4;
            let [(a, _), (b, _)] = [target, target + step].map(|t| reached(&arm, &skeleton, &pose, &t));
            for (p, q) in a.local().iter().zip(b.local()) {
                let turned = p.rotation.angle_to(&q.rotation);
                prop_assert!(turned < 30.0 * step.norm() + 1e-7, "{turned} for {}", step.norm());
            }
        }

        #[test]
        fn a_limb_that_is_there_stays(
            turn in [-1.0..1.0f64, -1.0..1.0f64, -1.0..1.0f64], elbow in 0.01..2.2f64,
        ) {
            let (arm, skeleton, pose) = arm(Vec3::from(turn), elbow);
            let here = ModelPose::of(&skeleton, &pose).position(arm.end);
            let (bent, _) = reached(&arm, &skeleton, &pose, &here);
            for (p, q) in pose.local().iter().zip(bent.local()) {
                prop_assert!(p.rotation.angle_to(&q.rotation) < 1e-6);
            }
        }
    }
}
