//! Detects arms and legs: the joints of one side that fill the slots of a limb, by words, order in the tree and shape in
//! one decision.

use super::joint_names::JointNames;
use super::role_weights::Weight;
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

/// Candidates per slot; a limb has a handful, and the search takes the product of all slots.
const MOST_CANDIDATES: usize = 12;

/// Share of the distance from ankle to toe tip beyond which a joint named foot is the ball and no second ankle joint.
const BALL: f64 = 0.3;

/// Confidence of a role that the shape alone gives to a joint of a named body: little more than a guess, since the joint's
/// own name does not confirm it.
pub const GAP_CONFIDENCE: f64 = 0.55;
/// Highest confidence of a choice whose runner-up is as good but for [`Weight::Margin`].
const CLOSE_CONFIDENCE: f64 = 0.6;
/// Confidence of the shape that its joint must exceed to fill a slot without a name: hands and feet that are not children
/// of the limb are moved by other means than the limb.
const LOOSE: f64 = 0.5;

/// What the shape knows of one limb: its slots, and how far its reading agrees with clear names, 0 to 1.
#[derive(Clone, Copy, Debug)]
pub struct SeenLimb<'a> {
    pub slots: &'a [LimbSlot; 4],
    pub trust: f64,
}

/// A joint that may fill a slot: the weight of its name, and the confidence of the shape if that agrees.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    id: JointId,
    name: f64,
    shape: f64,
}

/// The best assignment of one side's joints to the four `slots` of a limb, from names and shape together.
///
/// Maximises the sum of all evidence ([`Weight`]). Joints on one path of the tree must be in the limb's order, and a
/// bonus rewards that they are. Of equal assignments the one nearest to the root wins, so that a chain of twist joints is
/// used from its first joint. Names with unknown words need the shape's agreement, where a shape was found.
pub fn limb(
    skeleton: &Skeleton,
    names: &JointNames,
    side: Side,
    slots: &[NamedPart; 4],
    seen: Option<SeenLimb>,
) -> [LimbSlot; 4] {
    let candidates = [0, 1, 2, 3].map(|slot| candidates(skeleton, names, side, (slots[slot], slot), seen));
    let least = [0, 1, 2, 3].map(|slot| vec![f64::MIN; candidates[slot].len() + 1]);
    let mut search = Search {
        names,
        slots,
        candidates: &candidates,
        chosen: [None; 4],
        best: (0.0, [None; 4]),
        best_with: least,
    };
    search.fill(0, 0.0);
    [0, 1, 2, 3].map(|slot| search.slot(slot))
}

/// The joints that may fill a slot, in joint order.
fn candidates(
    skeleton: &Skeleton,
    names: &JointNames,
    side: Side,
    (part, slot): (NamedPart, usize),
    seen: Option<SeenLimb>,
) -> Vec<Candidate> {
    let of_shape = seen.and_then(|s| s.slots[slot].map(|(id, sure)| (id, sure * s.trust)));
    let candidate = |id: JointId| {
        let shape = of_shape.filter(|s| s.0 == id && !names.is_helper(id)).map_or(0.0, |s| s.1);
        let own_side = names.side(id) == Some(side);
        let counts = own_side && (seen.is_none() || shape > 0.0 || !names.is_vague(id));
        let name = if counts { names.weight(id, part) } else { 0.0 };
        let fits = name > 0.0 || shape > LOOSE * seen.map_or(0.0, |s| s.trust);
        fits.then_some(Candidate { id, name, shape })
    };
    let mut found: Vec<Candidate> = skeleton.ids().filter_map(candidate).collect();
    if found.len() > MOST_CANDIDATES {
        found.sort_by(|a, b| (b.name + b.shape).total_cmp(&(a.name + a.shape)));
        found.truncate(MOST_CANDIDATES);
        found.sort_by_key(|c| c.id);
    }
    found
}

