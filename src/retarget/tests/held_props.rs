//! What a hand without fingers holds is no finger that shows where the hand points.

use super::helpers::shipped;
use super::posed::{take, transfer};
use posemill::math::{Transform, Vec3};
use posemill::model::{
    Assignment, Character, Clip, Finger, Joint, JointId, Motion, Pose, Rig, Role, Side, Skeleton,
};
use std::sync::Arc;

/// The take with a prop of two joints in its right hand, which points along `direction` at rest and counts as its middle finger.
fn holding(take: &Motion, direction: Vec3) -> Motion {
    let skeleton = take.character.skeleton();
    let hand = take.character.rig.assignment(Role::Hand(Side::Right)).unwrap().clone();
    let offset = skeleton.rest_model_pose().joint(hand.joint).rotation.inverse() * direction * 0.2;
    let mut joints = skeleton.joints().to_vec();
    let prop = JointId::new(joints.len());
    for (name, parent) in [("k1", hand.joint), ("k2", prop)] {
        joints.push(Joint::new(name, Some(parent), Transform::from_translation(offset)));
    }
    let longer = Skeleton::new(joints).unwrap();
    let pose = |f: usize| {
        let mut pose = longer.rest_pose();
        let own = take.clip.pose(skeleton, f);
        pose.local_mut().iter_mut().zip(own.local()).for_each(|(to, from)| *to = *from);
        pose
    };
    let poses: Vec<Pose> = (0..take.clip.frames()).map(pose).collect();
    let clip = Clip::from_poses("take", take.clip.sample_rate, &longer, &poses);
    let roles = take.character.rig.assignments().map(|(role, a)| (role, a.clone()));
    let finger = (Role::Finger(Side::Right, Finger::Middle, 0), Assignment { joint: prop, ..hand });
    let rig = Rig::new(longer, roles.chain([finger]).collect::<Vec<_>>());
    Motion::new(Arc::new(Character::new("take", rig)), clip)
}

#[test]
fn what_a_hand_without_fingers_holds_does_not_turn_it() {
    let hero = shipped("mannequin.glb").character;
    let take = take("walk.bvh");
    let hand = hero.rig.joint(Role::Hand(Side::Right)).unwrap();
    let result = |take: &Motion| transfer(take, &hero).apply(take);
    let plain = result(&take);
    for direction in [Vec3::y(), Vec3::z(), -Vec3::y()] {
        let held = result(&holding(&take, direction));
        for f in (0..take.clip.frames()).step_by(40) {
            let [a, b] = [&plain, &held].map(|motion| motion.model_pose(f).joint(hand).rotation);
            let off = a.angle_to(&b).to_degrees();
            assert!(off < 5.0, "{direction:?}, frame {f}: {off} degrees");
        }
    }
}
