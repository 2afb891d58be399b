//! Faults of a recording, flights and landings of a clip: microseconds a frame, and seconds of motion for a second of work.

#[path = "scenes/walk.rs"]
mod walks;

use divan::Bencher;
use divan::counter::ItemsCount;
use posemill::math::{Vec3, exp};
use posemill::model::{Clip, Motion};
use posemill::pipeline::PipelineConfig;
use posemill::repair::{Faults, repair_motion};
use posemill::report::Report;
use posemill::settle::settle_flights;
use posemill::stages::{STAGES, Setting};
use std::time::Instant;
use walks::{on_and_on, recorded, shipped_walk, walk_on_and_on};

fn main() {
    divan::main();
    if !std::env::args().any(|arg| arg == "--test" || arg == "--list") {
        scaling();
    }
}

/// Prints what a frame costs on one thread and on two, how many times real time that is, and how many times as fast two
/// threads are: the medians of runs in turns.
fn scaling() {
    let (hero, contacts) = walk_on_and_on(ROUNDS_WALKED);
    compare("settle", &hero, |motion| drop(settle_flights(motion, &contacts)));
    let judged = |motion: &Motion| drop(repair_motion(motion.clone(), &Faults::default()));
    compare("repair", &on_and_on(&shipped_walk(), ROUNDS_WALKED), judged);
    compare("repair, noise of 1 degree", &trembling(shipped_walk()), judged);
    compare("repair, all joints turn", &all_turn(hero), judged);
    if let Some(take) = recorded() {
        compare("repair, recorded", &take, judged);
    }
    performance(&shipped_walk());
    performance(&walk_on_and_on(1).0);
}

/// Prints what a step of a performance costs on one thread: all of the clip is simulated, with muscles that never reach their
/// bound. At most 100 us are allowed for a body of 20 balls.
fn performance(motion: &Motion) {
    let text = "[[stage]]\nuse = \"perform\"\nstrength = 1e6\n";
    let config = PipelineConfig::parse("bench", text, &[], STAGES).expect("the keys are right");
    let setting = Setting::new(motion.character.clone(), "");
    let stage = config.stages[0].stage.resolve(&setting).expect("it needs no file");
    let work = || drop(stage.apply(motion.clone(), &mut Report::default()));
    let mut times: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            pool(1).install(work);
            start.elapsed().as_secs_f64()
        })
        .collect();
    times.sort_by(f64::total_cmp);
    let clip = &motion.clip;
    let per_frame = (STEP_RATE / clip.sample_rate - 1e-6).ceil().max(1.0);
    let steps = per_frame * (clip.frames() - 1) as f64;
    println!(
        "perform, {} joints, {}: {:.1} us a step",
        clip.joints(),
        motion.character.name,
        1e6 * times[times.len() / 2] / steps
    );
}

/// Least rate of a performance, hertz.
const STEP_RATE: f64 = 240.0;

fn compare(name: &str, motion: &Motion, work: impl Fn(&Motion) + Sync) {
    let mut times = [Vec::new(), Vec::new()];
    let pools = [pool(1), pool(2)];
    for _ in 0..ROUNDS {
        for (pool, times) in pools.iter().zip(&mut times) {
            let start = Instant::now();
            pool.install(|| work(motion));
            times.push(start.elapsed().as_secs_f64());
        }
    }
    let [one, two] = times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    });
    let clip = &motion.clip;
    let cost = |seconds: f64| 1e6 * seconds / clip.frames() as f64;
    println!(
        "{name}, {} joints: {:.2} us a frame, {:.0} times real time; two threads {:.2} us, {:.2} times as fast",
        clip.joints(),
        cost(one),
        clip.duration() / one,
        cost(two),
        one / two
    );
}

/// How often the walk goes through its strides where cores are compared.
const ROUNDS_WALKED: usize = 40;

/// Runs for a median.
const ROUNDS: usize = 15;

fn pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads start")
}

/// The motion with every joint that stands still, fingers too, swaying a little.
fn all_turn(mut motion: Motion) -> Motion {
    let still =
        |j: usize, clip: &Clip| (1..clip.frames()).all(|f| clip.rotations(f)[j] == clip.rotations(0)[j]);
    let still: Vec<usize> = (0..motion.clip.joints()).filter(|j| still(*j, &motion.clip)).collect();
    for f in 0..motion.clip.frames() {
        let turn = exp(&(Vec3::z() * 0.2 * (f as f64 * 0.02).sin()));
        let rotations = motion.clip.rotations_mut(f);
        still.iter().for_each(|j| rotations[*j] *= turn);
    }
    motion
}

/// The motion with white noise of a degree on every joint, the same every time.
fn trembling(mut motion: Motion) -> Motion {
    let mut state = 1_u64;
    let mut uniform = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
    };
    for f in 0..motion.clip.frames() {
        for rotation in motion.clip.rotations_mut(f) {
            // Sums of twelve are nearly normal.
            let turn = Vec3::from_fn(|_, _| (0..12).map(|_| uniform()).sum());
            *rotation *= exp(&(turn / 3_f64.sqrt() * 1_f64.to_radians()));
        }
    }
    motion
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
