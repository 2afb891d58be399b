//! VRM animations: our own import gives the motion back, whatever pose the character rests in.

use crate::development_data::data;
use crate::made_walk::{carried, take};
use posemill::anatomy::TPose;
use posemill::export::vrma::VrmaOptions;
use posemill::export::{ExportError, ExportOptions, Format, save};
use posemill::import::{self, from_bytes};
use posemill::math::{Quat, Vec3, angle_between, exp};
use posemill::model::{Asset, Finger, JointId, ModelPose, Motion, Rig, Role, Side};
use posemill::retarget::{Retarget, RootScale, map};
use std::sync::Arc;

fn write(motion: &Motion, upper_chest: bool) -> Result<Vec<u8>, ExportError> {
    let vrma = VrmaOptions { upper_chest };
    let options = ExportOptions { stem: "clip".into(), vrma, ..ExportOptions::default() };
    let (mut files, _) = save(std::slice::from_ref(motion), Format::of("vrma").unwrap(), &options)?;
    assert_eq!((files.len(), files[0].name.as_str()), (1, "clip.vrma"));
    Ok(files.swap_remove(0).bytes)
}

fn back(bytes: &[u8]) -> Asset {
    from_bytes(bytes, "clip", Some("vrma"), None, &import::ImportOptions::default()).unwrap()
}

/// The bones of a file and the joints of the motion that play the same role.
fn shared(motion: &Motion, read: &Motion) -> Vec<(Role, JointId, JointId)> {
    let roles = read.character.rig.assignments();
    roles.filter_map(|(role, a)| Some((role, motion.character.rig.joint(role)?, a.joint))).collect()
}

/// Over all frames: the greatest way of a joint, metres, and the greatest turn of one, radians, each seen from the first
/// frame.
fn off(motion: &Motion, read: &Motion) -> (f64, f64) {
    assert_eq!(motion.clip.frames(), read.clip.frames());
    let pairs = shared(motion, read);
    let (first, first_read) = (motion.model_pose(0), read.model_pose(0));
    let (mut way, mut turn): (f64, f64) = (0.0, 0.0);
    for frame in 0..motion.clip.frames() {
        let (ours, theirs) = (motion.model_pose(frame), read.model_pose(frame));
        for (_, a, b) in &pairs {
            way = way.max((ours.position(*a) - theirs.position(*b)).norm());
            let ours = ours.joint(*a).rotation * first.joint(*a).rotation.inverse();
            let theirs = theirs.joint(*b).rotation * first_read.joint(*b).rotation.inverse();
            turn = turn.max(ours.angle_to(&theirs));
        }
    }
    (way, turn)
}

#[test]
fn our_own_import_gives_the_motion_back() {
    for name in ["walk.bvh", "turn.bvh", "squat.bvh"] {
        for motion in [carried(&take(name)), take(name)] {
            let read = back(&write(&motion, true).unwrap());
            assert!(!read.warnings.iter().any(|w| w.code.starts_with("vrm")));
            let read = read.motion(0).unwrap();
            read.check().unwrap();
            assert!(shared(&motion, &read).len() >= 15);
            let (way, turn) = off(&motion, &read);
            println!("{name}: {way:.1e} m, {turn:.1e} rad");
            assert!(way < 1e-6 && turn < 1e-6, "{name}: {way:.1e} m, {turn:.1e} rad");
        }
    }
}

#[test]
fn bones_rest_in_a_t_pose_on_the_floor() {
    for motion in [carried(&take("walk.bvh")), take("walk.bvh")] {
        let asset = back(&write(&motion, true).unwrap());
        let skeleton = asset.character.skeleton();
        let (rest, rig) = (skeleton.rest_model_pose(), &asset.character.rig);
        assert!(rest.joints().iter().all(|t| t.rotation == Quat::identity()));
        let at = |role| rest.position(rig.joint(role).unwrap());
        for side in Side::BOTH {
            let level = |a: Role, b: Role, along: Vec3| {
                let angle = angle_between(&(at(b) - at(a)), &along).to_degrees();
                assert!(angle < 1e-3, "{a} to {b}: {angle} degrees");
            };
            let out = Vec3::x() * side.sign();
            level(Role::UpperArm(side), Role::LowerArm(side), out);
            level(Role::LowerArm(side), Role::Hand(side), out);
            level(Role::UpperLeg(side), Role::LowerLeg(side), -Vec3::y());
            level(Role::LowerLeg(side), Role::Foot(side), -Vec3::y());
            assert!(at(Role::Foot(side)).y > 0.0 && at(Role::Foot(side)).y < 0.2);
        }
        assert!(at(Role::Hips).y > 0.6 && at(Role::Head).y > at(Role::Hips).y + 0.3);
        assert_eq!((at(Role::Hips).x, at(Role::Hips).z), (0.0, 0.0));
    }
}

