//! Takes whose limbs have roll joints, which hold a part of the twist of a bone: no twist is lost, and none is at the wrong joint.

use super::helpers::{apart, rebuilt, retargeted, shipped, with_helpers};
use posemill::math::{Quat, Transform, exp};
use posemill::model::{Character, Clip, JointId, Motion, Rig, Role, Side};
use std::sync::Arc;

type RoleOfSide = fn(Side) -> Role;

/// The twist in radians that the roll joints take from the bones before them. It ends as it begins: a cycle stays one.
fn moved_twist(frame: usize, frames: usize) -> f64 {
    let cycles = 3.0 * frame as f64 / (frames - 1) as f64;
    0.7 + (std::f64::consts::TAU * cycles).sin()
}

/// The take with a roll joint half-way between each of `children` and its parent: the parent is rotated back about the bone by
/// [`moved_twist`], all other joints keep their transforms in model space.
fn with_rolls(take: &Motion, children: &[JointId]) -> Motion {
    let old = Arc::clone(&take.character);
    let character = Arc::new(with_helpers(&old, children));
    let skeleton = character.skeleton();
    let at = character.reference_pose();
    let name = |id: JointId| skeleton.joint(id).name.clone();
    let poses: Vec<_> = (0..take.clip.frames())
        .map(|f| {
            let model = take.model_pose(f);
            let of_take = |id: JointId| old.skeleton().find(&name(id)).map(|o| *model.joint(o));
            let new: Vec<Transform> = skeleton
                .ids()
                .map(|id| {
                    let helper = skeleton.children(id).iter().find(|c| of_take(**c).is_none());
                    match (of_take(id), helper) {
                        (Some(own), None) => own,
                        (Some(own), Some(roll)) => {
                            let end = of_take(skeleton.children(*roll)[0]).unwrap().translation;
                            let axis = (end - own.translation).normalize();
                            let back: Quat = exp(&(axis * -moved_twist(f, take.clip.frames())));
                            Transform::new(back * own.rotation, own.translation)
                        }
                        (None, _) => {
                            let above = skeleton.parent(id).unwrap();
                            let own = of_take(above).unwrap();
                            own * (at.joint(above).inverse() * *at.joint(id))
                        }
                    }
                })
                .collect();
            let mut pose = skeleton.rest_pose();
            for id in skeleton.ids() {
                let own = new[id.index()];
                let local = skeleton.parent(id).map_or(own, |p| new[p.index()].inverse() * own);
                pose.local_mut()[id.index()] = local;
            }
            pose
        })
        .collect();
    let clip = Clip::from_poses("rolled", take.clip.sample_rate, skeleton, &poses);
    Motion::new(character, clip)
}

/// The joints of these roles on both sides.
fn joints(rig: &Rig, roles: &[RoleOfSide]) -> Vec<JointId> {
    roles.iter().flat_map(|role| Side::BOTH.map(role)).map(|role| rig.joint(role).unwrap()).collect()
}

/// The character with its reference pose as rest pose.
fn plain(character: &Character) -> Arc<Character> {
    Arc::new(with_helpers(character, &[]))
}

#[test]
fn twist_in_roll_joints_of_a_take_reaches_a_body_without_them() {
    let target = plain(&shipped("robot.glb").character);
    for name in ["squat.bvh", "walk.bvh"] {
        let take = shipped(name).motion(0).unwrap();
        let take = with_rolls(&take, &[]);
        let limbs: [[RoleOfSide; 2]; 2] = [[Role::LowerArm, Role::Hand], [Role::LowerLeg, Role::Foot]];
        for roles in limbs {
            let rolled = with_rolls(&take, &joints(&take.character.rig, &roles));
            for (a, b) in retargeted(&take, &target).iter().zip(&retargeted(&rolled, &target)) {
                let [angle, distance] = apart(a, b);
                assert!(angle < 1e-6 && distance < 1e-6, "{name}: {angle} rad, {distance} m");
            }
        }
    }
}

#[test]
fn joints_out_of_line_are_no_roll_joints() {
    // A helper in front of the bone that rotates tells nothing about its twist.
    let take = with_rolls(&shipped("squat.bvh").motion(0).unwrap(), &[]);
    let target = plain(&shipped("robot.glb").character);
    let rolled = with_rolls(&take, &joints(&take.character.rig, &[Role::LowerArm]));
    let aside = |character: &Character| {
        let at = character.reference_pose();
        let list: Vec<_> = character
            .skeleton()
            .ids()
            .map(|id| {
                let helper = character.skeleton().joint(id).name.starts_with("helper");
                let mut own = *at.joint(id);
                own.translation.z += if helper { 0.1 } else { 0.0 };
                (Some(id), character.skeleton().parent(id).map(JointId::index), own)
            })
            .collect();
        Arc::new(rebuilt(character, &list))
    };
    let bent = Motion::new(aside(&rolled.character), rolled.clip.clone());
    let upper = |motion: &Motion| {
        let joint = target.rig.joint(Role::UpperArm(Side::Left)).unwrap();
        motion.model_pose(40).joint(joint).rotation
    };
    let [a, b] = [&take, &bent].map(|take| upper(&retargeted(take, &target)[0]));
    assert!(a.angle_to(&b) > 0.3, "{}", a.angle_to(&b));
}
