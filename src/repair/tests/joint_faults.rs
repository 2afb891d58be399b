//! Faults of single joints and of single moments: fixed where the truth is known, else reported with joint and time.

use super::{decimated, repaired, truths};
use crate::damages::{Dice, continuous, distance, moved};
use crate::development_data::data;
use posemill::math::{Vec3, exp, slerp};
use posemill::model::{JointId, Motion, Role, Side};

/// Farther from the truth than this is harm, centimetres.
const HARM: f64 = 0.01;

fn joints(motion: &Motion, roles: &[Role]) -> Vec<usize> {
    roles.iter().filter_map(|role| motion.character.rig.joint(*role)).map(JointId::index).collect()
}

fn arm(motion: &Motion, side: Side) -> Vec<usize> {
    let of = [Role::UpperArm, Role::LowerArm, Role::Hand].map(|role| role(side));
    joints(motion, &of)
}

/// The frames of so many seconds from the middle on.
fn middle(motion: &Motion, seconds: f64) -> std::ops::Range<usize> {
    let half = motion.clip.frames() / 2;
    half..(half + (seconds * motion.clip.sample_rate) as usize).min(motion.clip.frames() - 2)
}

fn turn(motion: &mut Motion, frame: usize, joint: usize, by: &Vec3) {
    motion.clip.rotations_mut(frame)[joint] *= exp(by);
}

fn frozen_arm(motion: &mut Motion, side: Side) {
    for j in arm(motion, side) {
        let frames = middle(motion, 0.5);
        let last = motion.clip.rotations(frames.start - 1)[j];
        frames.for_each(|f| motion.clip.rotations_mut(f)[j] = last);
    }
}

fn gap(motion: &mut Motion, seconds: f64) {
    let skeleton = motion.character.skeleton().clone();
    for f in middle(motion, seconds) {
        for id in skeleton.ids() {
            motion.clip.rotations_mut(f)[id.index()] = skeleton.joint(id).rest.rotation;
        }
    }
}

/// Frames in which every number is zero: the root too.
fn zeros(motion: &mut Motion, seconds: f64) {
    gap(motion, seconds);
    for f in middle(motion, seconds) {
        motion.clip.translations_mut(f).fill(Vec3::zeros());
    }
}

/// Frames with the first pose.
fn first_pose(motion: &mut Motion, seconds: f64) {
    for f in middle(motion, seconds) {
        let (rotations, translations) =
            (motion.clip.rotations(0).to_vec(), motion.clip.translations(0).to_vec());
        motion.clip.rotations_mut(f).copy_from_slice(&rotations);
        motion.clip.translations_mut(f).copy_from_slice(&translations);
    }
}

/// Three frames of the forearm go the long way around.
fn wrap(motion: &mut Motion) {
    let Some(&j) = arm(motion, Side::Left).get(1) else { return };
    let first = motion.clip.frames() / 2;
    let (from, to) = (motion.clip.rotations(first - 1)[j], motion.clip.rotations(first + 3)[j]);
    for k in 0..3 {
        let share = f64::from(k + 1) / 4.0;
        let back = exp(&(Vec3::x() * (-std::f64::consts::TAU * share)));
        motion.clip.rotations_mut(first + k as usize)[j] = slerp(&from, &to, share) * back;
    }
}

fn swapped_legs(motion: &mut Motion) {
    for role in [Role::UpperLeg as fn(Side) -> Role, Role::LowerLeg, Role::Foot, Role::Toes] {
        let [a, b] = Side::BOTH.map(|side| joints(motion, &[role(side)]));
        if let (Some(&a), Some(&b)) = (a.first(), b.first()) {
            middle(motion, 0.3).for_each(|f| motion.clip.rotations_mut(f).swap(a, b));
        }
    }
}

fn burst(motion: &mut Motion, seconds: f64) {
    let mut dice = Dice::new(3);
    for j in arm(motion, Side::Left) {
        for f in middle(motion, seconds) {
            turn(motion, f, j, &(dice.normal() * 8f64.to_radians()));
        }
    }
}

