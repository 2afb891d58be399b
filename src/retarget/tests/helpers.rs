//! Joints without a counterpart between two parts of the body: the transfer is that of the body without them.

use posemill::import::{self, ImportOptions};
use posemill::math::{Mat4, Transform, Vec3, exp};
use posemill::model::{Binding, Character, Joint, JointId, ModelPose, Motion, Rig, Role, Side, Skeleton};
use posemill::retarget::{Retarget, RootScale, map};
use std::path::Path;
use std::sync::Arc;

// The robot's names are not those of the takes: between versions of one rig translations are copied too.
pub(super) fn shipped(name: &str) -> posemill::model::Asset {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(name);
    import::load(&path, &ImportOptions::default()).unwrap()
}

/// The character with new joints and new parents in its tree: `list` has the old joint (`None` for a new one), the parent in the
/// new list, and the model-space transform. All other transforms in model space and the skin stay as they are.
pub(super) fn rebuilt(
    character: &Character,
    list: &[(Option<JointId>, Option<usize>, Transform)],
) -> Character {
    let old = character.skeleton();
    let joints = list.iter().enumerate().map(|(n, (id, parent, at))| {
        let rest = parent.map_or(*at, |p| list[p].2.inverse() * *at);
        let parent = parent.map(JointId::new);
        match id {
            Some(id) => Joint { parent, rest, ..old.joint(*id).clone() },
            None => Joint::new(format!("helper{n}"), parent, rest),
        }
    });
    let skeleton = Skeleton::new(joints.collect()).unwrap();
    let new_id = |id: JointId| JointId::new(list.iter().position(|j| j.0 == Some(id)).unwrap());
    let roles = character.rig.assignments().map(|(role, a)| {
        let mut a = a.clone();
        a.joint = new_id(a.joint);
        (role, a)
    });
    let mut new = character.clone();
    new.bind = Some(ModelPose::new(list.iter().map(|j| j.2).collect()));
    for mesh in &mut new.meshes {
        mesh.bindings.iter_mut().for_each(|b| b.joint = new_id(b.joint));
    }
    new.rig = Rig::new(skeleton, roles.collect::<Vec<_>>());
    new
}

/// A rotation that no axis of a body has.
fn odd(k: usize) -> Transform {
    let k = k as f64;
    Transform::from_rotation(exp(&Vec3::new(1.1 + k, 0.7 - k, 1.9)))
}

/// The character with a rotated joint half-way between each of `children` and its parent.
pub(super) fn with_helpers(character: &Character, children: &[JointId]) -> Character {
    let (old, at) = (character.skeleton(), character.reference_pose());
    let mut list: Vec<(Option<JointId>, Option<usize>, Transform)> = Vec::new();
    for id in old.ids() {
        let mut parent = old.parent(id).map(|p| list.iter().position(|j| j.0 == Some(p)).unwrap());
        if children.contains(&id) {
            let middle = (list[parent.unwrap()].2.translation + at.position(id)) * 0.5;
            list.push((None, parent, Transform::from_translation(middle) * odd(list.len())));
            parent = Some(list.len() - 1);
        }
        list.push((Some(id), parent, *at.joint(id)));
    }
    rebuilt(character, &list)
}

/// The character with a root on the ground above its pelvis and, beside the pelvis, a rotated joint that has the spine. The root
/// has a little of the skin of a foot.
fn spine_beside_the_pelvis(character: &Character, skinned: bool) -> Character {
    let (old, at) = (character.skeleton(), character.reference_pose());
    let (hips, spine) =
        (character.rig.joint(Role::Hips).unwrap(), character.rig.joint(Role::Spine(0)).unwrap());
    let mut list = vec![
        (None, None, Transform::identity()),
        (None, Some(0), Transform::from_translation(at.position(spine)) * odd(1)),
    ];
    for id in old.ids() {
        let parent = match id {
            id if id == hips => Some(0),
            id if id == spine => Some(1),
            id => old.parent(id).and_then(|p| list.iter().position(|j: &(_, _, _)| j.0 == Some(p))),
        };
        list.push((Some(id), parent.or(Some(0)), *at.joint(id)));
    }
    let mut new = rebuilt(character, &list);
    let foot = new.rig.joint(Role::Foot(Side::Left)).unwrap();
    for mesh in new.meshes.iter_mut().filter(|_| skinned) {
        let first = &mesh.bindings[0];
        let joint = |id: JointId| list[id.index()].2;
        let model_from_mesh: Mat4<f64> = joint(first.joint).to_matrix() * first.joint_from_mesh;
        mesh.bindings.push(Binding { joint: JointId::new(0), joint_from_mesh: model_from_mesh });
        let root = u16::try_from(mesh.bindings.len() - 1).unwrap();
        for (joints, weights) in mesh.joints.iter_mut().zip(&mut mesh.weights) {
            let own =
                (0..4).find(|k| weights[*k] > 0.0 && mesh.bindings[usize::from(joints[*k])].joint == foot);
            let (Some(own), Some(free)) = (own, (0..4).find(|k| weights[*k] == 0.0)) else { continue };
            (joints[free], weights[free]) = (root, 0.05 * weights[own]);
            weights[own] -= weights[free];
        }
    }
    new
}

/// The direct transfer of rotations, and the transfer with corrected legs.
pub(super) fn retargeted(take: &Motion, target: &Arc<Character>) -> [Motion; 2] {
    let map = map(&take.character, target).unwrap();
    let rigs = (&take.character.rig, &target.rig);
    let retarget = Retarget::new(&take.character, Arc::clone(target), &map, rigs, RootScale::Legs);
    [retarget.direct_transfer(take), retarget.apply(take)]
}

