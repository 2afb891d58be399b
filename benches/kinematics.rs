//! Forward kinematics of 60 joints over many frames, on one core: frames (items) a second.

#[path = "scenes/tree.rs"]
mod tree;

use divan::counter::ItemsCount;
use posemill::kinematics::{Forward, forward};
use tree::scene;

fn main() {
    divan::main();
}

#[divan::bench(args = [64, 10_000])]
fn batch(bencher: divan::Bencher<'_, '_>, frames: usize) {
    let (skeleton, clip) = scene(frames);
    let prepared = Forward::new(&skeleton, &clip);
    bencher.counter(ItemsCount::new(frames)).bench_local(|| {
        prepared.for_each(|block| {
            divan::black_box(block.lanes());
        });
    });
}

#[divan::bench(args = [64, 10_000])]
fn one_by_one(bencher: divan::Bencher<'_, '_>, frames: usize) {
    let (skeleton, clip) = scene(frames);
    let (mut scratch, mut model) = (skeleton.rest_pose(), skeleton.rest_model_pose());
    bencher.counter(ItemsCount::new(frames)).bench_local(|| {
        for frame in 0..clip.frames() {
            forward(&skeleton, &clip, frame, &mut scratch, &mut model);
            divan::black_box(&model);
        }
    });
}
