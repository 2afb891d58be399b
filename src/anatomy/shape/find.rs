//! A skeleton becomes the shape of a body: limbs, trunk, fingers and sides with how sure they are; or none.
//!
//! Space: the rest pose, Y up if the file says so. Units: any.

use super::joint_tree::Tree;
use super::limb::Limb;
use super::limb_pairs::{LimbPairs, direction, middle};
use super::shape_evidence::{ShapeEvidence, frames};
use super::slots::{arm, hand, leg};
use super::{digits, front, trunk_line, twins};
use crate::anatomy::named_limbs::LimbSlot;
use crate::math::Vec3;
use crate::model::{Finger, JointId, ModelPose, Side, Skeleton};

/// What the shape tells: legs and arms of both sides (left first), and the line of the trunk.
#[derive(Clone, Debug, PartialEq)]
pub struct BodyShape {
    /// The joint that legs and trunk part from.
    pub hips: JointId,
    /// Slots as in `limbs::LEG`, left and right.
    pub legs: [[LimbSlot; 4]; 2],
    /// Slots as in `limbs::ARM`, left and right.
    pub arms: [[LimbSlot; 4]; 2],
    /// From above the hips to the chest.
    pub spine: Vec<JointId>,
    /// Above the chest, below the head.
    pub neck: Vec<JointId>,
    /// The head.
    pub head: Option<JointId>,
    /// Behind the hips.
    pub tail: Vec<JointId>,
    /// Fingers of the left and of the right hand, each from the knuckle outwards.
    pub fingers: [Vec<(Finger, Vec<JointId>)>; 2],
    /// How sure limbs, hips and head are.
    pub sure: f64,
    /// How sure spine and neck are parted.
    pub trunk_sure: f64,
    /// How sure left and right are: below 0.5 the front is a guess.
    pub sides_sure: f64,
    /// Whether several witnesses agree about the sides, or the knees of a clip: enough to overrule names.
    pub sides_proven: bool,
    /// What the knees of the clip say of the sides, -1 (wrong) to 1; `None` without knees that bend.
    pub knees: Option<f64>,
}

/// How sure a body is that has all that bodies have.
const SURE: f64 = 0.75;
/// How sure a body is whose limbs are just like limbs.
const FAIR: f64 = 0.6;
/// Below this nobody should rely on it.
const GUESS: f64 = 0.45;
/// How sure hands and feet are that hang elsewhere, and sides that only the file's format tells.
const LOOSE: f64 = 0.5;
/// Votes for a front that are worth trusting: one foot that points ahead gives 3, the +Z of the file 0.3. At half of
/// this a knee that is a little bent decides, at double one foot and nothing else still does.
const VOTES: f64 = 0.8;
/// Votes that overrule names: more than one foot gives. At half of this one foot would, at double two would not.
const PROVEN: f64 = 4.0;

/// The sides in the order of `BodyShape::legs` and `BodyShape::arms`.
pub const SIDES: [Side; 2] = Side::BOTH;

/// Reads a body off the tree; `None` where there are no two legs and a trunk.
pub fn find(skeleton: &Skeleton, rest: &ModelPose, evidence: &ShapeEvidence) -> Option<BodyShape> {
    let frames = evidence.clip.map_or_else(Vec::new, |clip| frames(skeleton, clip));
    let tree = Tree::new(skeleton, rest, evidence.mass, frames);
    let twins = twins::twins(&tree);
    let mut body = LimbPairs::of(&tree, &twins)?;
    let line = trunk_line::trunk_line(&tree, &body)?;
    let mut hands = [Vec::new(), Vec::new()];
    let mut thumbs = Vec3::zeros();
    if let Some(arms) = &mut body.arms {
        // Arms in the order of the legs.
        if arms.twin.across.dot(&body.legs.twin.across) < 0.0 {
            arms.turn_round();
        }
        let trunk = middle(&tree, arms, arms.upper) - middle(&tree, &body.legs, body.legs.upper);
        let (down, fore) = (direction(&tree, &body.legs), direction(&tree, arms));
        // Forelegs beside hind legs, and a trunk across them.
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
    let slots = |limb: &Limb, joints: [Option<usize>; 4]| {
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

/// Whether the witnesses are enough to overrule names: knees that bend, or a standing figure with feet.
fn proven(front: &front::Front) -> bool {
    let knees = front.knees.map(|k| k * front.votes.signum() > 0.3);
    front.votes.abs() > PROVEN && knees.unwrap_or(front.upright)
}

/// The axis of a knee along the left of the hips that only swapped sides show: those of good takes lie above 0.76.
const BACKWARDS: f64 = -0.5;

/// Whether both knees of legs that words name bend the wrong way in the clip: their sides are swapped.
pub fn knees_bend_backwards(
    skeleton: &Skeleton,
    legs: &[[LimbSlot; 4]; 2],
    evidence: &ShapeEvidence,
) -> bool {
    let joints = legs.map(|leg| [0, 1, 2].map(|k| leg[k].map(|s: (JointId, f64)| s.0.index())));
    let ([[Some(a), Some(b), Some(c)], [Some(d), Some(e), Some(f)]], Some(clip)) = (joints, evidence.clip)
    else {
        return false;
    };
    let both = front::knee_axes(&frames(skeleton, clip), [[a, b, c], [d, e, f]]);
    both.iter().all(|(along, weight)| *along < BACKWARDS && *weight > 1.0)
}
