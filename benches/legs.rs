//! Legs carried over, held where they rest, and put on the ground, on one core, 52 joints: frames (items) a second.

use divan::counter::ItemsCount;
use posemill::import::{ImportOptions, load};
use posemill::legs::{Settings, place_on_ground, remove_foot_sliding};
use posemill::model::Motion;
use posemill::retarget::{Retarget, RootScale, map};
use std::path::Path;
use std::sync::Arc;

fn main() {
    divan::main();
}

/// The made walk, and its way onto the made mannequin of 52 joints.
fn walk() -> (Motion, Retarget) {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    let read = |name: &str| load(data.join(name), &ImportOptions::default()).expect("the file is shipped");
    let (take, hero) = (read("walk.bvh"), read("mannequin.glb"));
    let mut motion = take.motion(0).expect("a take");
    let text = std::fs::read_to_string(data.join("walk.contacts.csv")).expect("the file is shipped");
    motion.contacts = Some(posemill::contacts::read(&text).expect("a table").on(&motion, None));
    let joint_map = map(&take.character, &hero.character).expect("two people");
    let rigs = (&take.character.rig, &hero.character.rig);
    let target = Arc::clone(&hero.character);
    let retarget = Retarget::new(&take.character, target, &joint_map, rigs, RootScale::Legs);
    (motion, retarget)
}

fn alone() -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread")
}

#[divan::bench]
fn carried(bencher: divan::Bencher<'_, '_>) {
    let (motion, retarget) = walk();
    let frames = motion.clip.frames();
    bencher.counter(ItemsCount::new(frames)).bench_local(|| alone().install(|| retarget.apply(&motion)));
}

#[divan::bench]
fn foot_lock(bencher: divan::Bencher<'_, '_>) {
    let (motion, retarget) = walk();
    let direct = retarget.direct_transfer(&motion);
    let frames = direct.clip.frames();
    bencher
        .counter(ItemsCount::new(frames))
        .bench_local(|| alone().install(|| remove_foot_sliding(direct.clone(), &Settings::default())));
}

#[divan::bench]
fn grounded(bencher: divan::Bencher<'_, '_>) {
    let (motion, retarget) = walk();
    let direct = retarget.direct_transfer(&motion);
    let frames = direct.clip.frames();
    let contacts = direct.contacts.clone().expect("they travel");
    bencher
        .counter(ItemsCount::new(frames))
        .bench_local(|| alone().install(|| place_on_ground(direct.clone(), &contacts, 0.0)));
}
