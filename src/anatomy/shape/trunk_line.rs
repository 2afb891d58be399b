//! Detects hips, spine, neck, head and tail, given legs and arms.
//!
//! Where legs and arms are in one tree, the trunk is the path between them and on to the head. Where they are
//! separate below a root, as in rigs built of pieces, it is the chain that passes between them. Space and units:
//! those of the tree.

use super::joint_tree::Tree;
use super::limb::TwinLimb;
use super::limb_pairs::{LimbPairs, direction, middle};
use crate::math::{Vec3, nearest_point_on_segment};

/// The joints of the trunk, each chain from the hips outwards.
#[derive(Default)]
pub(super) struct TrunkJoints {
    /// The parent of legs and trunk.
    pub hips: usize,
    /// From the joint above the hips to the parent of the arms.
    pub spine: Vec<usize>,
    /// Beyond the arms, below the head.
    pub neck: Vec<usize>,
    /// The head.
    pub head: Option<usize>,
    /// The tail.
    pub tail: Vec<usize>,
    /// Whether arms define the end of the spine; without them spine and neck are guessed.
    pub sure: bool,
}

/// The trunk of a body.
pub(super) fn trunk_line(tree: &Tree, body: &LimbPairs) -> Option<TrunkJoints> {
    let legs = &body.legs;
    let hip = middle(tree, legs, legs.upper);
    let leg = legs.twin.length;
    let Some(arms) = &body.arms else { return without_arms(tree, body) };
    let shoulder = middle(tree, arms, arms.upper);
    let (pelvis, chest) = (legs.twin.parent, arms.twin.parent);
    let top = tree.meet(pelvis, chest);
    let near = |k: usize, point: Vec3| (tree.at[k] - point).norm() < 0.45 * leg;
    let is_hips = |k: usize| near(k, hip) || tree.skin.as_ref().is_some_and(|s| s[k] > 0.01);

    // Separate pieces below a root: the trunk is the chain that passes between legs and arms.
    if pelvis == chest && !(near(pelvis, hip) && near(chest, shoulder)) {
        let own = [legs.joint(0, 0), legs.joint(1, 0), arms.joint(0, 0), arms.joint(1, 0)];
        let branches = tree.branches(top);
        let chains = branches.iter().filter(|c| !own.contains(c));
        let chains = chains.map(|&c| tree.outwards(c).collect::<Vec<_>>()).filter(|c| c.len() >= 2);
        let miss = |chain: &Vec<usize>| distance(tree, chain, hip) + distance(tree, chain, shoulder);
        let best = chains.map(|c| (miss(&c), c)).min_by(|a, b| a.0.total_cmp(&b.0));
        if let Some((_, chain)) = best.filter(|b| b.0 < 0.5 * leg) {
            let start = nearest(tree, &chain, hip);
            return Some(split(tree, chain[start], &chain[start + 1..], shoulder));
        }
    }

    // The path from the parent of the legs to the parent of the arms.
    let mut path = tree.path(top, chest);
    let mut hips = top;
    if !is_hips(top) {
        // A root on the floor: the hips are the joint nearest to the thighs, of the trunk or a pelvis beside it.
        let (k, far) = (nearest(tree, &path, hip), |k: usize| (tree.at[k] - hip).norm());
        if pelvis != top && path.get(k).is_none_or(|&k| far(pelvis) <= far(k)) {
            hips = pelvis;
        } else if path.get(k).is_some_and(|&k| far(k) < far(top)) {
            hips = path[k];
            path.drain(..=k);
        }
    }
    // A pelvis beside the trunk, below a joint that moves both.
    let first = path.first().copied();
    if hips == top
        && pelvis != top
        && near(pelvis, hip)
        && first.is_some_and(|k| rotates(tree, legs.joint(0, 0), k))
    {
        hips = pelvis;
    }
    let taken = [arms.joint(0, 0), arms.joint(1, 0), legs.joint(0, 0), legs.joint(1, 0)];
    let trunk = (shoulder - tree.at[hips]).try_normalize(1e-12).unwrap_or_else(Vec3::y);
    let mut neck = up_to_the_head(tree, chest, &taken, trunk, legs);
    let head = neck.pop();
    let tail =
        tail(tree, hips, &taken, path.first().copied().or(neck.first().copied()).or(head), trunk, body);
    Some(TrunkJoints { hips, spine: path, neck, head, tail, sure: true })
}

