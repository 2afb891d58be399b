//! Hands of a crawl: those that rest on the floor in the take rest on it on bodies of other proportions, and no others move.

use super::helpers::shipped;
use super::posed::{changed, moved, pointed, position, take, transfer};
use posemill::math::{Quat, Vec3, angle_between, exp, smoothstep};
use posemill::model::{Clip, Motion, Role, Side};

/// Frames per second.
const RATE: f64 = 60.0;
/// The time of a stance and of a swing, seconds.
const TIMES: [f64; 2] = [0.6, 0.4];
/// How far the body travels in a stance, metres.
const STRIDE: f64 = 0.22;
/// Pitch of the trunk with which hands are as low as knees, radians.
const PITCH: f64 = 1.31;
/// Angle of upper arms and forearms to the line from shoulder to hand, radians.
const BEND: f64 = 0.3;

/// Whether a hand rests on the floor in a frame, and how far ahead of its shoulder it is.
fn hand(side: Side, f: usize) -> (bool, f64) {
    let period = TIMES[0] + TIMES[1];
    let shift = if side == Side::Left { 0.0 } else { 0.5 * period };
    let time = (f as f64 / RATE + shift).rem_euclid(period);
    match time < TIMES[0] {
        true => (true, STRIDE * (0.5 - time / TIMES[0])),
        false => (false, STRIDE * (smoothstep((time - TIMES[0]) / TIMES[1]) - 0.5)),
    }
}

/// A body that crawls on hands and knees along Z, whose arms rotate about their shoulders.
fn crawl() -> Motion {
    let mut still = take("walk.bvh").part(0..1);
    still.clip.sample_rate = RATE;
    let (frames, clip) = (180, &still.clip);
    let rotations = clip.all_rotations().repeat(frames);
    let translations = clip.all_translations().repeat(frames);
    let clip = Clip::new("crawl", RATE, clip.joints(), rotations, clip.translated().to_vec(), translations);
    let still = Motion::new(std::sync::Arc::clone(&still.character), clip);
    let about = position(&still, 0, Role::Hips);
    let pitched = moved(&still, |_| (exp(&(Vec3::x() * PITCH)), about, 0.0));
    let kneeling = pointed(&pitched, [Role::UpperLeg, Role::LowerLeg], -Vec3::y());
    let kneeling = pointed(&kneeling, [Role::LowerLeg, Role::Foot], -Vec3::z());
    let kneeling = pointed(&kneeling, [Role::Foot, Role::Toes], -Vec3::z());
    let upper =
        pointed(&kneeling, [Role::UpperArm, Role::LowerArm], Vec3::new(0.0, -BEND.cos(), -BEND.sin()));
    let pitched = pointed(&upper, [Role::LowerArm, Role::Hand], Vec3::new(0.0, -BEND.cos(), BEND.sin()));
    let rig = &still.character.rig;
    let joint = |role: Role| rig.joint(role).unwrap();
    let arm = (position(&pitched, 0, Role::UpperArm(Side::Left))
        - position(&pitched, 0, Role::Hand(Side::Left)))
    .norm();
    let crawling = changed(&pitched, |f, pose| {
        let model = pitched.model_pose(f);
        for side in Side::BOTH {
            let own = model.joint(joint(Role::UpperArm(side))).rotation;
            let ahead = -(hand(side, f).1 / arm).asin();
            let rotation = exp(&(own.inverse() * Vec3::x() * ahead));
            pose.local_mut()[joint(Role::UpperArm(side)).index()].rotation *= rotation;
            // Hands stay flat on the floor.
            let hand = model.joint(joint(Role::Hand(side))).rotation;
            pose.local_mut()[joint(Role::Hand(side)).index()].rotation *=
                exp(&(hand.inverse() * Vec3::x() * -ahead));
        }
        pose.local_mut()[joint(Role::Hips).index()].translation.z += STRIDE / TIMES[0] * f as f64 / RATE;
    });
    let lowest = position(&crawling, 0, Role::LowerLeg(Side::Left)).y - 0.05;
    moved(&crawling, |_| (Quat::identity(), Vec3::zeros(), -lowest))
}

/// The largest distance over the ground between two positions of a hand in one stance, without its first and last frames, metres.
fn slide(motion: &Motion) -> f64 {
    let mut most = 0.0_f64;
    for side in Side::BOTH {
        let mut stance: Vec<Vec3> = Vec::new();
        for f in 0..motion.clip.frames() - 2 {
            match (-2..=2).all(|k| f as i32 + k >= 0 && hand(side, (f as i32 + k) as usize).0) {
                true => stance.push(position(motion, f, Role::Hand(side))),
                false => stance.clear(),
            }
            let far = |at: &Vec3| (at - stance.last().unwrap()).xz().norm();
            most = stance.iter().map(far).fold(most, f64::max);
        }
    }
    most
}

/// The largest change of the direction of an upper arm or a forearm from one frame to the next, radians.
fn largest_step(motion: &Motion) -> f64 {
    let bones = |f: usize| {
        Side::BOTH.map(|side| {
            let [a, b, c] = [Role::UpperArm(side), Role::LowerArm(side), Role::Hand(side)]
                .map(|role| position(motion, f, role));
            [b - a, c - b]
        })
    };
    let step = |f: usize| {
        let (a, b) = (bones(f - 1), bones(f));
        a.iter().flatten().zip(b.iter().flatten()).map(|(a, b)| angle_between(a, b)).fold(0.0, f64::max)
    };
    (1..motion.clip.frames()).map(step).fold(0.0, f64::max)
}

#[test]
fn hands_that_rest_on_the_floor_in_a_crawl_rest_on_it_on_other_bodies() {
    let crawl = crawl();
    assert!(slide(&crawl) < 0.001, "{}", slide(&crawl));
    for (file, least) in [("robot.glb", 0.02), ("tailed.glb", 0.0), ("mannequin.glb", 0.0)] {
        let transfer = transfer(&crawl, &shipped(file).character);
        let [direct, result] = [transfer.direct_transfer(&crawl), transfer.apply(&crawl)];
        assert!(slide(&direct) > least, "{file}: {} m without", slide(&direct));
        assert!(slide(&result) < 0.01, "{file}: {} m, {} m without", slide(&result), slide(&direct));
        let [before, after] = [&direct, &result].map(largest_step);
        assert!(after < 1.25 * before + 0.01, "{file}: {after} instead of {before} radians in a frame");
    }
}

#[test]
fn arms_of_takes_without_hands_on_the_floor_are_those_of_the_direct_transfer() {
    for file in ["walk.bvh", "turn.bvh", "wave.bvh", "jump.bvh"] {
        let (take, target) = (take(file), shipped("robot.glb").character);
        let transfer = transfer(&take, &target);
        let [direct, result] = [transfer.direct_transfer(&take), transfer.apply(&take)];
        let joints = Side::BOTH.map(|side| target.rig.joint(Role::LowerArm(side)).unwrap());
        for f in 0..take.clip.frames() {
            let of_arms = |motion: &Motion| joints.map(|joint| motion.clip.rotations(f)[joint.index()]);
            let [a, b] = [&direct, &result].map(of_arms);
            assert!(a.iter().zip(&b).all(|(a, b)| a.angle_to(b) < 1e-12), "{file}, frame {f}");
        }
    }
}
