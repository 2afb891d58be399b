//! How fast BVH text becomes a clip, against `bvh_anim`: bytes of text per second, in memory.

use divan::Bencher;
use divan::counter::BytesCount;
use posemill::import::bvh::{BvhOptions, read};
use std::fmt::Write;

fn main() {
    divan::main();
}

/// A chain of `joints` joints (the root with six channels) and `frames` rows of numbers with six decimals, such
/// as capture software writes.
fn text(joints: usize, frames: usize) -> String {
    let mut text = String::from("HIERARCHY\n");
    for i in 0..joints {
        let keyword = if i == 0 { "ROOT" } else { "JOINT" };
        let channels = if i == 0 { "6 Xposition Yposition Zposition" } else { "3" };
        writeln!(
            text,
            "{keyword} joint{i}\n{{\nOFFSET 0 5.5 0\nCHANNELS {channels} Zrotation Xrotation Yrotation"
        )
        .unwrap();
    }
    text.push_str("End Site\n{\nOFFSET 0 1 0\n}\n");
    text.push_str(&"}\n".repeat(joints));
    writeln!(text, "MOTION\nFrames: {frames}\nFrame Time: 0.008333333").unwrap();
    // A linear congruential generator (Knuth's MMIX constants): any digits will do, the same in every run.
    let mut state = 1u64;
    for _ in 0..frames {
        for channel in 0..3 + 3 * joints {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let range = if channel < 3 { 200.0 } else { 180.0 };
            let value = ((state >> 11) as f64 / (1u64 << 53) as f64 * 2.0 - 1.0) * range;
            let separator = if channel == 0 { "" } else { " " };
            write!(text, "{separator}{value:.6}").unwrap();
        }
        text.push('\n');
    }
    text
}

#[divan::bench(args = [2_000, 10_000], sample_count = 20)]
fn posemill_one_thread(bencher: Bencher, frames: usize) {
    let text = text(60, frames);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    bencher.counter(BytesCount::of_str(&text)).bench_local(|| {
        pool.install(|| read(divan::black_box(text.as_bytes()), &BvhOptions::default()).unwrap())
    });
}

#[divan::bench(args = [2_000, 10_000], sample_count = 20)]
fn posemill_all_threads(bencher: Bencher, frames: usize) {
    let text = text(60, frames);
    bencher
        .counter(BytesCount::of_str(&text))
        .bench_local(|| read(divan::black_box(text.as_bytes()), &BvhOptions::default()).unwrap());
}

#[divan::bench(args = [2_000, 10_000], sample_count = 20)]
fn bvh_anim(bencher: Bencher, frames: usize) {
    let text = text(60, frames);
    bencher
        .counter(BytesCount::of_str(&text))
        .bench_local(|| ::bvh_anim::from_bytes(divan::black_box(text.as_bytes())).unwrap());
}