/// Change of a distance, as a share of it, that shows rotation: bones keep their lengths to a thousandth.
const ROTATES: f64 = 0.01;

/// Whether the distance of two joints changes in the clip, so that a joint between them rotates.
fn rotates(tree: &Tree, a: usize, b: usize) -> bool {
    let distances = tree.frames.iter().map(|at| (at[a] - at[b]).norm());
    let (least, most) = distances.fold((f64::MAX, 0.0), |(l, m): (f64, f64), d| (l.min(d), m.max(d)));
    most > (1.0 + ROTATES) * least
}

/// The index of the joint of `chain` nearest to `point`; 0 in an empty chain.
fn nearest(tree: &Tree, chain: &[usize], point: Vec3) -> usize {
    let far = |k: usize| (tree.at[chain[k]] - point).norm();
    (0..chain.len()).min_by(|&a, &b| far(a).total_cmp(&far(b))).unwrap_or(0)
}

/// The distance of `point` from the polyline through the joints of `chain`.
fn distance(tree: &Tree, chain: &[usize], point: Vec3) -> f64 {
    let far =
        |w: &[usize]| (nearest_point_on_segment(&[tree.at[w[0]], tree.at[w[1]]], &point) - point).norm();
    chain.windows(2).map(far).fold(f64::MAX, f64::min)
}

/// Splits the chain above the hips at the shoulders.
fn split(tree: &Tree, hips: usize, path: &[usize], shoulder: Vec3) -> TrunkJoints {
    let up = shoulder - tree.at[hips];
    let at = path.iter().position(|&k| (tree.at[k] - shoulder).dot(&up) > 0.0).unwrap_or(path.len());
    let mut neck = cut_tip(tree, path[at..].to_vec(), false);
    let head = neck.pop();
    TrunkJoints { hips, spine: path[..at].to_vec(), neck, head, tail: Vec::new(), sure: true }
}

/// Hips, trunk and head of a body without arms: the chain up from where the legs branch.
fn without_arms(tree: &Tree, body: &LimbPairs) -> Option<TrunkJoints> {
    let legs = &body.legs;
    let hips = legs.twin.parent;
    let taken = [legs.joint(0, 0), legs.joint(1, 0)];
    let up = -direction(tree, legs);
    let mut path = up_to_the_head(tree, hips, &taken, up, legs);
    let head = path.pop()?;
    let neck = if path.len() > 1 { path.split_off(path.len() - 1) } else { Vec::new() };
    Some(TrunkJoints { hips, spine: path, neck, head: Some(head), tail: Vec::new(), sure: false })
}

