//! Legs and arms become the line between and beyond them: hips, spine, neck, head and tail.
//!
//! Where legs and arms hang on one tree, the line is the way from one to the other and on to the head. Where they lie
//! loose below a root, as in rigs that are built in pieces, it is the chain that passes between them. Space and units:
//! those of the tree.

use super::joint_tree::Tree;
use super::limb::Limb;
use super::limb_pairs::{LimbPairs, direction, middle};
use crate::math::{Vec3, nearest_on_segment};

/// The joints of the trunk, each chain from the hips outwards.
#[derive(Default)]
pub(super) struct TrunkLine {
    /// Carries legs and trunk.
    pub hips: usize,
    /// From above the hips to where the arms hang.
    pub spine: Vec<usize>,
    /// Beyond the arms, below the head.
    pub neck: Vec<usize>,
    /// The head.
    pub head: Option<usize>,
    /// Behind the hips.
    pub tail: Vec<usize>,
    /// Whether arms show where the spine ends; without them spine and neck are guessed.
    pub sure: bool,
}

/// The line of a body.
pub(super) fn trunk_line(tree: &Tree, body: &LimbPairs) -> Option<TrunkLine> {
    let legs = &body.legs;
    let hip = middle(tree, legs, legs.upper);
    let leg = legs.twin.length;
    let Some(arms) = &body.arms else { return without_arms(tree, body) };
    let shoulder = middle(tree, arms, arms.upper);
    let (pelvis, chest) = (legs.twin.parent, arms.twin.parent);
    let top = tree.meet(pelvis, chest);
    let near = |k: usize, place: Vec3| (tree.at[k] - place).norm() < 0.45 * leg;
    let carries = |k: usize| near(k, hip) || tree.skin.as_ref().is_some_and(|s| s[k] > 0.01);

    // Loose pieces below a root: the trunk is the chain that passes between legs and arms.
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

    // The way from the joint that carries the legs to the one that carries the arms.
    let mut way = tree.way(top, chest);
    let mut hips = top;
    if !carries(top) {
        // A root on the floor: the joint of the trunk that is nearest to the thighs.
        let k = (0..way.len()).min_by(|&a, &b| {
            let far = |k: usize| (tree.at[way[k]] - hip).norm();
            far(a).total_cmp(&far(b))
        });
        if let Some(k) = k.filter(|&k| (tree.at[way[k]] - hip).norm() < (tree.at[top] - hip).norm()) {
            hips = way[k];
            way.drain(..=k);
        }
    }
    let taken = [arms.joint(0, 0), arms.joint(1, 0), legs.joint(0, 0), legs.joint(1, 0)];
    let trunk = (shoulder - tree.at[hips]).try_normalize(1e-12).unwrap_or_else(Vec3::y);
    let beyond = up_to_the_head(tree, chest, &taken, trunk, legs);
    let (head, neck) = match beyond.split_last() {
        Some((head, neck)) => (Some(*head), neck.to_vec()),
        None => (None, Vec::new()),
    };
    let tail = tail(tree, hips, &taken, way.first().copied().or(neck.first().copied()).or(head), trunk, body);
    Some(TrunkLine { hips, spine: way, neck, head, tail, sure: true })
}

/// The joint of `chain` nearest to `place`, as a position.
fn nearest(tree: &Tree, chain: &[usize], place: Vec3) -> usize {
    let far = |k: usize| (tree.at[chain[k]] - place).norm();
    (0..chain.len()).min_by(|&a, &b| far(a).total_cmp(&far(b))).unwrap_or(0)
}

/// How far `place` lies from the line through the joints of `chain`.
fn distance(tree: &Tree, chain: &[usize], place: Vec3) -> f64 {
    let far = |w: &[usize]| {
        let [a, b] = [tree.at[w[0]], tree.at[w[1]]];
        (a + (b - a) * nearest_on_segment(&[a, b], &place) - place).norm()
    };
    chain.windows(2).map(far).fold(f64::MAX, f64::min)
}

/// The chain above the hips parted at the shoulders.
fn split(tree: &Tree, hips: usize, way: &[usize], shoulder: Vec3) -> TrunkLine {
    let up = shoulder - tree.at[hips];
    let at = way.iter().position(|&k| (tree.at[k] - shoulder).dot(&up) > 0.0).unwrap_or(way.len());
    let above = cut_tip(tree, way[at..].to_vec());
    let (head, neck) = match above.split_last() {
        Some((head, neck)) => (Some(*head), neck.to_vec()),
        None => (None, Vec::new()),
    };
    TrunkLine { hips, spine: way[..at].to_vec(), neck, head, tail: Vec::new(), sure: true }
}

