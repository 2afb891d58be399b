//! Assigns the joints of a limb to its slots: collar bone or stub before it, hand or foot, and toes.

use super::joint_tree::Tree;
use super::limb::TwinLimb;
use super::limb_pairs::middle;
use crate::math::Vec3;

/// Radians (9 degrees) between bones up to which their joints are in line: twist joints.
const IN_LINE: f64 = 0.15;

/// Thigh, shin, foot and toes of one side.
pub(super) fn leg(tree: &Tree, limb: &TwinLimb, side: usize) -> [Option<usize>; 4] {
    let path = &limb.twin.paths[side];
    let foot = limb.end_joint(side);
    let toes = limb.end.and_then(|k| {
        let branches = &tree.children[path[k]];
        if branches.len() < 3 {
            return toes(tree, path, k);
        }
        // Of several toes the big one, which is the innermost.
        let other = tree.at[limb.joint(1 - side, k)];
        branches.iter().copied().min_by(|&a, &b| {
            let far = |k: usize| (tree.at[k] - other).norm();
            far(a).total_cmp(&far(b))
        })
    });
    [Some(path[limb.upper]), Some(path[limb.lower]), foot, toes.filter(|&k| tree.has_skin(k))]
}

/// Collar bone, upper arm, forearm and hand of one side.
pub(super) fn arm(tree: &Tree, legs: &TwinLimb, limb: &TwinLimb, side: usize) -> [Option<usize>; 4] {
    let path = &limb.twin.paths[side];
    // A stub in the middle of the body precedes the collar bone, if there is a joint after it.
    let apart =
        |k: usize| (tree.at[limb.joint(0, k)] - tree.at[limb.joint(1, k)]).norm() > 0.02 * limb.twin.length;
    let collar = (0..limb.upper).find(|&k| apart(k)).or((limb.upper > 0).then_some(0)).map(|k| path[k]);
    let collar = collar.or_else(|| loose_collar(tree, legs, limb, side));
    [collar, Some(path[limb.upper]), Some(path[limb.lower]), hand(tree, limb, side)]
}

/// The collar bone of a rig in separate pieces: a leaf joint between trunk and shoulder, at the height of the
/// shoulder.
fn loose_collar(tree: &Tree, legs: &TwinLimb, arms: &TwinLimb, side: usize) -> Option<usize> {
    let parent = arms.twin.parent;
    if parent != legs.twin.parent {
        return None;
    }
    let shoulder = tree.at[arms.joint(side, arms.upper)];
    let chest = middle(tree, arms, arms.upper);
    let up = (chest - middle(tree, legs, legs.upper)).try_normalize(1e-12)?;
    let outwards = (shoulder - chest).try_normalize(1e-12)?;
    let width = (shoulder - chest).norm();
    let ends = tree.children[parent].iter().copied().filter(|&k| tree.children[k].is_empty());
    let near = ends.filter_map(|k| {
        let (away, out) = (tree.at[k] - shoulder, (tree.at[k] - chest).dot(&outwards));
        let level = away.dot(&up).abs() <= 0.4 * away.norm();
        let between = (0.01 * width..=0.75 * width).contains(&out) && away.norm() < 3.0 * width;
        (level && between).then_some((away.norm(), k))
    });
    near.min_by(|a, b| a.0.total_cmp(&b.0)).map(|n| n.1)
}

/// The hand of one side; of several joints at one position (palm bones) the middle one.
pub(super) fn hand(tree: &Tree, limb: &TwinLimb, side: usize) -> Option<usize> {
    let Some(end) = limb.end else { return limb.loose[side] };
    let hand = limb.joint(side, end);
    let siblings = &tree.children[tree.parent[hand]?];
    let near = |k: usize| (tree.at[k] - tree.at[hand]).norm() < 0.01 * limb.twin.length;
    let palm: Vec<usize> =
        siblings.iter().copied().filter(|&k| near(k) && !tree.children[k].is_empty()).collect();
    if palm.len() < 3 {
        return Some(hand);
    }
    let end = |k: usize| tree.at[tree.outwards(k).last().unwrap_or(k)];
    let mean = palm.iter().map(|&k| end(k)).sum::<Vec3>() / palm.len() as f64;
    let far = |k: usize| (end(k) - mean).norm();
    palm.into_iter().min_by(|&a, &b| far(a).total_cmp(&far(b)))
}

/// The toe joint: the first one after the foot that is no twist joint of the foot.
fn toes(tree: &Tree, path: &[usize], foot: usize) -> Option<usize> {
    let twists = |k: usize| {
        let Some(&next) = path.get(k + 1) else { return false };
        let (a, b) = (tree.at[path[k]] - tree.at[path[foot]], tree.at[next] - tree.at[path[k]]);
        tree.children[path[k]].len() < 2 && a.angle(&b) < IN_LINE
    };
    (foot + 1..path.len()).find(|&k| !twists(k)).map(|k| path[k])
}
