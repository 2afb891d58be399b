//! Proposes fingers for the joints below a hand that have no role, by their number and their order across the palm.
//!
//! Only proposals for people to confirm: what is certain has a role already. Space: model space, reference pose; any unit.

use crate::anatomy::BENDING;
use crate::math::Vec3;
use crate::model::{Finger, JointId, ModelPose, Skeleton};

/// Fewest joints of a branch that is a finger: a branch of one joint is a weapon's grip or a palm bone.
const LEAST: usize = 2;
/// A first bone longer than this multiple of the second is a metacarpal and lies in the palm: phalanges shorten outwards by
/// 1.3 to 1.8, metacarpals of four-jointed chains are at least as long again.
const METACARPAL: f64 = 1.3;

/// The chains of free joints below `hand`, each with the finger it probably is: thumb first, then from index to little.
/// `named` are the fingers of this hand that have roles already.
pub(super) fn digit_order(
    skeleton: &Skeleton,
    pose: &ModelPose,
    hand: JointId,
    free: &dyn Fn(JointId) -> bool,
    named: &[Finger],
) -> Vec<(Finger, Vec<JointId>)> {
    let mut chains = branches(skeleton, hand);
    chains.retain(|c| c.len() >= LEAST && c.iter().all(|&id| free(id)));
    chains.sort_by_key(|c| std::cmp::Reverse(c.len()));
    let open: Vec<Finger> = Finger::ALL.into_iter().filter(|f| !named.contains(f)).collect();
    chains.truncate(open.len());
    let at = |id: JointId| pose.position(id);
    let wrist = at(hand);
    let end = |c: &[JointId]| at(c[c.len() - 1]);
    let mut ordered = Vec::new();
    if open.contains(&Finger::Thumb) && chains.len() + named.len() > 1 {
        // The thumb ends nearest to the wrist and points aside.
        let sum: Vec3 = chains.iter().filter_map(|c| (end(c) - at(c[0])).try_normalize(1e-12)).sum();
        let furthest = chains.iter().map(|c| (end(c) - wrist).norm()).fold(1e-12, f64::max);
        let odd = |c: &Vec<JointId>| {
            let points = (end(c) - at(c[0])).try_normalize(1e-12).unwrap_or_default();
            let others = (sum - points).try_normalize(1e-12).unwrap_or(points);
            points.angle(&others) - ((end(c) - wrist).norm() + (at(c[0]) - wrist).norm()) / furthest
        };
        let thumb = (0..chains.len()).max_by(|&a, &b| odd(&chains[a]).total_cmp(&odd(&chains[b])));
        ordered.extend(thumb.map(|k| chains.remove(k)));
    }
    let knuckles = chains.iter().map(|c| at(c[0])).sum::<Vec3>() / chains.len().max(1) as f64;
    let along = (knuckles - wrist).try_normalize(1e-12).unwrap_or_default();
    let from = ordered.first().map_or_else(|| knuckles + Vec3::z(), |thumb| end(thumb));
    let aside = from - knuckles;
    let across = (aside - along * aside.dot(&along)).try_normalize(1e-12).unwrap_or_default();
    chains.sort_by(|a, b| at(b[0]).dot(&across).total_cmp(&at(a[0]).dot(&across)));
    ordered.extend(chains);
    let bending = ordered.into_iter().map(|chain| bending(chain, pose));
    open.into_iter().zip(bending).collect()
}

/// The branches of the joint where the fingers leave the palm, each along its longest line.
fn branches(skeleton: &Skeleton, hand: JointId) -> Vec<Vec<JointId>> {
    let mut longest = vec![1_usize; skeleton.len()];
    for id in skeleton.ids().rev() {
        if let Some(parent) = skeleton.parent(id) {
            longest[parent.index()] = longest[parent.index()].max(longest[id.index()] + 1);
        }
    }
    let mut palm = hand;
    while let [only] = *skeleton.children(palm) {
        if skeleton.children(only).is_empty() {
            break;
        }
        palm = only;
    }
    let line = |first: &JointId| {
        std::iter::successors(Some(*first), |&id| {
            skeleton.children(id).iter().copied().rev().max_by_key(|c| longest[c.index()])
        })
        .collect()
    };
    skeleton.children(palm).iter().map(line).collect()
}

/// The joints of a chain that bend, without a metacarpal before and a tip behind them.
fn bending(mut chain: Vec<JointId>, pose: &ModelPose) -> Vec<JointId> {
    let bone = |k: usize| (pose.position(chain[k + 1]) - pose.position(chain[k])).norm();
    if chain.len() > BENDING && bone(0) > METACARPAL * bone(1) {
        chain.remove(0);
    }
    chain.truncate(BENDING);
    chain
}
