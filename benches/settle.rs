//! Following a clip with a ragdoll: seconds of motion for a second of work.

use divan::Bencher;
use divan::counter::ItemsCount;
use posemill::contacts::{Options, detect};
use posemill::import;
use posemill::model::{Contacts, Motion};
use posemill::retarget::{Retarget, RootScale, map};
use posemill::settle::{Tracking, settle};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

fn main() {
    divan::main();
    if !std::env::args().any(|arg| arg == "--test" || arg == "--list") {
        scaling();
    }
}

/// Prints how many times real time one thread is, and how many times as fast two are: the medians of runs in turns.
fn scaling() {
    let (motion, contacts) = walk_in_the_air();
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..ROUNDS {
        for (threads, times) in times.iter_mut().enumerate() {
            let pool = pool(threads + 1);
            let start = Instant::now();
            pool.install(|| settle(&motion, &contacts, &Tracking::default()));
            times.push(start.elapsed().as_secs_f64());
        }
    }
    let [one, two] = times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    });
    println!(
        "one thread: {:.1} times real time; two threads: {:.2} times as fast",
        motion.clip.duration() / one,
        one / two
    );
}

/// Runs for a median.
const ROUNDS: usize = 15;

fn pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads start")
}

/// The walk on the mannequin, lifted by a centimetre so that there is something to do.
fn walk_in_the_air() -> (Motion, Contacts) {
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
    (motion, contacts)
}

/// Items are milliseconds of motion.
#[divan::bench(args = [1, 2], sample_count = 5)]
fn walk(bencher: Bencher, threads: usize) {
    let (motion, contacts) = walk_in_the_air();
    let pool = pool(threads);
    bencher
        .counter(ItemsCount::new((motion.clip.duration() * 1000.0) as usize))
        .bench(|| pool.install(|| settle(&motion, &contacts, &Tracking::default())));
}
