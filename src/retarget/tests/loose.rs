//! Joints apart from the body: clothing with joints of its own, accessories, an engine's targets, furniture.

use super::helpers::{rebuilt, shipped};
use super::posed::{take, transfer};
use posemill::math::{Mat4, Transform, Vec3, exp};
use posemill::model::{Binding, Character, JointId, Motion, Role, Side};
use std::sync::Arc;

const LEG: [Role; 3] = [Role::UpperLeg(Side::Left), Role::LowerLeg(Side::Left), Role::Foot(Side::Left)];

/// The mannequin below a root at the origin, and further joints on that root: each at these transforms in model space, under the
/// one before it if so said.
fn with(extra: &[(Transform, bool)]) -> (Character, Vec<JointId>) {
    let hero = shipped("mannequin.glb").character;
    let skeleton = hero.skeleton();
    let bound = hero.reference_pose();
    let mut list = vec![(None, None, Transform::identity())];
    list.extend(skeleton.ids().map(|id| {
        let parent = skeleton.parent(id).map_or(0, |parent| parent.index() + 1);
        (Some(id), Some(parent), *bound.joint(id))
    }));
    let first = list.len();
    for (at, under) in extra {
        let parent = if *under { list.len() - 1 } else { 0 };
        list.push((None, Some(parent), *at));
    }
    (rebuilt(&hero, &list), (first..list.len()).map(JointId::new).collect())
}

/// A triangle at a joint, about a hand's width large.
fn skin(character: &mut Character, joint: JointId) {
    let at = *character.bind.as_ref().unwrap().joint(joint);
    let mut mesh = character.meshes[0].clone();
    let corner = |v: Vec3| <[f64; 3]>::from(at.translation + 0.05 * v).map(|x| x as f32);
    mesh.positions = [Vec3::x(), Vec3::y(), Vec3::z()].map(corner).to_vec();
    (mesh.joints, mesh.weights) = (vec![[0; 4]; 3], vec![[1.0, 0.0, 0.0, 0.0]; 3]);
    mesh.triangles = vec![[0, 1, 2]];
    (mesh.normals, mesh.texcoords, mesh.morphs) = (Vec::new(), Vec::new(), Vec::new());
    let joint_from_mesh: Mat4<f64> = at.inverse().to_matrix();
    mesh.bindings = vec![Binding { joint, joint_from_mesh }];
    character.meshes.push(mesh);
}

fn walk(character: Character) -> Motion {
    let take = take("walk.bvh");
    let character = Arc::new(character);
    transfer(&take, &character).apply(&take)
}

fn places(roles: &[Role]) -> Vec<Transform> {
    let (plain, _) = with(&[]);
    let bound = plain.reference_pose();
    roles.iter().map(|role| *bound.joint(plain.rig.joint(*role).unwrap())).collect()
}

/// The largest distance of a joint from where it would be if it kept its transform on a joint with this role.
fn off(motion: &Motion, joint: JointId, role: Role) -> f64 {
    let on = motion.character.rig.joint(role).unwrap();
    let bound = motion.character.bind.as_ref().unwrap();
    let within = bound.joint(on).inverse() * *bound.joint(joint);
    let distance = |f: usize| {
        let pose = motion.model_pose(f);
        (pose.joint(on).point(&within.translation) - pose.position(joint)).norm()
    };
    (0..motion.clip.frames()).step_by(20).map(distance).fold(0.0, f64::max)
}

#[test]
fn clothing_with_joints_of_its_own_moves_as_the_body() {
    let aside = Transform::from_translation(Vec3::new(0.2, 0.0, 0.1));
    let mut extra = vec![(aside, false)];
    extra.extend(places(&LEG).into_iter().map(|at| (at * Transform::from_rotation(exp(&Vec3::x())), true)));
    let (mut character, joints) = with(&extra);
    joints[1..].iter().for_each(|joint| skin(&mut character, *joint));
    let motion = walk(character);
    for (joint, role) in joints[1..].iter().zip(LEG) {
        let off = off(&motion, *joint, role);
        assert!(off < 1e-6, "{role}: {off} m");
    }
}

#[test]
fn targets_of_an_engine_rest_on_hands_and_feet() {
    let [foot, hand] = [Role::Foot(Side::Right), Role::Hand(Side::Left)];
    let at = places(&[foot, hand]);
    let root = (Transform::identity(), false);
    let (character, joints) = with(&[root, (at[0], true), root, (at[1], true)]);
    let motion = walk(character);
    for (joint, role) in [(joints[1], foot), (joints[3], hand)] {
        assert!(off(&motion, joint, role) < 1e-6, "{role}");
    }
    let roots = [joints[0], joints[2]].map(|joint| motion.model_pose(100).position(joint).norm());
    assert_eq!(roots, [0.0; 2]);
}

#[test]
fn shoes_follow_feet_wherever_the_legs_are_put() {
    let foot = Role::Foot(Side::Left);
    let shoe = places(&[foot])[0] * Transform::from_translation(Vec3::new(0.02, -0.03, 0.05));
    let (mut character, joints) = with(&[(shoe, false)]);
    skin(&mut character, joints[0]);
    let off = off(&walk(character), joints[0], foot);
    assert!(off < 1e-6, "{off} m");
}

#[test]
fn furniture_beside_a_body_stays_where_it_is() {
    let chair = Transform::from_translation(Vec3::new(0.9, 0.4, -0.5));
    let (mut character, joints) = with(&[(chair, false)]);
    skin(&mut character, joints[0]);
    let motion = walk(character);
    for f in (0..motion.clip.frames()).step_by(20) {
        let moved = (motion.model_pose(f).position(joints[0]) - chair.translation).norm();
        assert!(moved < 1e-9, "frame {f}: {moved} m");
    }
}

#[test]
fn a_nose_on_cheeks_that_lie_on_the_head_moves_with_it() {
    let head = places(&[Role::Head])[0].translation;
    let place = |k: usize| head + Vec3::new(0.0, 0.05, 0.06 * k as f64);
    let pieces: Vec<_> = (1..=8).map(|k| (Transform::from_translation(place(k)), false)).collect();
    let (mut character, joints) = with(&pieces);
    joints.iter().for_each(|joint| skin(&mut character, *joint));
    let motion = walk(character);
    for (k, joint) in joints.iter().enumerate() {
        let off = off(&motion, *joint, Role::Head);
        assert!(off < 1e-6, "piece {k}: {off} m");
    }
}
