//! Skinning of 20,000 vertices with four influences and normals, on one core: vertices (items) a second.

#[path = "scenes/skinned.rs"]
mod skinned;

use divan::counter::ItemsCount;
use posemill::skinning::{LinearBlend, Skin, dual_quaternion_blend};
use skinned::{VERTICES, scene};

fn main() {
    divan::main();
}

#[divan::bench]
fn linear(bencher: divan::Bencher<'_, '_>) {
    let ((mesh, pose), mut skin) = (scene(VERTICES), Skin::default());
    let prepared = LinearBlend::new(&mesh);
    bencher.counter(ItemsCount::new(VERTICES)).bench_local(|| prepared.skin(&pose, &mut skin));
}

#[divan::bench]
fn preparation(bencher: divan::Bencher<'_, '_>) {
    let (mesh, _) = scene(VERTICES);
    bencher.counter(ItemsCount::new(VERTICES)).bench_local(|| LinearBlend::new(&mesh));
}

#[divan::bench]
fn dual_quaternion(bencher: divan::Bencher<'_, '_>) {
    let ((mesh, pose), mut skin) = (scene(VERTICES), Skin::default());
    bencher.counter(ItemsCount::new(VERTICES)).bench_local(|| dual_quaternion_blend(&mesh, &pose, &mut skin));
}
