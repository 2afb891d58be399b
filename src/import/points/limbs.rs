//! Fits arms and legs: directions of the two bones with constant lengths, and the rotation about the upper one.
//!
//! Lengths are medians over the frames and both sides. Directions: both bones nearest to the points, wrists and ankles three
//! times as important as elbows and knees, so that contacts stay. The rotation about the upper bone is measured by the plane in
//! which the joint bends (it bends one way) and, for legs, by the direction of the foot; `bone_twist` solves it over all frames.
//!
//! Space: Y up; rotations relative to the T-pose. Units: metres, radians, seconds.

use super::bone_directions::{about, differences, median_length, swung, unit};
use super::bone_twist::{TwistEvidence, TwistProblem};
use super::point_tracks::PointTracks;
use super::trunk::Trunk;
use crate::anatomy::BodyPoint;
use crate::math::{DEGREE, Quat, Vec3, angle_between, arc};
use crate::model::Side;

/// Importance of wrist and ankle relative to elbow and knee.
const END: f64 = 3.0;
/// Rounds of the fit of both bones; it has converged to a tenth of a millimetre.
const ROUNDS: usize = 12;
/// Uncertainty of a bend axis that is seen well, radians: elbows and knees are no perfect hinges.
const HINGE: f64 = 4.0 * DEGREE;
/// Noise of a bend axis, relative to the noise of the points over the length of the shorter bone. The filter takes away a part of it and
/// leaves the same error to neighbouring frames, so that it counts more than one of each frame alone; at 1.2 straight arms jump.
const GAIN: f64 = 2.0;
/// Weight of the bend of an arm with a filled point, relative to a seen one. With gaps of 2 to 11 frames in every point, arms jump in 0.6 of
/// 1,000 frames at 1, in none at 0.3 and 0.1, and errors are 1 degree smaller; at 0 they are as at 1.
const FILLED: f64 = 0.3;
/// Variance of the bend axis above which it has no weight, rad^2: 70 degrees.
const UNKNOWN: f64 = 1.5;
/// Uncertainty of the rotation that the foot shows, radians.
const FOOT: f64 = 14.0 * DEGREE;
/// Uncertainty against which frames count that show how far the feet point outwards, radians.
const FOOT_LEARNED: f64 = 15.0 * DEGREE;
/// The largest angle by which feet point outwards, radians: 29 degrees.
const OUTWARDS: f64 = 0.5;
/// Least time with a bent knee from which that angle is learned, seconds.
const LEARNING: f64 = 0.3;
/// Least length of a foot's axis across the thigh, as a sine.
const ACROSS: f64 = 0.3;
/// Frames per second for which the weights of evidence hold; at other rates they are scaled.
pub(super) const BALANCED: f64 = 30.0;
/// Share of the time with evidence below which the rotation about the bone is reported as a guess.
const UNSURE: f64 = 0.05;

/// The properties of arms and legs.
pub(super) struct LimbParts {
    parts: [&'static str; 3],
    /// Angle by which limbs of real captures bend the wrong way for long stretches, radians.
    hyper: f64,
    /// The neutral rotation, degrees: a constant and factors of the bone's direction in the parent.
    neutral: [f64; 4],
    neutral_weight: f64,
    /// Range about neutral without a penalty, radians. Measured, 1 to 99 %: arms -89 to 71 degrees, thighs -47 to 20.
    reach: f64,
}

/// Arms. Neutral: fitted on captured people; 12 degrees for an arm that hangs.
pub(super) const ARM: LimbParts = LimbParts {
    parts: ["shoulder", "elbow", "wrist"],
    hyper: 5.0 * DEGREE,
    neutral: [-23.0, -15.0, -35.0, -6.0],
    neutral_weight: 1.5,
    reach: 100.0 * DEGREE,
};
/// Legs. Neutral: fitted on captured people.
pub(super) const LEG: LimbParts = LimbParts {
    parts: ["hip", "knee", "ankle"],
    hyper: 4.0 * DEGREE,
    neutral: [-4.0, -20.0, 0.0, 0.0],
    neutral_weight: 8.0,
    reach: 50.0 * DEGREE,
};

impl LimbParts {
    pub(super) fn is_arm(&self) -> bool {
        self.parts[0] == "shoulder"
    }

    /// The bones in the T-pose.
    pub(super) fn bone(&self, side: Side) -> Vec3 {
        if self.is_arm() { Vec3::x() * side.sign() } else { -Vec3::y() }
    }

    /// The axis in the T-pose about which the joint bends.
    fn hinge(&self, side: Side) -> Vec3 {
        if self.is_arm() { -Vec3::y() * side.sign() } else { Vec3::x() }
    }

