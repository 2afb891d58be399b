//! Joints brought into their ranges over a clip, on one core: frames (items) a second.

use divan::counter::ItemsCount;
use posemill::ik::Mechanism;
use posemill::import::{ImportOptions, load};
use posemill::limits::{LimitOptions, keep};
use posemill::model::{JointId, Motion};
use posemill::retarget::{Retarget, RootScale, map};
use std::path::Path;
use std::sync::Arc;

fn main() {
    divan::main();
}

/// The made squat or jump on the made mannequin of 52 joints.
fn performance(take: &str) -> Motion {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    let read = |name: &str| load(data.join(name), &ImportOptions::default()).expect("the file is shipped");
    let (take, hero) = (read(take), read("mannequin.glb"));
    let joint_map = map(&take.character, &hero.character).expect("two people");
    let rigs = (&take.character.rig, &hero.character.rig);
    let target = Arc::clone(&hero.character);
    let retarget = Retarget::new(&take.character, target, &joint_map, rigs, RootScale::Legs);
    retarget.apply(&take.motion(0).expect("a take"))
}

/// With the published ranges; it says how many joints of the take leave them.
#[divan::bench(args = ["walk.bvh", "jump.bvh"])]
fn limits(bencher: divan::Bencher<'_, '_>, take: &str) {
    let motion = performance(take);
    let mechanism = Mechanism::humanoid(&motion.character.rig, &motion.character.reference_pose());
    let ids: Vec<JointId> = mechanism.joints_with_limits().collect();
    let (_, kept) = keep(motion.clone(), &mechanism, &ids, &LimitOptions::default());
    println!("{take}: {} joints outside, in {} frames", kept.joints.len(), kept.frames);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    bencher.counter(ItemsCount::new(motion.clip.frames())).with_inputs(|| motion.clone()).bench_local_values(
        |motion| pool.install(|| keep(motion, &mechanism, &ids, &LimitOptions::default())),
    );
}
