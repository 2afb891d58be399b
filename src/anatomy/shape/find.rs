//! Detects limbs, trunk, fingers and sides of a body by shape, with confidences.

use super::joint_tree::Tree;
use super::limb::TwinLimb;
use super::limb_pairs::{LimbPairs, direction, middle};
use super::shape_evidence::{ShapeEvidence, frames};
use super::slots::{arm, hand, leg};
use super::{digits, front, trunk_line, twins};
use crate::anatomy::named_limbs::LimbSlot;
use crate::math::Vec3;
use crate::model::{Finger, JointId, ModelPose, Side, Skeleton};

/// The detected body: legs and arms of both sides (left first), and the trunk.
#[derive(Clone, Debug, PartialEq)]
pub struct BodyShape {
    /// The joint where legs and trunk branch.
    pub hips: JointId,
    /// Slots as in `named_limbs::LEG`, left and right.
    pub legs: [[LimbSlot; 4]; 2],
    /// Slots as in `named_limbs::ARM`, left and right.
    pub arms: [[LimbSlot; 4]; 2],
    /// From the joint above the hips to the chest.
    pub spine: Vec<JointId>,
    /// Above the chest, below the head.
    pub neck: Vec<JointId>,
    /// The head.
    pub head: Option<JointId>,
    /// The tail, from the hips outwards.
    pub tail: Vec<JointId>,
    /// Fingers of the left and of the right hand, each from the knuckle outwards.
    pub fingers: [Vec<(Finger, Vec<JointId>)>; 2],
    /// Confidence of limbs, hips and head.
    pub sure: f64,
    /// Confidence of the boundary between spine and neck.
    pub trunk_sure: f64,
    /// Confidence of left and right: below 0.5 the front is a guess.
    pub sides_sure: f64,
    /// Whether several cues, or the knees in a clip, agree about the sides: enough to override names.
    pub sides_proven: bool,
    /// Agreement of the clip's knees with the sides, -1 (contradict) to 1; `None` without knees that bend.
    pub knees: Option<f64>,
}

impl BodyShape {
    /// The body with left and right exchanged.
    pub fn mirrored(mut self) -> BodyShape {
        self.legs.reverse();
        self.arms.reverse();
        self.fingers.reverse();
        BodyShape { knees: self.knees.map(|k| -k), ..self }
    }

    /// The body of the joints that group nodes group, in their place; `grouped` has that joint for each joint.
    pub fn below_groups(mut self, grouped: &[Option<JointId>]) -> BodyShape {
        let real = |id: JointId| grouped.get(id.index()).copied().flatten().unwrap_or(id);
        self.hips = real(self.hips);
        self.head = self.head.map(real);
        let limbs = self.legs.iter_mut().chain(&mut self.arms);
        for slots in limbs.map(|limb| limb.as_mut_slice()) {
            slots.iter_mut().flatten().for_each(|slot| slot.0 = real(slot.0));
            for k in 1..slots.len() {
                let is_inner = |slot: &(JointId, f64)| slots[..k].iter().flatten().any(|s| s.0 == slot.0);
                slots[k] = slots[k].filter(|slot| !is_inner(slot));
            }
        }
        let fingers = self.fingers.iter_mut().flatten().map(|(_, chain)| chain);
        for chain in fingers.chain([&mut self.spine, &mut self.neck, &mut self.tail]) {
            chain.iter_mut().for_each(|id| *id = real(*id));
            chain.dedup();
        }
        self
    }
}

/// Confidence of a body whose limbs have all features of limbs. Less than that of names, which people gave.
const SURE: f64 = 0.75;
/// Confidence of a body whose limbs barely qualify.
const FAIR: f64 = 0.6;
/// Confidence of a guess: below 0.5, so nothing should rely on it.
const GUESS: f64 = 0.45;
/// Confidence of hands and feet that are not children of the limb, and of sides that only the file format defines.
const LOOSE: f64 = 0.5;
/// Votes for a front that are reliable: one foot that points ahead gives 3, the file's +Z 0.3. At half of this limit
/// a slightly flexed knee decides; at double, one foot and nothing else still does.
const VOTES: f64 = 0.8;
/// Votes that override names: more than one foot gives. At half of this limit one foot would do, at double two feet
/// would not.
const PROVEN: f64 = 4.0;

/// The sides in the order of `BodyShape::legs` and `BodyShape::arms`.
pub const SIDES: [Side; 2] = Side::BOTH;

