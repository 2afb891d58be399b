//! Bodies on their hands: their feet are above their hips and tell nothing about the floor.

use super::helpers::shipped;
use posemill::contacts::{ContactOptions, detect};
use posemill::math::{Transform, Vec3, angle_between, exp};
use posemill::model::{JointId, ModelPose, Motion, Role, Side};
use posemill::retarget::{Retarget, RootScale, map};
use std::sync::Arc;

/// The take with its body pitched forwards by this angle, degrees, in every frame, and its lowest joint on height 0.
fn pitched(take: &Motion, degrees: impl Fn(f64) -> f64) -> Motion {
    let mut take = take.clone();
    let frames = take.clip.frames();
    let root = JointId::new(0);
    let poses: Vec<_> = (0..frames)
        .map(|f| {
            let mut pose = take.clip.pose(take.character.skeleton(), f);
            let angle = degrees(f as f64 / (frames - 1) as f64).to_radians();
            let own = pose.local()[0];
            pose.local_mut()[0] = Transform::new(exp(&(Vec3::x() * angle)) * own.rotation, own.translation);
            let model = ModelPose::of(take.character.skeleton(), &pose);
            let low = model.joints().iter().map(|t| t.translation.y).fold(f64::INFINITY, f64::min);
            pose.local_mut()[root.index()].translation.y -= low;
            pose
        })
        .collect();
    let skeleton = take.character.skeleton();
    take.clip = posemill::model::Clip::from_poses("pitched", take.clip.sample_rate, skeleton, &poses);
    take
}

/// The largest angle in degrees between the bones of the legs of take and result, over all frames.
fn legs_apart(take: &Motion, result: &Motion) -> f64 {
    let bones: [[fn(Side) -> Role; 2]; 2] = [[Role::UpperLeg, Role::LowerLeg], [Role::LowerLeg, Role::Foot]];
    let direction = |motion: &Motion, pose: &ModelPose, bone: [Role; 2]| {
        let [a, b] = bone.map(|role| pose.position(motion.character.rig.joint(role).unwrap()));
        b - a
    };
    let mut worst = 0.0_f64;
    for f in 0..take.clip.frames() {
        let (p, q) = (take.model_pose(f), result.model_pose(f));
        for (bone, side) in bones.iter().flat_map(|bone| Side::BOTH.map(|side| (bone, side))) {
            let bone = bone.map(|role| role(side));
            let angle = angle_between(&direction(take, &p, bone), &direction(result, &q, bone));
            worst = worst.max(angle.to_degrees());
        }
    }
    worst
}

fn onto(take: &Motion, target: &str) -> Motion {
    let target = shipped(target).character;
    let map = map(&take.character, &target).unwrap();
    let rigs = (&take.character.rig, &target.rig);
    Retarget::new(&take.character, Arc::clone(&target), &map, rigs, RootScale::Legs).apply(take)
}

#[test]
fn legs_of_a_handstand_point_up() {
    for name in ["squat.bvh", "turn.bvh"] {
        let upright = shipped(name).motion(0).unwrap();
        for target in ["robot.glb", "mannequin.glb"] {
            for degrees in [110.0, 130.0, 150.0, 180.0, -140.0] {
                let take = pitched(&upright, |_| degrees);
                let apart = legs_apart(&take, &onto(&take, target));
                // 1 to 160 degrees where the feet counted as flat on a floor a leg above the hips.
                assert!(apart < 12.0, "{name} onto {target}, pitched by {degrees}: {apart}");
            }
        }
    }
}

#[test]
fn a_handstand_between_two_stands_is_as_right_as_its_middle_alone() {
    let upright = shipped("turn.bvh").motion(0).unwrap();
    let ease = |x: f64| x.clamp(0.0, 1.0).powi(2) * (3.0 - 2.0 * x.clamp(0.0, 1.0));
    let whole = pitched(&upright, |t| 180.0 * ease(5.0 * t - 0.5) * ease(4.5 - 5.0 * t));
    let frames = whole.clip.frames();
    let middle = whole.part(frames * 2 / 5..frames * 3 / 5);
    for (what, take) in [("whole", &whole), ("middle", &middle)] {
        let apart = legs_apart(take, &onto(take, "mannequin.glb"));
        assert!(apart < 12.0, "{what}: {apart}");
    }
}

#[test]
fn the_floor_of_a_handstand_is_below_its_hands() {
    let take = pitched(&shipped("turn.bvh").motion(0).unwrap(), |_| 180.0);
    let ground = detect(&take, &ContactOptions::default()).ground;
    assert!(ground.abs() < 0.2, "{ground}");
}
