//! Faults that are reported and left, and pieces of clean takes in which none of them is found.

use super::{data, decimated, motions, repaired, take, truths, words};
use crate::damages::{continuous, distance, moved};
use crate::humanoids::TAKES;
use posemill::math::{Quat, Transform, Vec3, exp};
use posemill::model::{Clip, JointId, Motion, Pose, Role, Side};
use posemill::report::Finding;
use std::sync::Arc;

#[test]
fn a_glitch_of_one_frame_is_reported_in_joints_that_move_fast() {
    for (name, truth) in truths() {
        let Some(knee) = truth.character.rig.joint(Role::LowerLeg(Side::Left)) else { continue };
        let frame = truth.clip.frames() / 2;
        let mut bad = truth.clone();
        bad.clip.rotations_mut(frame)[knee.index()] *= exp(&(Vec3::x() * 15f64.to_radians()));
        continuous(&mut bad.clip);
        let found = repaired(&bad);
        let knee = &truth.character.skeleton().joint(knee).name;
        let told = found
            .findings
            .iter()
            .any(|f| f.fault == "spike" && f.joint.as_ref() == Some(knee) && f.frames == [frame, frame + 1]);
        assert!(told && found.motion == bad, "{name}: {:?}", words(&found));
    }
}

fn off_path(finding: &Finding) -> bool {
    finding.left.as_ref().is_some_and(|why| why.contains("off the path"))
}

#[test]
fn the_kinks_of_short_hand_made_clips_are_no_glitches() {
    let Some(folder) = data() else { return };
    for name in ["gltf/kaykit/Med_MovementBasic.glb", "gltf/quaternius/Mech_Finn_draco.glb"] {
        for motion in motions(&folder.join(name)) {
            let found = repaired(&motion).findings;
            assert!(!found.iter().any(off_path), "{name} {}: {found:?}", motion.clip.name);
        }
    }
}

/// The take with a path that drifts by 3 cm/s sideways in these frames.
fn drifting(truth: &Motion, frames: std::ops::Range<usize>) -> Motion {
    let rate = truth.clip.sample_rate;
    let since = |f: usize| f.clamp(frames.start, frames.end) - frames.start;
    moved(truth, |f| Vec3::x() * (0.03 * since(f) as f64 / rate))
}

#[test]
fn a_drift_in_a_part_of_the_take_is_reported_where_feet_roll() {
    let Some(folder) = data() else { return };
    for name in ["bvh/cmu/01_01.bvh", "bvh/fair1/zombie.bvh"] {
        let truth = take(&folder.join(name));
        let frames = truth.clip.frames();
        for part in [0..frames / 2, frames / 2..frames] {
            let bad = drifting(&truth, part.clone());
            let found = repaired(&bad);
            let drift = found.findings.iter().find(|f| f.fault == "drift").expect(name);
            assert!(drift.left.is_some() && found.motion == bad, "{name}: {drift:?}");
            let near = [part.start, part.end].map(|f| f as f64 / frames as f64);
            let is = drift.frames.map(|f| f as f64 / frames as f64);
            assert!(near.iter().zip(&is).all(|(a, b)| (a - b).abs() < 0.16), "{name}: {is:?} for {near:?}");
        }
    }
}

/// The take of a capture whose floor is inclined: the whole take is rotated by this vector.
fn inclined(truth: &Motion, by: Vec3) -> Motion {
    let by = Transform::from_rotation(exp(&by));
    let mut bad = truth.clone();
    for f in 0..truth.clip.frames() {
        let root = by * Transform::new(truth.clip.rotations(f)[0], truth.clip.translations(f)[0]);
        bad.clip.rotations_mut(f)[0] = root.rotation;
        bad.clip.translations_mut(f)[0] = root.translation;
    }
    continuous(&mut bad.clip);
    bad
}

/// The take on a ramp that rises by these slopes along X and Z: the body is upright, and each leg is moved up as its foot.
fn on_ramp(truth: &Motion, slope: [f64; 2]) -> Motion {
    let (skeleton, rig) = (truth.character.skeleton(), &truth.character.rig);
    let height = |p: Vec3| slope[0] * p.x + slope[1] * p.z;
    let pose = |f: usize| {
        let (mut pose, model) = (truth.clip.pose(skeleton, f), truth.model_pose(f));
        let body = height(model.joint(JointId::new(0)).translation);
        pose.local_mut()[0].translation += Vec3::y() * body;
        for side in Side::BOTH {
            let [leg, foot] = [Role::UpperLeg(side), Role::Foot(side)].map(|role| rig.joint(role).unwrap());
            let above = skeleton.parent(leg).map_or(Quat::identity(), |parent| model.joint(parent).rotation);
            let up = Vec3::y() * (height(model.position(foot)) - body);
            pose.local_mut()[leg.index()].translation += above.inverse() * up;
        }
        pose
    };
    let poses: Vec<Pose> = (0..truth.clip.frames()).map(pose).collect();
    let clip = Clip::from_poses(&truth.clip.name, truth.clip.sample_rate, skeleton, &poses);
    Motion::new(Arc::clone(&truth.character), clip)
}

