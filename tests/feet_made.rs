//! The made walk, whose contacts are known: what is clean stays, what was spoilt comes back, and nothing else changes.

mod made_walk;
mod perturbed;
mod planted;

use made_walk::{carried, difference, models};
use perturbed::{Noise, scaled};
use planted::planted;
use posemill::anatomy::contact_points;
use posemill::contacts::{Options as Detection, detect};
use posemill::feet::ground;
use posemill::math::{Vec3, exp};
use posemill::model::{ContactPart, Contacts, Hold, Motion, Role, Side};

/// The walk of a body so many times as large.
fn walk(scale: f64) -> Motion {
    made_walk::walk(|motion| if scale == 1.0 { motion } else { scaled(&motion, scale) })
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

/// The greatest way between resting points of two performances, metres.
fn apart(a: &Motion, b: &Motion, labels: &Contacts) -> f64 {
    let (a, b) = (resting(a, labels), resting(b, labels));
    a.iter().zip(&b).map(|(a, b)| (a.2 - b.2).norm()).fold(0.0, f64::max)
}

/// The motion without its first frames.
fn without(motion: &Motion, first: usize) -> Motion {
    motion.part(first..motion.clip.frames())
}

/// The same with noise of 0.1 degrees and 1 mm on every frame, 3 cm too high and sinking by 3 cm over its time.
fn spoilt(motion: &Motion, seed: u64, scale: f64) -> Motion {
    let mut noise = Noise(seed);
    let mut result = motion.clone();
    let frames = motion.clip.frames();
    for f in 0..frames {
        for q in result.clip.rotations_mut(f) {
            *q *= exp(&noise.vector(0.1f64.to_radians()));
        }
        let drift = Vec3::y() * (0.03 - 0.03 * f as f64 / frames as f64);
        result.clip.translations_mut(f)[0] += (drift + noise.vector(0.001)) * scale;
    }
    result
}

#[test]
fn a_clean_walk_stays() {
    let motion = walk(1.0);
    let points = resting(&motion, motion.contacts.as_ref().unwrap());
    let moves = points.windows(2).filter(|w| w[0].0 == w[1].0 && w[0].1 + 1 == w[1].1);
    let fastest = moves.map(|w| (w[1].2 - w[0].2).norm()).fold(0.0, f64::max);
    assert!(fastest < 1e-4, "the walk itself moves its resting points by {fastest} m a frame");
    let (result, _) = planted(&motion);
    result.check().unwrap();
    let (way, turn) = difference(&motion, &result, 0);
    println!("clean walk: {:.3} mm, {turn:.4} degrees", way * 1000.0);
    assert!(way <= 1e-3 && turn <= 0.2, "{way} m, {turn} degrees");
}

#[test]
fn planting_twice_is_planting_once() {
    let once = planted(&carried(&walk(1.0))).0;
    let (way, turn) = difference(&once, &planted(&once).0, 0);
    println!("carried twice: {:.3} mm, {turn:.4} degrees", way * 1000.0);
    assert!(way <= 1e-3 && turn <= 0.2, "{way} m, {turn} degrees");
    // Of a spoilt walk the feet; its knees are nearly straight, where a hair's breadth at the ankle is much at the knee.
    for seed in 0..4 {
        let once = planted(&spoilt(&walk(1.0), seed, 1.0)).0;
        let twice = planted(&once).0;
        let way = apart(&once, &twice, once.contacts.as_ref().unwrap());
        println!("spoilt twice: {:.3} mm", way * 1000.0);
        assert!(way <= 1e-3, "{way} m");
    }
}

#[test]
fn the_first_frames_do_not_reach_far() {
    let motion = walk(1.0);
    let (whole, part) = (planted(&motion).0, planted(&without(&motion, 10)).0);
    let (way, turn) = difference(&whole, &part, 10);
    println!("start: {:.3} mm, {turn:.4} degrees", way * 1000.0);
    assert!(way <= 1e-3, "{way} m, {turn} degrees");
    // Of a contact that is cut in two less is known, where its points move: what comes after it is the same.
    for motion in [carried(&walk(1.0)), spoilt(&motion, 7, 1.0)] {
        let (whole, part) = (planted(&motion).0, planted(&without(&motion, 10)).0);
        let from = end_of_cut(motion.contacts.as_ref().unwrap(), 10) + 36;
        let (way, turn) = difference(&whole, &without(&part, from - 10), from);
        println!("moving start: {:.3} mm, {turn:.4} degrees", way * 1000.0);
        assert!(way <= 1e-3, "{way} m, {turn} degrees");
    }
}

/// The last frame of the contacts that a cut goes through.
fn end_of_cut(labels: &Contacts, first: usize) -> usize {
    let cut = labels.parts().filter_map(|p| labels.holds(p).first()).filter(|h| h.frames.start < first);
    cut.map(|h| h.frames.end).max().unwrap()
}

#[test]
fn the_labels_of_later_frames_do_not_depend_on_the_first() {
    let motion = walk(1.0);
    let (whole, part) =
        (detect(&motion, &Detection::default()), detect(&without(&motion, 10), &Detection::default()));
    assert!((whole.ground - part.ground).abs() < 1e-4, "{} {}", whole.ground, part.ground);
    for heel_or_ball in whole.parts() {
        for f in end_of_cut(&whole, 10)..motion.clip.frames() {
            assert_eq!(
                whole.rests(heel_or_ball, f),
                part.rests(heel_or_ball, f - 10),
                "{heel_or_ball}, frame {f}"
            );
        }
    }
}

#[test]
fn noise_drift_another_scale_and_a_wrong_floor_are_taken_back() {
    for (seed, scale) in [(1, 1.0), (2, 0.6), (3, 1.7), (4, 1.0)] {
        let motion = walk(scale);
        let labels = motion.contacts.clone().unwrap();
        let bad = spoilt(&motion, seed, scale);
        for (whose, used) in [("own", labels.clone()), ("found", detect(&bad, &Detection::default()))] {
            let level = ground(&bad, &used, labels.ground).0;
            let (result, _) = planted(&level);
            result.check().unwrap();
            // Where both say that a point rests, for longer than the few frames that the end of the clip leaves of the
            // last contact.
            let used = result.contacts.clone().unwrap();
            let rests = |part: ContactPart, f: usize| {
                used.rests(part, f) && labels.hold(part, f).is_some_and(|h| h.frames.len() >= 10)
            };
            let both = |motion: &Motion| -> Vec<(ContactPart, usize, Vec3)> {
                resting(motion, &labels).into_iter().filter(|(part, f, _)| rests(*part, *f)).collect()
            };
            let (wanted, found) = (both(&motion), both(&result));
            let misses = wanted.iter().zip(&found).map(|(a, b)| ((a.2 - b.2).norm() / scale, a.0, a.1));
            let (miss, part, frame) = misses.max_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
            let pairs = found.windows(2).filter(|w| w[0].0 == w[1].0 && w[0].1 + 1 == w[1].1);
            let rate = motion.clip.sample_rate;
            let mut speeds: Vec<f64> = pairs.map(|w| (w[1].2 - w[0].2).norm() * rate / scale).collect();
            speeds.sort_by(f64::total_cmp);
            let skate = speeds[speeds.len() * 95 / 100];
            let before = apart(&motion, &bad, &labels) / scale;
            println!(
                "{whose} labels, scale {scale}: {:.1} mm off at {part} in frame {frame}, {:.1} mm before; {:.2} cm/s",
                miss * 1e3,
                before * 1e3,
                skate * 1e2
            );
            assert!(miss <= 5e-3 && skate <= 0.01, "{miss} m, {skate} m/s");
        }
    }
}

#[test]
fn frames_far_from_a_contact_stay_as_they_are() {
    let mut motion = spoilt(&walk(1.0), 7, 1.0);
    let labels = motion.contacts.clone().unwrap();
    let ball = ContactPart::Ball(Side::Left);
    let hold: Hold = labels.holds(ball)[2].clone();
    let mut contacts = Contacts::new(labels.ground - 10.0, []);
    contacts.set(ball, vec![hold.clone()]);
    motion.contacts = Some(contacts);
    let result = planted(&motion).0;
    let feet = |m: &Motion, side: Side| -> Vec<Vec3> {
        let foot = m.character.rig.joint(Role::Foot(side)).unwrap();
        models(m).iter().map(|p| p.position(foot)).collect()
    };
    let reach = (0.9 * motion.clip.sample_rate) as usize;
    for side in Side::BOTH {
        let (before, after) = (feet(&motion, side), feet(&result, side));
        for f in (0..hold.frames.start - reach).chain(hold.frames.end + reach..before.len()) {
            assert!((before[f] - after[f]).norm() < 1e-3, "{side:?} foot, frame {f}");
        }
    }
}