    /// Lengths of the two bones.
    pub(super) fn lengths(&self, points: &PointTracks) -> [f64; 2] {
        let length = |k: usize| {
            let of = |side| {
                let (a, b) = (points.joint(side, self.parts[k]), points.joint(side, self.parts[k + 1]));
                median_length(differences(b, a))
            };
            Side::BOTH.into_iter().map(of).sum::<f64>() * 0.5
        };
        [length(0), length(1)]
    }
}

/// A fitted limb.
pub(super) struct FittedLimb {
    pub(super) upper: Vec<Quat>,
    pub(super) lower: Vec<Quat>,
    /// Directions of the lower bone.
    pub(super) lower_bone: Vec<Vec3>,
    /// The share of frames in which the rotation about the upper bone is measured.
    pub(super) seen: f64,
    /// The largest bend in radians, if it shows nothing of the rotation about the upper bone.
    pub(super) unsure: Option<f64>,
}

/// Noise of the array, seconds per frame, and the frames in which points were filled.
#[derive(Clone, Copy)]
pub(super) struct Sampling<'a> {
    pub(super) noise: f64,
    pub(super) dt: f64,
    pub(super) filled: &'a [(BodyPoint, Vec<bool>)],
}

impl Sampling<'_> {
    /// Whether a point of the limb was filled in a frame.
    fn is_filled(&self, kind: &LimbParts, side: Side, frame: usize) -> bool {
        let of_limb = |point: &BodyPoint| point.side == Some(side) && kind.parts.contains(&point.part);
        self.filled.iter().any(|(point, frames)| of_limb(point) && frames[frame])
    }
}

/// Fits one limb.
pub(super) fn fit(
    kind: &LimbParts,
    side: Side,
    points: &PointTracks,
    trunk: &Trunk,
    by: Sampling,
) -> FittedLimb {
    let [start, middle, end] = kind.parts.map(|part| points.joint(side, part));
    let lengths = kind.lengths(points);
    let from_hips: Vec<Vec3> = (trunk.hips.iter().zip(&trunk.hips_at))
        .map(|(q, at)| at + q * trunk.hip_joints[usize::from(side == Side::Right)])
        .collect();
    let (start, parent) = match kind.is_arm() {
        true => (start, &trunk.chest),
        false => (&from_hips[..], &trunk.hips),
    };
    let bones = |f: usize| two_bones(start[f], middle[f], end[f], lengths);
    let (upper_bone, lower_bone): (Vec<Vec3>, Vec<Vec3>) = (0..points.frames).map(bones).unzip();
    let ahead = points.toes(side).filter(|_| !kind.is_arm());
    let ahead: Option<Vec<Vec3>> = ahead.map(|toes| differences(&toes, end).map(unit).collect());
    let bend = Bend { kind, side, parent, upper: &upper_bone, lower: &lower_bone, by };
    let (upper, seen) = bend.upper_rotations(lengths, ahead.as_deref());
    let rest = kind.bone(side);
    let lower = upper.iter().zip(&lower_bone).map(|(q, v)| swung(q, &rest, v)).collect();
    let largest = upper_bone.iter().zip(&lower_bone).map(|(u, v)| angle_between(u, v)).fold(0.0, f64::max);
    FittedLimb { upper, lower, lower_bone, seen, unsure: (seen < UNSURE).then_some(largest) }
}

/// Directions of two bones from `start`, nearest to the points.
fn two_bones(start: Vec3, middle: Vec3, end: Vec3, lengths: [f64; 2]) -> (Vec3, Vec3) {
    let mut u = unit(middle - start);
    for _ in 0..ROUNDS {
        let v = unit(end - (start + u * lengths[0]));
        u = unit((middle - start) + (end - v * lengths[1] - start) * END);
    }
    let v = unit(end - (start + u * lengths[0]));
    // Points that coincide give no direction.
    let down = |d: Vec3| if d == Vec3::zeros() { -Vec3::y() } else { d };
    (down(u), down(v))
}

/// A limb whose bones are known and whose rotation about the upper bone is not.
struct Bend<'a> {
    kind: &'a LimbParts,
    side: Side,
    parent: &'a [Quat],
    upper: &'a [Vec3],
    lower: &'a [Vec3],
    by: Sampling<'a>,
}

