//! Stages on takes.

use crate::timing::{gain_of_two_threads, on_one_thread};
use crate::walks::{on_and_on, recorded, shipped_walk, walk_on_and_on};
use posemill::model::Motion;
use posemill::pipeline::Pipeline;
use posemill::settle::settle_flights;
use std::path::Path;

/// What [`default_pipeline`] carries.
pub const TAKE: &str = "default pipeline, 2,752 recorded frames (else 2,721 of the made walk) onto 52 joints";

fn take() -> Motion {
    recorded().unwrap_or_else(|| {
        println!("No development data: the made walk, over and over.");
        on_and_on(&shipped_walk(), 5)
    })
}

/// Microseconds a frame.
pub fn default_pipeline() -> [f64; 2] {
    let hero = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/mannequin.glb");
    let (pipeline, take) = (Pipeline::standard(hero).expect("it is shipped"), take());
    on_one_thread(|| pipeline.apply(take.clone()).expect("a person on a person"))
        .map(|s| s * 1e6 / take.clip.frames() as f64)
}

/// How often the walk goes through its strides: long enough for both threads.
const ROUNDS: usize = 4;

/// Seconds of motion in a second.
pub fn settle() -> [f64; 2] {
    let (motion, contacts) = walk_on_and_on(ROUNDS);
    on_one_thread(|| settle_flights(&motion, &contacts)).map(|s| motion.clip.duration() / s)
}

/// Times as fast as one.
pub fn settle_on_two_threads() -> [f64; 2] {
    let (motion, contacts) = walk_on_and_on(ROUNDS);
    gain_of_two_threads(|| settle_flights(&motion, &contacts))
}
