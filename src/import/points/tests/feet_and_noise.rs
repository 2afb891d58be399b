//! Distance of joints from the true points, speed of resting ankles and shaking, on captured takes with noise.

use super::arrayed_takes::{ArrayedTake, takes};
use super::figure::{Figure, Points, poses, read};
use crate::development_data::data;
use crate::export::npy::{ArrayRate, PointArrayOptions, write};
use crate::import::points::noise_filter::filtered;
use crate::import::{ImportOptions, load};
use crate::math::{Vec3, median, percentile};
use crate::model::{Role, Side};
use crate::report::Warnings;
use rayon::prelude::*;

/// True speed below which an ankle rests, m/s.
const RESTS: f64 = 0.05;

/// What one take shows; distances in metres, speeds in m/s.
#[derive(Default)]
struct NoiseFigures {
    joints: Vec<f64>,
    ankles: Vec<f64>,
    /// Of resting ankles: the array, filtered without the rest term, fitted.
    resting: [Vec<f64>; 3],
    /// Of wrists and ankles against the truth: fitted, array.
    jerk: [Vec<f64>; 2],
}

/// The joints of a fit and their points in a layout of 22.
fn joints(side: Option<Side>) -> Vec<(Role, &'static str)> {
    match side {
        None => vec![(Role::Neck(0), "neck"), (Role::Head, "head"), (Role::Spine(0), "spine1")],
        Some(side) => vec![
            (Role::Clavicle(side), "collar"),
            (Role::UpperArm(side), "shoulder"),
            (Role::LowerArm(side), "elbow"),
            (Role::Hand(side), "wrist"),
            (Role::UpperLeg(side), "hip"),
            (Role::LowerLeg(side), "knee"),
            (Role::Foot(side), "ankle"),
            (Role::Toes(side), "toe"),
        ],
    }
}

fn distances(a: &[Vec3], b: &[Vec3]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| (a - b).norm()).collect()
}

/// The median of the third differences.
fn jerk(track: &[Vec3]) -> f64 {
    let third = track.windows(4).map(|w| (w[3] - w[2] * 3.0 + w[1] * 3.0 - w[0]).norm());
    median(third.collect())
}

fn figures(take: &ArrayedTake) -> NoiseFigures {
    let asset = take.fitted();
    let (motion, poses) = poses(&asset);
    let found = |role| -> Vec<Vec3> {
        let id = motion.character.rig.joint(role).unwrap();
        poses.iter().map(|pose| pose.position(id)).collect()
    };
    let noisy = take.tracks();
    let plain = filtered(take.tracks(), 1.0 / take.rate, false).points;
    let mut all = NoiseFigures::default();
    for side in [None, Some(Side::Left), Some(Side::Right)] {
        for (role, part) in joints(side) {
            let (found, truth) = (found(role), take.true_track(side, part).unwrap());
            all.joints.extend(distances(&found, &truth));
            let Some(side) = side.filter(|_| ["ankle", "wrist"].contains(&part)) else { continue };
            let array = noisy.joint(side, part);
            let usual = jerk(&truth).max(1e-9);
            all.jerk[0].push(jerk(&found) / usual);
            all.jerk[1].push(jerk(array) / usual);
            if part == "wrist" {
                continue;
            }
            all.ankles.extend(distances(&found, &truth));
            let speed = |track: &[Vec3], f: usize| (track[f + 1] - track[f]).norm() * take.rate;
            for f in (0..truth.len() - 1).filter(|f| speed(&truth, *f) < RESTS) {
                for (list, track) in all.resting.iter_mut().zip([array, plain.joint(side, part), &found[..]])
                {
                    list.push(speed(track, f));
                }
            }
        }
    }
    all
}

/// A walk with arms that swing about the elbow three times a second.
fn fast_walk(rate: f64) -> Points {
    let elbow = |time: f64| 1.0 + 0.9 * (19.0 * time).sin();
    Figure { frames: (6.0 * rate) as usize, rate, yaw: |time| 0.8 * (5.0 * time).sin(), elbow }.points()
}

#[test]
fn fast_motion_at_a_low_rate_is_not_taken_for_noise() {
    for rate in [10.0, 12.5, 15.0, 20.0, 24.0, 30.0] {
        let points = fast_walk(rate);
        let asset = points.fitted();
        assert!(!asset.warnings.has("points-filtered"), "{rate} Hz");
        let (motion, poses) = poses(&asset);
        let wrist = motion.character.rig.joint(Role::Hand(Side::Left)).unwrap();
        for (pose, frame) in poses.iter().zip(&points.frames) {
            let off = (pose.position(wrist) - frame[20]).norm();
            assert!(off < 2e-3, "{rate} Hz: {off}");
        }
    }
}

