//! How fast long clips leave and enter: 60 joints, 10,000 frames, as a GLB with a visible skeleton.

#[path = "scenes/tree.rs"]
mod tree;

use divan::Bencher;
use divan::counter::ItemsCount;
use posemill::export::{GltfOptions, write_gltf};
use posemill::import::GltfFile;
use posemill::model::{Character, Clip, Rig};

const FRAMES: usize = 10_000;

fn main() {
    divan::main();
}

fn scene() -> (Character, [Clip; 1]) {
    let (skeleton, clip) = tree::scene(FRAMES);
    (Character::new("tree", Rig::new(skeleton, [])), [clip])
}

#[divan::bench]
fn write_a_long_clip(bencher: Bencher) {
    let (character, clips) = scene();
    bencher
        .counter(ItemsCount::new(FRAMES * tree::JOINTS))
        .bench(|| write_gltf(&character, &clips, &GltfOptions::default()).expect("it fits"));
}

#[divan::bench]
fn read_a_long_clip(bencher: Bencher) {
    let (character, clips) = scene();
    let output = write_gltf(&character, &clips, &GltfOptions::default()).expect("it fits");
    bencher
        .counter(ItemsCount::new(FRAMES * tree::JOINTS))
        .bench(|| GltfFile::read(&output.bytes, None).expect("it was written here"));
}
