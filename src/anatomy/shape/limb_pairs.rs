//! Selects the two pairs of mirrored branches that are the legs and arms, or forelegs, of one figure.
//!
//! Wings, capes, skirts, ears and control joints are mirrored too. They get lower scores: limbs are long, move skin,
//! have the proportions of limbs, and legs are near the root. Y is up if the file defines it; a lying figure is still
//! detected.

use super::joint_tree::Tree;
use super::limb::TwinLimb;
use super::limb_score::LimbKind;
use super::twins::Twin;
use crate::anatomy::role_weights::Weight;
use crate::math::Vec3;

/// Legs, and arms if any.
pub(super) struct LimbPairs {
    /// Legs, or hind legs.
    pub legs: TwinLimb,
    /// Arms, or forelegs.
    pub arms: Option<TwinLimb>,
}

/// Candidate pairs, the longest first: a body has two that count.
const MOST_TWINS: usize = 12;
/// Cosine of the leg direction against down from which legs stand: required of a body without arms.
const STANDS: f64 = 0.7;

impl LimbPairs {
    /// The best body; `None` without two legs.
    pub fn of(tree: &Tree, twins: &[Twin]) -> Option<LimbPairs> {
        let mut long: Vec<&Twin> = twins.iter().filter(|t| t.paths[0].len() >= 2).collect();
        // A control joint moves no skin.
        long.retain(|t| tree.skin.is_none() || t.skin > 0.0);
        long.sort_by(|a, b| b.length.total_cmp(&a.length));
        long.truncate(MOST_TWINS);
        let longest = long.first()?.length;
        let read = |kind| long.iter().map(move |t| TwinLimb::of(tree, t, kind)).collect::<Vec<_>>();
        let (legs, arms) = (read(LimbKind::Leg), read(LimbKind::Arm));

        let mut best: Option<(f64, usize, Option<usize>)> = None;
        for (i, leg) in legs.iter().enumerate().filter_map(|(i, l)| Some((i, l.as_ref()?))) {
            for (j, arm) in arms.iter().enumerate().filter_map(|(j, a)| Some((j, a.as_ref()?))) {
                let Some(points) = score(tree, leg, arm, longest) else { continue };
                if best.is_none_or(|b| points > b.0) {
                    best = Some((points, i, Some(j)));
                }
            }
        }
        if best.is_none() {
            let upright = |l: &TwinLimb| down(tree, l) > STANDS && l.twin.length > 0.5 * longest;
            let stand = legs.iter().enumerate().filter_map(|(i, l)| Some((i, l.as_ref()?)));
            let legs = stand.filter(|(_, l)| upright(l) && trunk_above(tree, l));
            best = legs
                .map(|(i, l)| (l.points + l.twin.length / longest, i, None))
                .max_by(|a, b| a.0.total_cmp(&b.0));
        }
        let (_, i, j) = best?;
        let body = LimbPairs { legs: legs[i].clone()?, arms: j.and_then(|j| arms[j].clone()) };
        let crowd = |t: &&&Twin| t.parent == body.legs.twin.parent && t.length > 0.7 * body.legs.twin.length;
        let same = body.arms.as_ref().is_some_and(|a| a.twin.parent == body.legs.twin.parent);
        // More than two pairs of legs on one joint are a spider's, and the arms cannot be identified.
        if same && long.iter().filter(crowd).count() > 2 {
            return None;
        }
        Some(body)
    }
}

/// Cosine between the mean direction of the legs and down.
pub(super) fn down(tree: &Tree, limb: &TwinLimb) -> f64 {
    direction(tree, limb).dot(&-Vec3::y())
}

/// The mean direction of both limbs from start to end, unit length.
pub(super) fn direction(tree: &Tree, limb: &TwinLimb) -> Vec3 {
    let along = |s: usize| limb.end_place(tree, s) - tree.at[limb.joint(s, limb.upper)];
    (along(0) + along(1)).try_normalize(1e-12).unwrap_or_default()
}

