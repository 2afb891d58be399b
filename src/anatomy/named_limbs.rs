//! Detects arms and legs by names: the joints of one side that fill the slots of a limb, by word weights and order in
//! the tree.

use super::joint_names::JointNames;
use super::vocabulary::NamedPart;
use crate::model::{JointId, ModelPose, Role, Side, Skeleton};

/// The slots of an arm, from the body outwards.
pub const ARM: [NamedPart; 4] =
    [NamedPart::Clavicle, NamedPart::UpperArm, NamedPart::LowerArm, NamedPart::Hand];
/// The slots of a leg, from the body outwards.
pub const LEG: [NamedPart; 4] = [NamedPart::UpperLeg, NamedPart::LowerLeg, NamedPart::Foot, NamedPart::Toes];

/// A joint in a slot and the weight of its name, 0 to 1.
pub type LimbSlot = Option<(JointId, f64)>;

/// The role of a slot of a leg or an arm ([`LEG`], [`ARM`]).
pub fn limb_role(leg: bool, slot: usize, side: Side) -> Role {
    match (leg, slot) {
        (true, 0) => Role::UpperLeg(side),
        (true, 1) => Role::LowerLeg(side),
        (true, 2) => Role::Foot(side),
        (true, _) => Role::Toes(side),
        (false, 0) => Role::Clavicle(side),
        (false, 1) => Role::UpperArm(side),
        (false, 2) => Role::LowerArm(side),
        (false, _) => Role::Hand(side),
    }
}

/// Score for a joint that is below the one in the previous slot. It exceeds the weight difference of two words: of
/// two sets of joints with the names of a limb (bones, and collision volumes attached to them) the chain wins.
const FOLLOWS: f64 = 0.5;

/// Score for filling a slot that every limb has. Collar bones and toes may be missing: a lone shoulder is an upper
/// arm. It is less than the difference of any two words for different parts.
const NEEDED: f64 = 0.05;

/// Candidates per slot; a limb has a handful, and the search takes the product of all slots.
const MOST_CANDIDATES: usize = 12;

/// Share of the distance from ankle to toe tip beyond which a joint named foot is the ball and no second ankle joint.
const BALL: f64 = 0.3;

/// The best assignment of one side's joints to the four `slots` of a limb.
///
/// Maximises the sum of word weights. Joints on one path of the tree must be in the limb's order, and a bonus rewards
/// that they are. Of equal assignments the one nearest to the root wins, so that a chain of twist joints is used from
/// its first joint.
pub fn limb_by_names(
    skeleton: &Skeleton,
    names: &JointNames,
    side: Side,
    slots: &[NamedPart; 4],
) -> [LimbSlot; 4] {
    let candidates = slots.map(|slot| -> Vec<(JointId, f64)> {
        let of_side = skeleton.ids().filter(|&id| names.side(id) == Some(side));
        let weights = of_side.map(|id| (id, names.weight(id, slot)));
        weights.filter(|c| c.1 > 0.0).take(MOST_CANDIDATES).collect()
    });
    let mut search =
        Search { names, slots, candidates: &candidates, chosen: [None; 4], best: (0.0, [None; 4]) };
    search.fill(0, 0.0);
    search.best.1
}

/// Exhaustive search over all assignments of a limb.
struct Search<'a> {
    names: &'a JointNames,
    slots: &'a [NamedPart; 4],
    candidates: &'a [Vec<(JointId, f64)>; 4],
    chosen: [LimbSlot; 4],
    best: (f64, [LimbSlot; 4]),
}

impl Search<'_> {
    /// Tries every candidate for slot `depth`, and an empty slot.
    fn fill(&mut self, depth: usize, score: f64) {
        let Some(candidates) = self.candidates.get(depth) else {
            if score > self.best.0 + 1e-9 {
                self.best = (score, self.chosen);
            }
            return;
        };
        for &(id, weight) in candidates {
            let inner = self.chosen[..depth].iter().flatten();
            if inner.clone().any(|other| self.names.is_below(other.0, id)) {
                continue;
            }
            let follows = inner.last().is_some_and(|other| self.names.is_below(id, other.0));
            let needed = !matches!(self.slots[depth], NamedPart::Clavicle | NamedPart::Toes);
            let bonus = if follows { FOLLOWS } else { 0.0 } + if needed { NEEDED } else { 0.0 };
            self.chosen[depth] = Some((id, weight));
            self.fill(depth + 1, score + weight + bonus);
        }
        self.chosen[depth] = None;
        self.fill(depth + 1, score);
    }
}

/// A lone shoulder is an upper arm, unless the other side has the same word for its collar bone: then it is the upper
/// arm that has no name.
pub fn match_collar_bones(names: &JointNames, arms: &mut [[LimbSlot; 4]; 2]) {
    for (here, other) in [(0, 1), (1, 0)] {
        if let ([None, Some(arm), ..], [Some(collar), Some(_), ..]) = (arms[here], arms[other])
            && names.readings(arm.0) == names.readings(collar.0)
        {
            arms[here][0] = Some((arm.0, collar.1));
            arms[here][1] = None;
        }
    }
}

/// Quadruped hind legs are often named one joint too far out: `BackLeg`, `BackUpperLeg`, `BackLowerLeg` and a
/// separate foot are thigh, shin and foot. Moves the slots inwards where a plain `leg` is above the thigh.
pub fn shift_hind_leg_inwards(skeleton: &Skeleton, names: &JointNames, leg: &mut [LimbSlot; 4]) {
    let [Some((thigh, weight)), Some((shin, shin_weight)), ..] = *leg else { return };
    let Some(above) = skeleton.parent(thigh) else { return };
    let is_leg = names.is_leg(above) && names.side(above) == names.side(thigh);
    let foot_follows = leg[2].is_some_and(|(foot, _)| names.is_below(foot, shin));
    if is_leg && !foot_follows {
        leg[3] = leg[2];
        *leg = [Some((above, weight)), Some((thigh, weight)), Some((shin, shin_weight)), leg[3]];
    }
}

/// A foot joint between ankle and toes is the ball, where the toes rotate, and the toes are its tip (Second Life).
/// `rest` is the calibration pose in model space.
pub fn ball_of_foot(skeleton: &Skeleton, names: &JointNames, rest: &ModelPose, leg: &mut [LimbSlot; 4]) {
    let [_, _, Some((ankle, _)), Some((tip, _))] = *leg else { return };
    let between =
        skeleton.path_to_root(tip).skip(1).take_while(|&id| id != ankle && names.is_below(id, ankle));
    // A joint of the same name is the second half of the ankle's bone.
    let is_foot = |id: &JointId| {
        let weight = names.weight(*id, NamedPart::Foot);
        weight > 0.0 && weight < names.weight(ankle, NamedPart::Foot)
    };
    let Some(foot) = between.filter(is_foot).last() else { return };
    let from_ankle = |id: JointId| (rest.position(id) - rest.position(ankle)).norm();
    if from_ankle(foot) > BALL * from_ankle(tip) {
        leg[3] = Some((foot, names.weight(foot, NamedPart::Foot)));
    }
}
