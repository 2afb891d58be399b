//! Files in memory become clips, and a clip a file.

use crate::take::{Channels, text};
use crate::timing::{gain_of_two_threads, on_one_thread};
use crate::tree;
use posemill::export::{GltfOptions, write_gltf};
use posemill::import::{self, bvh, from_bytes};
use posemill::model::{Asset, Character, Clip, Rig};

const JOINTS: usize = 60;
const FRAMES: usize = 10_000;

fn scene() -> (Character, Clip) {
    let (skeleton, clip) = tree::scene(FRAMES);
    (Character::new("tree", Rig::new(skeleton, [])), clip)
}

fn read(bytes: &[u8], extension: &str) -> Asset {
    from_bytes(bytes, "take", Some(extension), None, &import::ImportOptions::default())
        .expect("it was written here")
}

/// Milliseconds.
pub fn gltf_read() -> [f64; 2] {
    let (character, clip) = scene();
    let file = write_gltf(&character, &[clip], &GltfOptions::default()).expect("it fits").bytes;
    on_one_thread(|| read(&file, "glb")).map(|s| s * 1e3)
}

/// Milliseconds.
pub fn gltf_write() -> [f64; 2] {
    let (character, clip) = scene();
    let clips = [clip];
    on_one_thread(|| write_gltf(&character, &clips, &GltfOptions::default()).expect("it fits"))
        .map(|s| s * 1e3)
}

/// Megabytes a second.
pub fn bvh_to_clip() -> [f64; 2] {
    let text = text(JOINTS, FRAMES, Channels::Rotations);
    on_one_thread(|| read(text.as_bytes(), "bvh")).map(|s| text.len() as f64 * 1e-6 / s)
}

/// Megabytes a second, of a file whose channels are lengths but for the root's: nothing is made of them.
pub fn bvh_to_numbers() -> [f64; 2] {
    let text = text(JOINTS, FRAMES, Channels::Positions);
    let options = bvh::BvhReadOptions { positions: Some(bvh::Positions::Replace) };
    on_one_thread(|| bvh::read(text.as_bytes(), &options).expect("it was written here"))
        .map(|s| text.len() as f64 * 1e-6 / s)
}

/// Times as fast as one.
pub fn bvh_on_two_threads() -> [f64; 2] {
    let text = text(JOINTS, FRAMES, Channels::Rotations);
    gain_of_two_threads(|| read(text.as_bytes(), "bvh"))
}