const WALKS: [&str; 3] =
    ["bvh/cmu/01_01.bvh", "bvh/fair1/zombie.bvh", "bvh/pymo/AV_8Walk_Meredith_HVHA_Rep1.bvh"];

#[test]
fn a_tilted_capture_is_levelled_where_the_body_leans_with_its_floor() {
    let Some(folder) = data() else { return };
    for (name, degrees) in WALKS.into_iter().flat_map(|name| [3.0, 4.0, 10.0, 20.0].map(|d| (name, d))) {
        let truth = take(&folder.join(name));
        // Along the longer side of its path.
        let path: Vec<Vec3> = (0..truth.clip.frames()).map(|f| truth.clip.translations(f)[0]).collect();
        let extent = |of: fn(&Vec3) -> f64| {
            let range = |(low, high): (f64, f64), p: &Vec3| (low.min(of(p)), high.max(of(p)));
            let (low, high) = path.iter().fold((f64::INFINITY, f64::NEG_INFINITY), range);
            high - low
        };
        let along_x = extent(|p| p.x) > extent(|p| p.z);
        let slope = libm::tan(f64::to_radians(degrees));
        let about = if along_x { Vec3::z() } else { -Vec3::x() };
        let bad = inclined(&truth, about * f64::to_radians(degrees));
        let found = repaired(&bad);
        let [was, is] = [&bad, &found.motion].map(|motion| distance(&truth, motion));
        assert!(is < 0.6 * was, "{name} {degrees}: {was} cm to {is} cm: {:?}", words(&found));
        // On a ramp of the same slope the body is upright.
        let ramp = on_ramp(&truth, if along_x { [slope, 0.0] } else { [0.0, slope] });
        let found = repaired(&ramp);
        assert!(found.motion == ramp, "{name} {degrees}: {:?}", words(&found));
        let slopes = |f: &Finding| f.fault == "tilt" || f.fault == "vertical_drift";
        assert!(degrees > 6.0 || found.findings.iter().any(slopes), "{name} {degrees} is reported");
    }
}

/// The feet of one that falls on its back rest at several heights.
#[test]
fn a_body_that_falls_and_lies_is_on_no_tilted_floor() {
    let Some(folder) = data() else { return };
    for motion in motions(&folder.join("gltf/kaykit/Med_General.glb")) {
        let found = repaired(&motion).findings;
        assert!(found.iter().all(|f| f.fault != "tilt"), "{}: {found:?}", motion.clip.name);
    }
}

#[test]
fn a_straight_walk_up_a_slight_ramp_is_no_drift_where_its_feet_roll() {
    let Some(folder) = data() else { return };
    let truth = take(&folder.join("bvh/bvh-toolbox/walk01.bvh"));
    for slope in [0.0175, 0.035] {
        let ramp = on_ramp(&truth, [0.0, slope]);
        let found = repaired(&ramp);
        assert!(found.motion == ramp, "{slope}: {:?}", words(&found));
        assert!(found.findings.iter().any(|f| f.fault == "vertical_drift"), "{slope} is reported");
    }
}

#[test]
fn a_floor_that_is_inclined_is_reported_where_the_body_travels() {
    let Some(folder) = data() else { return };
    for name in ["bvh/fair1/dab.bvh", "bvh/pymo/AV_8Walk_Meredith_HVHA_Rep1.bvh"] {
        let found = repaired(&inclined(&take(&folder.join(name)), Vec3::z() * f64::to_radians(2.0)));
        let tilt = found.findings.iter().find(|f| f.fault == "tilt").expect(name);
        assert!((1.2..2.8).contains(&tilt.before), "{name}: {tilt:?}");
    }
}

#[test]
fn pieces_of_clean_takes_have_no_glitch_no_drift_and_no_inclined_floor() {
    let Some(folder) = data() else { return };
    let (mut tried, mut told) = (0, Vec::new());
    for name in TAKES {
        let truth = take(&folder.join(name));
        let rate = truth.clip.sample_rate;
        let mut steps = [1.0, rate / 60.0, rate / 30.0].map(|step| step.round().max(1.0) as usize).to_vec();
        steps.dedup();
        for step in steps {
            let slow = decimated(&truth, step);
            let frames = slow.clip.frames();
            let pieces = (1..=3).flat_map(|n| (0..n).map(move |k| k * frames / n..(k + 1) * frames / n));
            for piece in pieces.filter(|piece| piece.len() >= 20) {
                let found = repaired(&slow.part(piece.clone())).findings;
                // A foot that its performer turns and leaves so looks like one that drifts.
                let drifts = |f: &Finding| f.fault == "drift" && f.joint.is_none();
                let new = found.into_iter().filter(|f| off_path(f) || f.fault == "tilt" || drifts(f));
                told.extend(new.map(|f| (*name, step, piece.clone(), f.fault, f.joint, f.before)));
                tried += 1;
            }
        }
    }
    assert!(told.is_empty() && tried > 60, "{tried} pieces: {told:#?}");
}