/// Detects a body; `None` without two legs and a trunk.
pub fn find(skeleton: &Skeleton, rest: &ModelPose, evidence: &ShapeEvidence) -> Option<BodyShape> {
    let frames = evidence.clip.map_or_else(Vec::new, |clip| frames(skeleton, clip));
    let tree = Tree::new(skeleton, rest, evidence, frames);
    let twins = twins::twins(&tree);
    let mut body = LimbPairs::of(&tree, &twins)?;
    let line = trunk_line::trunk_line(&tree, &body)?;
    let mut hands = [Vec::new(), Vec::new()];
    let mut thumbs = Vec3::zeros();
    if let Some(arms) = &mut body.arms {
        // Puts the arms in the order of the legs.
        if arms.twin.across.dot(&body.legs.twin.across) < 0.0 {
            arms.exchange_sides();
        }
        let trunk = middle(&tree, arms, arms.upper) - middle(&tree, &body.legs, body.legs.upper);
        let (down, fore) = (direction(&tree, &body.legs), direction(&tree, arms));
        // Forelegs are parallel to the hind legs, and the trunk is across them.
        let paws = trunk.angle(&-down) > 0.9 && down.angle(&fore) < 0.7;
        if let (Some(_), [Some(a), Some(b)]) = (arms.end, [0, 1].map(|s| hand(&tree, arms, s))) {
            for (s, hand, other) in [(0, a, b), (1, b, a)] {
                let (found, towards) = digits::digits(&tree, hand, paws.then(|| tree.at[other]));
                hands[s] = found;
                thumbs += towards;
            }
        }
    }
    let front = front::front(&tree, &body, &line, thumbs);
    let points = body.arms.as_ref().map_or(-3.0, |a| a.points).min(body.legs.points);
    let sure = FAIR + (SURE - FAIR) * (points / 4.0).clamp(0.0, 1.0);
    let sure = (sure * 100.0).round() / 100.0;
    let sides_sure = if front.votes.abs() > VOTES { SURE } else { GUESS.max(0.5 * front.votes.abs()) };
    // Left first.
    let order = if front.votes >= 0.0 { [0, 1] } else { [1, 0] };
    let id = |k: usize| JointId::new(k);
    let list = |joints: &[usize]| joints.iter().map(|&k| id(k)).collect::<Vec<_>>();
    let confidence = sure.min(sides_sure.max(LOOSE));
    let slots = |limb: &TwinLimb, joints: [Option<usize>; 4]| {
        let sure = |k: usize| if limb.loose.contains(&Some(k)) { confidence.min(LOOSE) } else { confidence };
        joints.map(|k| Some((id(k?), sure(k?))))
    };
    let legs = order.map(|s| slots(&body.legs, leg(&tree, &body.legs, s)));
    let arms = body.arms.as_ref();
    let arms = arms.map_or([[None; 4]; 2], |a| order.map(|s| slots(a, arm(&tree, &body.legs, a, s))));
    let fingers = order.map(|s| hands[s].iter().map(|(f, chain)| (*f, list(chain))).collect());
    Some(BodyShape {
        hips: id(line.hips),
        legs,
        arms,
        spine: list(&line.spine),
        neck: list(&line.neck),
        head: line.head.map(id),
        tail: list(&line.tail),
        fingers,
        sure,
        trunk_sure: if line.sure { sure } else { GUESS },
        sides_sure,
        sides_proven: proven(&front),
        knees: front.knees.map(|k| k * front.votes.signum()),
    })
}

/// Votes of cues that contradict each other: half of what one foot gives.
const CONTRADICTS: f64 = 1.5;
/// Vote of the format from which a figure clearly rests towards or away from +Z.
const FACES_FORMAT: f64 = 0.15;

/// Whether the cues suffice to override names: knees that bend, or an upright figure with feet. Cues that contradict each
/// other prove nothing (the hip of an animal read as a knee), nor do knees alone where the figure faces +Z by its names
/// (a machine whose knees bend backwards).
fn proven(front: &front::Front) -> bool {
    let sign = front.votes.signum();
    let alone = front.others.abs() < CONTRADICTS && front.format * sign < -FACES_FORMAT;
    let agree = front.others * sign > -CONTRADICTS && !alone;
    let knees = front.knees.map(|k| k * sign > 0.3 && agree);
    front.votes.abs() > PROVEN && knees.unwrap_or(front.upright)
}

/// Component of the knee axis along the left of the hips beyond which the sides are clear: good takes are above 0.76.
const CLEAR_BEND: f64 = 0.5;

/// The components of the flexion axis of the left and the right knee of the named legs along the left of the hips, each
/// with its weight, in the clip; `None` without a clip or with incomplete legs.
pub fn knees(
    skeleton: &Skeleton,
    legs: &[[LimbSlot; 4]; 2],
    evidence: &ShapeEvidence,
) -> Option<[(f64, f64); 2]> {
    let joints = legs.map(|leg| [0, 1, 2].map(|k| leg[k].map(|s: (JointId, f64)| s.0.index())));
    let ([[Some(a), Some(b), Some(c)], [Some(d), Some(e), Some(f)]], Some(clip)) = (joints, evidence.clip)
    else {
        return None;
    };
    Some(front::knee_axes(&frames(skeleton, clip), [[a, b, c], [d, e, f]]))
}

/// Whether both knees bend backwards, which means that the sides are exchanged.
pub fn bend_backwards(knees: [(f64, f64); 2]) -> bool {
    knees.iter().all(|(along, weight)| *along < -CLEAR_BEND && *weight > 1.0)
}

/// Whether both knees bend forwards, which means that the sides are right.
pub fn bend_forwards(knees: [(f64, f64); 2]) -> bool {
    knees.iter().all(|(along, weight)| *along > CLEAR_BEND && *weight > 1.0)
}