/// The largest rotation in radians and distance in metres between the joints with a role of two motions.
pub(super) fn apart(a: &Motion, b: &Motion) -> [f64; 2] {
    let mut worst = [0.0_f64; 2];
    for f in 0..a.clip.frames() {
        let (p, q) = (a.model_pose(f), b.model_pose(f));
        for (role, x) in a.character.rig.assignments() {
            let y = b.character.rig.joint(role).unwrap();
            let (x, y) = (p.joint(x.joint), q.joint(y));
            worst[0] = worst[0].max(x.rotation.angle_to(&y.rotation));
            worst[1] = worst[1].max((x.translation - y.translation).norm());
        }
    }
    worst
}

/// The parts whose parents are helper joints.
fn parts(rig: &Rig) -> Vec<JointId> {
    let limbs = [Role::UpperArm, Role::LowerLeg].iter().flat_map(|role| Side::BOTH.map(role));
    limbs.chain([Role::Spine(0)]).map(|role| rig.joint(role).unwrap()).collect()
}

#[test]
fn a_joint_between_two_parts_does_not_change_the_transfer() {
    let plain = shipped("robot.glb").character;
    let helped = Arc::new(with_helpers(&plain, &parts(&plain.rig)));
    let plain = Arc::new(with_helpers(&plain, &[]));
    for name in ["walk.bvh", "turn.bvh", "squat.bvh"] {
        let take = shipped(name).motion(0).unwrap();
        for (a, b) in retargeted(&take, &plain).iter().zip(&retargeted(&take, &helped)) {
            let [angle, distance] = apart(a, b);
            assert!(angle < 1e-6 && distance < 1e-6, "{name}: {angle} rad, {distance} m");
        }
    }
}

#[test]
fn a_joint_between_two_parts_of_the_take_does_not_change_the_transfer() {
    let target = shipped("robot.glb").character;
    let take = shipped("turn.bvh").motion(0).unwrap();
    let helped = Arc::new(with_helpers(&take.character, &parts(&take.character.rig)));
    // The same motion: helper joints keep their rest transforms.
    let poses: Vec<_> = (0..take.clip.frames())
        .map(|f| {
            let model = take.model_pose(f);
            let mut pose = helped.skeleton().rest_pose();
            let mut new: Vec<Transform> = Vec::new();
            for id in helped.skeleton().ids() {
                let above = helped.skeleton().parent(id).map_or_else(Transform::identity, |p| new[p.index()]);
                let name = &helped.skeleton().joint(id).name;
                let own = match take.character.skeleton().find(name) {
                    Some(old) => *model.joint(old),
                    None => above * helped.skeleton().joint(id).rest,
                };
                pose.local_mut()[id.index()] = above.inverse() * own;
                new.push(own);
            }
            pose
        })
        .collect();
    let clip = posemill::model::Clip::from_poses("turn", take.clip.sample_rate, helped.skeleton(), &poses);
    let helped = Motion::new(helped, clip);
    for (a, b) in retargeted(&take, &target).iter().zip(&retargeted(&helped, &target)) {
        let [angle, distance] = apart(a, b);
        assert!(angle < 1e-6 && distance < 1e-6, "{angle} rad, {distance} m");
    }
}

#[test]
fn a_spine_on_a_joint_beside_the_pelvis_follows_the_pelvis() {
    let plain = shipped("robot.glb").character;
    let bare = Arc::new(spine_beside_the_pelvis(&plain, false));
    let skinned = Arc::new(spine_beside_the_pelvis(&plain, true));
    let plain = Arc::new(with_helpers(&plain, &[]));
    for name in ["walk.bvh", "turn.bvh", "jump.bvh"] {
        let take = shipped(name).motion(0).unwrap();
        let expected = retargeted(&take, &plain);
        for (what, target) in [("bare", &bare), ("skinned", &skinned)] {
            let results = retargeted(&take, target);
            // Legs tilt the pelvis alone, by a few millimetres at the spine.
            for ((expected, result), slack) in expected.iter().zip(&results).zip([1e-6, 0.02]) {
                let [angle, distance] = apart(expected, result);
                assert!(angle < 1e-6 && distance < slack, "{name}, {what} root: {angle} rad, {distance} m");
                // The joint itself stays at the pelvis, and so does its skin.
                let hips = target.rig.joint(Role::Hips).unwrap();
                let within =
                    |pose: &ModelPose| pose.joint(hips).inverse().point(&pose.position(JointId::new(1)));
                let rest = within(&target.reference_pose());
                for f in 0..result.clip.frames() {
                    let moved = (within(&result.model_pose(f)) - rest).norm();
                    assert!(moved < slack, "{name}, {what} root, frame {f}: {moved} m");
                }
            }
        }
    }
}

#[test]
fn a_leaf_at_the_hips_moves_with_them() {
    // It may hold the skin of the pelvis.
    let plain = shipped("robot.glb").character;
    let (old, at) = (plain.skeleton(), plain.reference_pose());
    let hips = plain.rig.joint(Role::Hips).unwrap();
    let mut list: Vec<_> =
        old.ids().map(|id| (Some(id), old.parent(id).map(JointId::index), *at.joint(id))).collect();
    list.push((None, Some(hips.index()), *at.joint(hips)));
    let (leaf, target) = (JointId::new(list.len() - 1), Arc::new(rebuilt(&plain, &list)));
    for name in ["walk.bvh", "turn.bvh", "squat.bvh", "jump.bvh"] {
        let result = &retargeted(&shipped(name).motion(0).unwrap(), &target)[1];
        for f in 0..result.clip.frames() {
            let pose = result.model_pose(f);
            let angle = pose.joint(hips).rotation.angle_to(&pose.joint(leaf).rotation);
            assert!(angle < 1e-6, "{name}, frame {f}: {angle} rad");
        }
    }
}
