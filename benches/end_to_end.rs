//! How fast a take becomes a finished file, in memory and on one thread: 60 joints, 10,000 frames of BVH text to a
//! GLB with a visible skeleton, and such a GLB to BVH text; bytes of input per second.

#[path = "scenes/take.rs"]
mod take;

use divan::Bencher;
use divan::counter::BytesCount;
use posemill::export::{self, Format};
use posemill::import;
use take::Channels;

const JOINTS: usize = 60;
const FRAMES: usize = 10_000;

fn main() {
    divan::main();
}

fn text() -> String {
    take::text(JOINTS, FRAMES, Channels::Rotations)
}

fn converted(bytes: &[u8], extension: &str, format: Format) -> Vec<u8> {
    let mut asset =
        import::from_bytes(bytes, "take", Some(extension), None, &import::ImportOptions::default()).unwrap();
    let motion = posemill::model::Motion::new(asset.character, asset.clips.remove(0));
    let (mut files, _) = export::save(&[motion], format, &export::ExportOptions::default()).unwrap();
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
    measure(bencher, text().as_bytes(), "bvh", Format::GLB);
}

#[divan::bench(sample_count = 20)]
fn glb_to_bvh(bencher: Bencher) {
    let glb = converted(text().as_bytes(), "bvh", Format::GLB);
    measure(bencher, &glb, "glb", Format::BVH);
}
