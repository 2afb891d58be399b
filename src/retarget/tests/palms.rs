//! Characters whose bind pose turns the palms: what a take does is the same on them as on characters whose palms are neutral.

use super::helpers::{apart, shipped};
use super::posed::{take, transfer};
use posemill::math::{Transform, exp};
use posemill::model::{Character, Clip, ModelPose, Motion, Role, Side};
use std::sync::Arc;

/// The character bound with its hands turned about their forearms: `degrees` of the left one, the other mirrored.
fn with_palms_turned(character: &Character, degrees: f64) -> Arc<Character> {
    let mut bound = character.clone();
    let mut bind = character.reference_pose().joints().to_vec();
    let skeleton = character.skeleton();
    for (side, sign) in [(Side::Left, 1.0), (Side::Right, -1.0)] {
        let [elbow, wrist] =
            [Role::LowerArm(side), Role::Hand(side)].map(|r| character.rig.joint(r).unwrap());
        let at = bind[wrist.index()].translation;
        let axis = (at - bind[elbow.index()].translation).normalize();
        let q = exp(&(axis * (sign * degrees.to_radians())));
        let about = Transform::new(q, at - q * at);
        let below = skeleton.below(&[wrist]);
        bind.iter_mut().zip(below).filter(|(_, below)| *below).for_each(|(t, _)| *t = about * *t);
    }
    bound.bind = Some(ModelPose::new(bind));
    Arc::new(bound)
}

fn results(take: &Motion, targets: [&Arc<Character>; 2]) -> [Motion; 2] {
    targets.map(|target| transfer(take, target).direct_transfer(take))
}

#[test]
fn palms_that_a_bind_pose_turns_by_a_quarter_follow_a_take_without_fingers() {
    for file in ["mannequin.glb", "robot.glb", "tailed.glb"] {
        let plain = shipped(file).character;
        for degrees in [-90.0, 90.0, 180.0] {
            let turned = with_palms_turned(&plain, degrees);
            for name in ["walk.bvh", "wave.bvh"] {
                let [a, b] = results(&take(name), [&plain, &turned]);
                let [angle, distance] = apart(&a, &b);
                assert!(
                    angle < 1e-6 && distance < 1e-6,
                    "{name} on {file} by {degrees}: {angle} rad, {distance} m"
                );
            }
        }
    }
}

#[test]
fn palms_that_are_neutral_or_in_between_are_bound_as_they_are() {
    let plain = shipped("mannequin.glb").character;
    for degrees in [20.0, -20.0, 45.0, -45.0] {
        let turned = with_palms_turned(&plain, degrees);
        let [a, b] = results(&take("walk.bvh"), [&plain, &turned]);
        let [angle, _] = apart(&a, &b);
        assert!((angle.to_degrees() - degrees.abs()).abs() < 1e-6, "{degrees}: {}", angle.to_degrees());
    }
}

#[test]
fn palms_that_a_take_with_fingers_turns_follow_on_hands_without() {
    let (walk, fingers) = (shipped("walk.bvh").character, shipped("mannequin.glb"));
    let still = |character: &Arc<Character>| {
        let skeleton = character.skeleton();
        let bind = character.reference_pose();
        let mut pose = skeleton.rest_pose();
        for id in skeleton.ids() {
            let above = skeleton.parent(id).map_or_else(Transform::identity, |parent| *bind.joint(parent));
            pose.local_mut()[id.index()] = above.inverse() * *bind.joint(id);
        }
        let clip = Clip::from_poses("bind", 30.0, skeleton, &[pose.clone(), pose]);
        Motion::new(Arc::clone(character), clip)
    };
    let neutral = still(&fingers.character);
    let turned = still(&with_palms_turned(&fingers.character, -90.0));
    let hands = |take: &Motion| {
        let result = transfer(take, &walk).direct_transfer(take);
        Side::BOTH.map(|side| result.model_pose(0).joint(walk.rig.joint(Role::Hand(side)).unwrap()).rotation)
    };
    for (a, b) in hands(&neutral).iter().zip(&hands(&turned)) {
        assert!((a.angle_to(b).to_degrees() - 90.0).abs() < 1e-6, "{}", a.angle_to(b).to_degrees());
    }
}