/// The left foot turns by 25 degrees about the vertical over the take.
fn foot_turns(motion: &mut Motion) {
    let skeleton = motion.character.skeleton().clone();
    let Some(id) = motion.character.rig.joint(Role::Foot(Side::Left)) else { return };
    for f in 0..motion.clip.frames() {
        let share = f as f64 / motion.clip.frames() as f64;
        let by = exp(&(Vec3::y() * (25f64.to_radians() * share)));
        let above = skeleton.parent(id).map(|p| motion.model_pose(f).joint(p).rotation).unwrap_or_default();
        let own = &mut motion.clip.rotations_mut(f)[id.index()];
        *own = above.inverse() * by * above * *own;
    }
}

/// The body drifts by 3 cm/s in the second half.
fn drifts_in_a_half(motion: &mut Motion) {
    let (half, rate) = (motion.clip.frames() / 2, motion.clip.sample_rate);
    *motion = moved(motion, |f| Vec3::x() * (0.03 * f.saturating_sub(half) as f64 / rate));
}

fn pop(motion: &mut Motion, role: Role, degrees: f64) {
    let f = motion.clip.frames() / 2;
    for j in joints(motion, &[role]) {
        turn(motion, f, j, &(Vec3::x() * degrees.to_radians()));
    }
}

#[test]
fn faults_of_single_joints_are_fixed_where_the_truth_is_known_and_never_made_worse() {
    type Damage = fn(&mut Motion);
    // A damage, its fault, the least number of takes of those damaged that are fixed, and fixed or reported.
    let damages: [(&str, &str, Damage, f64, f64); 15] = [
        ("foot turns by 25 degrees", "drift", foot_turns, 0.0, 0.5),
        ("drift in the second half", "drift", drifts_in_a_half, 0.0, 0.5),
        ("left arm frozen 0.5 s", "frozen", |m| frozen_arm(m, Side::Left), 0.7, 0.8),
        ("right arm frozen 0.5 s", "frozen", |m| frozen_arm(m, Side::Right), 0.5, 0.7),
        ("gap 0.3 s", "gap", |m| gap(m, 0.3), 0.9, 0.9),
        ("zeros for 0.3 s", "gap", |m| zeros(m, 0.3), 0.9, 0.9),
        ("zeros for 1 s", "gap", |m| zeros(m, 1.0), 0.8, 0.8),
        ("first pose for 0.3 s", "gap", |m| first_pose(m, 0.3), 0.4, 0.4),
        ("first pose for 1 s", "gap", |m| first_pose(m, 1.0), 0.3, 0.3),
        ("wrap over 3 frames", "wrap", wrap, 0.5, 0.8),
        ("legs swapped for 0.3 s", "swap", swapped_legs, 0.7, 0.7),
        ("burst of 8 degrees on an arm", "noise", |m| burst(m, 0.5), 0.0, 0.8),
        ("short burst of 8 degrees on an arm", "noise", |m| burst(m, 0.3), 0.0, 0.7),
        ("knee pop of 15 degrees", "spike", |m| pop(m, Role::LowerLeg(Side::Left), 15.0), 0.0, 0.3),
        ("foot pop of 40 degrees", "spike", |m| pop(m, Role::Foot(Side::Left), 40.0), 0.0, 0.4),
    ];
    let (truths, recorded) = (truths(), data().is_some());
    for (name, fault, damage, fixed_share, told_share) in damages {
        let (mut count, mut nearer, mut told) = (0, 0, 0);
        for (take, truth) in &truths {
            let mut bad = truth.clone();
            damage(&mut bad);
            continuous(&mut bad.clip);
            let result = repaired(&bad);
            let [was, is] = [&bad, &result.motion].map(|motion| distance(truth, motion));
            // Nothing was damaged: takes that stand still there, or lack the joint.
            if was < 1e-6 {
                continue;
            }
            let half = truth.clip.frames() / 2;
            let near = |f: &&posemill::report::Finding| {
                f.fault == fault && f.frames[0] <= half + 40 && f.frames[1] + 40 >= half
            };
            let found = result.findings.iter().find(near);
            assert!(is <= was + HARM, "{name}, {take}: {was} cm to {is} cm: {:?}", result.findings);
            // The joints of a limb freeze together: none of them does so alone.
            let frozen = || result.findings.iter().filter(|f| f.fault == "frozen");
            let alone = frozen().any(|f| f.left.as_ref().is_some_and(|why| why.contains("joint alone")));
            assert!(!alone || frozen().all(|f| f.left.is_some()), "{name}, {take}: {:?}", result.findings);
            count += 1;
            nearer += usize::from(is < 0.9 * was);
            told += usize::from(found.is_some());
        }
        assert!(count > 1, "{name}: {count} takes");
        // Shares are those of recorded takes.
        if recorded {
            assert!(nearer as f64 >= fixed_share * count as f64, "{name}: {nearer} of {count} nearer");
            assert!(told as f64 >= told_share * count as f64, "{name}: {told} of {count} told");
        }
    }
}

