//! Legs carried over, held where they rest, and put on the ground, on one core, 52 joints: frames (items) a second.

use divan::counter::ItemsCount;
use posemill::import::{Options, load};
use posemill::legs::{LegPair, Settings, ground, leg_ratio, repair, transfer};
use posemill::model::Motion;
use posemill::retarget::{Retarget, RootScale, map};
use std::path::Path;
use std::sync::Arc;

fn main() {
    divan::main();
}

/// The made walk, its copy on the made mannequin of 52 joints, and the legs of both.
fn walk() -> (Motion, Motion, Vec<LegPair>) {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    let read = |name: &str| load(data.join(name), &Options::default()).expect("the file is shipped");
    let (take, hero) = (read("walk.bvh"), read("mannequin.glb"));
    let mut motion = take.motion(0).expect("a take");
    let text = std::fs::read_to_string(data.join("walk.contacts.csv")).expect("the file is shipped");
    motion.contacts = Some(posemill::contacts::read(&text).expect("a table").on(&motion, None));
    let joint_map = map(&take.character, &hero.character).expect("two people");
    let rigs = (&take.character.rig, &hero.character.rig);
    let target = Arc::clone(&hero.character);
    let copy = Retarget::new(&take.character, target, &joint_map, rigs, RootScale::Legs).copy(&motion);
    let legs = LegPair::of((&take.character, rigs.0), (&hero.character, rigs.1));
    (motion, copy, legs)
}

fn alone() -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread")
}

#[divan::bench]
fn carried(bencher: divan::Bencher<'_, '_>) {
    let (motion, copy, legs) = walk();
    let across = leg_ratio(&legs).expect("two legs");
    let frames = motion.clip.frames();
    bencher.counter(ItemsCount::new(frames)).with_inputs(|| copy.clone()).bench_local_values(|copy| {
        alone().install(|| {
            transfer(
                &motion,
                copy,
                &legs,
                &posemill::anatomy::BodySkin::default(),
                across,
                &Settings::default(),
            )
        })
    });
}

#[divan::bench]
fn foot_lock(bencher: divan::Bencher<'_, '_>) {
    let (_, copy, _) = walk();
    let frames = copy.clip.frames();
    bencher
        .counter(ItemsCount::new(frames))
        .bench_local(|| alone().install(|| repair(copy.clone(), &Settings::default())));
}

#[divan::bench]
fn grounded(bencher: divan::Bencher<'_, '_>) {
    let (_, copy, _) = walk();
    let frames = copy.clip.frames();
    let contacts = copy.contacts.clone().expect("they travel");
    bencher
        .counter(ItemsCount::new(frames))
        .bench_local(|| alone().install(|| ground(copy.clone(), &contacts, 0.0)));
}