/// Exhaustive search over all assignments of a limb.
struct Search<'a> {
    names: &'a JointNames,
    slots: &'a [NamedPart; 4],
    candidates: &'a [Vec<Candidate>; 4],
    /// Index of the candidate of every slot.
    chosen: [Option<usize>; 4],
    best: (f64, [Option<usize>; 4]),
    /// The best score with every candidate of every slot; the last entry is that of the empty slot.
    best_with: [Vec<f64>; 4],
}

impl Search<'_> {
    /// Tries every candidate for slot `depth`, and an empty slot.
    fn fill(&mut self, depth: usize, score: f64) {
        let Some(candidates) = self.candidates.get(depth) else {
            for (best, chosen) in self.best_with.iter_mut().zip(self.chosen) {
                let at = chosen.unwrap_or(best.len() - 1);
                best[at] = best[at].max(score);
            }
            if score > self.best.0 + 1e-9 {
                self.best = (score, self.chosen);
            }
            return;
        };
        for (n, candidate) in candidates.iter().enumerate() {
            let inner = (0..depth).rev().filter_map(|k| Some(self.candidates[k][self.chosen[k]?].id));
            if inner.clone().any(|other| self.names.is_below(other, candidate.id)) {
                continue;
            }
            let below = |other: JointId| self.names.is_below(candidate.id, other);
            let order = match inner.clone().next() {
                Some(last) if below(last) => Weight::Follows.value(),
                Some(_) if inner.clone().any(below) => -Weight::Skips.value(),
                _ => 0.0,
            };
            let needed = !matches!(self.slots[depth], NamedPart::Clavicle | NamedPart::Toes);
            let bonus = order + if needed { Weight::Needed.value() } else { 0.0 };
            self.chosen[depth] = Some(n);
            self.fill(depth + 1, score + candidate.name + Weight::Shape.value() * candidate.shape + bonus);
        }
        self.chosen[depth] = None;
        self.fill(depth + 1, score);
    }

    /// The joint of a slot in the best assignment, and its confidence.
    fn slot(&self, slot: usize) -> LimbSlot {
        let at = self.best.1[slot]?;
        let Candidate { id, name, shape } = self.candidates[slot][at];
        let sure = match (name > 0.0, shape > 0.0) {
            // Two witnesses that do not know of each other.
            (true, true) => 1.0 - (1.0 - name) * (1.0 - shape),
            (true, false) => name,
            _ => GAP_CONFIDENCE.min(shape),
        };
        let rival = |n: usize| match self.candidates[slot].get(n) {
            // Of twist joints with the same name the first is meant.
            Some(other) => n != at && self.names.readings(other.id) != self.names.readings(id),
            None => true,
        };
        let next = (0..self.best_with[slot].len()).filter(|&n| rival(n)).map(|n| self.best_with[slot][n]);
        let close = self.best.0 - next.fold(f64::MIN, f64::max) < Weight::Margin.value();
        Some((id, if close { sure.min(CLOSE_CONFIDENCE) } else { sure }))
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
/// `rest` is the reference pose in model space.
pub fn ball_of_foot(skeleton: &Skeleton, names: &JointNames, rest: &ModelPose, leg: &mut [LimbSlot; 4]) {
    let [_, _, Some((ankle, _)), Some((tip, _))] = *leg else { return };
    let between =
        skeleton.path_to_root(tip).skip(1).take_while(|&id| id != ankle && names.is_below(id, ankle));
    // A joint of the same name is the second half of the ankle's bone.
    let is_foot = |id: &JointId| {
        let weight = names.weight(*id, NamedPart::Foot);
        weight > 0.0 && weight < names.weight(ankle, NamedPart::Foot) && !names.is_vague(*id)
    };
    let Some(foot) = between.filter(is_foot).last() else { return };
    let from_ankle = |id: JointId| (rest.position(id) - rest.position(ankle)).norm();
    if from_ankle(foot) > BALL * from_ankle(tip) {
        leg[3] = Some((foot, names.weight(foot, NamedPart::Foot)));
    }
}