#[test]
fn noise_is_removed_at_every_rate_and_that_is_reported() {
    for rate in [10.0, 15.0, 20.0, 30.0, 60.0] {
        let asset = fast_walk(rate).with_noise(0.01).fitted();
        let said = asset.warnings.iter().find(|w| w.code == "points-filtered").map(|w| w.message.clone());
        let said = said.unwrap_or_else(|| panic!("{rate} Hz"));
        let noise: f64 =
            said.split_once("noise of ").unwrap().1.split_once(" mm").unwrap().0.parse().unwrap();
        assert!((8.0..12.5).contains(&noise), "{rate} Hz: {said}");
    }
}

/// Captured takes at low rates are as they were: what the filter moved there was motion.
#[test]
fn captured_takes_without_noise_stay_at_every_rate() {
    let Some(folder) = data().map(|d| d.join("bvh")) else { return };
    for name in ["assimp/Boxing_Toes.bvh", "fair1/dab.bvh", "cmu/jumping_jacks.bvh"] {
        let asset = load(folder.join(name), &ImportOptions::default()).unwrap();
        let take = asset.motion(0).unwrap();
        for rate in [10.0, 12.5, 15.0, 20.0] {
            let options = PointArrayOptions { rate: ArrayRate::Hz(rate), ..PointArrayOptions::default() };
            let found = read(&write(&take, &options, &mut Warnings::new()).unwrap(), "humanml3d", rate);
            assert!(!found.warnings.has("points-filtered"), "{name} at {rate} Hz");
        }
    }
}

/// Limits of a row: joints median and 90 %, ankles (m), resting ankles 95 % (m/s), jerk median and 90 %.
type RowLimits = [f64; 6];

#[test]
fn feet_stand_and_nothing_shakes() {
    let takes = takes("humanml3d");
    if takes.is_empty() {
        return;
    }
    // Joints and ankles: those of the method's own table (27 takes). Resting ankles and shaking: what its prototype has on these ten.
    let rows: [(f64, RowLimits); 4] = [
        (0.0, [1.0e-3, 4.8e-3, 0.25e-3, 0.046, 1.02, 1.02]),
        (0.002, [2.9e-3, 7.3e-3, 2.4e-3, 0.050, 1.15, 3.7]),
        (0.005, [6.0e-3, 11e-3, 4.4e-3, 0.079, 1.1, 3.7]),
        (0.01, [9.8e-3, 18e-3, 6.9e-3, 0.112, 1.0, 3.6]),
    ];
    eprintln!(
        "joints, ankle in mm | resting ankle in cm/s: array, without rest term, this | jerk: this, array"
    );
    for (noise, limits) in rows {
        let all: Vec<NoiseFigures> =
            takes.par_iter().map(|take| figures(&take.clone().noisy(noise))).collect();
        let mean = |of: &dyn Fn(&NoiseFigures) -> f64| all.iter().map(of).sum::<f64>() / all.len() as f64;
        let joints = (
            median(all.iter().map(|a| median(a.joints.clone())).collect()),
            mean(&|a| percentile(&a.joints, 0.9)),
        );
        let ankle = median(all.iter().map(|a| median(a.ankles.clone())).collect());
        let resting = [0, 1, 2].map(|k| {
            let speeds: Vec<f64> = all.iter().flat_map(|a| a.resting[k].iter().copied()).collect();
            percentile(&speeds, 0.95)
        });
        let jerk = [0, 1].map(|k| {
            let ratios: Vec<f64> = all.iter().flat_map(|a| a.jerk[k].iter().copied()).collect();
            (percentile(&ratios, 0.5), percentile(&ratios, 0.9))
        });
        eprintln!(
            "{} mm: {:.1} / {:.1}, {:.1} | {:.1}, {:.1}, {:.1} | {:.2} / {:.2}, {:.1} / {:.1}",
            noise * 1e3,
            joints.0 * 1e3,
            joints.1 * 1e3,
            ankle * 1e3,
            resting[0] * 100.0,
            resting[1] * 100.0,
            resting[2] * 100.0,
            jerk[0].0,
            jerk[0].1,
            jerk[1].0,
            jerk[1].1
        );
        let found = [joints.0, joints.1, ankle, resting[2], jerk[0].0, jerk[0].1];
        for (k, (found, limit)) in found.into_iter().zip(limits).enumerate() {
            assert!(found <= limit, "{noise} m, column {k}: {found}");
        }
    }
}