/// The midpoint of the joints of both sides at index `k`.
pub(super) fn middle(tree: &Tree, limb: &TwinLimb, k: usize) -> Vec3 {
    (tree.at[limb.joint(0, k)] + tree.at[limb.joint(1, k)]) * 0.5
}

/// Whether joints lie above the one where the legs branch.
fn trunk_above(tree: &Tree, legs: &TwinLimb) -> bool {
    let hip = middle(tree, legs, legs.upper);
    let leg = legs.twin.length;
    let inside = |k: usize| (0..2).any(|s| tree.is_below(k, legs.joint(s, 0)));
    let all = (0..tree.at.len()).filter(|&k| tree.is_below(k, legs.twin.parent) && !inside(k));
    all.filter(|&k| (tree.at[k] - hip).y > 0.3 * leg).count() >= 2
}

/// Score of one choice of legs and arms; `None` where they cannot belong to one body.
fn score(tree: &Tree, legs: &TwinLimb, arms: &TwinLimb, longest: f64) -> Option<f64> {
    let (l, a) = (&legs.twin, &arms.twin);
    let overlap =
        |x: &Twin, y: &Twin| (0..2).any(|s| (0..2).any(|t| tree.is_below(x.paths[s][0], y.paths[t][0])));
    if overlap(l, a) || overlap(a, l) {
        return None;
    }
    let same_plane = l.across.dot(&a.across).abs();
    if same_plane < 0.5 {
        return None;
    }
    let mut points = legs.points + arms.points + Weight::SamePlane.value() * same_plane;
    // Wings are long; arms need not be longer than legs.
    points += Weight::LongLimbs.value() * (legs.length + arms.length.min(0.8 * legs.length)) / longest;
    points -= Weight::LimbsDiffer.value() * (libm::log(arms.length / legs.length).abs() - 0.6).max(0.0);
    if tree.skin.is_some() {
        points += Weight::LimbSkin.value() * (l.skin.min(0.25) + a.skin.min(0.25));
    }
    // Skeletons start at the hips: the pair nearer to the root is the legs.
    points += match (tree.is_below(a.parent, l.parent), tree.is_below(l.parent, a.parent)) {
        (true, false) => Weight::LegsAtRoot.value(),
        (false, true) => -Weight::LegsAtRoot.value(),
        _ => 0.0,
    };
    points += Weight::LegsDown.value() * down(tree, legs);
    let (hip, shoulder) = (middle(tree, legs, legs.upper), middle(tree, arms, arms.upper));
    let trunk = shoulder - hip;
    let along = trunk.try_normalize(0.1 * legs.length.max(1e-12))?;
    points += Weight::TrunkUp.value() * (trunk.y / legs.length).clamp(-1.0, 1.0);
    // Legs point away from the trunk or stand under it; arms hang or are level, wings are raised.
    points -= Weight::LegsAlongTrunk.value() * direction(tree, legs).dot(&along).max(0.0);
    points -= Weight::ArmsRaised.value() * direction(tree, arms).dot(&along).max(0.0);
    // Wings and capes are behind the trunk.
    let front = ahead(tree, legs);
    let elbows = middle(tree, arms, arms.lower) - shoulder;
    points -= Weight::ElbowsBehind.value() * (-elbows.dot(&front) / legs.length - 0.03).max(0.0);
    points -= Weight::TrunkBehind.value() * (-trunk.dot(&front) / legs.length - 0.1).max(0.0);
    Some(points)
}

/// Direction of the feet perpendicular to the legs, length at most one; zero without feet.
fn ahead(tree: &Tree, legs: &TwinLimb) -> Vec3 {
    let feet: Vec3 = (0..2).filter_map(|s| legs.foot(tree, s)).sum();
    let legs = direction(tree, legs);
    (feet - legs * feet.dot(&legs)) * 0.5
}
