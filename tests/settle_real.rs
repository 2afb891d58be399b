//! Physics on recorded takes and characters of different build.

mod development_data;
mod humanoids;

use humanoids::{CHARACTERS, TAKES};
use posemill::contacts::{Options, detect};
use posemill::ik::Mechanism;
use posemill::import;
use posemill::legs::{Settings, repair};
use posemill::limits;
use posemill::model::{Clip, ModelPose, Motion, Pose};
use posemill::retarget::{Retarget, RootScale, map};
use posemill::settle::{LetGo, Ragdoll, TARGETS, Tracking, let_go, settle};
use std::sync::Arc;

/// Characters of different build.
const BUILDS: &[&str] = &[
    "gltf/quaternius/Casual_man.glb",
    "gltf/khronos/cesium_man.gltf",
    "derived/makehuman-base-default-rig.glb",
];

/// The longest part of a take that is settled here, seconds.
const LONGEST: f64 = 4.0;

fn shortened(motion: &Motion) -> Motion {
    motion.part(0..motion.clip.frames().min((LONGEST * motion.clip.sample_rate) as usize))
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

/// What the performance must keep, by criterion: joints and ends of limbs as good as where they came from (S4, S5), and
/// no shaking (S9), within what is good for a clip.
const KEPT: [&str; 4] =
    ["s4_joint_error", "s4_mpjpe_over_height", "s5_effector_error_over_height", "s9_jerk_ratio"];

/// Pairs that do not, by measure: a quick walk whose hands swing 0.04 % of the height less than is good.
const KNOWN: &[(&str, &str, &str)] =
    &[("bvh/bvh-toolbox/walk01.bvh", "gltf/khronos/cesium_man.gltf", "s5_effector_error_over_height")];

#[test]
fn recorded_takes_settle_on_characters_of_different_build() {
    let Some(data) = development_data::data() else { return };
    let load = |name: &str| import::load(&data.join(name), &import::Options::default()).unwrap();
    let heroes: Vec<_> =
        CHARACTERS.iter().filter(|c| BUILDS.contains(c)).map(|c| (c, load(c).character)).collect();
    assert_eq!(heroes.len(), BUILDS.len());
    let (mut refused, mut frames, mut faults) = (0, 0, Vec::new());
    for name in TAKES {
        let take = load(name);
        let Some(whole) = take.motion(0) else { continue };
        let mut source = shortened(&whole);
        source.contacts = Some(detect(&source, &Options::default()));
        for (hero_name, hero) in &heroes {
            let joint_map = map(&take.character, hero).unwrap();
            let rigs = (&take.character.rig, &hero.rig);
            let retarget =
                Retarget::new(&take.character, Arc::clone(hero), &joint_map, rigs, RootScale::Legs);
            let motion = retarget.apply(&source);
            let settled = settle(&motion, &motion.contacts.clone().unwrap(), &Tracking::default()).unwrap();
            settled.motion.check().unwrap();
            let (before, after) = (settled.before.values(), settled.after.values());
            refused += settled.refused.iter().map(|r| r.len()).sum::<usize>();
            frames += motion.clip.frames();
            println!(
                "{name} x {hero_name}: untouched {}, refused {:?}, flights left {:?}",
                settled.untouched, settled.refused, settled.flights_left
            );
            for (k, (target, _, most)) in TARGETS.iter().enumerate().filter(|(_, t)| t.2.is_finite()) {
                if after[k] > *most {
                    println!("    {target:38} {:9.4} > {:9.4} (at most {most})", before[k], after[k]);
                }
                let known = KNOWN.contains(&(*name, **hero_name, *target));
                if KEPT.contains(target) && after[k] > *most && !known {
                    faults.push(format!("{name} x {hero_name}: {target} {}", after[k]));
                }
            }
            // S10: what is clean stays as it is.
            if settled.after.is_clean() {
                let contacts = settled.motion.contacts.clone().unwrap();
                let again = settle(&settled.motion, &contacts, &Tracking::default()).unwrap();
                assert!(again.after.moved <= 1e-3, "{name} x {hero_name}: {} m", again.after.moved);
                assert!(again.after.turned.to_degrees() <= 0.2, "{name} x {hero_name}");
            }
        }
    }
    println!("{refused} of {frames} frames refused");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    // More would mean that physics follows nothing.
    assert!(2 * refused < frames, "{refused} of {frames} frames refused");
}

/// S10 of what physics did not make clean itself.
#[test]
fn takes_that_are_clean_on_their_own_characters_stay_as_they_are() {
    let Some(data) = development_data::data() else { return };
    for name in TAKES {
        let asset = import::load(&data.join(name), &import::Options::default()).unwrap();
        let Some(whole) = asset.motion(0) else { continue };
        let mut take = shortened(&whole);
        take.contacts = Some(detect(&take, &Options::default()));
        let mechanism = Mechanism::humanoid(&asset.character.rig, &asset.character.calibration_pose());
        let limited: Vec<_> = mechanism.joints_with_limits().collect();
        let (kept, _) = limits::keep(take, &mechanism, &limited, &limits::Options::default());
        let locked = repair(kept.clone(), &Settings::default()).0;
        let settled = settle(&locked, &locked.contacts.clone().unwrap(), &Tracking::default()).unwrap();
        let (before, after) = (settled.before, settled.after);
        println!(
            "{name}: clean {}, moved {:.4} m, turned {:.2} degrees, S1 {:.4} S2 {:.4} S3 {:.4} S7 {:.3} {:.3}",
            before.is_clean(),
            after.moved,
            after.turned.to_degrees(),
            before.penetration,
            before.skate,
            before.limits,
            before.flight,
            before.spin
        );
        if before.is_clean() {
            assert!(after.moved <= 1e-3 && after.turned.to_degrees() <= 0.2, "{name}: {after:?}");
            assert_eq!(settled.motion.clip, locked.clip, "{name}");
        }
    }
}

#[test]
fn bodies_of_any_kind_and_clips_of_any_length_come_out_sound() {
    let Some(data) = development_data::data() else { return };
    for name in ["gltf/quaternius/Wolf.glb", "gltf/raylib/robot.glb", "bvh/cmu/01_01.bvh"] {
        let asset = import::load(&data.join(name), &import::Options::default()).unwrap();
        let whole = asset.motion(0).unwrap();
        let skeleton = whole.character.skeleton();
        for frames in [0, 1, 2, 3, 4, 40] {
            let poses: Vec<Pose> =
                (0..frames.min(whole.clip.frames())).map(|f| whole.clip.pose(skeleton, f)).collect();
            let clip = Clip::from_poses("part", whole.clip.sample_rate, skeleton, &poses);
            let motion = Motion::new(Arc::clone(&whole.character), clip);
            let contacts = detect(&motion, &Options::default());
            if let Some(settled) = settle(&motion, &contacts, &Tracking::default()) {
                settled.motion.check().unwrap();
                assert_eq!(settled.motion.clip.frames(), motion.clip.frames());
                assert!(settled.after.values().iter().all(|v| v.is_finite()), "{name} {frames}");
            }
            if let Some(fallen) = let_go(&motion, &LetGo { at: 0.0, lasts: 0.2, ..LetGo::default() }) {
                fallen.motion.check().unwrap();
            }
        }
    }
}
