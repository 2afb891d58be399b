//! The made walk, whose contacts are known: without labels nothing changes, and the ground goes where it is wanted.

use posemill::contacts::read;
use posemill::feet::{self, ground};
use posemill::import::{Options, load};
use posemill::model::{Contacts, ModelPose, Motion};
use std::path::Path;

fn shipped(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(name)
}

/// The walk with the labels that it was made by.
fn walk() -> Motion {
    let mut motion = load(&shipped("walk.bvh"), &Options::default()).unwrap().motion(0).unwrap();
    let text = std::fs::read_to_string(shipped("walk.contacts.csv")).unwrap();
    motion.contacts = Some(read(&text).unwrap().on(&motion, None));
    motion
}

fn models(motion: &Motion) -> Vec<ModelPose> {
    let skeleton = motion.character.skeleton();
    (0..motion.clip.frames()).map(|f| ModelPose::of(skeleton, &motion.clip.pose(skeleton, f))).collect()
}

/// The greatest way of a joint and turn of its rotation between two performances, from a frame of the first on: metres
/// and degrees.
fn difference(a: &Motion, b: &Motion, skipped: usize) -> (f64, f64) {
    let (a, b) = (models(a), models(b));
    let mut worst = (0.0_f64, 0.0_f64);
    for (a, b) in a[skipped..].iter().zip(&b) {
        for (x, y) in a.joints().iter().zip(b.joints()) {
            worst.0 = worst.0.max((x.translation - y.translation).norm());
            worst.1 = worst.1.max(x.rotation.angle_to(&y.rotation).to_degrees());
        }
    }
    worst
}

/// The motion with its feet planted as they are by default, and what was done.
fn planted(motion: &Motion) -> (Motion, feet::Work) {
    feet::plant(motion, &feet::Options::default())
}

#[test]
fn a_ground_is_put_where_it_is_wanted_and_a_clean_one_stays() {
    let motion = walk();
    let labels = motion.contacts.clone().unwrap();
    let (same, _) = ground(&motion, &labels, labels.ground);
    let (way, _) = difference(&motion, &same, 0);
    println!("clean ground: {:.3} mm", way * 1000.0);
    let (raised, work) = ground(&motion, &labels, labels.ground + 0.25);
    raised.check().unwrap();
    assert_eq!(raised.contacts.as_ref().unwrap().ground, labels.ground + 0.25);
    assert!((work.lifted - 0.25).abs() < 2e-3, "{work:?}");
    assert!(way < 2e-3, "{way}");
}

#[test]
fn nothing_changes_without_contacts() {
    let mut motion = walk();
    motion.contacts = None;
    assert_eq!(planted(&motion).0, motion);
    motion.contacts = Some(Contacts::new(-10.0, []));
    assert_eq!(planted(&motion).0.clip, motion.clip);
}
