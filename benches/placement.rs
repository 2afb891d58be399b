//! Time of placing hands on a body and of pushing arms out of it, per frame, on the repository's own take and character.

use divan::Bencher;
use divan::counter::ItemsCount;
use posemill::body::{CharacterBody, capsules};
use posemill::import::{ImportOptions, load};
use posemill::model::Motion;
use posemill::placement::{ArmPlacement, PushOut};
use posemill::retarget::{Retarget, RootScale, map};
use std::sync::Arc;

fn main() {
    divan::main();
}

/// A take and its direct transfer on the mannequin.
fn pair() -> (Motion, Motion) {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let read =
        |file: &str| load(root.join(file), &ImportOptions::default()).expect("the repository's own data");
    let (take, hero) = (read("data/wave.bvh"), read("data/mannequin.glb"));
    let motion = take.motion(0).expect("a clip");
    let (source, target) = (&take.character, &hero.character);
    let found = map(source, target).expect("both are people");
    let ready =
        Retarget::new(source, Arc::clone(target), &found, (&source.rig, &target.rig), RootScale::Legs);
    let retargeted = ready.apply(&motion);
    (motion, retargeted)
}

/// Fits capsules to a body of 52 joints with its skin.
#[divan::bench]
fn body_measured(bencher: Bencher) {
    let (_, retargeted) = pair();
    bencher.bench(|| capsules(&retargeted.character, &retargeted.character.rig));
}

#[divan::bench]
fn arms_placed(bencher: Bencher) {
    let (take, retargeted) = pair();
    let ends = [&take, &retargeted].map(|motion| CharacterBody::new(&motion.character));
    let placement = ArmPlacement::new(&ends[0], &ends[1]).expect("both have arms");
    bencher
        .counter(ItemsCount::new(take.clip.frames()))
        .with_inputs(|| retargeted.clone())
        .bench_values(|retargeted| placement.apply(&take, retargeted));
}

#[divan::bench]
fn arms_pushed_out(bencher: Bencher) {
    let (_, retargeted) = pair();
    let push = PushOut::new(&CharacterBody::new(&retargeted.character));
    bencher
        .counter(ItemsCount::new(retargeted.clip.frames()))
        .with_inputs(|| retargeted.clone())
        .bench_values(|retargeted| push.apply(retargeted));
}

#[divan::bench]
fn overlaps_found(bencher: Bencher) {
    let (_, retargeted) = pair();
    let push = PushOut::new(&CharacterBody::new(&retargeted.character));
    bencher.counter(ItemsCount::new(retargeted.clip.frames())).bench(|| push.inside(&retargeted));
}
