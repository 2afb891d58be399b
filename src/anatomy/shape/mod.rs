//! A tree without words becomes a body: what the shape of a skeleton alone tells of its joints.
//!
//! Branches that mirror each other are found first, then limbs among them, then the two pairs that make a body, the
//! line between and beyond them, fingers, and the front, which tells left from right. Nothing here reads names.
//! Space: the rest pose, Y up if the file says so. Units: any. The method is the project's own.

mod body;
mod digits;
mod front;
mod limb;
mod line;
mod tree;
mod twins;

use super::limbs::Slot;
use crate::math::Vec3;
use crate::model::{Clip, Finger, JointId, Mesh, ModelPose, Side, Skeleton};
use body::Body;
use limb::Limb;
use tree::Tree;

/// What a file tells of a skeleton besides names and the rest pose.
#[derive(Clone, Copy, Debug, Default)]
pub struct Evidence<'a> {
    /// The summed weight of the vertices that each joint moves, in joint order; `None` without a skin.
    pub mass: Option<&'a [f64]>,
    /// A clip that plays on the skeleton.
    pub clip: Option<&'a Clip>,
}

/// The summed weight of the vertices that each of `joints` joints moves; `None` where no mesh moves any.
pub fn mass(meshes: &[Mesh], joints: usize) -> Option<Vec<f64>> {
    let mut mass = vec![0.0; joints];
    for mesh in meshes {
        for (bound, weights) in mesh.joints.iter().zip(&mesh.weights) {
            for (&b, &weight) in bound.iter().zip(weights) {
                if let Some(binding) = mesh.bindings.get(usize::from(b)) {
                    mass[binding.joint.index()] += f64::from(weight);
                }
            }
        }
    }
    mass.iter().any(|&m| m > 0.0).then_some(mass)
}

/// What the shape tells: legs and arms of both sides (left first), and the line of the trunk.
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
/// Votes for a front that are worth trusting: one foot that points ahead gives 2.
const VOTES: f64 = 0.8;
/// Votes that overrule names: two feet and something else.
const PROVEN: f64 = 4.0;
/// Frames of a clip that are looked at, evenly spread.
const FRAMES: usize = 16;

/// The sides in the order of `Shape::legs` and `Shape::arms`.
pub const SIDES: [Side; 2] = Side::BOTH;

/// Reads a body off the tree; `None` where there are no two legs and a trunk.
pub fn find(skeleton: &Skeleton, rest: &ModelPose, evidence: &Evidence) -> Option<Shape> {
    let frames = evidence.clip.map_or_else(Vec::new, |clip| frames(skeleton, clip));
    let tree = Tree::new(skeleton, rest, evidence.mass, frames);
    let twins = twins::twins(&tree);
    let mut body = Body::of(&tree, &twins)?;
    let line = line::line(&tree, &body)?;
    let mut hands = [Vec::new(), Vec::new()];
    let mut thumbs = Vec3::zeros();
    if let Some(arms) = &mut body.arms {
        // Arms in the order of the legs.
        if arms.twin.across.dot(&body.legs.twin.across) < 0.0 {
            arms.twin.paths.reverse();
            arms.twin.across = -arms.twin.across;
        }
        if let Some(end) = arms.end {
            for (s, hand) in hands.iter_mut().enumerate() {
                let (found, towards) = digits::digits(&tree, arms.joint(s, end));
                *hand = found;
                thumbs += towards;
            }
        }
    }
    let front = front::front(&tree, &body, &line, thumbs);
    let feet = detached(&tree, &body.legs);
    let paws = body.arms.as_ref().map_or([None; 2], |arms| detached(&tree, arms));

    let points = body.arms.as_ref().map_or(-3.0, |a| a.points).min(body.legs.points);
    let sure = FAIR + (SURE - FAIR) * (points / 4.0).clamp(0.0, 1.0);
    let sides_sure = if front.votes.abs() > VOTES { SURE } else { GUESS.max(0.5 * front.votes.abs()) };
    // Left first.
    let order = if front.votes >= 0.0 { [0, 1] } else { [1, 0] };
    let id = |k: usize| JointId::new(k);
    let list = |joints: &[usize]| joints.iter().map(|&k| id(k)).collect::<Vec<_>>();
    let confidence = sure.min(sides_sure.max(0.5));
    let legs = order.map(|s| leg(&tree, &body.legs, s, feet[s]).map(|k| Some((id(k?), confidence))));
    let arms = body.arms.as_ref();
    let arms = arms
        .map_or([[None; 4]; 2], |a| order.map(|s| arm(a, s, paws[s]).map(|k| Some((id(k?), confidence)))));
    let fingers = order.map(|s| hands[s].iter().map(|(f, chain)| (*f, list(chain))).collect());
    Some(Shape {
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
        sides_proven: front.votes.abs() > PROVEN
            && front.knees.is_none_or(|k| k * front.votes.signum() > 0.3),
        knees: front.knees.map(|k| k * front.votes.signum()),
    })
}

