//! Feet planted and put on the ground, on one core, 60 joints: frames (items) a second.

use divan::counter::ItemsCount;
use posemill::feet::{self, Ranges, ground, plant, plant_within};
use posemill::ik::Mechanism;
use posemill::import::{Options, load};
use posemill::model::{Contacts, Motion};
use posemill::retarget::{Retarget, RootScale, map};
use std::path::Path;
use std::sync::Arc;

fn main() {
    divan::main();
}

/// The made walk on the made mannequin of 52 joints, with the labels that it was made by.
fn walk() -> (Motion, Contacts) {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    let read = |name: &str| load(&data.join(name), &Options::default()).expect("the file is shipped");
    let (take, hero) = (read("walk.bvh"), read("mannequin.glb"));
    let mut motion = take.motion(0).expect("a take");
    let text = std::fs::read_to_string(data.join("walk.contacts.csv")).expect("the file is shipped");
    motion.contacts = Some(posemill::contacts::read(&text).expect("a table").on(&motion, None));
    let joint_map = map(&take.character, &hero.character).expect("two people");
    let rigs = (&take.character.rig, &hero.character.rig);
    let target = Arc::clone(&hero.character);
    let copy = Retarget::new(&take.character, target, &joint_map, rigs, RootScale::Legs).apply(&motion);
    let contacts = copy.contacts.clone().expect("they travel");
    (copy, contacts)
}

fn alone() -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread")
}

#[divan::bench]
fn foot_lock(bencher: divan::Bencher<'_, '_>) {
    let (motion, _) = walk();
    let frames = motion.clip.frames();
    bencher
        .counter(ItemsCount::new(frames))
        .bench_local(|| alone().install(|| plant(&motion, &feet::Options::default())));
}

/// As the stage does it by default.
#[divan::bench]
fn foot_lock_within_limits(bencher: divan::Bencher<'_, '_>) {
    let (motion, _) = walk();
    let frames = motion.clip.frames();
    let mechanism = Mechanism::humanoid(&motion.character.rig, &motion.character.calibration_pose());
    let joints: Vec<_> = mechanism.joints_with_limits().collect();
    let ranges = Ranges { mechanism: &mechanism, joints: &joints };
    bencher
        .counter(ItemsCount::new(frames))
        .bench_local(|| alone().install(|| plant_within(&motion, &feet::Options::default(), &ranges)));
}

#[divan::bench]
fn grounded(bencher: divan::Bencher<'_, '_>) {
    let (motion, contacts) = walk();
    let frames = motion.clip.frames();
    bencher
        .counter(ItemsCount::new(frames))
        .bench_local(|| alone().install(|| ground(&motion, &contacts, 0.0)));
}
