//! The volume inside made skins, whose volumes are known.

use crate::body::skin_volume;
use crate::made_bodies::{ADULT, bones, tube};
use crate::math::Vec3;
use crate::model::{Character, Role, Side};
use std::f64::consts::TAU;

/// A trunk and a left thigh as upright tubes of 24 sides.
fn two_tubes() -> (Character, [usize; 2], [f64; 2]) {
    let mut body = bones(&ADULT);
    let joints = [Role::Spine(0), Role::UpperLeg(Side::Left)].map(|role| body.rig.joint(role).unwrap());
    let leg = Vec3::x() * 0.12;
    let trunk = tube(&body, joints[0], Vec3::y() * 0.8, Vec3::y() * 1.5, [0.2, 0.13]);
    let thigh = tube(&body, joints[1], leg + Vec3::y() * 0.4, leg + Vec3::y() * 0.78, [0.08, 0.08]);
    body.meshes = vec![trunk, thigh];
    // The area of a regular polygon of n corners on a circle of radius r: n / 2 sin(2 pi / n) r^2.
    let polygon = 12.0 * (TAU / 24.0).sin();
    let volumes = [polygon * 0.2 * 0.13 * 0.7, polygon * 0.08 * 0.08 * 0.38];
    (body, joints.map(|id| id.index()), volumes)
}

#[test]
fn tubes_have_their_volume_by_the_joint_that_moves_them() {
    let (mut body, joints, expected) = two_tubes();
    let pose = body.reference_pose();
    let volumes = skin_volume(&body, &pose).unwrap();
    for (joint, expected) in joints.into_iter().zip(expected) {
        let found = volumes[joint];
        println!("{found:.5} {expected:.5}");
        assert!((found / expected - 1.0).abs() < 0.01, "{found} m^3, expected {expected}");
    }
    let all: f64 = volumes.iter().sum();
    assert!((all - volumes[joints[0]] - volumes[joints[1]]).abs() < 1e-12, "nothing else has skin");

    // Skin inside of skin is no more volume.
    let inner =
        tube(&body, body.rig.joint(Role::Spine(0)).unwrap(), Vec3::y() * 0.9, Vec3::y() * 1.4, [0.1; 2]);
    body.meshes.push(inner);
    let nested: f64 = skin_volume(&body, &pose).unwrap().iter().sum();
    assert!((nested / all - 1.0).abs() < 1e-9, "{nested} m^3 after {all}");
}

#[test]
fn a_skin_with_a_large_hole_has_no_volume() {
    let (mut body, ..) = two_tubes();
    let pose = body.reference_pose();
    let n = body.meshes[0].triangles.len();
    body.meshes[0].triangles.truncate(n * 3 / 4);
    assert_eq!(skin_volume(&body, &pose), None);
    body.meshes.clear();
    assert_eq!(skin_volume(&body, &pose), None);
}
