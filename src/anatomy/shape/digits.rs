//! Identifies the fingers of a hand by their number, order across the palm, and the thumb's base and direction.
//!
//! Space and units: those of the tree.

use super::joint_tree::Tree;
use crate::anatomy::fingers::{BENDING, NEAR_WRIST};
use crate::math::Vec3;
use crate::model::Finger;

/// A finger, and its joints from the knuckle outwards.
pub(super) type Digit = (Finger, Vec<usize>);

/// The fingers of `hand`, thumb first, and the unit vector from the knuckles to the thumb. For a paw, whose thumb has
/// no characteristic position, `other` is the position of the other paw.
pub(super) fn digits(tree: &Tree, hand: usize, other: Option<Vec3>) -> (Vec<Digit>, Vec3) {
    // Palm bones may lie between the wrist and the joint where the fingers branch.
    let mut palm = hand;
    while let [only] = tree.children[palm][..]
        && !tree.children[only].is_empty()
    {
        palm = only;
    }
    let wrist = tree.at[palm];
    let all: Vec<Vec<usize>> = tree.branches(palm).iter().map(|&c| tree.outwards(c).collect()).collect();
    // Branches much shorter than the others are palm bones or helpers.
    let most = all.iter().map(Vec::len).max().unwrap_or(0);
    let mut chains: Vec<Vec<usize>> = all.into_iter().filter(|c| c.len() * 2 >= most.min(4)).collect();
    // A sword is longer than fingers.
    let mut far: Vec<f64> = chains.iter().map(|c| tree.bone[c[0]] + tree.reach[c[0]]).collect();
    far.sort_by(f64::total_cmp);
    if let Some(usual) = far.get(far.len().saturating_sub(1) / 2).filter(|_| far.len() > 2) {
        chains.retain(|c| tree.bone[c[0]] + tree.reach[c[0]] <= 1.8 * usual);
    }
    if chains.len() < 2 || chains.len() > 5 {
        return (Vec::new(), Vec3::zeros());
    }
    drop_tips(tree, tree.at[hand], &mut chains);
    // Three or more branches that start at one position start with a stub.
    let near =
        |a: &Vec<usize>, b: &Vec<usize>| (tree.at[a[0]] - tree.at[b[0]]).norm() < 0.02 * tree.reach[palm];
    let stubs = chains.iter().any(|a| chains.iter().filter(|b| near(a, b)).count() >= 3);
    let mut chains: Vec<Vec<usize>> =
        chains.into_iter().map(|c| bending(tree, c, tree.at[hand], stubs)).collect();
    if let Some(other) = other {
        let far = |c: &Vec<usize>| (tree.at[c[0]] - other).norm();
        chains.sort_by(|a, b| far(a).total_cmp(&far(b)));
        let fingers = if chains.len() < 5 { &Finger::ALL[1..] } else { &Finger::ALL[..] };
        return (fingers.iter().copied().zip(chains).collect(), Vec3::zeros());
    }
    let end = |c: &[usize]| {
        let last = c[c.len() - 1];
        tree.tip[last].unwrap_or(tree.at[last])
    };
    let points = |c: &[usize]| (end(c) - tree.at[c[0]]).try_normalize(1e-12).unwrap_or_default();
    // The thumb starts near the wrist, ends early and points aside.
    let reach: Vec<f64> = chains.iter().map(|c| (tree.at[c[c.len() - 1]] - wrist).norm()).collect();
    let longest = reach.iter().copied().fold(0.0, f64::max).max(1e-12);
    let sum: Vec3 = chains.iter().map(|c| points(c)).sum();
    let odd = |k: usize| {
        let others = (sum - points(&chains[k])).try_normalize(1e-12).unwrap_or_default();
        let base = (tree.at[chains[k][0]] - wrist).norm() / longest;
        points(&chains[k]).angle(&others) - reach[k] / longest - base
    };
    let Some(k) = (0..chains.len()).max_by(|&a, &b| odd(a).total_cmp(&odd(b))) else {
        return (Vec::new(), Vec3::zeros());
    };
    let thumb = chains.remove(k);
    let knuckles = chains.iter().map(|c| tree.at[c[0]]).sum::<Vec3>() / chains.len() as f64;
    let along = (knuckles - wrist).try_normalize(1e-12).unwrap_or_default();
    let last = thumb[thumb.len() - 1];
    let aside = if thumb.len() > 1 && tree.bare_tip[last] { tree.at[last] } else { end(&thumb) } - knuckles;
    let across = (aside - along * aside.dot(&along)).try_normalize(1e-12).unwrap_or_default();
    // From the thumb to the little finger.
    chains.sort_by(|a, b| tree.at[b[0]].dot(&across).total_cmp(&tree.at[a[0]].dot(&across)));
    let fingers = if chains.len() == 1 { &[Finger::Middle][..] } else { &Finger::ALL[1..] };
    let mut found = vec![(Finger::Thumb, thumb)];
    found.extend(fingers.iter().copied().zip(chains));
    (found, across)
}

fn in_palm(tree: &Tree, wrist: Vec3, chain: &[usize]) -> bool {
    chain.len() > 1 && (tree.at[chain[0]] - wrist).norm() < NEAR_WRIST * tree.bone[chain[1]]
}

/// Removes the last joint of all chains where every chain has more joints than bend, though most do not start in the palm:
/// all end in tips.
fn drop_tips(tree: &Tree, wrist: Vec3, chains: &mut [Vec<usize>]) {
    let least = chains.iter().map(Vec::len).min().unwrap_or(0);
    let palm = chains.iter().filter(|c| in_palm(tree, wrist, c)).count();
    // The thumb starts in the palm.
    let tips = chains.len() > 2 && least > BENDING && (palm <= 1 || chains.iter().any(|c| c.len() > least));
    for chain in chains.iter_mut().filter(|_| tips) {
        chain.pop();
    }
}

/// The joints of a branch that bend, without a stub or metacarpal before and a tip behind them.
fn bending(tree: &Tree, mut chain: Vec<usize>, wrist: Vec3, stub: bool) -> Vec<usize> {
    if chain.len() > BENDING && (stub || in_palm(tree, wrist, &chain)) {
        chain.remove(0);
    }
    chain.truncate(BENDING);
    chain
}
