//! FBX files whose work or memory is a product of numbers in them.

use super::Answer::{Read, Refused};
use super::Use::{Convert, Inspect, Take};
use super::{Answer, Hostile, MEMORY, Use};
use crate::text_fbx::TextFbx;

const ALL: &[Use] = &[Inspect, Convert, Take];

/// One picture of many textures.
fn textures() -> Vec<u8> {
    let mut fbx = TextFbx::default();
    let (node, _) = fbx.face(0, 3);
    let textures: Vec<u32> = (0..1000).map(|_| fbx.texture(node, "a.png")).collect();
    let picture: Vec<u8> = b"\x89PNG".iter().copied().chain((0..500_000).map(|k| k as u8)).collect();
    fbx.picture(&textures, &picture);
    fbx.bytes()
}

/// Weights of many morph targets over many frames.
fn morphs() -> Vec<u8> {
    let mut fbx = TextFbx::default();
    let stack = fbx.stack(1100.0);
    let layer = fbx.layer(stack);
    for _ in 0..20 {
        let (_, mesh) = fbx.face(0, 3);
        let channels = fbx.morphs(mesh, 70);
        fbx.animate(layer, channels[0], "DeformPercent", "d|DeformPercent", [0.0, 100.0]);
    }
    fbx.bytes()
}

/// Many nodes that are animated in every one of many layers.
fn layers() -> Vec<u8> {
    let mut fbx = TextFbx::default();
    let nodes: Vec<u32> = (0..60).map(|_| fbx.node("LimbNode", 0)).collect();
    let stack = fbx.stack(500.0);
    for _ in 0..25 {
        let layer = fbx.layer(stack);
        for node in &nodes {
            fbx.animate(layer, *node, "Lcl Rotation", "d|X", [0.0, 10.0]);
        }
    }
    fbx.bytes()
}

/// One face of this many corners.
fn face(corners: usize) -> Vec<u8> {
    let mut fbx = TextFbx::default();
    fbx.face(0, corners);
    fbx.bytes()
}

pub fn scenes() -> Vec<Hostile> {
    let file = |name, bytes, answer: Answer| {
        // A body without motion is no take.
        let uses = if answer == Read { &ALL[..2] } else { ALL };
        Hostile { name, bytes, uses, answer }
    };
    vec![
        file("one-picture-of-a-thousand-textures.fbx", textures(), Read),
        file("morph-weights-of-many-frames.fbx", morphs(), MEMORY),
        file("layers-times-frames-times-nodes.fbx", layers(), Refused("steps of work")),
        file("one-face-of-200000-corners.fbx", face(200_000), Refused("steps of work")),
        file("one-face-of-2000-corners.fbx", face(2_000), Read),
    ]
}
