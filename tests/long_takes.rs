//! The default pipeline on a take that is long: what it holds in memory for a frame, and that threads change no byte.

use posemill::export::{self, Format};
use posemill::import::{self, Options};
use posemill::model::{Character, Motion};
use posemill::pipeline::{DEFAULT_PIPELINE, PipelineConfig};
use posemill::report::Report;
use posemill::stages::{STAGES, Setting};
use std::path::Path;
use std::sync::Arc;

/// What the README promises, bytes a frame: of a take and a character of 60 joints.
const PROMISED: usize = 3400;
/// Bytes of a joint's rotation in a frame.
const JOINT: usize = 32;

fn shipped(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(name)).unwrap()
}

/// The shipped walk there and back again, so that no frame is a cut, for so many frames.
fn long_walk(frames: usize) -> Vec<u8> {
    let text = String::from_utf8(shipped("walk.bvh")).unwrap();
    let (head, rows) = text.split_once("Frames:").unwrap();
    let mut rows = rows.lines().skip(1);
    let time = rows.next().unwrap();
    let there: Vec<&str> = rows.filter(|row| !row.trim().is_empty()).collect();
    let back = there.iter().rev().skip(1).take(there.len() - 2);
    let both: Vec<&str> = there.iter().chain(back).copied().collect();
    let mut long = format!("{head}Frames: {frames}\n{time}\n");
    both.iter().cycle().take(frames).for_each(|row| long.extend([row, "\n"]));
    long.into_bytes()
}

fn hero() -> Arc<Character> {
    import::load(Path::new(env!("CARGO_MANIFEST_DIR")).join("data/mannequin.glb"), &Options::default())
        .unwrap()
        .character
}

/// The take through the default pipeline onto the mannequin, as the bytes of its file; the text goes once it is read.
fn milled(text: Vec<u8>, hero: &Arc<Character>) -> Vec<u8> {
    let take = import::from_bytes(&text, "long", Some("bvh"), None, &Options::default()).unwrap();
    drop(text);
    let config = PipelineConfig::parse("default", DEFAULT_PIPELINE, &[], STAGES).unwrap();
    let mut arriving = Arc::clone(&take.character);
    let clip = take.clips.into_iter().next().unwrap();
    let mut motion = Motion::new(Arc::clone(&arriving), clip);
    for written in &config.stages {
        let setting = Setting { arriving, target: Some(Arc::clone(hero)), folder: "".into() };
        let stage = written.stage.resolve(&setting).unwrap();
        motion = stage.apply(motion, &mut Report::default()).unwrap();
        arriving = Arc::clone(&motion.character);
    }
    let options = export::Options { stem: "long".into(), ..export::Options::default() };
    let (files, _) = export::save(&[motion], Format::GLB, &options).unwrap();
    files.into_iter().next().unwrap().bytes
}

fn alone<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

#[test]
fn a_frame_takes_as_much_memory_as_is_promised() {
    let hero = hero();
    let peak = |frames: usize| {
        let text = long_walk(frames);
        alone(1, || {
            let counted = allocation_counter::measure(|| {
                let text = text.clone();
                assert!(milled(text, &hero).len() > 100 * frames);
            });
            counted.bytes_max as usize
        })
    };
    // What does not grow with the take is no part of a frame.
    let grown = (peak(6000) - peak(3000)) / 3000;
    let promised = PROMISED - JOINT * (60 - hero.skeleton().len());
    assert!(grown <= promised, "{grown} bytes a frame, {promised} are promised");
    println!("{grown} bytes a frame, {promised} are promised");
}

#[test]
fn threads_change_no_byte_of_a_long_take() {
    let hero = hero();
    // More than two parts, the last one short.
    let text = long_walk(2 * posemill::retarget::PART + 77);
    let [one, two, seven] = [1, 2, 7].map(|threads| alone(threads, || milled(text.clone(), &hero)));
    assert!(one == two && one == seven);
}