/// Hips, trunk and head of a body that has only legs: what goes up from where they part.
fn without_arms(tree: &Tree, body: &LimbPairs) -> Option<TrunkLine> {
    let legs = &body.legs;
    let hips = legs.twin.parent;
    let taken = [legs.joint(0, 0), legs.joint(1, 0)];
    let up = -direction(tree, legs);
    let mut way = up_to_the_head(tree, hips, &taken, up, legs);
    let head = way.pop()?;
    let neck = if way.len() > 1 { way.split_off(way.len() - 1) } else { Vec::new() };
    Some(TrunkLine { hips, spine: way, neck, head: Some(head), tail: Vec::new(), sure: false })
}

/// The chain from above `start` to the head, which is its last.
fn up_to_the_head(tree: &Tree, start: usize, taken: &[usize], up: Vec3, legs: &Limb) -> Vec<usize> {
    let (leg, across) = (legs.twin.length, legs.twin.across);
    let mut way = Vec::new();
    let mut at = start;
    loop {
        let free: Vec<usize> = tree.branches(at).iter().copied().filter(|c| !taken.contains(c)).collect();
        let paired = |c: usize| {
            free.iter().any(|&d| {
                let (x, y) = (tree.bone[c] + tree.reach[c], tree.bone[d] + tree.reach[d]);
                let apart = tree.at[c] - tree.at[d];
                let sideways = apart.dot(&across).abs();
                let facing = sideways > 0.85 * apart.norm() && sideways > 0.3 * tree.bone[c].max(1e-9);
                // As good as the same, or alike and on two sides.
                let same = (x - y).abs() < 0.03 * x.max(y)
                    && (tree.bone[c] - tree.bone[d]).abs() < 0.03 * tree.bone[c]
                    && apart.norm() > 0.3 * tree.bone[c];
                d != c && (same || (x - y).abs() < 0.1 * x.max(y) && facing)
            })
        };
        let twins = free.iter().any(|&c| paired(c));
        let points = |c: usize| {
            // The first joint that does not coincide, else the tip.
            let places = tree.outwards(c).flat_map(|k| [Some(tree.at[k]), tree.tip[k]]).flatten();
            let away = places.map(|p| p - tree.at[at]).find(|v| v.norm() > 0.01 * leg);
            let along = away.and_then(|v| v.try_normalize(1e-12)).map_or(0.0, |v| v.dot(&up));
            3.0 * tree.below[c] + along + 0.5 * ((tree.bone[c] + tree.reach[c]) / leg).min(1.0)
        };
        let single = free.iter().copied().filter(|&c| !paired(c));
        let next = single.map(|c| (points(c), c)).max_by(|a, b| a.0.total_cmp(&b.0)).filter(|n| n.0 > 0.0);
        let Some((_, next)) = next else { break };
        // Eyes, ears or a jaw: this is the head, unless a joint with more skin goes on.
        let inside = at != start && (twins || free.len() > 2);
        let heavier = tree.skin.as_ref().is_some_and(|s| s[next] > s[at]);
        if inside && !heavier {
            break;
        }
        way.push(next);
        at = next;
    }
    // The head has most of the skin up there: what comes behind it is hair or a hat.
    if let Some(skin) = &tree.skin {
        let heaviest = (0..way.len()).max_by(|&a, &b| skin[way[a]].total_cmp(&skin[way[b]]));
        let mean = way.iter().map(|&k| skin[k]).sum::<f64>() / way.len().max(1) as f64;
        if let Some(k) = heaviest.filter(|&k| skin[way[k]] > 1.2 * mean) {
            way.truncate(k + 1);
            return way;
        }
    }
    cut_tip(tree, way)
}

/// A last joint without a tip of its own, far from the one before it, is the top of the head and not the head.
fn cut_tip(tree: &Tree, mut way: Vec<usize>) -> Vec<usize> {
    if let [.., a, b] = way[..] {
        let bare = tree.tip[b].is_none() && tree.children[b].is_empty();
        if bare && way.len() > 2 && tree.bone[b] > 1.3 * tree.bone[a] {
            way.pop();
        }
    }
    way
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
        let way = end.try_normalize(1e-12)?;
        let fits =
            chain.len() >= 3 && way.dot(&up) < 0.5 && way.dot(&legs) < 0.85 && way.dot(&side).abs() < 0.3;
        fits.then_some((end.norm(), chain))
    });
    best.max_by(|a, b| a.0.total_cmp(&b.0)).map_or_else(Vec::new, |b| b.1)
}
