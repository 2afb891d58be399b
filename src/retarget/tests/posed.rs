//! Takes of `data/` in other poses: limbs bent, the body moved.

use super::helpers::shipped;
use posemill::math::{Quat, Transform, Vec3, arc, exp};
use posemill::model::{Character, Clip, ModelPose, Motion, Pose, Role, Side};
use posemill::retarget::{Retarget, RootScale, map};
use std::sync::Arc;

pub(super) fn take(file: &str) -> Motion {
    shipped(file).motion(0).unwrap()
}

pub(super) fn transfer(take: &Motion, target: &Arc<Character>) -> Retarget {
    let found = map(&take.character, target).unwrap();
    let rigs = (&take.character.rig, &target.rig);
    Retarget::new(&take.character, Arc::clone(target), &found, rigs, RootScale::Legs)
}

/// The take with every frame's pose changed.
pub(super) fn changed(take: &Motion, change: impl Fn(usize, &mut Pose)) -> Motion {
    let clip = &take.clip;
    let pose = |f: usize| {
        let mut pose = clip.pose(take.character.skeleton(), f);
        change(f, &mut pose);
        pose
    };
    let poses: Vec<Pose> = (0..clip.frames()).map(pose).collect();
    let skeleton = take.character.skeleton();
    Motion::new(Arc::clone(&take.character), Clip::from_poses("changed", clip.sample_rate, skeleton, &poses))
}

/// The take moved in every frame: hips rotated by `rotation` about the point `about`, and the body raised.
pub(super) fn moved(take: &Motion, by: impl Fn(usize) -> (Quat, Vec3, f64)) -> Motion {
    let hips = take.character.rig.joint(Role::Hips).unwrap();
    let skeleton = take.character.skeleton();
    changed(take, |f, pose| {
        let (rotation, about, raise) = by(f);
        let model = take.model_pose(f);
        let above = skeleton.parent(hips).map_or_else(Transform::identity, |p| *model.joint(p));
        let mut own = *model.joint(hips);
        own.translation = about + rotation * (own.translation - about) + Vec3::y() * raise;
        own.rotation = rotation * own.rotation;
        pose.local_mut()[hips.index()] = above.inverse() * own;
    })
}

pub(super) fn position(motion: &Motion, f: usize, role: Role) -> Vec3 {
    motion.model_pose(f).position(motion.character.rig.joint(role).unwrap())
}

pub(super) fn lowest(model: &ModelPose) -> f64 {
    model.joints().iter().map(|joint| joint.translation.y).fold(f64::INFINITY, f64::min)
}

/// The take with its arms straight and pointing along `direction` of the upright body.
pub(super) fn with_arms(take: &Motion, direction: Vec3) -> Motion {
    let upper = pointed(take, [Role::UpperArm, Role::LowerArm], direction);
    pointed(&upper, [Role::LowerArm, Role::Hand], direction)
}

/// The take with the bones of both sides between two joints pointing along `direction`.
pub(super) fn pointed(take: &Motion, ends: [fn(Side) -> Role; 2], direction: Vec3) -> Motion {
    let rig = &take.character.rig;
    changed(take, |f, pose| {
        let model = take.model_pose(f);
        for side in Side::BOTH {
            let [from, to] = ends.map(|role| rig.joint(role(side)).unwrap());
            let own = model.joint(from).rotation;
            let swing = arc(&(model.position(to) - model.position(from)), &direction, &Vec3::x());
            pose.local_mut()[from.index()].rotation *= own.inverse() * swing * own;
        }
    })
}

/// The take with thighs, shins and feet rotated about the axis across by these angles, positive backwards and feet down.
pub(super) fn bent(take: &Motion, angles: [f64; 3]) -> Motion {
    let rig = &take.character.rig;
    changed(take, |f, pose| {
        for side in Side::BOTH {
            let model = take.model_pose(f);
            let roles = [Role::UpperLeg(side), Role::LowerLeg(side), Role::Foot(side)];
            for (role, angle) in roles.into_iter().zip(angles) {
                let joint = rig.joint(role).unwrap();
                let own = model.joint(joint).rotation;
                let axis = own.inverse() * Vec3::x();
                pose.local_mut()[joint.index()].rotation *= exp(&(axis * angle));
            }
        }
    })
}
