//! Scores the hypothesis that a left and right pair of branches are arms or legs: how well three of their joints fit shoulder,
//! elbow and wrist, or hip, knee and ankle.
//!
//! Limbs have two long bones of similar length that make up most of the branch, twist joints in line with them, a
//! bend between them, fingers after the wrist, a foot at an angle to the shin. The terms act as log-likelihoods: one
//! point is what a clear feature is worth; the weights are in `role_weights`.

use super::joint_tree::Tree;
use super::twins::Twin;
use crate::anatomy::role_weights::Weight;
use crate::math::Vec3;

/// The kind of a limb.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LimbKind {
    /// Thigh, shin, foot, toes.
    Leg,
    /// Collar bone, upper arm, forearm, hand.
    Arm,
}

/// Shortest bone of a limb, as a share of the branch: shorter ones are stubs and twist segments.
const SHORTEST_BONE: f64 = 0.05;
/// Standard deviation of the logarithm of the ratio of both bones: a robot whose forearms are twice as long as its upper
/// arms is at two deviations.
const RATIO_DEVIATION: f64 = 0.35;
/// Standard deviations from which the penalty of the ratio is linear (Huber's loss), so that one odd limb is not lost.
const HUBER: f64 = 2.0;
/// The bone to the first joint counts for the coverage up to this share of the branch; beyond, it is the offset of a
/// limb that is attached far away.
const COUNTED_OFFSET: f64 = 0.3;
/// Bone lengths up to which that distance counts: an elbow is no further off.
const MOST_OFF_LINE: f64 = 0.12;
/// Radians up to which a bend in the clip counts: half a radian already shows a hinge.
const MOST_FLEXION: f64 = 0.5;
/// Radians (20 degrees) of flexion at rest that give one point, the most: a clear bend; more shows nothing further.
const REST_FLEXION: f64 = 0.35;
/// Most that a long hand or foot costs: a sword or a hoof is no reason to drop a limb.
const MOST_AFTER: f64 = 2.0;
/// Radians (34 degrees) between shin and foot from which the foot is no straight continuation of the shin.
const FOOT_ANGLE: f64 = 0.6;

/// What differs between arms and legs.
struct Proportions {
    /// Usual length of the upper bone, in lower bones: upper arms are a little longer than forearms, thighs as long as
    /// shins.
    ratio: f64,
    /// Length of the bones before the limb, in upper bones, that is still usual: collar bones are longer than hip stubs.
    before: f64,
    /// Distance of both limbs from the middle, in lengths of both bones, below which they are too near: shoulders are
    /// wide, hips narrow.
    apart: f64,
    /// Penalty of limbs that are too near.
    too_near: f64,
    /// Length beyond the limb, in lower bones, that is still usual: fingers reach further than toes.
    after: f64,
    /// Penalty per lower bone length beyond that.
    long_after: f64,
}

/// Arms.
const ARM: Proportions =
    Proportions { ratio: 1.15, before: 0.9, apart: 0.12, too_near: 1.5, after: 0.85, long_after: 4.0 };
/// Legs.
const LEG: Proportions =
    Proportions { ratio: 1.0, before: 0.5, apart: 0.02, too_near: 2.0, after: 0.75, long_after: 2.0 };

/// Twin branches read as a limb.
struct LimbReading<'a> {
    tree: &'a Tree,
    twin: &'a Twin,
    kind: LimbKind,
    usual: &'static Proportions,
    upper: usize,
    lower: usize,
    end: Option<usize>,
    /// Lengths of the upper and the lower bone, mean of both sides; the lower is 0 where its end is unknown.
    bones: [f64; 2],
}

/// The score of `upper`, `lower` and `end` (indices into the twins' paths) as a limb; `None` where a bone is missing.
pub(super) fn score(
    tree: &Tree,
    twin: &Twin,
    kind: LimbKind,
    upper: usize,
    lower: usize,
    end: Option<usize>,
) -> Option<f64> {
    // Without an end joint the lower bone is the last one, and its tip defines its length.
    if end.is_none() && lower != twin.paths[0].len() - 1 {
        return None;
    }
    let usual = if kind == LimbKind::Arm { &ARM } else { &LEG };
    let mut reading = LimbReading { tree, twin, kind, usual, upper, lower, end, bones: [0.0; 2] };
    let behind = |side: usize| match end {
        Some(k) => Some(reading.at(side, k)),
        None => tree.tip[twin.paths[side][lower]],
    };
    let first = mean(|s| (reading.at(s, lower) - reading.at(s, upper)).norm());
    let second = mean(|s| behind(s).map_or(0.0, |e| (e - reading.at(s, lower)).norm()));
    reading.bones = [first, second];
    let lengths = reading.lengths()?;
    let terms = lengths.into_iter().chain(reading.joints()).chain(reading.before()).chain(reading.after());
    Some(terms.fold(0.0, |sum, term| sum + term))
}

/// The mean of both sides.
fn mean(of_side: impl Fn(usize) -> f64) -> f64 {
    0.5 * (of_side(0) + of_side(1))
}

