//! Finds twins: branches of one joint with bones of equal lengths on opposite sides.
//!
//! Lengths do not depend on the pose, so a figure that rests in mid-stride has the same twins. A sword in one hand
//! has no counterpart and is ignored. Space and units: those of the tree.

use super::joint_tree::Tree;
use crate::math::Vec3;

/// Largest relative length difference of twin bones. People's skeletons differ by 1 %, hand-placed ones by 8 %: at
/// half of this limit those are lost, at double a thigh and a spine are twins.
const BONES_DIFFER: f64 = 0.2;
/// Further allowance for short bones, as a share of the branch's reach.
const REACH_DIFFERS: f64 = 0.03;
/// Distance of two twin joints, as a share of the branch, from which their direction is that across the body: hips are at a fifth;
/// stubs in the middle of the body are nearer.
const LEAST_APART: f64 = 0.05;

/// Two mirrored branches.
#[derive(Clone, Debug)]
pub(super) struct Twin {
    /// The common parent.
    pub parent: usize,
    /// The joints of both branches outwards, as far as they have a counterpart.
    pub paths: [Vec<usize>; 2],
    /// Length from the first joint to the end, mean of both.
    pub length: f64,
    /// Unit vector from the second towards the first.
    pub across: Vec3,
    /// Share of the skin that both move.
    pub skin: f64,
}

/// All twins of the tree; each branch is in at most one.
pub(super) fn twins(tree: &Tree) -> Vec<Twin> {
    let mut all = Vec::new();
    for parent in 0..tree.at.len() {
        let branches = tree.branches(parent);
        let mut found: Vec<Twin> = Vec::new();
        for (n, &a) in branches.iter().enumerate() {
            found.extend(branches[n + 1..].iter().filter_map(|&b| twin(tree, parent, a, b)));
        }
        found.sort_by(|x, y| y.length.total_cmp(&x.length));
        let mut taken: Vec<usize> = Vec::new();
        for twin in found {
            let ends = [twin.paths[0][0], twin.paths[1][0]];
            if !ends.iter().any(|e| taken.contains(e)) {
                taken.extend(ends);
                all.push(twin);
            }
        }
    }
    all
}

/// Compares two branches outwards as long as their bones are alike.
fn twin(tree: &Tree, parent: usize, a: usize, b: usize) -> Option<Twin> {
    let size = tree.reach[a].max(tree.reach[b]).max(tree.bone[a]).max(tree.bone[b]);
    let alike = |a: usize, b: usize| {
        let (x, y) = (tree.bone[a], tree.bone[b]);
        (x - y).abs() <= BONES_DIFFER * x.max(y) + REACH_DIFFERS * size
    };
    if !alike(a, b) {
        return None;
    }
    let (mut paths, mut length) = ([vec![a], vec![b]], 0.0);
    let (mut a, mut b) = (a, b);
    let mut side = Vec3::zeros();
    loop {
        if side == Vec3::zeros() {
            side = (tree.at[a] - tree.at[b]).try_normalize(1e-12).unwrap_or_default();
        }
        let mut best: Option<(f64, usize, usize)> = None;
        for &x in tree.branches(a).iter() {
            for &y in tree.branches(b).iter().filter(|&&y| alike(x, y)) {
                let (u, v) = (tree.bone[x] + tree.reach[x], tree.bone[y] + tree.reach[y]);
                let apart = tree.at[x] - tree.at[y];
                let askew =
                    if side == Vec3::zeros() { 0.0 } else { (apart - side * apart.dot(&side)).norm() };
                // The longest path that both have; of several, the two that match best and face each other.
                let good = u.min(v) - 2.0 * (u - v).abs() - 0.5 * askew;
                if best.is_none_or(|(g, ..)| good > g) {
                    best = Some((good, x, y));
                }
            }
        }
        let Some((_, x, y)) = best else { break };
        length += 0.5 * (tree.bone[x] + tree.bone[y]);
        paths[0].push(x);
        paths[1].push(y);
        (a, b) = (x, y);
    }
    if let (Some(u), Some(v)) = (tree.tip[a], tree.tip[b]) {
        length += 0.5 * ((u - tree.at[a]).norm() + (v - tree.at[b]).norm());
    }
    // Where the branches begin, since a stride moves their ends in front of and behind the body.
    let apart = || paths[0].iter().zip(&paths[1]).map(|(&x, &y)| tree.at[x] - tree.at[y]);
    let clear = |v: Vec3| v.try_normalize(LEAST_APART * length.max(1e-9));
    let across = apart().find_map(clear).or_else(|| clear(apart().sum()))?;
    let skin = tree.below[paths[0][0]] + tree.below[paths[1][0]];
    Some(Twin { parent, paths, length, across, skin })
}