impl Bend<'_> {
    /// The rotations of the upper segment, and the share of frames with evidence.
    fn upper_rotations(&self, lengths: [f64; 2], ahead: Option<&[Vec3]>) -> (Vec<Quat>, f64) {
        let (bone, hinge) = (self.kind.bone(self.side), self.kind.hinge(self.side));
        let local: Vec<Vec3> =
            (self.parent.iter().zip(self.upper)).map(|(q, u)| q.inverse_transform_vector(u)).collect();
        let swings: Vec<Quat> = local.iter().map(|u| arc(&bone, u, &hinge)).collect();
        let references: Vec<Quat> = self.parent.iter().zip(&swings).map(|(p, q)| p * q).collect();
        let angle = |f: usize, v: &Vec3| {
            let zero = references[f] * hinge;
            libm::atan2(v.dot(&self.upper[f].cross(&zero)), v.dot(&zero))
        };
        let scale = self.by.dt * BALANCED;
        let noise = GAIN * self.by.noise / lengths[0].min(lengths[1]).max(1e-3);
        let spread = noise * noise + libm::sin(self.kind.hyper).powi(2);
        let axis = |f: usize| self.upper[f].cross(&self.lower[f]);
        let bend = |f: usize| {
            let variance = HINGE * HINGE + spread / axis(f).norm().max(1e-4).powi(2);
            let filled = self.kind.is_arm() && self.by.is_filled(self.kind, self.side, f);
            let weight = if filled { scale * FILLED } else { scale };
            if variance > UNKNOWN { 0.0 } else { weight / variance }
        };
        let frames = self.upper.len();
        let weights: Vec<f64> = (0..frames).map(bend).collect();
        let neutral_weight = self.kind.neutral_weight * scale;
        let mut seen = weights.iter().filter(|w| **w > neutral_weight).count();
        let angles: Vec<f64> = (0..frames).map(|f| angle(f, &axis(f))).collect();
        let mut evidence = vec![TwistEvidence { angles, weights }];
        if let Some(ahead) = ahead {
            let found = self.foot_evidence(ahead, &evidence[0], angle);
            seen = seen.max(found.weights.iter().filter(|w| **w > 0.0).count());
            evidence.push(found);
        }
        let across = bone.cross(&hinge);
        let transported = |f: usize| {
            let transported = swings[f + 1].inverse() * arc(&local[f], &local[f + 1], &hinge) * swings[f];
            let moved = transported * hinge;
            libm::atan2(moved.dot(&across), moved.dot(&hinge))
        };
        let transport: Vec<f64> = (0..frames - 1).map(transported).collect();
        let [constant, x, y, z] = self.kind.neutral;
        let k = self.side.sign();
        let neutral: Vec<f64> =
            local.iter().map(|d| k * DEGREE * (constant + x * k * d.x + y * d.y + z * d.z)).collect();
        let problem = TwistProblem {
            evidence: &evidence,
            transport: &transport,
            neutral: &neutral,
            neutral_weight,
            reach: self.kind.reach,
            dt: self.by.dt,
            noise: self.by.noise,
        };
        let solved = problem.solve();
        let rotations = (0..frames).map(|f| about(&self.upper[f], solved[f]) * references[f]);
        (rotations.collect(), seen as f64 / frames as f64)
    }

    /// What the foot shows: the axis across shin and foot. The constant angle by which feet point outwards is learned from the frames
    /// in which the knee bends.
    fn foot_evidence(
        &self,
        ahead: &[Vec3],
        bend: &TwistEvidence,
        angle: impl Fn(usize, &Vec3) -> f64,
    ) -> TwistEvidence {
        let scale = self.by.dt * BALANCED;
        let mut found = TwistEvidence { angles: Vec::new(), weights: Vec::new() };
        let (mut sin, mut cos, mut total) = (0.0, 0.0, 0.0);
        for (f, ahead) in ahead.iter().enumerate() {
            let across = (-self.lower[f]).cross(ahead);
            let across = across - self.upper[f] * across.dot(&self.upper[f]);
            let usable = across.norm() > ACROSS;
            found.angles.push(angle(f, &across));
            found.weights.push(if usable { scale / (FOOT * FOOT) } else { 0.0 });
            if usable && bend.weights[f] > 0.0 {
                let weight = bend.weights[f] / (bend.weights[f] + scale / (FOOT_LEARNED * FOOT_LEARNED));
                let (s, c) = libm::sincos(bend.angles[f] - found.angles[f]);
                (sin, cos, total) = (sin + weight * s, cos + weight * c, total + weight);
            }
        }
        if total * self.by.dt > LEARNING {
            let outwards = libm::atan2(sin, cos).clamp(-OUTWARDS, OUTWARDS);
            found.angles.iter_mut().for_each(|angle| *angle += outwards);
        }
        found
    }
}
