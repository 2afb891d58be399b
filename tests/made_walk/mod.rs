//! The walk of `data/`, whose contacts are known, and how far two performances are apart.
#![allow(dead_code)]

use posemill::contacts::read;
use posemill::import::{ImportOptions, load};
use posemill::math::{Vec3, exp};
use posemill::model::{Character, ModelPose, Motion, Rig, Skeleton};
use posemill::retarget::{Retarget, RootScale, map};
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub fn shipped(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(name)
}

/// A take of `data/`.
pub fn take(name: &str) -> Motion {
    load(shipped(name), &ImportOptions::default()).unwrap().motion(0).unwrap()
}

/// The walk with the labels that it was made by, after `change`.
pub fn walk(change: impl Fn(Motion) -> Motion) -> Motion {
    let mut motion = change(take("walk.bvh"));
    let text = std::fs::read_to_string(shipped("walk.contacts.csv")).unwrap();
    motion.contacts = Some(read(&text).unwrap().on(&motion, None));
    motion
}

/// The same motion on a skeleton that leans forward in its rest pose from a joint on.
pub fn with_rest(plain: &Motion, joint: usize, degrees: f64) -> Motion {
    let rig = &plain.character.rig;
    let mut joints = rig.skeleton().joints().to_vec();
    let turn = exp(&(Vec3::x() * degrees.to_radians()));
    joints[joint].rest.rotation = turn * joints[joint].rest.rotation;
    let roles: Vec<_> = rig.assignments().map(|(role, a)| (role, a.clone())).collect();
    let rig = Rig::new(Skeleton::new(joints).unwrap(), roles);
    Motion::new(Arc::new(Character::new("other", rig)), plain.clip.clone())
}

/// A performance carried onto the shipped mannequin.
pub fn carried(motion: &Motion) -> Motion {
    let hero = load(shipped("mannequin.glb"), &ImportOptions::default()).unwrap().character;
    let found = map(&motion.character, &hero).unwrap();
    let rigs = (&motion.character.rig, &hero.rig);
    Retarget::new(&motion.character, Arc::clone(&hero), &found, rigs, RootScale::Legs).apply(motion)
}

/// The joints of every frame.
pub fn models(motion: &Motion) -> Vec<ModelPose> {
    (0..motion.clip.frames()).map(|f| motion.model_pose(f)).collect()
}

/// The greatest way of a joint and turn of its rotation between two performances, from a frame of the first on: metres
/// and degrees.
pub fn difference(a: &Motion, b: &Motion, skipped: usize) -> (f64, f64) {
    let (a, b) = (models(a), models(b));
    let mut worst = (0.0_f64, 0.0_f64);
    for (a, b) in a[skipped..].iter().zip(&b) {
        for (x, y) in a.joints().iter().zip(b.joints()) {
            worst.0 = worst.0.max((x.translation - y.translation).norm());
            worst.1 = worst.1.max(x.rotation.angle_to(&y.rotation).to_degrees());
        }
    }
    worst
}
