//! Flights and landings of a clip: seconds of motion for a second of work.

use divan::Bencher;
use divan::counter::ItemsCount;
use posemill::contacts::{Options, detect};
use posemill::import;
use posemill::model::{Clip, Contacts, Motion};
use posemill::retarget::{Retarget, RootScale, map};
use posemill::settle::settle_flights;
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
    let (motion, contacts) = walk_on_and_on(ROUNDS_WALKED);
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..ROUNDS {
        for (threads, times) in times.iter_mut().enumerate() {
            let pool = pool(threads + 1);
            let start = Instant::now();
            pool.install(|| settle_flights(&motion, &contacts));
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

/// How often the walk goes through its strides where cores are compared.
const ROUNDS_WALKED: usize = 4;

/// Runs for a median.
const ROUNDS: usize = 15;

fn pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads start")
}

/// The walk on the mannequin, on and on.
fn walk_on_and_on(rounds: usize) -> (Motion, Contacts) {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    let load =
        |name: &str| import::load(data.join(name), &import::Options::default()).expect("it is shipped");
    let (take, hero) = (load("walk.bvh"), load("mannequin.glb"));
    let joint_map = map(&take.character, &hero.character).expect("both are bodies");
    let rigs = (&take.character.rig, &hero.character.rig);
    let retarget =
        Retarget::new(&take.character, Arc::clone(&hero.character), &joint_map, rigs, RootScale::Legs);
    let motion = on_and_on(&retarget.apply(&take.motion(0).expect("it holds a clip")), rounds);
    let contacts = detect(&motion, &Options::default());
    (motion, contacts)
}

/// The motion, which ends as it begins, so many times one after the other.
fn on_and_on(motion: &Motion, rounds: usize) -> Motion {
    let (clip, frames) = (&motion.clip, motion.clip.frames() - 1);
    let way: Vec<_> = clip
        .translations(frames)
        .iter()
        .zip(clip.translations(0))
        .map(|(last, first)| last - first)
        .collect();
    let (mut rotations, mut translations) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        for frame in 0..frames {
            rotations.extend_from_slice(clip.rotations(frame));
            let here = clip.translations(frame).iter().zip(&way);
            translations.extend(here.map(|(at, way)| at + way * round as f64));
        }
    }
    let (joints, translated) = (clip.joints(), clip.translated().to_vec());
    let clip = Clip::new(clip.name.clone(), clip.sample_rate, joints, rotations, translated, translations);
    Motion::new(Arc::clone(&motion.character), clip)
}

/// Items are milliseconds of motion.
#[divan::bench(args = [1, 2], sample_count = 5)]
fn walk(bencher: Bencher, threads: usize) {
    let (motion, contacts) = walk_on_and_on(1);
    let pool = pool(threads);
    bencher
        .counter(ItemsCount::new((motion.clip.duration() * 1000.0) as usize))
        .bench(|| pool.install(|| settle_flights(&motion, &contacts)));
}
