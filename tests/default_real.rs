//! Every humanoid take onto every humanoid character of the development data as `retarget` does it by default (hands placed,
//! limits kept, feet planted), beside the plain copy of the rotations.

mod development_data;
mod humanoids;

use development_data::data;
use humanoids::{CHARACTERS, TAKES, end_jerk};
use posemill::anatomy::{Figure, contact_points};
use posemill::contacts::{Options as Detection, detect};
use posemill::feet;
use posemill::ik::{Limit, Mechanism};
use posemill::import::{Options, load};
use posemill::limits::keep;
use posemill::math::{Vec3, angle_between};
use posemill::measure::{Gauge, hands};
use posemill::model::{Character, JointId, ModelPose, Motion, Role, Side};
use posemill::placement::Placement;
use posemill::retarget::{Retarget, RootScale, map};
use std::path::Path;
use std::sync::Arc;

/// For each take, the number of characters on which it misses a limit. These numbers may only become smaller.
const KNOWN_MISSES: [usize; 18] = [1, 1, 1, 1, 0, 1, 2, 11, 6, 2, 2, 0, 2, 0, 5, 2, 12, 2];

/// The pairs in which planting a foot takes mostly a hip out of its range, which all joints kept before but those that
/// no person's range fits. This number may only become smaller.
const KNOWN_BEYOND: usize = 59;

/// Long takes are judged by their first part.
const FRAMES: usize = 900;

fn take(folder: &Path, file: &str) -> Option<Motion> {
    let asset = load(&folder.join(file), &Options::default()).unwrap();
    let whole = asset.motion(0)?;
    let mut motion = whole.part(0..whole.clip.frames().min(FRAMES));
    motion.contacts = Some(detect(&motion, &Detection::default()));
    Some(motion)
}

/// What is measured of a motion's feet; lengths of a body of 1.75 m.
#[derive(Clone, Copy, Debug, Default)]
struct Feet {
    /// The 95th percentile of the speed of points in contact, cm/s.
    skate: f64,
    /// The deepest that a sole is in the floor, mm, and the share of frames with more than 5 mm.
    sunk: f64,
    sinking: f64,
    /// The share of labelled frames of a foot whose lowest resting point is more than 2 cm above what it rests on.
    floating: f64,
    /// The root mean square jerk of hands, feet and head.
    jerk: f64,
    /// The greatest change of a knee's angular speed from frame to frame, degrees.
    pop: f64,
}

fn models(motion: &Motion) -> Vec<ModelPose> {
    (0..motion.clip.frames()).map(|f| motion.model_pose(f)).collect()
}

fn measured(motion: &Motion) -> Feet {
    let contacts = motion.contacts.as_ref().unwrap();
    let rig = &motion.character.rig;
    let Some(figure) = Figure::of(rig, &motion.character.calibration_pose()) else { return Feet::default() };
    let scale = 0.53 * 1.75 / figure.leg;
    let points = contact_points(&motion.character, rig);
    let soles: Vec<_> = points.iter().filter(|p| p.part.of_foot()).collect();
    let poses = models(motion);
    let at = |f: usize, k: usize| poses[f].joint(soles[k].joint).point(&soles[k].at);
    let mut feet = Feet::default();
    let mut speeds = Vec::new();
    let (mut labelled, mut floating) = (0usize, 0usize);
    for f in 0..poses.len() {
        let mut depth = 0.0_f64;
        for (k, point) in soles.iter().enumerate() {
            let near = |f: &usize| contacts.hold(point.part, *f).map(|h| h.height);
            let window = f.saturating_sub(60)..(f + 60).min(poses.len());
            let floor = window.clone().filter_map(|f| near(&f)).fold(contacts.ground, f64::min);
            depth = depth.max(floor - at(f, k).y);
            if f > 0 && contacts.hold(point.part, f).is_some_and(|h| h.frames.contains(&(f - 1))) {
                speeds.push((at(f, k) - at(f - 1, k)).norm() * motion.clip.sample_rate * scale * 100.0);
            }
        }
        feet.sunk = feet.sunk.max(depth * scale * 1000.0);
        feet.sinking += f64::from(u8::from(depth * scale > 0.005)) / poses.len() as f64;
        for side in Side::BOTH {
            let heights = soles.iter().enumerate().filter(|(_, p)| p.part.side() == Some(side));
            let resting =
                heights.filter_map(|(k, p)| contacts.hold(p.part, f).map(|h| at(f, k).y - h.height));
            if let Some(low) = resting.min_by(f64::total_cmp) {
                labelled += 1;
                floating += usize::from(low * scale > 0.02);
            }
        }
    }
    speeds.sort_by(f64::total_cmp);
    feet.skate = speeds.get(speeds.len() * 95 / 100).copied().unwrap_or(0.0);
    feet.floating = floating as f64 / labelled.max(1) as f64;
    feet.jerk = end_jerk(rig, &poses) * motion.clip.sample_rate.powi(3);
    for side in Side::BOTH {
        let joints = [Role::UpperLeg(side), Role::LowerLeg(side), Role::Foot(side)].map(|r| rig.joint(r));
        let [Some(a), Some(b), Some(c)] = joints else { continue };
        let knee = |p: &ModelPose| {
            let (thigh, shin): (Vec3, Vec3) = (p.position(b) - p.position(a), p.position(c) - p.position(b));
            angle_between(&thigh, &shin).to_degrees()
        };
        for w in poses.windows(3) {
            feet.pop = feet.pop.max((knee(&w[0]) - 2.0 * knee(&w[1]) + knee(&w[2])).abs());
        }
    }
    feet
}

