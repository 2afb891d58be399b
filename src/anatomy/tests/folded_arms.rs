//! Rest poses that fold arms as no body does: found, and estimated from the motion, while all other joints stay as they are.

use posemill::anatomy::{folded_arms, rest_from_motion, with_estimated_arms};
use posemill::import::{self, ImportOptions};
use posemill::math::{Quat, Transform, Vec3, arc, exp, rotation_between};
use posemill::model::{JointId, ModelPose, Rig, Role, Side};
use std::path::Path;

/// `rest` with these joints rotated about themselves, with all joints below.
fn rotated(rig: &Rig, rest: &ModelPose, joints: &[(JointId, Quat)]) -> ModelPose {
    let skeleton = rig.skeleton();
    let mut model: Vec<Transform> = Vec::new();
    for id in skeleton.ids() {
        let own = joints.iter().find(|j| j.0 == id).map_or_else(Quat::identity, |j| j.1);
        let mut at = match skeleton.parent(id) {
            Some(p) => model[p.index()] * (rest.joint(p).inverse() * *rest.joint(id)),
            None => *rest.joint(id),
        };
        at.rotation = own * at.rotation;
        model.push(at);
    }
    ModelPose::new(model)
}

/// The rotations of upper arm and forearm with their bones straight to the side.
fn straight(rig: &Rig, pose: &ModelPose, side: Side) -> [Quat; 2] {
    let parts = [Role::UpperArm(side), Role::LowerArm(side), Role::Hand(side)];
    let [upper, lower, hand] = parts.map(|role| rig.joint(role).unwrap());
    let mut above = Quat::identity();
    [[upper, lower], [lower, hand]].map(|[from, to]| {
        let bone = above * (pose.position(to) - pose.position(from));
        above = arc(&bone, &(Vec3::x() * side.sign()), &Vec3::y()) * above;
        above * pose.joint(from).rotation
    })
}

#[test]
fn arms_folded_as_no_body_folds_them_are_estimated_from_the_motion() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/wave.bvh");
    let asset = import::load(&path, &ImportOptions::default()).unwrap();
    let (rig, clip) = (&asset.character.rig, &asset.clips[0]);
    let rest = asset.character.reference_pose();
    let estimate = rest_from_motion(rig, &[clip], Some(Vec3::y())).unwrap();
    assert!(folded_arms(rig, &rest).is_empty());
    assert_eq!(with_estimated_arms(rig, &rest, &estimate, &Side::BOTH), None, "they agree");
    // Upper arms rolled by a right angle, forearms folded about the axis that is then that of the elbow.
    let joints = Side::BOTH.into_iter().flat_map(|side| {
        let joint = |role| rig.joint(role).unwrap();
        let [upper, lower] = [joint(Role::UpperArm(side)), joint(Role::LowerArm(side))];
        let bone = (rest.position(lower) - rest.position(upper)).normalize();
        let across = bone.cross(&Vec3::z()).normalize();
        [(upper, exp(&(bone * 1.57))), (lower, exp(&(across * 2.6)))]
    });
    let folded = rotated(rig, &rest, &joints.collect::<Vec<_>>());
    assert_eq!(folded_arms(rig, &folded), Side::BOTH);
    let found = with_estimated_arms(rig, &folded, &estimate, &Side::BOTH).unwrap();
    for side in Side::BOTH {
        let [truth, wrong, found] = [&rest, &folded, &found].map(|pose| straight(rig, pose, side));
        for part in 0..2 {
            let [before, after] = [wrong, found].map(|pose| rotation_between(&truth[part], &pose[part]));
            assert!(before > 1.0 && after < 0.3, "{side:?} {part}: {before}, {after} rad");
        }
    }
    let of_arm =
        |id: JointId| rig.skeleton().path_to_root(id).any(|j| matches!(rig.role(j), Some(Role::UpperArm(_))));
    for id in rig.skeleton().ids().filter(|id| !of_arm(*id)) {
        assert!(rotation_between(&found.joint(id).rotation, &folded.joint(id).rotation) < 1e-9);
    }
}
