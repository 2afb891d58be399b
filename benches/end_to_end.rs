//! How fast a take becomes a finished file, in memory and on one thread: 60 joints, 10,000 frames of BVH text to a
//! GLB with a visible skeleton, and such a GLB to BVH text; bytes of input per second.

use divan::Bencher;
use divan::counter::BytesCount;
use posemill::export::{self, Format};
use posemill::import;
use std::fmt::Write;

const JOINTS: usize = 60;
const FRAMES: usize = 10_000;

fn main() {
    divan::main();
}

/// A chain of joints that swing smoothly, the root travelling, with six decimals as capture software writes.
fn take() -> String {
    let mut text = String::from("HIERARCHY\n");
    for i in 0..JOINTS {
        let (keyword, channels) = match i {
            0 => ("ROOT", "6 Xposition Yposition Zposition"),
            _ => ("JOINT", "3"),
        };
        writeln!(
            text,
            "{keyword} joint{i}\n{{\nOFFSET 0 5.5 0\nCHANNELS {channels} Zrotation Xrotation Yrotation"
        )
        .unwrap();
    }
    text.push_str("End Site\n{\nOFFSET 0 1 0\n}\n");
    text.push_str(&"}\n".repeat(JOINTS));
    writeln!(text, "MOTION\nFrames: {FRAMES}\nFrame Time: 0.008333333").unwrap();
    for frame in 0..FRAMES {
        let time = frame as f64 / 120.0;
        for channel in 0..3 + 3 * JOINTS {
            let phase = channel as f64;
            write!(text, "{:.6} ", 40.0 * (time * (0.2 + 0.01 * phase) + phase).sin()).unwrap();
        }
        text.push('\n');
    }
    text
}

fn converted(bytes: &[u8], extension: &str, format: Format) -> Vec<u8> {
    let mut asset =
        import::from_bytes(bytes, "take", Some(extension), None, &import::Options::default()).unwrap();
    let motion = posemill::model::Motion::new(asset.character, asset.clips.remove(0));
    let (mut files, _) = export::save(&[motion], format, &export::Options::default()).unwrap();
    files.remove(0).bytes
}

fn measure(bencher: Bencher, bytes: &[u8], extension: &str, format: Format) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    bencher
        .counter(BytesCount::of_slice(bytes))
        .bench_local(|| pool.install(|| converted(divan::black_box(bytes), extension, format)));
}

#[divan::bench(sample_count = 20)]
fn bvh_to_glb(bencher: Bencher) {
    measure(bencher, take().as_bytes(), "bvh", Format::GLB);
}

#[divan::bench(sample_count = 20)]
fn glb_to_bvh(bencher: Bencher) {
    let glb = converted(take().as_bytes(), "bvh", Format::GLB);
    measure(bencher, &glb, "glb", Format::BVH);
}
