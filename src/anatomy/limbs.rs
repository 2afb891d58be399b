//! Arms, legs and fingers: which joints of a side fill the slots of a limb, by weight of words and order in the tree.

use super::labels::Label;
use super::vocabulary::{Part, finger, readings};
use crate::model::{Finger, JointId, Side, Skeleton};

/// The slots of an arm, from the body outwards.
pub const ARM: [Part; 4] = [Part::Clavicle, Part::UpperArm, Part::LowerArm, Part::Hand];
/// The slots of a leg, from the body outwards.
pub const LEG: [Part; 4] = [Part::UpperLeg, Part::LowerLeg, Part::Foot, Part::Toes];

/// A joint in a slot and how well its words fit, 0 to 1.
pub type Slot = Option<(JointId, f64)>;

/// The best filling of the four `slots` of one limb with the joints of one side.
///
/// Maximises the sum of word weights; two slots whose joints lie on one path of the tree must lie in the limb's
/// order, and a small bonus rewards that they do. Of equal fillings the joints nearest to the root win, so that a
/// chain of twist joints is taken at its beginning.
pub fn by_words(skeleton: &Skeleton, labels: &[Label], side: Side, slots: &[Part; 4]) -> [Slot; 4] {
    let candidates: Vec<Vec<(JointId, f64)>> = slots
        .iter()
        .map(|slot| {
            let weight = |id: JointId| {
                let label = &labels[id.index()];
                let found = readings(label).into_iter().find(|r| r.0 == *slot && label.side == Some(side));
                found.map(|r| (id, r.1))
            };
            // A limb has a handful of candidates for a slot; more than this would be no limb.
            skeleton.ids().filter_map(weight).take(12).collect()
        })
        .collect();
    let mut best = (0.0, [None; 4]);
    let mut chosen = [None; 4];
    search(skeleton, &candidates, 0, 0.0, &mut chosen, &mut best);
    best.1
}

/// Tries every candidate for slot `depth`, and leaving it empty.
fn search(
    skeleton: &Skeleton,
    candidates: &[Vec<(JointId, f64)>],
    depth: usize,
    score: f64,
    chosen: &mut [Slot; 4],
    best: &mut (f64, [Slot; 4]),
) {
    if depth == candidates.len() {
        if score > best.0 + 1e-9 {
            *best = (score, *chosen);
        }
        return;
    }
    for &(id, weight) in &candidates[depth] {
        let inner: Vec<JointId> = chosen[..depth].iter().flatten().map(|c| c.0).collect();
        if inner.iter().any(|&other| skeleton.is_ancestor(id, other)) {
            continue;
        }
        let follows = inner.last().is_some_and(|&other| skeleton.is_ancestor(other, id));
        chosen[depth] = Some((id, weight));
        let bonus = if follows { 0.2 } else { 0.0 };
        search(skeleton, candidates, depth + 1, score + weight + bonus, chosen, best);
    }
    chosen[depth] = None;
    search(skeleton, candidates, depth + 1, score, chosen, best);
}

/// A quadruped's hind leg is often named one joint too far out: `BackLeg`, `BackUpperLeg`, `BackLowerLeg` and a
/// foot elsewhere are thigh, shin and foot. Moves the slots inwards where a plain `leg` stands above the thigh.
pub fn straighten_hind_leg(skeleton: &Skeleton, labels: &[Label], leg: &mut [Slot; 4]) {
    let [Some((thigh, weight)), Some((shin, shin_weight)), ..] = *leg else { return };
    let Some(above) = skeleton.parent(thigh) else { return };
    let label = &labels[above.index()];
    let is_leg = label.words.last().is_some_and(|w| w == "leg") && label.side == labels[thigh.index()].side;
    let foot_follows = leg[2].is_some_and(|(foot, _)| skeleton.is_ancestor(shin, foot));
    if is_leg && !foot_follows {
        leg[3] = leg[2];
        *leg = [Some((above, weight)), Some((thigh, weight)), Some((shin, shin_weight)), leg[3]];
    }
}

/// The finger chains below one hand, each from the knuckle outwards.
///
/// The side comes from the hand and not from the name: rigs mislabel thumbs.
pub fn fingers(skeleton: &Skeleton, labels: &[Label], hand: JointId) -> Vec<(Finger, Vec<JointId>)> {
    let mut chains: Vec<(Finger, Vec<JointId>)> = Vec::new();
    for id in skeleton.ids().filter(|&id| id != hand && skeleton.is_ancestor(hand, id)) {
        let Some(finger) = finger(&labels[id.index()]) else { continue };
        match chains.iter_mut().find(|c| c.0 == finger) {
            None => chains.push((finger, vec![id])),
            Some((_, chain)) => {
                let tip = chain[chain.len() - 1];
                if chain.len() < 4 && skeleton.is_ancestor(tip, id) {
                    chain.push(id);
                }
            }
        }
    }
    for (finger, chain) in &mut chains {
        // Four joints and no metacarpal in the name: the first lies in the palm, the last three bend; a thumb of
        // four ends in a tip joint. A `_end`-less tip joint beyond the third bends nothing.
        if chain.len() == 4 && *finger != Finger::Thumb {
            let palm = skeleton.rest_model_pose();
            let first = (palm.position(chain[1]) - palm.position(chain[0])).norm();
            let second = (palm.position(chain[2]) - palm.position(chain[1])).norm();
            if first > second * 1.3 {
                chain.remove(0);
            }
        }
        chain.truncate(3);
    }
    chains.sort_by_key(|c| c.0);
    chains
}
