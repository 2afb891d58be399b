//! The humanoid takes and characters of the development data, the ones that are all tried with each other, and how
//! jerkily a body moves.

#![allow(dead_code, reason = "every test takes what it needs")]

use posemill::model::{JointId, ModelPose, Rig, Role, Side};

/// Root mean square of the third difference of the places of hands, feet, toes and head, metres per frame cubed.
pub fn end_jerk(rig: &Rig, poses: &[ModelPose]) -> f64 {
    let ends: Vec<JointId> = Side::BOTH
        .iter()
        .flat_map(|&s| [Role::Foot(s), Role::Hand(s), Role::Toes(s)])
        .chain([Role::Head])
        .filter_map(|r| rig.joint(r))
        .collect();
    let (mut sum, mut count) = (0.0, 0.0);
    for w in poses.windows(4) {
        for &id in &ends {
            let p = |k: usize| w[k].position(id);
            sum += (p(3) - p(2) * 3.0 + p(1) * 3.0 - p(0)).norm_squared();
            count += 1.0;
        }
    }
    (sum / f64::max(count, 1.0)).sqrt()
}

/// The takes, relative to the folder of the data.
pub const TAKES: &[&str] = &[
    "bvh/assimp/Boxing_Toes.bvh",
    "bvh/bvh-toolbox/walk01.bvh",
    "bvh/cmu/01_01.bvh",
    "bvh/cmu/jumping_jacks.bvh",
    "bvh/fair1/dab.bvh",
    "bvh/fair1/zombie.bvh",
    "bvh/makehuman/walk1.bvh",
    "bvh/makehuman/benchmark.bvh",
    "bvh/mixamo-names/test_freebvh.bvh",
    "bvh/mocapbank/test_mocapbank.bvh",
    "bvh/pymo/AV_8Walk_Meredith_HVHA_Rep1.bvh",
    "bvh/small/bvhio-example.bvh",
    "bvh/xia/angry_13_000.bvh",
    "gltf/kaykit/Med_MovementBasic.glb",
    "gltf/quaternius/KnightCharacter.glb",
    "gltf/gdquest/mannequiny-0.3.0.glb",
    "gltf/raylib/robot.glb",
    "gltf/khronos/cesium_man.gltf",
];

/// The characters, likewise.
pub const CHARACTERS: &[&str] = &[
    "gltf/quaternius/Casual_man.glb",
    "derived/casual-man-mixamo-names.glb",
    "gltf/gdquest/mannequiny-0.3.0.glb",
    "gltf/quaternius/KnightCharacter.glb",
    "gltf/raylib/robot.glb",
    "gltf/raylib/greenman.glb",
    "gltf/kaykit/manny_med_mod.gltf",
    "gltf/kaykit/Med_MovementBasic.glb",
    "gltf/khronos/cesium_man.gltf",
    "derived/cesium-man-gltfpack-quantized.glb",
    "derived/makehuman-base-default-rig.glb",
    "derived/rigify-human-deform.glb",
    "vrm/debug_robot.vrm",
    "vrm/basic_armature_vrm0.vrm",
    "vrm/basic_armature_vrm1.vrm",
    "vrm/armature_transform.vrm",
];
