//! Twin branches become limbs: which of their joints turn at shoulder, elbow and wrist, or at hip, knee and ankle.
//!
//! Every choice of three joints along the branch gets points for what limbs are like: two long bones of about the same
//! length that make up most of the branch, joints between them that lie in line (twist joints), a bend, fingers behind
//! the wrist, a foot that points elsewhere than the shin. The sums act as log-likelihoods; weights are set by hand.

use super::joint_tree::Tree;
use super::twins::Twin;
use crate::math::Vec3;

/// What the limb would be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LimbKind {
    /// Thigh, shin, foot, toes.
    Leg,
    /// Collar bone, upper arm, forearm, hand.
    Arm,
}

/// Twins read as limbs; numbers count along the twins' paths.
#[derive(Clone, Debug)]
pub(super) struct Limb {
    /// The branches.
    pub twin: Twin,
    /// Upper arm or thigh.
    pub upper: usize,
    /// Forearm or shin.
    pub lower: usize,
    /// Hand or foot; `None` where the branch ends before it.
    pub end: Option<usize>,
    /// Hands or feet that hang elsewhere and lie where the branches end, where they end early.
    pub loose: [Option<usize>; 2],
    /// From the first joint to the end, hands and feet that hang elsewhere included.
    pub length: f64,
    /// Points; a limb has more than [`LEAST`].
    pub points: f64,
}

/// Points that a limb has at least. A robot with forearms twice as long as its upper arms has 0.
pub(super) const LEAST: f64 = -3.0;
/// Joints of a branch that are looked at: limbs with all their twist joints have a dozen.
const MOST: usize = 14;

impl Limb {
    /// The best reading of the twins.
    pub fn of(tree: &Tree, twin: &Twin, kind: LimbKind) -> Option<Limb> {
        let n = twin.paths[0].len().min(MOST);
        let mut best: Option<Limb> = None;
        for upper in 0..n {
            for lower in upper + 1..n {
                for end in (lower + 1..n).map(Some).chain([None]) {
                    let Some(points) = points(tree, twin, kind, upper, lower, end) else { continue };
                    if best.as_ref().is_none_or(|b| points > b.points) {
                        best = Some(Limb {
                            twin: twin.clone(),
                            upper,
                            lower,
                            end,
                            loose: [None; 2],
                            length: twin.length,
                            points,
                        });
                    }
                }
            }
        }
        let mut limb = best.filter(|b| b.points > LEAST)?;
        if limb.end.is_none() {
            limb.loose = loose_ends(tree, &limb);
            let lower = limb.joint(0, limb.lower);
            if tree.tip[lower].is_none() {
                limb.length += (limb.end_place(tree, 0) - tree.at[lower]).norm();
            }
        }
        Some(limb)
    }

    /// The same limbs with the other side first.
    pub fn turn_round(&mut self) {
        self.twin.paths.reverse();
        self.twin.across = -self.twin.across;
        self.loose.reverse();
    }

    /// The joint at position `k` of one side's branch.
    pub fn joint(&self, side: usize, k: usize) -> usize {
        self.twin.paths[side][k]
    }

    /// The hand or foot of one side.
    pub fn end_joint(&self, side: usize) -> Option<usize> {
        self.end.map_or(self.loose[side], |k| Some(self.joint(side, k)))
    }

    /// From ankle to toes or tip of one side, as a direction; `None` where the foot ends at the ankle.
    pub fn foot(&self, tree: &Tree, side: usize) -> Option<Vec3> {
        let ankle = self.end_joint(side)?;
        let beyond = self.end.and_then(|end| self.twin.paths[side].get(end + 1));
        let toes = beyond.or(tree.children[ankle].first()).map(|&k| tree.at[k]).or(tree.tip[ankle])?;
        (toes - tree.at[ankle]).try_normalize(1e-12)
    }

    /// Where the lower bone of one side ends: at hand or foot, else at the tip, else where the branch was left.
    pub fn end_place(&self, tree: &Tree, side: usize) -> Vec3 {
        let lower = self.joint(side, self.lower);
        match self.end {
            Some(k) => tree.at[self.joint(side, k)],
            None => tree.tip[lower].or(self.loose[side].map(|k| tree.at[k])).unwrap_or(tree.at[lower]),
        }
    }
}