impl LimbReading<'_> {
    fn at(&self, side: usize, k: usize) -> Vec3 {
        self.tree.at[self.twin.paths[side][k]]
    }

    /// Terms of the ratio of the bones and their share of the branch; `None` where a bone is too short.
    fn lengths(&self) -> Option<[f64; 2]> {
        let [first, second] = self.bones;
        let whole = self.twin.length.max(1e-12);
        if first < SHORTEST_BONE * whole {
            return None;
        }
        if second > 0.0 {
            if second < SHORTEST_BONE * whole {
                return None;
            }
            let off = libm::log(first / second / self.usual.ratio).abs() / RATIO_DEVIATION;
            let loss = if off < HUBER { 0.5 * off * off } else { HUBER * off - 0.5 * HUBER * HUBER };
            let offset = mean(|s| self.tree.bone[self.twin.paths[s][0]]).min(COUNTED_OFFSET * whole);
            Some([-loss, Weight::Coverage.value() * (first + second) / (whole + offset)])
        } else if self.end.is_some() {
            None
        } else {
            Some([Weight::UpperCoverage.value() * first / whole, 0.0])
        }
    }

    /// Terms of the joints inside both bones, and of the bend between them.
    fn joints(&self) -> [f64; 4] {
        let (upper, lower) = (self.upper, self.lower);
        let twists = [lower - upper, self.end.map_or(1, |end| end - lower)];
        let unequal = Weight::UnequalTwists.value() * twists[0].abs_diff(twists[1]) as f64;
        let inside = -self.inside(upper, lower);
        let Some(end) = self.end else { return [inside, -unequal, -Weight::NoEnd.value(), 0.0] };
        let rest_angle = mean(|s| {
            let shin = self.at(s, end) - self.at(s, lower);
            (self.at(s, lower) - self.at(s, upper)).angle(&shin).min(REST_FLEXION)
        });
        let paths = &self.twin.paths;
        let flexion = mean(|s| self.tree.flexion(paths[s][upper], paths[s][lower], paths[s][end]));
        let hinge = rest_angle / REST_FLEXION + Weight::HingeBends.value() * flexion.min(MOST_FLEXION);
        [inside, -unequal, -self.inside(lower, end), hinge]
    }

    /// The penalty of the joints inside a bone: they are in line with it and never bend.
    fn inside(&self, from: usize, to: usize) -> f64 {
        let mut loss = 0.0;
        for k in from + 1..to {
            let aside = |s: usize| {
                let (a, b) = (self.at(s, from), self.at(s, to));
                let along = (b - a).try_normalize(1e-12).unwrap_or_default();
                let v = self.at(s, k) - a;
                (v - along * v.dot(&along)).norm() / (b - a).norm().max(1e-12)
            };
            let flexion = mean(|s| {
                let path = &self.twin.paths[s];
                self.tree.flexion(path[k - 1], path[k], path[k + 1])
            });
            loss += Weight::TwistJoint.value()
                + Weight::OffLine.value() * mean(aside).min(MOST_OFF_LINE)
                + Weight::TwistJointBends.value() * flexion.min(MOST_FLEXION);
        }
        loss
    }

    /// Terms of what precedes the limb (a collar bone, or a stub at the hip), and of the distance of both limbs.
    fn before(&self) -> [f64; 3] {
        let [first, second] = self.bones;
        let count = match (self.kind, self.upper) {
            (LimbKind::Arm, 1) | (LimbKind::Leg, 0) => 0.0,
            (LimbKind::Arm, 0) => Weight::NoCollar.value(),
            (LimbKind::Leg, 1) => Weight::HipStub.value(),
            // One point for each joint before the limb that no body has.
            (_, n) => (n - 1) as f64,
        };
        let mut long = 0.0;
        if self.upper > 0 {
            let before = mean(|s| (1..=self.upper).map(|k| self.tree.bone[self.twin.paths[s][k]]).sum());
            long = Weight::LongBefore.value() * (before / first - self.usual.before).max(0.0);
        }
        let apart = 0.5 * (self.at(0, self.upper) - self.at(1, self.upper)).norm();
        let near = if apart < self.usual.apart * (first + second) { self.usual.too_near } else { 0.0 };
        [-count, -long, -near]
    }

    /// Terms of what follows the limb: fingers, or a foot at an angle to the shin.
    fn after(&self) -> [f64; 2] {
        let Some(end) = self.end else { return [0.0; 2] };
        let (tree, paths) = (self.tree, &self.twin.paths);
        let rest = self.twin.length - mean(|s| (1..=end).map(|k| tree.bone[paths[s][k]]).sum());
        let excess = (rest / self.bones[1] - self.usual.after).max(0.0);
        let long = (self.usual.long_after * excess).min(MOST_AFTER);
        let feature = match self.kind {
            LimbKind::Arm => {
                let fingers = |s: usize| tree.children[paths[s][end]].len() >= 2;
                if fingers(0) && fingers(1) { Weight::Fingers.value() } else { 0.0 }
            }
            LimbKind::Leg => {
                let next = |s: usize| {
                    let foot = paths[s][end];
                    paths[s].get(end + 1).map(|&k| tree.at[k]).or(tree.tip[foot])
                };
                let angle = |s: usize| {
                    let Some(next) = next(s) else { return 0.0 };
                    (self.at(s, end) - self.at(s, self.lower)).angle(&(next - self.at(s, end)))
                };
                if mean(angle) > FOOT_ANGLE { Weight::Foot.value() } else { 0.0 }
            }
        };
        [-long, feature]
    }
}
