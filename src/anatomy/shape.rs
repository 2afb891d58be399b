//! Limbs from the shape of the tree alone, for skeletons whose names say nothing.
//!
//! The hips are the first joint with two long chains of equal reach that end low and one that ends high; the chest
//! is the first joint up the trunk from which two further chains of equal reach part. Left is told from right by
//! where the toes point.

use super::limbs::Slot;
use crate::math::Vec3;
use crate::model::{JointId, ModelPose, Side, Skeleton};

/// What the shape tells: legs and arms of both sides (left first), hips and the line of the trunk.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    /// The joint that legs and trunk part from.
    pub hips: JointId,
    /// Slots as in `limbs::LEG`, left and right.
    pub legs: [[Slot; 4]; 2],
    /// Slots as in `limbs::ARM`, left and right.
    pub arms: [[Slot; 4]; 2],
    /// From above the hips to the chest.
    pub spine: Vec<JointId>,
    /// Above the chest, the head last.
    pub neck_and_head: Vec<JointId>,
}

/// How sure a slot is that rests on the shape alone.
const CONFIDENCE: f64 = 0.6;

/// The longest chain that starts at `id` and goes outwards, `id` first.
fn longest_chain(skeleton: &Skeleton, rest: &ModelPose, id: JointId) -> (Vec<JointId>, f64) {
    // Children stand behind their parents: one backward sweep gives the reach below every joint.
    let mut reach = vec![0.0_f64; skeleton.len()];
    let mut next: Vec<Option<JointId>> = vec![None; skeleton.len()];
    for child in skeleton.ids().rev() {
        let Some(parent) = skeleton.parent(child) else { continue };
        let through = reach[child.index()] + (rest.position(child) - rest.position(parent)).norm();
        if through > reach[parent.index()] + 1e-9 {
            reach[parent.index()] = through;
            next[parent.index()] = Some(child);
        }
    }
    let chain: Vec<JointId> = std::iter::successors(Some(id), |j| next[j.index()]).collect();
    (chain, reach[id.index()])
}

/// Reads limbs off the tree; `None` where there are no two legs and a trunk.
pub fn find(skeleton: &Skeleton, rest: &ModelPose) -> Option<Shape> {
    let heights = || rest.joints().iter().map(|t| t.translation.y);
    let height = heights().fold(f64::MIN, f64::max) - heights().fold(f64::MAX, f64::min);
    if height <= 0.0 {
        return None;
    }
    let branches = |id: JointId| -> Vec<(Vec<JointId>, f64)> {
        skeleton.children(id).iter().map(|&c| longest_chain(skeleton, rest, c)).collect()
    };
    let end = |chain: &[JointId]| rest.position(chain[chain.len() - 1]);
    let (hips, legs, trunk) = skeleton.ids().find_map(|id| {
        let all = branches(id);
        let here = rest.position(id);
        let low = |b: &&(Vec<JointId>, f64)| here.y - end(&b.0).y > 0.3 * height && b.0.len() >= 2;
        let legs = pair(&all.iter().filter(low).collect::<Vec<_>>(), rest)?;
        let trunk = all.iter().max_by(|a, b| end(&a.0).y.total_cmp(&end(&b.0).y))?;
        (end(&trunk.0).y > here.y + 0.1 * height).then(|| (id, legs, trunk.0[0]))
    })?;

    // Up the trunk, following the highest branch, until two arms part.
    let mut spine = Vec::new();
    let mut at = trunk;
    let mut arms = None;
    loop {
        spine.push(at);
        let all = branches(at);
        if let Some(found) = pair(&all.iter().filter(|b| b.0.len() >= 2).collect::<Vec<_>>(), rest) {
            arms = Some(found);
            break;
        }
        let highest = all.iter().max_by(|a, b| end(&a.0).y.total_cmp(&end(&b.0).y));
        match highest {
            Some(branch) => at = branch.0[0],
            None => break,
        }
    }
    let taken = |c: &JointId| arms.as_ref().is_some_and(|(a, b): &(Vec<_>, Vec<_>)| a[0] == *c || b[0] == *c);
    let above = skeleton.children(at).iter().filter(|c| !taken(c));
    let neck_and_head = above
        .map(|&c| longest_chain(skeleton, rest, c).0)
        .max_by(|a, b| end(a).y.total_cmp(&end(b).y))
        .unwrap_or_default();

    // Left is where up x forward points; forward is where the toes point, else the +Z of the format.
    let toes = |leg: &Vec<JointId>| -> Option<Vec3> {
        let n = leg.len();
        (n >= 4).then(|| rest.position(leg[3]) - rest.position(leg[2]))
    };
    let mut forward = toes(&legs.0).unwrap_or_default() + toes(&legs.1).unwrap_or_default();
    forward.y = 0.0;
    let forward = forward.try_normalize(0.01 * height).unwrap_or_else(Vec3::z);
    let left = Vec3::y().cross(&forward);
    let sides = |(a, b): (Vec<JointId>, Vec<JointId>)| {
        let apart = rest.position(a[a.len().min(2) - 1]) - rest.position(b[b.len().min(2) - 1]);
        if apart.dot(&left) >= 0.0 { [a, b] } else { [b, a] }
    };
    let slot = |chain: &[JointId], k: usize| chain.get(k).map(|&id| (id, CONFIDENCE));
    let legs = sides(legs).map(|c| std::array::from_fn(|k| slot(&c, k)));
    let arms = arms.map(sides).map_or([[None; 4]; 2], |both| {
        both.map(|c| {
            // Three joints or fewer are arm, forearm and hand; a fourth before them is the collar bone.
            let skip = usize::from(c.len() >= 4);
            std::array::from_fn(|k| match k {
                0 => (skip == 1).then(|| (c[0], CONFIDENCE)),
                k => slot(&c, k - 1 + skip),
            })
        })
    });
    Some(Shape { hips, legs, arms, spine, neck_and_head })
}

/// Two of the branches that mirror each other: equal reach, and opposite sides of the trunk.
fn pair(branches: &[&(Vec<JointId>, f64)], rest: &ModelPose) -> Option<(Vec<JointId>, Vec<JointId>)> {
    let mut best: Option<(f64, usize, usize)> = None;
    for (i, a) in branches.iter().enumerate() {
        for (j, b) in branches.iter().enumerate().skip(i + 1) {
            let unequal = (a.1 - b.1).abs() / a.1.max(b.1).max(1e-9);
            let tips = rest.position(a.0[a.0.len() - 1]) - rest.position(b.0[b.0.len() - 1]);
            let level = tips.y.abs() / a.1.max(1e-9);
            let apart = Vec3::new(tips.x, 0.0, tips.z).norm() / a.1.max(1e-9);
            let fits = unequal < 0.15 && level < 0.3 && apart > 0.05;
            if fits && best.is_none_or(|(score, ..)| a.1 + b.1 > score) {
                best = Some((a.1 + b.1, i, j));
            }
        }
    }
    best.map(|(_, i, j)| (branches[i].0.clone(), branches[j].0.clone()))
}

/// The sides in the order of `Shape::legs` and `Shape::arms`.
pub const SIDES: [Side; 2] = Side::BOTH;