/// Points for one choice; `None` where there is no second bone.
fn points(
    tree: &Tree,
    twin: &Twin,
    kind: LimbKind,
    upper: usize,
    lower: usize,
    end: Option<usize>,
) -> Option<f64> {
    let sides = [&twin.paths[0], &twin.paths[1]];
    let last = sides[0].len() - 1;
    // Without an end joint the lower bone is the last one, and its tip tells how long it is.
    if end.is_none() && lower != last {
        return None;
    }
    let place = |side: usize, k: usize| tree.at[sides[side][k]];
    let behind = |side: usize| match end {
        Some(k) => Some(place(side, k)),
        None => tree.tip[sides[side][lower]],
    };
    let mean = |f: &dyn Fn(usize) -> f64| 0.5 * (f(0) + f(1));
    let first = mean(&|s| (place(s, lower) - place(s, upper)).norm());
    let second = mean(&|s| behind(s).map_or(0.0, |e| (e - place(s, lower)).norm()));
    let whole = twin.length.max(1e-12);
    if first < 0.05 * whole {
        return None;
    }
    let mut points = 0.0;
    if second > 0.0 {
        if second < 0.05 * whole {
            return None;
        }
        // Upper arms are a little longer than forearms, thighs as long as shins.
        let usual: f64 = if kind == LimbKind::Arm { 1.15 } else { 1.0 };
        let off = libm::log(first / second / usual).abs() / 0.35;
        points -= if off < 2.0 { 0.5 * off * off } else { 2.0 * off - 2.0 };
        points += 4.0 * (first + second) / (whole + mean(&|s| tree.bone[sides[s][0]]).min(0.3 * whole));
    } else if end.is_some() {
        return None;
    } else {
        points += 2.0 * first / whole;
    }

    // What lies between the joints is in line with them, and never bends.
    let between = |from: usize, to: usize| {
        let mut loss = 0.0;
        for k in from + 1..to {
            let aside = |s: usize| {
                let (a, b) = (place(s, from), place(s, to));
                let along = (b - a).try_normalize(1e-12).unwrap_or_default();
                let v = place(s, k) - a;
                (v - along * v.dot(&along)).norm() / (b - a).norm().max(1e-12)
            };
            let bends = mean(&|s| tree.bends(sides[s][k - 1], sides[s][k], sides[s][k + 1]));
            loss += 0.4 + 25.0 * mean(&aside).min(0.12) + 6.0 * bends.min(0.5);
        }
        loss
    };
    points -= between(upper, lower);
    // Rigs twist both bones alike.
    let twists = [lower - upper, end.map_or(1, |end| end - lower)];
    points -= 0.8 * twists[0].abs_diff(twists[1]) as f64;
    if let Some(end) = end {
        points -= between(lower, end);
        let at_rest = mean(&|s| {
            (place(s, lower) - place(s, upper)).angle(&(place(s, end) - place(s, lower))).min(0.35)
        });
        let moving = mean(&|s| tree.bends(sides[s][upper], sides[s][lower], sides[s][end]));
        points += at_rest / 0.35 + 2.0 * moving.min(0.5);
    } else {
        points -= 1.0;
    }

    // What comes before: a collar bone, or a stub at the hip.
    points -= match (kind, upper) {
        (LimbKind::Arm, 1) | (LimbKind::Leg, 0) => 0.0,
        (LimbKind::Arm, 0) => 0.2,
        (LimbKind::Leg, 1) => 0.3,
        (_, n) => (n - 1) as f64,
    };
    if upper > 0 {
        let before = mean(&|s| (1..=upper).map(|k| tree.bone[sides[s][k]]).sum::<f64>());
        let most = if kind == LimbKind::Arm { 0.9 } else { 0.5 };
        points -= 3.0 * (before / first - most).max(0.0);
    }
    let apart = 0.5 * (place(0, upper) - place(1, upper)).norm();
    if kind == LimbKind::Arm && apart < 0.12 * (first + second) {
        points -= 1.5;
    }
    if kind == LimbKind::Leg && apart < 0.02 * (first + second) {
        points -= 2.0;
    }

    // What comes after.
    let Some(end) = end else { return Some(points) };
    let rest = twin.length - mean(&|s| (1..=end).map(|k| tree.bone[sides[s][k]]).sum());
    let (weight, most) = if kind == LimbKind::Arm { (4.0, 0.85) } else { (2.0, 0.75) };
    points -= (weight * (rest / second - most).max(0.0)).min(2.0);
    match kind {
        LimbKind::Arm => {
            let fingers = |s: usize| tree.children[sides[s][end]].len() >= 2;
            points += if fingers(0) && fingers(1) { 1.5 } else { 0.0 };
        }
        LimbKind::Leg => {
            let next = |s: usize| {
                let foot = sides[s][end];
                sides[s].get(end + 1).map(|&k| tree.at[k]).or(tree.tip[foot])
            };
            let turns = |s: usize| {
                let Some(next) = next(s) else { return 0.0 };
                (place(s, end) - place(s, lower)).angle(&(next - place(s, end)))
            };
            points += if mean(&turns) > 0.6 { 1.5 } else { 0.0 };
        }
    }
    Some(points)
}

/// Hands or feet that hang elsewhere, driven by inverse kinematics: at the tips of the branches, else straight on from
/// the last joint, about as far again.
fn loose_ends(tree: &Tree, limb: &Limb) -> [Option<usize>; 2] {
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
                return Some((tree.at[k] - tip).norm() / (0.1 * (tip - lower).norm()).max(1e-12));
            }
            let far = libm::log((on.norm() / first.norm().max(1e-12)).max(1e-9)).abs();
            let beside = on.dot(&limb.twin.across).abs() > 0.5 * own;
            let behind = (tree.at[k] - upper).dot(&first) <= 0.0;
            (far < 0.8 && !beside && !behind).then(|| far + 0.5 * first.angle(&on) - 0.6)
        };
        let best = free.filter_map(|k| Some((miss(k)?, k))).min_by(|a, b| a.0.total_cmp(&b.0));
        best.filter(|b| b.0 < 1.0).map(|b| b.1)
    })
}