#[test]
fn quick_hands_at_low_rates_are_reported_and_left() {
    let Some(folder) = crate::development_data::data() else { return };
    for name in ["bvh/assimp/Boxing_Toes.bvh", "bvh/cmu/01_01.bvh", "bvh/mocapbank/test_mocapbank.bvh"] {
        let asset =
            posemill::import::load(folder.join(name), &posemill::import::ImportOptions::default()).unwrap();
        let take = asset.motion(0).unwrap();
        for rate in [30.0f64, 24.0, 20.0] {
            let slow = decimated(&take, ((take.clip.sample_rate / rate).round() as usize).max(1));
            let found = repaired(&slow);
            let noise: Vec<_> = found.findings.iter().filter(|f| f.fault == "noise").collect();
            assert!(noise.iter().all(|f| f.left.is_some()), "{name} at {rate}: {noise:?}");
        }
    }
}

#[test]
fn legs_that_never_move_stand_on_no_known_floor() {
    let truth = &truths()[0].1;
    let mut faces = truth.clone();
    let rest = faces.clip.rotations(0).to_vec();
    let skeleton = truth.character.skeleton().clone();
    let hips: Vec<JointId> =
        joints(truth, &Side::BOTH.map(Role::UpperLeg)).into_iter().map(JointId::new).collect();
    let of_legs = |id: JointId| hips.iter().any(|hip| skeleton.is_ancestor(*hip, id));
    let others: Vec<usize> = skeleton.ids().skip(1).filter(|id| !of_legs(*id)).map(JointId::index).collect();
    for f in 0..faces.clip.frames() {
        faces.clip.rotations_mut(f).copy_from_slice(&rest);
        for j in &others {
            turn(&mut faces, f, *j, &(Vec3::y() * (0.3 * libm::sin(0.1 * f as f64))));
        }
        faces.clip.translations_mut(f)[0] = Vec3::y() * 2.0;
    }
    let found = repaired(&faces);
    assert!(found.motion == faces, "{:?}", found.findings);
}

#[test]
fn a_half_turn_of_the_whole_body_is_left_and_reported() {
    for (name, take) in truths() {
        let character = std::sync::Arc::clone(&take.character);
        let root = character.skeleton().joints().iter().position(|joint| joint.parent.is_none()).unwrap();
        let half = take.clip.frames() / 2;
        let mut cut = take.clone();
        for f in half..take.clip.frames() {
            let by = exp(&(Vec3::y() * std::f64::consts::PI));
            let own = &mut cut.clip.rotations_mut(f)[root];
            *own = by * *own;
        }
        continuous(&mut cut.clip);
        let fixed = repaired(&cut);
        for f in 0..take.clip.frames() {
            let own = &fixed.motion.clip.rotations(f)[root];
            let angle = own.angle_to(&cut.clip.rotations(f)[root]).to_degrees();
            assert!(angle < 90.0, "{name}, frame {f}: turned back by {angle} degrees: {:?}", fixed.findings);
        }
    }
}

