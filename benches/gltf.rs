//! How fast long clips leave and enter: 60 joints, 10,000 frames, as a GLB with a visible skeleton.

use divan::Bencher;
use divan::counter::ItemsCount;
use posemill::export::{GltfOptions, write_gltf};
use posemill::import::GltfFile;
use posemill::math::{Transform, Vec3, exp};
use posemill::model::{Character, Clip, Joint, JointId, Rig, Skeleton};

const JOINTS: usize = 60;
const FRAMES: usize = 10_000;

fn main() {
    divan::main();
}

fn character() -> Character {
    let joint = |k: usize| {
        let parent = (k > 0).then(|| JointId::new((k - 1) / 2));
        let rest = Transform::new(exp(&Vec3::new(0.1, 0.2, k as f64)), Vec3::new(0.0, 0.3, 0.05));
        Joint::new(format!("joint {k}"), parent, rest)
    };
    let skeleton = Skeleton::new((0..JOINTS).map(joint).collect()).expect("parents come first");
    Character::new("tree", Rig::new(skeleton, []))
}

fn clip() -> Clip {
    let angle = |frame: usize, k: usize| (frame as f64 * 0.01 + k as f64).sin();
    let rotations = (0..FRAMES)
        .flat_map(|f| (0..JOINTS).map(move |k| exp(&Vec3::new(angle(f, k), 0.3, 0.5 * angle(f, 2 * k)))))
        .collect();
    let translations = (0..FRAMES).map(|f| Vec3::new(0.0, 1.0, f as f64 * 0.01)).collect();
    Clip::new("long", 60.0, JOINTS, rotations, vec![JointId::new(0)], translations)
}

#[divan::bench]
fn write_a_long_clip(bencher: Bencher) {
    let (character, clips) = (character(), [clip()]);
    bencher
        .counter(ItemsCount::new(FRAMES * JOINTS))
        .bench(|| write_gltf(&character, &clips, &GltfOptions::default()).expect("it fits"));
}

#[divan::bench]
fn read_a_long_clip(bencher: Bencher) {
    let output = write_gltf(&character(), &[clip()], &GltfOptions::default()).expect("it fits");
    bencher
        .counter(ItemsCount::new(FRAMES * JOINTS))
        .bench(|| GltfFile::read(&output.bytes, None).expect("it was written here"));
}
