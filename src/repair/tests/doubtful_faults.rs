//! Faults that are reported and left, and pieces of clean takes in which none of them is found.

use super::{data, decimated, motions, repaired, take, truths, words};
use crate::damages::{continuous, moved};
use crate::humanoids::TAKES;
use posemill::math::{Transform, Vec3, exp};
use posemill::model::{Motion, Role, Side};
use posemill::report::Finding;

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

/// The take on a floor that is inclined by so many degrees.
fn inclined(truth: &Motion, degrees: f64) -> Motion {
    let by = Transform::from_rotation(exp(&(Vec3::z() * degrees.to_radians())));
    let mut bad = truth.clone();
    for f in 0..truth.clip.frames() {
        let root = by * Transform::new(truth.clip.rotations(f)[0], truth.clip.translations(f)[0]);
        bad.clip.rotations_mut(f)[0] = root.rotation;
        bad.clip.translations_mut(f)[0] = root.translation;
    }
    continuous(&mut bad.clip);
    bad
}

#[test]
fn a_floor_that_is_inclined_is_reported_where_the_body_travels() {
    let Some(folder) = data() else { return };
    for name in ["bvh/fair1/dab.bvh", "bvh/pymo/AV_8Walk_Meredith_HVHA_Rep1.bvh"] {
        let found = repaired(&inclined(&take(&folder.join(name)), 2.0));
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