/// The take with a joint rotated by half a circle about an axis of its own in these frames.
fn flipped(take: &Motion, role: Role, axis: Vec3, frames: std::ops::Range<usize>) -> Motion {
    let mut bad = take.clone();
    let joint = take.character.rig.joint(role).unwrap().index();
    frames.for_each(|f| turn(&mut bad, f, joint, &(axis * std::f64::consts::PI)));
    continuous(&mut bad.clip);
    bad
}

#[test]
fn hips_that_flip_for_a_moment_are_rotated_back_whichever_way_the_body_faces() {
    for (name, truth) in truths().into_iter().filter(|(name, _)| name == "walk.bvh" || name == "wave.bvh") {
        let hips = truth.character.rig.joint(Role::Hips).unwrap().index();
        for heading in [0.0, 100.0, 180.0_f64] {
            let mut facing = truth.clone();
            for f in 0..facing.clip.frames() {
                let own = &mut facing.clip.rotations_mut(f)[hips];
                *own = exp(&(Vec3::y() * heading.to_radians())) * *own;
            }
            continuous(&mut facing.clip);
            let half = facing.clip.frames() / 2;
            let bad = flipped(&facing, Role::Hips, Vec3::y(), half..half + 10);
            let is = distance(&facing, &repaired(&bad).motion);
            assert!(is < 0.1 * distance(&facing, &bad), "{name} at {heading} degrees: {is} cm");
        }
    }
}

#[test]
fn the_few_flipped_frames_of_a_limb_are_rotated_back_and_not_the_rest_of_the_take() {
    let limbs = [Role::UpperLeg(Side::Right), Role::LowerLeg(Side::Right), Role::UpperArm(Side::Left)];
    for (name, truth) in truths() {
        let half = truth.clip.frames() / 2;
        for (role, axis) in limbs.into_iter().flat_map(|role| [Vec3::x(), Vec3::y()].map(|axis| (role, axis)))
        {
            let bad = flipped(&truth, role, axis, half..half + 6);
            let [was, is] = [&bad, &repaired(&bad).motion].map(|motion| distance(&truth, motion));
            assert!(is < was + HARM, "{name}, {role} about {axis:?}: {was} cm to {is} cm");
        }
    }
}

/// A forearm that flips about its bone in the middle of a quick motion leaves the hand where it is, and so does the repair.
#[test]
fn flips_about_the_bone_in_quick_motion_leave_the_joints_below_where_they_are() {
    let mut fixed = 0;
    for (name, truth) in truths() {
        for side in Side::BOTH {
            let [j, hand] = [Role::LowerArm(side), Role::Hand(side)].map(|role| joints(&truth, &[role])[0]);
            let bone = truth.character.skeleton().joint(JointId::new(hand)).rest.translation.normalize();
            let frames = truth.clip.frames();
            let step = |f: usize| truth.clip.rotations(f)[j].inverse() * truth.clip.rotations(f + 1)[j];
            let change = |f: &usize| step(*f - 1).angle_to(&step(*f)) + step(*f).angle_to(&step(*f + 1));
            let quickest = (frames / 4..frames * 3 / 4).max_by(|a, b| change(a).total_cmp(&change(b)));
            let bad = flipped(&truth, Role::LowerArm(side), bone, quickest.unwrap() + 1..frames);
            let found = repaired(&bad);
            let [was, is] = [&bad, &found.motion].map(|motion| distance(&truth, motion));
            assert!(is < was + HARM, "{name}, {side:?}: {was} cm to {is} cm");
            fixed += found.findings.iter().filter(|f| f.fault == "flip" && f.left.is_none()).count();
        }
    }
    assert!(fixed > 0, "no flip is fixed");
}
