//! Following a clip with a ragdoll: seconds of motion for a second of work.

use divan::Bencher;
use divan::counter::ItemsCount;
use posemill::contacts::{Options, detect};
use posemill::import;
use posemill::retarget::{Retarget, RootScale, map};
use posemill::settle::{Tracking, settle};
use std::path::Path;
use std::sync::Arc;

fn main() {
    divan::main();
}

/// The walk on the mannequin, lifted by a centimetre so that there is something to do; items are milliseconds of motion.
#[divan::bench(args = [1, 2], sample_count = 5)]
fn walk(bencher: Bencher, threads: usize) {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    let load =
        |name: &str| import::load(&data.join(name), &import::Options::default()).expect("it is shipped");
    let (take, hero) = (load("walk.bvh"), load("mannequin.glb"));
    let joint_map = map(&take.character, &hero.character).expect("both are bodies");
    let rigs = (&take.character.rig, &hero.character.rig);
    let retarget =
        Retarget::new(&take.character, Arc::clone(&hero.character), &joint_map, rigs, RootScale::Legs);
    let mut motion = retarget.apply(&take.motion(0).expect("it holds a clip"));
    let contacts = detect(&motion, &Options::default());
    motion.clip.all_translations_mut().iter_mut().for_each(|t| t.y += 0.01);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads start");
    bencher
        .counter(ItemsCount::new((motion.clip.duration() * 1000.0) as usize))
        .bench(|| pool.install(|| settle(&motion, &contacts, &Tracking::default())));
}
