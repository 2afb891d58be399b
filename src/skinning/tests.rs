//! Laws of both skinning methods: they follow rigid motions, agree where they must, and do not depend on the order of
//! vertices or bindings.

use super::linear_blend::tests::{mesh, near, v};
use super::*;
use crate::math::{Transform, Vec3, exp};
use crate::model::{Mesh, ModelPose};

type Method = fn(&Mesh, &ModelPose, &mut Skin);

const METHODS: [(&str, Method); 2] = [("linear", linear_blend), ("dual quaternion", dual_quaternion_blend)];

fn skinned(method: Method, mesh: &Mesh, pose: &ModelPose) -> Skin {
    let mut skin = Skin::default();
    method(mesh, pose, &mut skin);
    skin
}

/// A mesh and a pose in which every joint has moved away from the bind pose by itself.
fn scene(n: usize, single: bool) -> (Mesh, ModelPose) {
    let (mesh, bind) = mesh(n, 1.0, single);
    let moved =
        |(k, t): (usize, &Transform)| Transform::new(exp(&(v(k as f64 + 0.4) * 0.3)), v(k as f64) * 0.2) * *t;
    (mesh, ModelPose::new(bind.joints().iter().enumerate().map(moved).collect()))
}

fn vector(p: &[f32; 3]) -> Vec3 {
    Vec3::from(p.map(f64::from))
}

#[test]
fn a_rigid_motion_of_the_pose_moves_the_skin_rigidly() {
    for n in [1, 7, 40] {
        let (mesh, pose) = scene(n, false);
        let place = Transform::new(exp(&v(0.3)), v(2.0) * 3.0);
        let there = ModelPose::new(pose.joints().iter().map(|t| place * *t).collect());
        for (name, method) in METHODS {
            let (here, moved) = (skinned(method, &mesh, &pose), skinned(method, &mesh, &there));
            for (a, b) in here.positions.iter().zip(&moved.positions) {
                assert!(near(b, &place.point(&vector(a)), 2e-5), "{name}");
            }
            for (a, b) in here.normals.iter().zip(&moved.normals) {
                assert!(near(b, &place.vector(&vector(a)), 2e-5), "{name}");
            }
        }
    }
}

#[test]
fn both_methods_agree_where_one_joint_holds_a_vertex() {
    let (mesh, pose) = scene(33, true);
    let [a, b] = METHODS.map(|(_, method)| skinned(method, &mesh, &pose));
    for (x, y) in a.positions.iter().zip(&b.positions) {
        assert!(near(x, &vector(y), 2e-5));
    }
}

#[test]
fn order_of_vertices_and_influences_does_not_matter() {
    let (mesh, pose) = scene(29, false);
    let mut backwards = mesh.clone();
    backwards.positions.reverse();
    backwards.normals.reverse();
    backwards.joints.reverse();
    backwards.weights.reverse();
    let mut shuffled = mesh.clone();
    shuffled.joints.iter_mut().for_each(|j| j.reverse());
    shuffled.weights.iter_mut().for_each(|w| w.reverse());
    for (name, method) in METHODS {
        let plain = skinned(method, &mesh, &pose);
        let mut reversed = skinned(method, &backwards, &pose);
        reversed.positions.reverse();
        assert_eq!(reversed.positions, plain.positions, "{name}");
        let other = skinned(method, &shuffled, &pose);
        for (a, b) in plain.positions.iter().zip(&other.positions) {
            assert!(near(a, &vector(b), 2e-5), "{name}");
        }
    }
}

#[test]
fn the_kernel_agrees_with_the_plain_sum_over_influences() {
    for n in [1, 8, 9, 50] {
        let (mesh, pose) = scene(n, false);
        let skin = skinned(linear_blend, &mesh, &pose);
        for k in 0..mesh.positions.len() {
            let p = vector(&mesh.positions[k]).push(1.0);
            let mut sum = Vec3::zeros();
            for i in 0..4 {
                let binding = &mesh.bindings[usize::from(mesh.joints[k][i])];
                let at = pose.joint(binding.joint).to_matrix() * binding.joint_from_mesh * p;
                sum += at.xyz() * f64::from(mesh.weights[k][i]);
            }
            assert!(near(&skin.positions[k], &sum, 2e-5), "{k}: {:?} {sum:?}", skin.positions[k]);
        }
    }
}

#[test]
fn a_used_skin_gives_what_a_new_one_gives() {
    let (large, large_pose) = scene(41, false);
    let (small, small_pose) = scene(5, false);
    for (name, method) in METHODS {
        let mut used = skinned(method, &large, &large_pose);
        method(&small, &small_pose, &mut used);
        assert_eq!(used, skinned(method, &small, &small_pose), "{name}");
    }
}
