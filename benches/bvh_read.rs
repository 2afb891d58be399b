//! How fast BVH text becomes a clip, against `bvh_anim`: bytes of text per second, in memory.

#[path = "scenes/take.rs"]
mod take;

use divan::Bencher;
use divan::counter::BytesCount;
use posemill::import::bvh::{BvhReadOptions, read};
use take::Channels;

fn main() {
    divan::main();
}

#[divan::bench(args = [2_000, 10_000], sample_count = 20)]
fn posemill_one_thread(bencher: Bencher, frames: usize) {
    let text = take::text(60, frames, Channels::Rotations);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    bencher.counter(BytesCount::of_str(&text)).bench_local(|| {
        pool.install(|| read(divan::black_box(text.as_bytes()), &BvhReadOptions::default()).unwrap())
    });
}

#[divan::bench(args = [2_000, 10_000], sample_count = 20)]
fn posemill_all_threads(bencher: Bencher, frames: usize) {
    let text = take::text(60, frames, Channels::Rotations);
    bencher
        .counter(BytesCount::of_str(&text))
        .bench_local(|| read(divan::black_box(text.as_bytes()), &BvhReadOptions::default()).unwrap());
}

#[divan::bench(args = [2_000, 10_000], sample_count = 20)]
fn bvh_anim(bencher: Bencher, frames: usize) {
    let text = take::text(60, frames, Channels::Rotations);
    bencher
        .counter(BytesCount::of_str(&text))
        .bench_local(|| ::bvh_anim::from_bytes(divan::black_box(text.as_bytes())).unwrap());
}
