//! The made walk, whose contacts are known: what is clean stays, and what was spoilt comes back.

use posemill::anatomy::contact_points;
use posemill::contacts::read;
use posemill::feet::{ground, plant};
use posemill::import::{Options, load};
use posemill::math::{Quat, Vec3, exp};
use posemill::model::{Clip, ContactPart, Contacts, Hold, ModelPose, Motion};
use posemill::retarget::{Retarget, RootScale, map};
use std::path::Path;
use std::sync::Arc;

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

/// The places of heels and balls while they rest: part, frame, place.
fn resting(motion: &Motion, labels: &Contacts) -> Vec<(ContactPart, usize, Vec3)> {
    let points = contact_points(&motion.character, &motion.character.rig);
    let poses = models(motion);
    let mut found = Vec::new();
    for point in points.iter().filter(|p| matches!(p.part, ContactPart::Heel(_) | ContactPart::Ball(_))) {
        for hold in labels.holds(point.part) {
            for f in hold.frames.clone() {
                found.push((point.part, f, poses[f].joint(point.joint).point(&point.at)));
            }
        }
    }
    found
}

/// The motion without its first frames.
fn without(motion: &Motion, first: usize) -> Motion {
    let clip = &motion.clip;
    let rotations = clip.all_rotations()[first * clip.joints()..].to_vec();
    let translations = clip.all_translations()[first * clip.translated().len()..].to_vec();
    let clip =
        Clip::new("", clip.sample_rate, clip.joints(), rotations, clip.translated().to_vec(), translations);
    let contacts = motion.contacts.as_ref().map(|c| c.changed(|f| f.saturating_sub(first), |h| h));
    Motion { clip, contacts, ..motion.clone() }
}

/// Numbers from -1 to 1.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as f64 / (1u64 << 30) as f64 - 1.0
    }

    fn vector(&mut self, size: f64) -> Vec3 {
        Vec3::new(self.next(), self.next(), self.next()) * size
    }
}

/// The walk with noise on every rotation, 3 cm too high, and sinking by 3 cm over its time.
fn spoilt(motion: &Motion) -> Motion {
    let mut random = Random(7);
    let mut result = motion.clone();
    let frames = motion.clip.frames();
    for f in 0..frames {
        for q in result.clip.rotations_mut(f) {
            *q = *q * exp(&random.vector(0.003));
            *q = Quat::new_normalize(q.into_inner());
        }
        let off = random.vector(0.002) + Vec3::y() * (0.03 - 0.03 * f as f64 / frames as f64);
        result.clip.translations_mut(f)[0] += off;
    }
    result
}

#[test]
fn a_clean_walk_stays() {
    let motion = walk();
    let (result, work) = plant(&motion);
    result.check().unwrap();
    let (way, turn) = difference(&motion, &result, 0);
    println!("clean walk: {:.2} mm, {turn:.3} deg, {work:?}", way * 1000.0);
    assert!(way <= 1e-3 && turn <= 0.2, "{way} m, {turn} deg");
}

#[test]
fn planting_twice_is_planting_once() {
    let hero = load(&shipped("mannequin.glb"), &Options::default()).unwrap().character;
    let motion = walk();
    let found = map(&motion.character, &hero).unwrap();
    let rigs = (&motion.character.rig, &hero.rig);
    let copy =
        Retarget::new(&motion.character, Arc::clone(&hero), &found, rigs, RootScale::Legs).apply(&motion);
    for start in [copy, spoilt(&motion)] {
        let once = plant(&start).0;
        let twice = plant(&once).0;
        let (way, turn) = difference(&once, &twice, 0);
        println!("twice: {:.3} mm, {turn:.4} deg", way * 1000.0);
        assert!(way <= 1e-3 && turn <= 0.2, "{way} m, {turn} deg");
    }
}

#[test]
fn the_first_frames_do_not_reach_far() {
    let motion = walk();
    for motion in [motion.clone(), spoilt(&motion)] {
        let whole = plant(&motion).0;
        let part = plant(&without(&motion, 10)).0;
        let (way, turn) = difference(&whole, &part, 10);
        println!("start: {:.3} mm, {turn:.4} deg", way * 1000.0);
        assert!(way <= 1e-3, "{way} m, {turn} deg");
    }
}

#[test]
fn noise_drift_and_a_wrong_floor_are_taken_back() {
    let motion = walk();
    let labels = motion.contacts.clone().unwrap();
    let bad = spoilt(&motion);
    let level = ground(&bad, &labels, labels.ground).0;
    let (result, _) = plant(&level);
    result.check().unwrap();
    let before = resting(&bad, &labels);
    let (wanted, found) = (resting(&motion, &labels), resting(&result, &labels));
    let miss = |a: &[(ContactPart, usize, Vec3)]| {
        let mut all: Vec<f64> = a.iter().zip(&wanted).map(|(a, b)| (a.2 - b.2).norm()).collect();
        all.sort_by(f64::total_cmp);
        (all[all.len() / 2], all[all.len() * 95 / 100], all[all.len() - 1])
    };
    println!("back: {:?} before {:?}", miss(&found), miss(&before));
    assert!(miss(&found).1 <= 5e-3, "{:?}", miss(&found));
    // And they stand still.
    let speeds = found.windows(2).filter(|w| w[0].0 == w[1].0 && w[0].1 + 1 == w[1].1);
    let fastest = speeds.map(|w| (w[1].2 - w[0].2).norm() * 120.0).fold(0.0, f64::max);
    println!("fastest {fastest}");
    assert!(fastest < 0.05, "{fastest}");
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
    assert_eq!(plant(&motion).0, motion);
    motion.contacts = Some(Contacts::new(-10.0, []));
    assert_eq!(plant(&motion).0.clip, motion.clip);
}

#[test]
fn frames_far_from_a_contact_stay_as_they_are() {
    let mut motion = spoilt(&walk());
    let mut contacts = Contacts::new(-10.0, []);
    let ball = ContactPart::Ball(posemill::model::Side::Left);
    contacts.set(ball, vec![Hold { frames: 240..280, height: 0.0 }]);
    motion.contacts = Some(contacts);
    let result = plant(&motion).0;
    let reach = 48;
    let feet = |m: &Motion, f: usize| {
        let skeleton = m.character.skeleton();
        let model = ModelPose::of(skeleton, &m.clip.pose(skeleton, f));
        let right = m.character.rig.joint(posemill::model::Role::Foot(posemill::model::Side::Right)).unwrap();
        model.position(right)
    };
    for f in (0..240 - 2 * reach).chain(280 + 2 * reach..motion.clip.frames()) {
        assert!((feet(&motion, f) - feet(&result, f)).norm() < 2e-3, "{f}");
    }
}
