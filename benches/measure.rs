//! How fast motions are measured, on one core: frames (items) a second, for the made characters of `data/`.
//!
//! `alone` measures one motion with its contact labels; `beside_a_copy` measures a result and its direct transfer and compares
//! the two, as a pipeline does; `change` is what a stage changed.

use divan::Bencher;
use divan::counter::ItemsCount;
use posemill::import::{self, ImportOptions};
use posemill::measure::{MetricContext, assess, change, hands};
use posemill::model::{ContactPart, Contacts, Hold, Motion, Side};
use posemill::retarget::{Retarget, RootScale, map};
use std::path::Path;
use std::sync::Arc;

const CHARACTERS: [&str; 2] = ["mannequin.glb", "robot.glb"];

fn main() {
    divan::main();
}

/// The walk of `data/` on a character, with feet that rest in turn.
fn scene(character: &str) -> (MetricContext, Motion) {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    let load =
        |name: &str| import::load(data.join(name), &ImportOptions::default()).expect("the data is whole");
    let (take, hero) = (load("walk.bvh"), load(character));
    let joint_map = map(&take.character, &hero.character).expect("both have legs");
    let rigs = (&take.character.rig, &hero.character.rig);
    let retarget =
        Retarget::new(&take.character, Arc::clone(&hero.character), &joint_map, rigs, RootScale::Legs);
    let mut motion = retarget.apply(&take.motion(0).expect("the take has a clip"));
    let frames = motion.clip.frames();
    let mut contacts = Contacts::new(0.0, []);
    for (k, side) in Side::BOTH.into_iter().enumerate() {
        let step = |n: usize| Hold {
            frames: n * 60 + k * 30..(n * 60 + k * 30 + 36).min(frames),
            height: 0.0,
            slide: 0.0,
        };
        let holds: Vec<Hold> = (0..frames / 60).map(step).filter(|h| !h.frames.is_empty()).collect();
        contacts.set(ContactPart::Heel(side), holds.clone());
        contacts.set(ContactPart::Ball(side), holds);
    }
    motion.contacts = Some(contacts);
    println!("{character}: {} joints, {frames} frames", motion.clip.joints());
    (MetricContext::new(&motion.character), motion)
}

#[divan::bench(args = CHARACTERS)]
fn alone(bencher: Bencher, character: &str) {
    let (context, motion) = scene(character);
    bencher
        .counter(ItemsCount::new(motion.clip.frames()))
        .bench_local(|| assess(&context, divan::black_box(&motion), motion.contacts.as_ref(), None));
}

#[divan::bench(args = CHARACTERS)]
fn beside_a_copy(bencher: Bencher, character: &str) {
    let (context, motion) = scene(character);
    let mut copy = motion.clone();
    copy.clip.all_translations_mut().iter_mut().for_each(|t| t.x += 0.01);
    bencher
        .counter(ItemsCount::new(motion.clip.frames()))
        .bench_local(|| assess(&context, divan::black_box(&motion), motion.contacts.as_ref(), Some(&copy)));
}

/// The walk's own hands after a copy of itself: every frame looks at both hands and all parts of the body.
#[divan::bench(args = CHARACTERS)]
fn hands_of_a_copy(bencher: Bencher, character: &str) {
    let (context, motion) = scene(character);
    bencher
        .counter(ItemsCount::new(motion.clip.frames()))
        .bench_local(|| hands(&context, &motion, divan::black_box(&motion), &motion));
}

#[divan::bench(args = CHARACTERS)]
fn what_a_stage_changed(bencher: Bencher, character: &str) {
    let (_, motion) = scene(character);
    let mut after = motion.clone();
    after.clip.all_translations_mut().iter_mut().for_each(|t| t.x += 0.01);
    bencher
        .counter(ItemsCount::new(motion.clip.frames()))
        .bench_local(|| change("stage", divan::black_box(&motion), &after));
}