#[test]
fn without_the_upper_chest_what_hangs_from_it_keeps_its_place_in_the_world() {
    let motion = carried(&take("walk.bvh"));
    let read = back(&write(&motion, false).unwrap());
    let skeleton = read.character.skeleton();
    assert!(skeleton.find("upperChest").is_none() && skeleton.find("chest").is_some());
    let with = back(&write(&motion, true).unwrap());
    assert!(with.character.skeleton().find("upperChest").is_some());
    let (read, with) = (read.motion(0).unwrap(), with.motion(0).unwrap());
    for frame in 0..motion.clip.frames() {
        let (a, b) = (read.model_pose(frame), with.model_pose(frame));
        for (id, joint) in skeleton.ids().zip(skeleton.joints()) {
            let other = with.character.skeleton().find(&joint.name).unwrap();
            assert!(a.joint(id).rotation.angle_to(&b.joint(other).rotation) < 1e-6);
        }
    }
}

#[test]
fn missing_bones_are_named() {
    let mut motion = carried(&take("walk.bvh"));
    let mut character = (*motion.character).clone();
    let kept = character.rig.assignments().filter(|(role, _)| {
        !matches!(role, Role::Head | Role::Foot(Side::Left) | Role::Finger(_, Finger::Thumb, _))
    });
    character.rig = Rig::new(character.skeleton().clone(), kept.map(|(r, a)| (r, a.clone())));
    motion.character = Arc::new(character);
    let error = write(&motion, true).unwrap_err();
    assert_eq!(error, ExportError::HumanBones { missing: "head, leftFoot".into() });
}

#[test]
fn same_bytes_twice_and_fewer_keys_where_they_may_go() {
    let mut motion = carried(&take("walk.bvh"));
    let all = write(&motion, true).unwrap();
    assert_eq!(all, write(&motion, true).unwrap());
    motion.clip.tolerance = Some(0.005);
    let few = write(&motion, true).unwrap();
    assert!(few.len() * 2 < all.len(), "{} of {}", few.len(), all.len());
    let (way, _) = off(&motion, &back(&few).motion(0).unwrap());
    assert!(way < 0.01, "{way}");
}

#[test]
fn a_vrm_is_its_own_t_pose() {
    let Some(data) = data() else { return };
    for name in
        ["debug_robot.vrm", "basic_armature_vrm0.vrm", "basic_armature_vrm1.vrm", "armature_transform.vrm"]
    {
        let hero =
            import::load(data.join("vrm").join(name), &import::ImportOptions::default()).unwrap().character;
        let source = take("walk.bvh");
        let Ok(found) = map(&source.character, &hero) else {
            println!("{name}: no map");
            continue;
        };
        let rigs = (&source.character.rig, &hero.rig);
        let ready = Retarget::new(&source.character, Arc::clone(&hero), &found, rigs, RootScale::Legs);
        let motion = ready.apply(&source);
        let read = back(&write(&motion, true).unwrap()).motion(0).unwrap();
        let pose = motion.character.reference_pose();
        let hips = [(&motion.character.rig, &pose), (&read.character.rig, &read.character.reference_pose())]
            .map(|(rig, pose)| pose.position(rig.joint(Role::Hips).unwrap()));
        assert!((hips[0] - hips[1]).norm() < 1e-6, "{name}: {} {}", hips[0], hips[1]);
        for frame in [0, motion.clip.frames() / 2] {
            let (ours, theirs) = (motion.model_pose(frame), read.model_pose(frame));
            for (role, a, b) in shared(&motion, &read) {
                let d = ours.joint(a).rotation * pose.joint(a).rotation.inverse();
                assert!(d.angle_to(&theirs.joint(b).rotation) < 1e-6, "{name}: {role}");
            }
        }
    }
}

#[test]
fn a_t_pose_stays_as_it_is() {
    let read = back(&write(&carried(&take("walk.bvh")), true).unwrap());
    let (rig, pose) = (&read.character.rig, read.character.skeleton().rest_model_pose());
    let t = TPose::of(&read.character, &pose).unwrap();
    for (role, _) in rig.assignments() {
        assert!(t.rotation(role).angle() < 1e-4, "{role}: {}", t.rotation(role).angle());
    }
}

/// A skeleton of captures: its legs are spread at rest, and its feet are square to the shins.
#[test]
fn feet_of_spread_legs_are_level_in_the_t_pose() {
    let mut character = (*take("walk.bvh").character).clone();
    let mut pose = character.skeleton().rest_pose();
    for side in Side::BOTH {
        let thigh = character.rig.joint(Role::UpperLeg(side)).unwrap();
        let roll: Quat = exp(&(Vec3::z() * (side.sign() * 20.0_f64.to_radians())));
        pose.local_mut()[thigh.index()].rotation = roll * pose.joint(thigh).rotation;
    }
    let spread = ModelPose::of(character.skeleton(), &pose);
    let bare = character.clone();
    for side in Side::BOTH {
        let foot = Role::Foot(side);
        let level = character.skeleton().rest_model_pose().joint(bare.rig.joint(foot).unwrap()).rotation;
        let in_t = |character: &posemill::model::Character| {
            let t = TPose::of(character, &spread).unwrap().rotation(foot);
            let turned = t * spread.joint(character.rig.joint(foot).unwrap()).rotation * level.inverse();
            angle_between(&(turned * Vec3::y()), &Vec3::y()).to_degrees()
        };
        assert!(in_t(&bare) < 0.1, "{} degrees", in_t(&bare));
        // A body that is bound stands on flat feet however its legs are spread.
        character.bind = Some(spread.clone());
        assert!((in_t(&character) - 20.0).abs() < 0.1, "{} degrees", in_t(&character));
    }
}