/// How far the joint that is furthest outside its range is outside, but for those that are `left` alone, degrees.
fn outside(mechanism: &Mechanism, motion: &Motion, left: &[JointId]) -> f64 {
    let skeleton = mechanism.skeleton();
    let of = |f: usize| {
        let excess = |id: JointId| mechanism.excess(id, &motion.clip.local(skeleton, f, id));
        let kept = mechanism.joints_with_limits().filter(|id| !left.contains(id));
        kept.map(excess).fold(0.0, f64::max)
    };
    (0..motion.clip.frames()).map(of).fold(0.0, f64::max).to_degrees()
}

/// The copy with hands placed, limits kept and feet planted, the joints that no person's range fits, and what was done to
/// the feet.
fn performed(
    source: &Motion,
    copy: &Motion,
    placement: Option<&Placement>,
    mechanism: &Mechanism,
) -> (Motion, Vec<JointId>, feet::Work) {
    let placed = match placement {
        Some(placement) => placement.apply(source, copy.clone()).0,
        None => copy.clone(),
    };
    let ball = |id: &JointId| matches!(mechanism.limit(*id), Some(Limit::SwingTwist(_)));
    let joints: Vec<JointId> = mechanism.skeleton().ids().filter(ball).collect();
    let (kept, work) = keep(placed, mechanism, &joints, &posemill::limits::Options::default());
    let ranges = feet::Ranges { mechanism, joints: &joints };
    let (planted, done) = feet::plant_within(&kept, &feet::Options::default(), &ranges);
    (planted, work.left, done)
}

#[test]
fn every_take_on_every_character_stands() {
    let Some(folder) = data() else { return };
    let characters: Vec<Arc<Character>> =
        CHARACTERS.iter().map(|c| load(&folder.join(c), &Options::default()).unwrap().character).collect();
    let (mut all, mut limits, mut beyond, mut more) = (0, [0; 6], 0, Vec::new());
    assert_eq!(TAKES.len(), KNOWN_MISSES.len());
    for (file, known) in TAKES.iter().zip(KNOWN_MISSES) {
        let mut misses = 0;
        let Some(source) = take(&folder, file) else { continue };
        for (name, target) in CHARACTERS.iter().zip(&characters) {
            let found = map(&source.character, target).unwrap();
            let rigs = (&source.character.rig, &target.rig);
            let ready = Retarget::new(&source.character, Arc::clone(target), &found, rigs, RootScale::Legs);
            let copy = ready.apply(&source);
            let ends = ((&*source.character, rigs.0), (&**target, rigs.1));
            let placement = Placement::new(ends.0, ends.1);
            let mechanism = Mechanism::humanoid(&target.rig, &target.calibration_pose());
            let (result, left, work) = performed(&source, &copy, placement.as_ref(), &mechanism);
            result.check().unwrap();
            let (before, after) = (measured(&copy), measured(&result));
            // In percent of the height.
            let hands = hands(&Gauge::new(target), &source, &copy, &result);
            let of = |value: Option<f64>| 100.0 * value.unwrap_or(0.0);
            let (hands_before, hands_after) =
                (of(hands.as_ref().and_then(|m| m.copy)), of(hands.as_ref().map(|m| m.value)));
            let [out_before, out_after] = [&copy, &result].map(|m| outside(&mechanism, m, &left));
            let ratio = after.jerk / before.jerk.max(1e-9);
            let short: usize = work.feet.iter().map(|f| f.unreached.0).sum();
            let line = format!(
                "{:50} skate {:6.2} > {:5.2} sunk {:5.1} > {:5.1} in {:5.2}% float {:5.1}% > {:5.2}% jerk x{:.2} pop {:5.1} > {:5.1} short {:4} pelvis {:4.1} cm moved {:4.1} cm hands {:4.1} > {:4.1}% outside {:5.1} > {:5.1}",
                format!("{} on {}", file.rsplit('/').next().unwrap(), name.rsplit('/').next().unwrap()),
                before.skate,
                after.skate,
                before.sunk,
                after.sunk,
                after.sinking * 100.0,
                before.floating * 100.0,
                after.floating * 100.0,
                ratio,
                before.pop,
                after.pop,
                short,
                work.pelvis.0 * 100.0,
                work.feet.iter().map(|f| f.shift.0).fold(0.0, f64::max) * 100.0,
                hands_before,
                hands_after,
                out_before,
                out_after,
            );
            println!("{line}");
            let over = [
                after.skate > 1.0,
                after.sunk > 5.0,
                after.sinking >= 0.005,
                after.floating >= 0.02,
                ratio > 1.2,
                hands_after >= 2.0,
            ];
            beyond += usize::from(out_after > 0.5);
            over.iter().zip(&mut limits).for_each(|(over, count)| *count += usize::from(*over));
            misses += usize::from(over.contains(&true));
        }
        println!("{file}: {misses} misses, {known} known");
        all += misses;
        if misses > known {
            more.push(format!("{file}: {misses} characters miss, {known} are known to"));
        }
    }
    println!("{all} pairs miss; [skate, deepest, often, floating, jerk, hands]: {limits:?}");
    println!("{beyond} pairs have a joint more than half a degree outside its range");
    assert!(more.is_empty(), "{}", more.join("\n"));
    assert!(beyond <= KNOWN_BEYOND, "{beyond}");
}