/// Thigh, shin, foot and toes of one side.
fn leg(tree: &Tree, limb: &Limb, side: usize, loose: Option<usize>) -> [Option<usize>; 4] {
    let path = &limb.twin.paths[side];
    let foot = limb.end.map(|k| path[k]).or(loose);
    let toes = limb.end.and_then(|k| {
        let branches = &tree.children[path[k]];
        if branches.len() < 3 {
            return path.get(k + 1).copied();
        }
        // Of five toes the big one, which is the innermost.
        let other = tree.at[limb.joint(1 - side, k)];
        branches.iter().copied().min_by(|&a, &b| {
            let far = |k: usize| (tree.at[k] - other).norm();
            far(a).total_cmp(&far(b))
        })
    });
    [Some(path[limb.upper]), Some(path[limb.lower]), foot, toes]
}

/// Collar bone, upper arm, forearm and hand of one side.
fn arm(limb: &Limb, side: usize, loose: Option<usize>) -> [Option<usize>; 4] {
    let path = &limb.twin.paths[side];
    let collar = (limb.upper > 0).then(|| path[0]);
    [collar, Some(path[limb.upper]), Some(path[limb.lower]), limb.end.map(|k| path[k]).or(loose)]
}

/// Hands or feet that hang elsewhere and lie where the limbs end: the ends of chains that inverse kinematics drives.
fn detached(tree: &Tree, limb: &Limb) -> [Option<usize>; 2] {
    if limb.end.is_some() {
        return [None; 2];
    }
    [0, 1].map(|s| {
        let (upper, lower) = (limb.joint(s, limb.upper), limb.joint(s, limb.lower));
        let first = tree.at[lower] - tree.at[upper];
        let own = limb.twin.paths[s][0];
        let free = (1..tree.at.len()).filter(|&k| !tree.is_below(k, own) && !tree.bare[k]);
        let miss = |k: usize| match tree.tip[lower] {
            Some(tip) => {
                let second = (tip - tree.at[lower]).norm();
                ((tree.at[k] - tip).norm() / second.max(1e-12) - 0.1).max(-0.1)
            }
            None => {
                // Straight on, about as far again.
                let on = tree.at[k] - tree.at[lower];
                let far = (on.norm() / first.norm().max(1e-12)).ln().abs();
                let aside = first.angle(&on);
                if far < 0.8 && aside < 0.6 { aside + far - 2.0 } else { 1.0 }
            }
        };
        let best = free.map(|k| (miss(k), k)).min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        best.filter(|b| b.0 < 0.0).map(|b| b.1)
    })
}

/// The places of all joints in some frames of a clip.
fn frames(skeleton: &Skeleton, clip: &Clip) -> Vec<Vec<Vec3>> {
    let count = clip.frames();
    let step = count.div_ceil(FRAMES).max(1);
    let mut pose = skeleton.rest_pose();
    let place = |frame: usize| {
        clip.read_pose(frame, &mut pose);
        let model = ModelPose::of(skeleton, &pose);
        skeleton.ids().map(|id| model.position(id)).collect()
    };
    (0..count).step_by(step).map(place).collect()
}
