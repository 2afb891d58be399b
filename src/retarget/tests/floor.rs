//! Bodies that sit, kneel and lie: skin rests on the floor, and cloth that hangs from hips or trunk is no body.

use posemill::import::{ImportOptions, load};
use posemill::math::{Mat4, Vec3};
use posemill::model::{Binding, Character, Mesh, Motion, Role, Side};
use posemill::retarget::{Retarget, RootScale, map};
use std::f64::consts::TAU;
use std::sync::Arc;

fn shipped(file: &str) -> posemill::model::Asset {
    load(format!("{}/data/{file}", env!("CARGO_MANIFEST_DIR")), &ImportOptions::default()).unwrap()
}

fn take(file: &str) -> Motion {
    let asset = shipped(file);
    Motion::new(Arc::clone(&asset.character), asset.clips[0].clone())
}

fn onto(source: &Motion, target: &Arc<Character>) -> Motion {
    let found = map(&source.character, target).unwrap();
    let rigs = (&source.character.rig, &target.rig);
    Retarget::new(&source.character, Arc::clone(target), &found, rigs, RootScale::Legs).apply(source)
}

/// The height of a joint in every frame.
fn heights(motion: &Motion, role: Role) -> Vec<f64> {
    let joint = motion.character.rig.joint(role).unwrap();
    (0..motion.clip.frames()).map(|f| motion.model_pose(f).position(joint).y).collect()
}

/// A frustum about the hips, between two heights above the hip joints and with a radius at either end, all in thigh lengths,
/// that turns with the joint of a role.
fn frustum(character: &Character, role: Role, heights: [f64; 2], radii: [f64; 2]) -> Mesh {
    let stand = character.calibration_pose();
    let at = |role| stand.position(character.rig.joint(role).unwrap());
    let hip = (at(Role::UpperLeg(Side::Left)) + at(Role::UpperLeg(Side::Right))) * 0.5;
    let thigh = (at(Role::UpperLeg(Side::Left)) - at(Role::LowerLeg(Side::Left))).norm();
    const ROWS: usize = 9;
    const AROUND: usize = 24;
    let vertex = |k: usize| {
        let (share, angle) =
            ((k / AROUND) as f64 / (ROWS - 1) as f64, TAU * (k % AROUND) as f64 / AROUND as f64);
        let [y, radius] = [heights, radii].map(|[a, b]| thigh * (a + share * (b - a)));
        let p = hip + Vec3::new(radius * angle.cos(), y, radius * angle.sin());
        [p.x as f32, p.y as f32, p.z as f32]
    };
    let corner = |row: usize, k: usize| (row * AROUND + k % AROUND) as u32;
    let quad = |k: usize| {
        let (row, k) = (k / AROUND, k % AROUND);
        let [a, b, c, d] = [corner(row, k), corner(row, k + 1), corner(row + 1, k), corner(row + 1, k + 1)];
        [[a, b, c], [b, d, c]]
    };
    let joint = character.rig.joint(role).unwrap();
    let joint_from_mesh: Mat4<f64> = stand.joint(joint).inverse().to_matrix();
    Mesh {
        positions: (0..ROWS * AROUND).map(vertex).collect(),
        joints: vec![[0; 4]; ROWS * AROUND],
        weights: vec![[1.0, 0.0, 0.0, 0.0]; ROWS * AROUND],
        triangles: (0..(ROWS - 1) * AROUND).flat_map(quad).collect(),
        bindings: vec![Binding { joint, joint_from_mesh }],
        ..Mesh::default()
    }
}

fn with(character: &Arc<Character>, mesh: Mesh) -> Arc<Character> {
    let mut dressed = (**character).clone();
    dressed.meshes.push(mesh);
    Arc::new(dressed)
}

#[test]
fn a_robe_does_not_lift_a_body_that_sits() {
    let (take, bare) = (take("squat.bvh"), shipped("mannequin.glb").character);
    let path = heights(&onto(&take, &bare), Role::Hips);
    // From above the hips to the ankles, to the floor and below it, or to the knees; of hips, trunk and thigh.
    for (role, heights_of, radii) in [
        (Role::Hips, [0.2, -1.9], [0.4, 0.9]),
        (Role::Hips, [0.2, -2.3], [0.4, 0.9]),
        (Role::Hips, [0.2, -1.0], [0.4, 0.7]),
        (Role::Spine(0), [0.6, -1.9], [0.4, 0.9]),
        (Role::UpperLeg(Side::Left), [0.0, -1.9], [0.4, 0.9]),
    ] {
        let dressed = with(&bare, frustum(&bare, role, heights_of, radii));
        let robed = heights(&onto(&take, &dressed), Role::Hips);
        let apart = path.iter().zip(&robed).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(
            apart < 1e-9,
            "a robe on {role} to {} thigh lengths lifts the hips by {apart} m",
            -heights_of[1]
        );
    }
}

#[test]
fn a_fat_body_does_not_sit_in_the_floor() {
    let (take, bare) = (take("squat.bvh"), shipped("mannequin.glb").character);
    // A belly and a seat that reach down to half of the thighs.
    let fat = with(&bare, frustum(&bare, Role::Hips, [0.8, -0.7], [1.2, 0.9]));
    let result = onto(&take, &fat);
    let belly = fat.meshes.last().unwrap();
    let lowest = |f: usize| {
        let pose = result.model_pose(f);
        let mut skin = posemill::skinning::Skin::default();
        posemill::skinning::linear_blend(belly, &pose, &mut skin);
        skin.positions.iter().map(|p| f64::from(p[1])).fold(f64::INFINITY, f64::min)
    };
    let low = (0..result.clip.frames()).map(lowest).fold(f64::INFINITY, f64::min);
    assert!(low > -0.01, "{low}");
    let least = |motion: &Motion| heights(motion, Role::Hips).into_iter().fold(f64::INFINITY, f64::min);
    assert!(least(&result) > least(&onto(&take, &bare)) + 0.02, "it sits higher than a slim body");
}
