//! Contact detection on a body of 60 joints, on one core: frames (items) a second.

use divan::counter::ItemsCount;
use posemill::contacts::{ContactOptions, Detector, detect};
use posemill::import;
use posemill::math::{Quat, Transform, Vec3};
use posemill::model::{Character, Clip, Joint, Motion, Rig, Role, Side, Skeleton};
use std::sync::Arc;

const JOINTS: usize = 60;

fn main() {
    divan::main();
}

/// The made walk, by a body whose hands have grown more joints.
fn walk() -> Motion {
    let take = import::load("data/walk.bvh", &import::ImportOptions::default()).expect("the made walk");
    let motion = take.motion(0).expect("a clip");
    let mut joints = motion.character.skeleton().joints().to_vec();
    let own = joints.len();
    let hand = motion.character.rig.joint(Role::Hand(Side::Left));
    let grown = |k| Joint::new(format!("grown {k}"), hand, Transform::from_translation(Vec3::x() * 0.01));
    joints.extend((own..JOINTS).map(grown));
    let roles: Vec<_> = motion.character.rig.assignments().map(|(role, a)| (role, a.clone())).collect();
    let rig = Rig::new(Skeleton::new(joints).expect("parents first"), roles);
    let clip = &motion.clip;
    let still = vec![Quat::identity(); JOINTS - own];
    let rotations = (0..clip.frames()).flat_map(|f| [&clip.rotations(f)[..], &still].concat()).collect();
    let (rate, translated) = (clip.sample_rate, clip.translated().to_vec());
    let clip = Clip::new("", rate, JOINTS, rotations, translated, clip.all_translations().to_vec());
    Motion::new(Arc::new(Character { rig, ..(*motion.character).clone() }), clip)
}

#[divan::bench(args = ["hysteresis", "hmm"])]
fn contacts(bencher: divan::Bencher<'_, '_>, detector: &str) {
    let motion = walk();
    let detector = if detector == "hmm" { Detector::Hmm } else { Detector::Hysteresis };
    let options = ContactOptions { detector, ..ContactOptions::default() };
    bencher
        .counter(ItemsCount::new(motion.clip.frames()))
        .bench_local(|| divan::black_box(detect(&motion, &options)));
}
