//! Physics on recorded takes and characters of different build.

mod development_data;

use posemill::contacts::{Options, detect};
use posemill::import;
use posemill::model::{Clip, ModelPose, Motion, Pose};
use posemill::retarget::{Retarget, RootScale, map};
use posemill::settle::{Ragdoll, TARGETS, Tracking, settle};
use std::sync::Arc;

const CHARACTERS: &[&str] = &[
    "gltf/quaternius/Casual_man.glb",
    "gltf/quaternius/KnightCharacter.glb",
    "derived/makehuman-base-default-rig.glb",
];

const TAKES: &[&str] = &[
    "bvh/bvh-toolbox/walk01.bvh",
    "bvh/mocapbank/test_mocapbank.bvh",
    "bvh/cmu/jumping_jacks.bvh",
    "bvh/mixamo-names/test_freebvh.bvh",
    "bvh/pymo/AV_8Walk_Meredith_HVHA_Rep1.bvh",
    "bvh/fair1/dab.bvh",
    "bvh/xia/angry_13_000.bvh",
];

/// The longest part of a take that is settled here, seconds.
const LONGEST: f64 = 5.0;

fn shortened(motion: &Motion) -> Motion {
    let clip = &motion.clip;
    let skeleton = motion.character.skeleton();
    let frames = clip.frames().min((LONGEST * clip.sample_rate) as usize);
    let poses: Vec<Pose> = (0..frames).map(|f| clip.pose(skeleton, f)).collect();
    Motion::new(Arc::clone(&motion.character), Clip::from_poses("part", clip.sample_rate, skeleton, &poses))
}

#[test]
fn every_body_of_the_development_data_becomes_a_ragdoll_and_back() {
    let Some(data) = development_data::data() else { return };
    let bodies = [
        "gltf/quaternius/Casual_man.glb",
        "gltf/quaternius/KnightCharacter.glb",
        "gltf/quaternius/Wolf.glb",
        "gltf/raylib/robot.glb",
        "gltf/kaykit/manny_med_mod.gltf",
        "gltf/khronos/cesium_man.gltf",
        "derived/makehuman-base-default-rig.glb",
        "derived/rigify-human-deform.glb",
        "derived/rigify-wolf-deform.glb",
        "vrm/armature_transform.vrm",
    ];
    for name in bodies {
        let asset = import::load(&data.join(name), &import::Options::default()).unwrap();
        let skeleton = asset.character.skeleton();
        let ragdoll = Ragdoll::of(&asset.character).unwrap_or_else(|| panic!("{name} is no body"));
        println!("{name}: {} bodies, {:.2} m, {:.1} kg", ragdoll.parts.len(), ragdoll.height, ragdoll.mass);
        assert!((11..=25).contains(&ragdoll.parts.len()), "{name}: {}", ragdoll.parts.len());
        let clip = asset.motion(0).map(|m| m.clip);
        let pose = clip.map_or(skeleton.rest_pose(), |c| c.pose(skeleton, c.frames() / 2));
        let back = ragdoll.pose(skeleton, &ragdoll.states(&ModelPose::of(skeleton, &pose)), &pose);
        for (a, b) in pose.local().iter().zip(back.local()) {
            assert!(
                a.rotation.angle_to(&b.rotation) < 1e-9 && (a.translation - b.translation).norm() < 1e-9,
                "{name}"
            );
        }
    }
}

#[test]
fn recorded_takes_settle_on_characters_of_different_build() {
    let Some(data) = development_data::data() else { return };
    let load = |name: &str| import::load(&data.join(name), &import::Options::default()).unwrap();
    for take in TAKES.iter().map(|name| (name, load(name))) {
        let mut source = shortened(&take.1.motion(0).unwrap());
        source.contacts = Some(detect(&source, &Options::default()));
        for name in CHARACTERS {
            let hero = load(name).character;
            let Ok(joint_map) = map(&take.1.character, &hero) else { continue };
            let rigs = (&take.1.character.rig, &hero.rig);
            let retarget =
                Retarget::new(&take.1.character, Arc::clone(&hero), &joint_map, rigs, RootScale::Legs);
            let motion = retarget.apply(&source);
            let settled = settle(&motion, &motion.contacts.clone().unwrap(), &Tracking::default()).unwrap();
            settled.motion.check().unwrap();
            let values = settled.after.values();
            let missed: Vec<String> = TARGETS
                .iter()
                .zip(values)
                .filter(|(t, v)| *v > t.2)
                .map(|(t, v)| format!("{} {v:.4}", t.0))
                .collect();
            let shown = values.map(|v| format!("{v:.4}")).join(" ");
            println!("{} x {name}: refused {:?}, missed {missed:?}\n    {shown}", take.0, settled.refused);
            assert!(
                settled.after.penetration < 1e-3 || settled.after.penetration < settled.before.penetration
            );
        }
    }
}
