//! Quadrupeds with shoulders of other heights: all four feet on the floor.

use posemill::anatomy::detect_roles;
use posemill::math::{Transform, Vec3, angle_between, exp};
use posemill::model::{Character, Clip, Joint, JointId, Motion, Role, Side, Skeleton};
use posemill::retarget::{Retarget, RootScale, map};
use posemill::robot_retarget::RobotRetarget;
use std::sync::Arc;

/// Height of the joints of front paws and hind feet above the floor.
const HEIGHTS: [f64; 2] = [0.08, 0.12];

/// The role of one side.
type SidedRole = fn(Side) -> Role;
/// The joints between which limbs are straight.
const LIMBS: [[SidedRole; 2]; 4] = [
    [Role::UpperLeg, Role::LowerLeg],
    [Role::LowerLeg, Role::Foot],
    [Role::UpperArm, Role::LowerArm],
    [Role::LowerArm, Role::Hand],
];

/// Where the elbows of a dog are, behind its shoulders at 0.35.
const ELBOW: f64 = 0.25;

/// A dog whose shoulders are this high, with its elbows here; its trunk slopes accordingly.
fn dog([shoulder, elbow_ahead]: [f64; 2], prefix: &str) -> Arc<Character> {
    let mut list: Vec<(String, Option<usize>, Vec3)> = Vec::new();
    let mut add = |name: &str, parent: Option<usize>, p: [f64; 3]| {
        list.push((format!("{prefix}{name}"), parent, Vec3::from(p)));
        list.len() - 1
    };
    let hips = add("Hips", None, [0.0, 0.62, -0.4]);
    let spine = add("Spine", Some(hips), [0.0, 0.4 + 0.4 * shoulder, -0.1]);
    let chest = add("Spine1", Some(spine), [0.0, 0.05 + shoulder, 0.25]);
    let neck = add("Neck", Some(chest), [0.0, 0.2 + shoulder, 0.45]);
    add("Head", Some(neck), [0.0, 0.3 + shoulder, 0.6]);
    for (side, x) in [("Left", 0.1), ("Right", -0.1)] {
        let mut chain = |parts: &[(&str, f64, f64)], from: usize| {
            parts
                .iter()
                .fold(from, |above, (part, y, z)| add(&format!("{side}{part}"), Some(above), [x, *y, *z]));
        };
        let hind = [("UpLeg", 0.6, -0.4), ("Leg", 0.36, -0.3), ("Foot", HEIGHTS[1], -0.48)];
        chain(&[&hind[..], &[("ToeBase", 0.0, -0.36)]].concat(), hips);
        let elbow = 0.5 * (shoulder + HEIGHTS[0]);
        chain(&[("Arm", shoulder, 0.35), ("ForeArm", elbow, elbow_ahead), ("Hand", HEIGHTS[0], 0.33)], chest);
    }
    let joint = |(name, parent, p): &(String, Option<usize>, Vec3)| {
        let local = parent.map_or(*p, |k| p - list[k].2);
        Joint::new(name, parent.map(JointId::new), Transform::from_translation(local))
    };
    let skeleton = Skeleton::new(list.iter().map(joint).collect()).unwrap();
    let rest = skeleton.rest_model_pose();
    Arc::new(Character::new("dog", detect_roles(skeleton, &rest, &[])))
}

#[test]
fn front_paws_stand_on_the_floor_whatever_the_height_of_the_shoulders() {
    let source = dog([0.5, ELBOW], "");
    let skeleton = source.skeleton();
    let head = source.rig.joint(Role::Head).unwrap();
    let pose = |f: usize| {
        let mut pose = skeleton.rest_pose();
        pose.local_mut()[head.index()].rotation = exp(&(Vec3::y() * (0.02 * f as f64)));
        pose
    };
    let clip = Clip::from_poses("stands", 30.0, skeleton, &(0..30).map(pose).collect::<Vec<_>>());
    let take = Motion::new(Arc::clone(&source), clip);
    // The last one rests with front legs that are bent and longer.
    for body in [[0.48, ELBOW], [0.5, ELBOW], [0.54, ELBOW], [0.6, ELBOW], [0.5, 0.15]] {
        let target = dog(body, "other_");
        let pairs = map(&source, &target).unwrap();
        let rigs = (&source.rig, &target.rig);
        let ready = Retarget::new(&source, Arc::clone(&target), &pairs, rigs, RootScale::Legs);
        let result = ready.apply(&take);
        result.check().unwrap();
        for side in Side::BOTH {
            for (role, height) in [Role::Hand(side), Role::Foot(side)].into_iter().zip(HEIGHTS) {
                let joint = target.rig.joint(role).unwrap();
                let off = result.model_pose(15).position(joint).y - height;
                assert!(off.abs() < 0.02, "{body:?} {role}: {off}");
            }
            // The trunk slopes instead of legs that bend.
            for [from, to] in LIMBS.map(|limb| limb.map(|role| role(side))) {
                let along = |motion: &Motion| {
                    let [from, to] = [from, to].map(|role| motion.character.rig.joint(role).unwrap());
                    let pose = motion.model_pose(15);
                    pose.position(to) - pose.position(from)
                };
                let apart = angle_between(&along(&result), &along(&take)).to_degrees();
                assert!(apart < 3.0, "{body:?} {from}: {apart} degrees");
            }
        }
    }
}

#[test]
fn a_take_of_a_dog_is_refused_by_a_robot_on_two_legs() {
    let source = dog([0.5, ELBOW], "");
    let rest = source.skeleton().rest_pose();
    let clip = Clip::from_poses("stand", 30.0, source.skeleton(), &[rest.clone(), rest]);
    let model = crate::made_walk::shipped("humanoid.xml");
    let robot = crate::import::load(model, &crate::import::ImportOptions::default()).unwrap().character;
    let retarget = RobotRetarget::new(robot.robot.as_ref().unwrap()).unwrap();
    let error = retarget.apply(&Motion::new(source, clip), &[]).unwrap_err().to_string();
    assert!(
        error.starts_with("`dog` goes on four legs and `") && error.contains("` on two\n  hint: "),
        "{error}"
    );
}
