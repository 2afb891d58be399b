//! Fits hands and feet, and the share of the hand's rotation that the forearm takes.
//!
//! Space: Y up; rotations relative to the T-pose. Units: metres, radians, seconds.

use super::bone_directions::{about, axes, differences, median_length, swung, unit};
use super::bone_twist::{TwistEvidence, TwistProblem};
use super::limbs::{ARM, BALANCED, FittedLimb, Sampling};
use super::noise_filter::LOWEST;
use super::point_tracks::{PointTracks, velocities};
use crate::math::{DEGREE, Quat, Vec3, percentile, slerp, weighted_quantile};
use crate::model::Side;

/// Uncertainty of the hand's rotation about the forearm, radians.
const HAND: f64 = 6.0 * DEGREE;
/// Half the width of a hand: noise over it is an angle. Metres.
const HAND_WIDTH: f64 = 0.04;
/// Weight of no rotation of the forearm.
const NEUTRAL: f64 = 0.5;
/// Range of the forearm's rotation, radians.
const REACH: f64 = 100.0 * DEGREE;
/// Share of the hand's rotation about the forearm that the forearm takes: skins then twist less at the wrist.
const SHARE: f64 = 0.5;
/// How level a foot without toes is on the ground, and the height at which that has fallen to a third, metres.
const LEVEL: (f64, f64) = (0.8, 0.15);
/// Slope of a resting foot without frames that rest, degrees.
const USUAL_SLOPE: f64 = 25.0;
/// Quantile of the slopes of resting feet that is that of the T-pose: raised heels are steeper.
const FLAT: f64 = 0.25;
/// Least weight of resting frames, seconds.
const RESTING: f64 = 0.1;
/// A foot rests below this height (metres), vertical speed (m/s) and change of direction (1/s).
const REST: (f64, f64, f64) = (0.1, 0.13, 1.0);

/// Whether points of fingers show the rotation of a hand about the forearm.
pub(super) fn has_fingers(points: &PointTracks, side: Side) -> bool {
    let has = |part| points.of(side, part).is_some();
    has("index") && has("pinky") || has("hand") && has("thumb")
}

/// The rotations of a hand. Rotates the forearm of `arm` by its share of them, where they are measured.
pub(super) fn hand(side: Side, points: &PointTracks, arm: &mut FittedLimb, by: Sampling) -> Vec<Quat> {
    let k = side.sign();
    let (wrist, rest) = (points.joint(side, "wrist"), ARM.bone(side));
    let pair = |a, b| Some((points.of(side, a)?, points.of(side, b)?));
    let frames = points.frames;
    let hand: Vec<Quat> = if let Some((index, pinky)) = pair("index", "pinky") {
        let one = |f: usize| {
            let along = ((index[f] + pinky[f]) * 0.5 - wrist[f]) * k;
            axes(along, (index[f] - pinky[f]).cross(&along))
        };
        (0..frames).map(one).collect()
    } else if let Some((tip, thumb)) = pair("hand", "thumb") {
        let one = |f: usize| {
            let along = (tip[f] - wrist[f]) * k;
            axes(along, (thumb[f] - wrist[f]).cross(&along))
        };
        (0..frames).map(one).collect()
    } else if let Some(tip) = points.of(side, "hand") {
        let directions = differences(tip, wrist).map(unit);
        return arm.lower.iter().zip(directions).map(|(q, d)| swung(q, &rest, &d)).collect();
    } else {
        return arm.lower.clone();
    };
    let angle = |f: usize| {
        let aligned = swung(&hand[f], &rest, &arm.lower_bone[f]);
        let y = arm.lower[f].inverse() * aligned * Vec3::y();
        libm::atan2(y.z, y.y)
    };
    let scale = by.dt * BALANCED;
    let noise = by.noise / HAND_WIDTH;
    let evidence = [TwistEvidence {
        angles: (0..frames).map(angle).collect(),
        weights: vec![scale / (HAND * HAND + noise * noise); frames],
    }];
    let problem = TwistProblem {
        evidence: &evidence,
        transport: &vec![0.0; frames - 1],
        neutral: &vec![0.0; frames],
        neutral_weight: NEUTRAL * scale,
        reach: REACH,
        dt: by.dt,
        noise: 0.0,
    };
    for ((q, bone), angle) in arm.lower.iter_mut().zip(&arm.lower_bone).zip(problem.solve()) {
        *q = about(&(bone * k), angle * SHARE) * *q;
    }
    hand
}

/// Rotations of both feet, and for feet with toes the vectors from the ankles to them.
pub(super) struct Feet {
    pub(super) rotations: [Vec<Quat>; 2],
    pub(super) toes: Option<[Vec<Vec3>; 2]>,
}

/// Height over the lowest positions of the track, metres.
fn heights(track: &[Vec3]) -> Vec<f64> {
    let all: Vec<f64> = track.iter().map(|p| p.y).collect();
    let low = percentile(&all, LOWEST);
    all.iter().map(|y| y - low).collect()
}

/// Fits both feet.
pub(super) fn feet(points: &PointTracks, legs: [&FittedLimb; 2], dt: f64) -> Feet {
    let toes = Side::BOTH.map(|side| points.toes(side));
    let ankles = Side::BOTH.map(|side| points.joint(side, "ankle"));
    let [Some(left), Some(right)] = toes else {
        return Feet { rotations: [0, 1].map(|k| level(ankles[k], legs[k])), toes: None };
    };
    let toes = [left, right];
    let lengths = [0, 1].map(|k| median_length(differences(&toes[k], ankles[k])));
    let ahead: [Vec<Vec3>; 2] = [0, 1].map(|k| differences(&toes[k], ankles[k]).map(unit).collect());
    let (mut slopes, mut weights) = (Vec::new(), Vec::new());
    for k in [0, 1] {
        let (speeds, changes) = (velocities(ankles[k], dt), velocities(&ahead[k], dt));
        for (f, height) in heights(ankles[k]).into_iter().enumerate() {
            slopes.push(libm::asin((-ahead[k][f].y).clamp(-1.0, 1.0)));
            let terms = [height / REST.0, speeds[f].y / REST.1, changes[f].norm() / REST.2];
            weights.push(libm::exp(-terms.iter().map(|t| t * t).sum::<f64>()));
        }
    }
    let rests = weights.iter().sum::<f64>() * dt > RESTING;
    let slope = if rests { weighted_quantile(&slopes, &weights, FLAT) } else { USUAL_SLOPE * DEGREE };
    let (sin, cos) = libm::sincos(slope);
    let rest = axes(Vec3::new(0.0, -sin, cos), Vec3::x()).inverse();
    let rotations = [0, 1].map(|k| {
        let one = |(q, ahead): (&Quat, &Vec3)| axes(*ahead, q * Vec3::x()) * rest;
        legs[k].lower.iter().zip(&ahead[k]).map(one).collect()
    });
    let toes = [0, 1].map(|k| ahead[k].iter().map(|a| a * lengths[k]).collect());
    Feet { rotations, toes: Some(toes) }
}

/// A foot without toes: square to the shin in the air, level on the ground.
fn level(ankle: &[Vec3], leg: &FittedLimb) -> Vec<Quat> {
    let one = |(q, height): (&Quat, f64)| {
        let left = q * Vec3::x();
        let level = axes(Vec3::new(left.x, 0.0, left.z), Vec3::y());
        let over = height.max(0.0) / LEVEL.1;
        slerp(q, &level, LEVEL.0 * libm::exp(-over * over))
    };
    leg.lower.iter().zip(heights(ankle)).map(one).collect()
}
