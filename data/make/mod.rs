//! The generator of `data/`: three skinned characters, a robot, five takes, a damaged one and a target, from tables and formulas to bytes.
//!
//! Used twice: by the example `make_data`, which writes the files, and by the test that they are still its
//! output byte for byte. Nothing here depends on a clock, a seed, a hash order or a thread.

mod actor;
mod bvh;
mod curve;
mod damaged;
mod files;
pub mod gait;
mod glb;
mod humanoid;
mod jump;
mod loft;
mod mannequin;
mod reach;
mod robot;
mod squat;
mod turn;
mod walk;
mod wave;

pub use files::every_file;
