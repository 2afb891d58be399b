//! Forward kinematics of 60 joints over many frames, on one core: frames (items) a second.

use divan::counter::ItemsCount;
use posemill::kinematics::{Forward, forward};
use posemill::math::{Transform, Vec3, exp};
use posemill::model::{Clip, Joint, JointId, Skeleton};

const JOINTS: usize = 60;

fn main() {
    divan::main();
}

fn scene(frames: usize) -> (Skeleton, Clip) {
    let v = |s: f64| Vec3::new((3.1 * s).sin(), (5.3 * s).cos(), (7.7 * s).sin());
    let parent =
        |i: usize| (i > 0).then(|| JointId::new(if i.is_multiple_of(12) { 3.min(i - 1) } else { i - 1 }));
    let joint =
        |i: usize| Joint::new(format!("j{i}"), parent(i), Transform::from_translation(v(i as f64) * 0.1));
    let skeleton = Skeleton::new((0..JOINTS).map(joint).collect()).expect("parents first");
    let rotations = (0..JOINTS * frames).map(|k| exp(&v(k as f64 * 0.37))).collect();
    let path = (0..frames).map(|f| v(f as f64 * 0.01)).collect();
    let clip = Clip::new("bench", 60.0, JOINTS, rotations, vec![JointId::new(0)], path);
    (skeleton, clip)
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