/// The chain from above `start` to the head, which is the last joint.
fn up_to_the_head(tree: &Tree, start: usize, taken: &[usize], up: Vec3, legs: &TwinLimb) -> Vec<usize> {
    let (leg, across) = (legs.twin.length, legs.twin.across);
    let mut path = Vec::new();
    let mut at = start;
    loop {
        let free: Vec<usize> = tree.branches(at).iter().copied().filter(|c| !taken.contains(c)).collect();
        let paired = |c: usize| {
            free.iter().any(|&d| {
                let (x, y) = (tree.bone[c] + tree.reach[c], tree.bone[d] + tree.reach[d]);
                let apart = tree.at[c] - tree.at[d];
                let sideways = apart.dot(&across).abs();
                let facing = sideways > 0.85 * apart.norm() && sideways > 0.3 * tree.bone[c].max(1e-9);
                // Nearly equal, or similar and on opposite sides.
                let same = (x - y).abs() < 0.03 * x.max(y)
                    && (tree.bone[c] - tree.bone[d]).abs() < 0.03 * tree.bone[c]
                    && apart.norm() > 0.3 * tree.bone[c];
                d != c && (same || (x - y).abs() < 0.1 * x.max(y) && facing)
            })
        };
        let twins = free.iter().any(|&c| paired(c));
        let points = |c: usize| {
            // The first joint at another position, else the tip.
            let places = tree.outwards(c).flat_map(|k| [Some(tree.at[k]), tree.tip[k]]).flatten();
            let away = places.map(|p| p - tree.at[at]).find(|v| v.norm() > 0.01 * leg);
            let along = away.and_then(|v| v.try_normalize(1e-12)).map_or(0.0, |v| v.dot(&up));
            3.0 * tree.below[c] + along + 0.5 * ((tree.bone[c] + tree.reach[c]) / leg).min(1.0)
        };
        let single = free.iter().copied().filter(|&c| !paired(c));
        let next = single.map(|c| (points(c), c)).max_by(|a, b| a.0.total_cmp(&b.0)).filter(|n| n.0 > 0.0);
        let Some((_, next)) = next else { break };
        // Eyes, ears or a jaw: this is the head, unless a joint with more skin follows.
        let inside = at != start && (twins || free.len() > 2);
        let heavier = tree.skin.as_ref().is_some_and(|s| s[next] > s[at]);
        if inside && !heavier {
            break;
        }
        path.push(next);
        at = next;
    }
    // The head has most of the skin beyond the first joint, which a body without arms may have most of: joints beyond the head are
    // hair or a hat.
    if let (Some(skin), [_, beyond @ ..]) = (&tree.skin, &path[..]) {
        let heaviest = (1..path.len()).max_by(|&a, &b| skin[path[a]].total_cmp(&skin[path[b]]));
        let mean = beyond.iter().map(|&k| skin[k]).sum::<f64>() / beyond.len().max(1) as f64;
        if let Some(k) = heaviest.filter(|&k| skin[path[k]] > 1.2 * mean) {
            path.truncate(k + 1);
            return path;
        }
    }
    cut_tip(tree, path, ends_in_tips(tree, legs))
}

/// Whether the chains of a file without skin and tips end in joints that are tips: two joints after both ankles.
fn ends_in_tips(tree: &Tree, legs: &TwinLimb) -> bool {
    let beyond = legs.end.map_or(0, |end| legs.twin.paths[0].len() - end - 1);
    tree.skin.is_none() && tree.tip.iter().all(Option::is_none) && beyond >= 2
}

/// A last joint without a tip, far from the one before it, is the top of the head and not the head.
fn cut_tip(tree: &Tree, mut path: Vec<usize>, tips: bool) -> Vec<usize> {
    if let [.., a, b] = path[..] {
        let bare = tree.tip[b].is_none() && tree.children[b].is_empty();
        if bare && (tips || path.len() > 2 && tree.bone[b] > 1.3 * tree.bone[a]) {
            path.pop();
        }
    }
    path
}

/// The chain behind the hips, away from trunk and legs.
fn tail(
    tree: &Tree,
    hips: usize,
    taken: &[usize],
    trunk: Option<usize>,
    up: Vec3,
    body: &LimbPairs,
) -> Vec<usize> {
    let legs = direction(tree, &body.legs);
    let side = body.legs.twin.across;
    let branches = tree.branches(hips);
    let candidates = branches.iter().filter(|c| !taken.contains(c) && Some(**c) != trunk);
    let best = candidates.filter_map(|&c| {
        let chain: Vec<usize> = tree.outwards(c).collect();
        let end = tree.at[*chain.last()?] - tree.at[hips];
        let direction = end.try_normalize(1e-12)?;
        let fits = chain.len() >= 3
            && direction.dot(&up) < 0.5
            && direction.dot(&legs) < 0.85
            && direction.dot(&side).abs() < 0.3;
        fits.then_some((end.norm(), chain))
    });
    best.max_by(|a, b| a.0.total_cmp(&b.0)).map_or_else(Vec::new, |b| b.1)
}
