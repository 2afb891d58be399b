//! Seconds of a work: the median of its runs, and the least.

use std::hint::black_box;
use std::time::Instant;

/// Runs for a median, at least; what is short runs on for a second, to outlast a disturbance.
const RUNS: usize = 7;

/// The median and the least of the seconds that `work` takes; what it gives is dropped after the clock has stopped.
pub fn seconds<R>(mut work: impl FnMut() -> R) -> [f64; 2] {
    let mut times = Vec::new();
    let start = Instant::now();
    while times.len() < RUNS || start.elapsed().as_secs_f64() < 1.0 {
        times.push(timed(&mut work));
    }
    median_and_least(times)
}

/// The same on one thread.
pub fn on_one_thread<R: Send>(work: impl Fn() -> R + Sync) -> [f64; 2] {
    let pool = pool(1);
    seconds(|| pool.install(&work))
}

/// How many times as fast two threads are as one, in the medians and in the least of runs in turns.
pub fn gain_of_two_threads<R: Send>(work: impl Fn() -> R + Sync) -> [f64; 2] {
    let pools = [pool(1), pool(2)];
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..2 * RUNS {
        for (pool, times) in pools.iter().zip(&mut times) {
            times.push(timed(|| pool.install(&work)));
        }
    }
    let [one, two] = times.map(median_and_least);
    [one[0] / two[0], one[1] / two[1]]
}

fn timed<R>(work: impl FnOnce() -> R) -> f64 {
    let from = Instant::now();
    let made = black_box(work());
    let seconds = from.elapsed().as_secs_f64();
    drop(made);
    seconds
}

fn median_and_least(mut times: Vec<f64>) -> [f64; 2] {
    times.sort_by(f64::total_cmp);
    [times[times.len() / 2], times[0]]
}

fn pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads start")
}
