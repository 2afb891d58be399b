//! Reads twin branches as limbs: which of their joints are shoulder, elbow and wrist, or hip, knee and ankle.
//!
//! Every choice of three joints along the branch is scored ([`score`]), and the best one wins.

use super::joint_tree::Tree;
use super::limb_score::{LimbKind, score};
use super::twins::Twin;
use crate::math::Vec3;

/// Twin branches read as two limbs; `upper`, `lower` and `end` are indices into the twins' paths.
#[derive(Clone, Debug)]
pub(super) struct TwinLimb {
    /// The branches.
    pub twin: Twin,
    /// Upper arm or thigh.
    pub upper: usize,
    /// Forearm or shin.
    pub lower: usize,
    /// Hand or foot; `None` where the branch ends before it.
    pub end: Option<usize>,
    /// Hands or feet elsewhere in the tree, at the ends of branches that end early.
    pub loose: [Option<usize>; 2],
    /// Length from the first joint to the end, loose hands and feet included.
    pub length: f64,
    /// Score; that of a limb exceeds [`LEAST`].
    pub points: f64,
}

/// Least score of a limb. A robot with forearms twice as long as its upper arms has 0.
pub(super) const LEAST: f64 = -3.0;
/// Joints of a branch that are tried: limbs with all their twist joints have a dozen.
const MOST: usize = 14;

impl TwinLimb {
    /// The best reading of the twins.
    pub fn of(tree: &Tree, twin: &Twin, kind: LimbKind) -> Option<TwinLimb> {
        let n = twin.paths[0].len().min(MOST);
        let mut best: Option<(f64, usize, usize, Option<usize>)> = None;
        for upper in 0..n {
            for lower in upper + 1..n {
                for end in (lower + 1..n).map(Some).chain([None]) {
                    let Some(points) = score(tree, twin, kind, upper, lower, end) else { continue };
                    if best.is_none_or(|b| points > b.0) {
                        best = Some((points, upper, lower, end));
                    }
                }
            }
        }
        let (points, upper, lower, end) = best.filter(|b| b.0 > LEAST)?;
        let (twin, length) = (twin.clone(), twin.length);
        let mut limb = TwinLimb { twin, upper, lower, end, loose: [None; 2], length, points };
        if limb.end.is_none() {
            limb.loose = loose_ends(tree, &limb);
            let lower = limb.joint(0, limb.lower);
            if tree.tip[lower].is_none() {
                limb.length += (limb.end_place(tree, 0) - tree.at[lower]).norm();
            }
        }
        Some(limb)
    }

    /// Exchanges the sides.
    pub fn exchange_sides(&mut self) {
        self.twin.paths.reverse();
        self.twin.across = -self.twin.across;
        self.loose.reverse();
    }

    /// The joint at index `k` of one side's branch.
    pub fn joint(&self, side: usize, k: usize) -> usize {
        self.twin.paths[side][k]
    }

    /// The hand or foot of one side.
    pub fn end_joint(&self, side: usize) -> Option<usize> {
        self.end.map_or(self.loose[side], |k| Some(self.joint(side, k)))
    }

    /// Unit vector from ankle to toes or tip of one side; `None` where the foot ends at the ankle. Joints without skin are
    /// no toes of a character with skin.
    pub fn foot(&self, tree: &Tree, side: usize) -> Option<Vec3> {
        let ankle = self.end_joint(side)?;
        let toes = self.toes(tree, side, ankle).map(|k| tree.at[k]).or(tree.tip[ankle])?;
        (toes - tree.at[ankle]).try_normalize(1e-12)
    }

    /// Whether only a joint without skin shows where the foot of one side points.
    pub fn foot_is_bare(&self, tree: &Tree, side: usize) -> bool {
        self.end_joint(side)
            .is_some_and(|ankle| self.toes(tree, side, ankle).is_none() && tree.bare_tip[ankle])
    }

    /// The joint after the ankle.
    fn toes(&self, tree: &Tree, side: usize, ankle: usize) -> Option<usize> {
        let beyond = self.end.and_then(|end| self.twin.paths[side].get(end + 1).copied());
        let with_skin = |k: &usize| tree.has_skin(*k);
        beyond.filter(with_skin).or_else(|| tree.children[ankle].iter().copied().find(with_skin))
    }

    /// The end of the lower bone of one side: hand or foot, else the tip, else the loose end, else its own joint.
    pub fn end_place(&self, tree: &Tree, side: usize) -> Vec3 {
        let lower = self.joint(side, self.lower);
        match self.end {
            Some(k) => tree.at[self.joint(side, k)],
            None => tree.tip[lower].or(self.loose[side].map(|k| tree.at[k])).unwrap_or(tree.at[lower]),
        }
    }
}

/// Largest distance of a loose hand or foot from the tip of the branch, in lengths of the lower bone.
const AT_TIP: f64 = 0.1;
/// Logarithm of the ratio of both bones (a factor of 2.2) up to which a loose end is accepted without a tip.
const BONES_DIFFER: f64 = 0.8;
/// Share of the distance from the middle that a loose end may move sideways from the last joint: no crossed limbs.
const SIDEWAYS: f64 = 0.5;
/// Cost per radian that the lower bone deviates from the upper one, in units of that logarithm.
const DEVIATION: f64 = 0.5;
/// A straight lower bone of equal length costs minus this, so that costs below 1 are accepted as for tips.
const ALLOWED: f64 = 0.6;

/// Hands or feet elsewhere in the tree, as rigs with inverse kinematics have them: at the tips of the branches, else
/// straight on from the last joint, about as far again.
fn loose_ends(tree: &Tree, limb: &TwinLimb) -> [Option<usize>; 2] {
    let apart = tree.at[limb.joint(0, limb.lower)] - tree.at[limb.joint(1, limb.lower)];
    let own = 0.5 * apart.dot(&limb.twin.across).abs();
    [0, 1].map(|s| {
        let (upper, lower) = (tree.at[limb.joint(s, limb.upper)], tree.at[limb.joint(s, limb.lower)]);
        let first = lower - upper;
        let free = (1..tree.at.len()).filter(|&k| {
            let inside = limb.twin.paths.iter().any(|p| tree.is_below(k, p[0]));
            !inside && !tree.bare[k] && tree.skin.as_ref().is_none_or(|s| s[k] > 0.0)
        });
        let miss = |k: usize| {
            let on = tree.at[k] - lower;
            if let Some(tip) = tree.tip[limb.joint(s, limb.lower)] {
                return Some((tree.at[k] - tip).norm() / (AT_TIP * (tip - lower).norm()).max(1e-12));
            }
            let far = libm::log((on.norm() / first.norm().max(1e-12)).max(1e-9)).abs();
            let crossed = on.dot(&limb.twin.across).abs() > SIDEWAYS * own;
            let behind = (tree.at[k] - upper).dot(&first) <= 0.0;
            (far < BONES_DIFFER && !crossed && !behind).then(|| far + DEVIATION * first.angle(&on) - ALLOWED)
        };
        let best = free.filter_map(|k| Some((miss(k)?, k))).min_by(|a, b| a.0.total_cmp(&b.0));
        best.filter(|b| b.0 < 1.0).map(|b| b.1)
    })
}
