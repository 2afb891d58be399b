//! The branches of a hand become fingers: by their number, their order across the palm, and the thumb by where it starts
//! and points.
//!
//! Space and units: those of the tree.

use super::tree::Tree;
use crate::math::Vec3;
use crate::model::Finger;

/// One finger: which it is, and its joints from the knuckle outwards.
pub(super) type Digit = (Finger, Vec<usize>);

/// Joints of a finger that bend.
const BENDING: usize = 3;

/// The fingers of `hand`, thumb first, and from the knuckles to the thumb, of length one.
pub(super) fn digits(tree: &Tree, hand: usize) -> (Vec<Digit>, Vec3) {
    let wrist = tree.at[hand];
    let all: Vec<Vec<usize>> = tree.branches(hand).iter().map(|&c| tree.outwards(c).collect()).collect();
    // Short branches beside long ones are the bones of the palm, or helpers.
    let most = all.iter().map(Vec::len).max().unwrap_or(0);
    let chains = all.into_iter().filter(|c: &Vec<usize>| c.len() * 2 >= most.min(4));
    let mut chains: Vec<Vec<usize>> = chains.map(|c| bending(tree, c)).collect();
    if chains.len() < 2 || chains.len() > 5 {
        return (Vec::new(), Vec3::zeros());
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
    let palm = (knuckles - wrist).try_normalize(1e-12).unwrap_or_default();
    let aside = tree.at[thumb[thumb.len() - 1]] - knuckles;
    let across = (aside - palm * aside.dot(&palm)).try_normalize(1e-12).unwrap_or_default();
    // From the thumb outwards.
    chains.sort_by(|a, b| tree.at[b[0]].dot(&across).total_cmp(&tree.at[a[0]].dot(&across)));
    let fingers: &[Finger] = match chains.len() {
        1 => &[Finger::Middle],
        _ => &[Finger::Index, Finger::Middle, Finger::Ring, Finger::Little],
    };
    let mut found = vec![(Finger::Thumb, thumb)];
    found.extend(fingers.iter().copied().zip(chains));
    (found, across)
}

/// The joints of a branch that bend: without the bone in the palm before them, and without the tip behind them.
fn bending(tree: &Tree, mut chain: Vec<usize>) -> Vec<usize> {
    if chain.len() > BENDING {
        let first = tree.bone[chain[1]];
        let second = tree.bone[chain[2]];
        if first > 1.3 * second {
            chain.remove(0);
        }
    }
    chain.truncate(BENDING);
    chain
}
