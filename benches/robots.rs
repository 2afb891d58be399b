//! Time of the solve of a take onto a robot of 29 hinges, per frame, on one thread and on two. The takes are the repository's own, and those of
//! `POSEMILL_DATA` if it is set: a jump at 120 Hz, a walk and a dance at 30.
//!
//! Peers on the same takes (2026-11, the same kind of machine): GMR's method by mink 1.3.0 125 to 430 frames/s on one thread.

use divan::Bencher;
use divan::counter::ItemsCount;
use posemill::import::{ImportOptions, load};
use posemill::model::Motion;
use posemill::robot_retarget::RobotRetarget;
use std::path::{Path, PathBuf};

fn main() {
    divan::main();
}

const OWN: [&str; 2] = ["walk.bvh", "wave.bvh"];
const OTHERS: [&str; 4] = ["cmu/01_01.bvh", "assimp/Boxing_Toes.bvh", "fair1/zombie.bvh", "fair1/dab.bvh"];

fn own(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(file)
}

/// A take without its first frame, which is a T-pose in the jump.
fn take(path: PathBuf) -> Motion {
    let motion = load(path, &ImportOptions::default()).expect("a take").motion(0).expect("a clip");
    motion.part(1..motion.clip.frames())
}

fn solved(bencher: Bencher, robot: PathBuf, take: &Motion, threads: usize) {
    let robot = load(robot, &ImportOptions::default()).expect("a robot").character.robot.clone();
    let retarget = RobotRetarget::new(&robot.expect("a robot")).expect("a humanoid");
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    bencher
        .counter(ItemsCount::new(take.clip.frames()))
        .bench(|| pool.install(|| retarget.apply(take, &[]).expect("a take of a person")));
}

#[divan::bench(args = OWN, consts = [1, 2])]
fn own_take<const THREADS: usize>(bencher: Bencher, name: &str) {
    solved(bencher, own("humanoid.xml"), &take(own(name)), THREADS);
}

#[divan::bench(args = OTHERS, consts = [1, 2])]
fn on_g1<const THREADS: usize>(bencher: Bencher, name: &str) {
    let Some(data) = std::env::var_os("POSEMILL_DATA").map(PathBuf::from) else { return };
    solved(bencher, data.join("dcc/robots/mjlab_g1.xml"), &take(data.join("bvh").join(name)), THREADS);
}
