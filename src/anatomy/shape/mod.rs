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
use body::{Body, direction, middle};
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
/// How sure hands and feet are that hang elsewhere, and sides that only the file's format tells.
const LOOSE: f64 = 0.5;
/// Votes for a front that are worth trusting: one foot that points ahead gives 2.
const VOTES: f64 = 0.8;
/// Votes that overrule names: two feet and something else.
const PROVEN: f64 = 4.0;
/// Joints whose bones differ by less, in radians, lie in line.
const IN_LINE: f64 = 0.15;
/// The axis of a knee along the left of the hips that only swapped sides show: those of good takes lie above 0.76.
const BACKWARDS: f64 = -0.5;
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
        sides_proven: proven(&front),
        knees: front.knees.map(|k| k * front.votes.signum()),
    })
}

/// Whether the witnesses are enough to overrule names: knees that bend, or a standing figure with feet.
fn proven(front: &front::Front) -> bool {
    let knees = front.knees.map(|k| k * front.votes.signum() > 0.3);
    front.votes.abs() > PROVEN && knees.unwrap_or(front.upright)
}

/// Thigh, shin, foot and toes of one side.
fn leg(tree: &Tree, limb: &Limb, side: usize) -> [Option<usize>; 4] {
    let path = &limb.twin.paths[side];
    let foot = limb.end_joint(side);
    let toes = limb.end.and_then(|k| {
        let branches = &tree.children[path[k]];
        if branches.len() < 3 {
            return toes(tree, path, k);
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
fn arm(tree: &Tree, legs: &Limb, limb: &Limb, side: usize) -> [Option<usize>; 4] {
    let path = &limb.twin.paths[side];
    // A stub in the middle of the body leads to the collar bone where there is one behind it.
    let apart =
        |k: usize| (tree.at[limb.joint(0, k)] - tree.at[limb.joint(1, k)]).norm() > 0.02 * limb.twin.length;
    let collar = (0..limb.upper).find(|&k| apart(k)).or((limb.upper > 0).then_some(0)).map(|k| path[k]);
    let collar = collar.or_else(|| loose_collar(tree, legs, limb, side));
    [collar, Some(path[limb.upper]), Some(path[limb.lower]), hand(tree, limb, side)]
}

/// The collar bone of a rig in pieces: an end joint between the trunk and the shoulder, as high as the shoulder.
fn loose_collar(tree: &Tree, legs: &Limb, arms: &Limb, side: usize) -> Option<usize> {
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

/// The hand of one side; of several joints in one place (the bones of a palm) the middle one.
fn hand(tree: &Tree, limb: &Limb, side: usize) -> Option<usize> {
    let Some(end) = limb.end else { return limb.loose[side] };
    let hand = limb.joint(side, end);
    let beside = &tree.children[tree.parent[hand]?];
    let near = |k: usize| (tree.at[k] - tree.at[hand]).norm() < 0.01 * limb.twin.length;
    let palm: Vec<usize> =
        beside.iter().copied().filter(|&k| near(k) && !tree.children[k].is_empty()).collect();
    if palm.len() < 3 {
        return Some(hand);
    }
    let end = |k: usize| tree.at[tree.outwards(k).last().unwrap_or(k)];
    let mean = palm.iter().map(|&k| end(k)).sum::<Vec3>() / palm.len() as f64;
    let far = |k: usize| (end(k) - mean).norm();
    palm.into_iter().min_by(|&a, &b| far(a).total_cmp(&far(b)))
}

/// The joint that the toes turn at: the next behind the foot, but for twist joints of the foot.
fn toes(tree: &Tree, path: &[usize], foot: usize) -> Option<usize> {
    let twists = |k: usize| {
        let Some(&next) = path.get(k + 1) else { return false };
        let (a, b) = (tree.at[path[k]] - tree.at[path[foot]], tree.at[next] - tree.at[path[k]]);
        tree.children[path[k]].len() < 2 && a.angle(&b) < IN_LINE
    };
    (foot + 1..path.len()).find(|&k| !twists(k)).map(|k| path[k])
}

/// Whether both knees of legs that words name bend the wrong way in the clip: their sides are swapped.
pub fn knees_bend_backwards(skeleton: &Skeleton, legs: &[[Slot; 4]; 2], evidence: &Evidence) -> bool {
    let joints = legs.map(|leg| [0, 1, 2].map(|k| leg[k].map(|s: (JointId, f64)| s.0.index())));
    let ([[Some(a), Some(b), Some(c)], [Some(d), Some(e), Some(f)]], Some(clip)) = (joints, evidence.clip)
    else {
        return false;
    };
    let both = front::knee_axes(&frames(skeleton, clip), [[a, b, c], [d, e, f]]);
    both.iter().all(|(along, weight)| *along < BACKWARDS && *weight > 1.0)
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
