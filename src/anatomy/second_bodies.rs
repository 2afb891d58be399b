//! Finds the other bodies of a file that holds several, of which one is used.
//!
//! Space: any with Y up. Units: those of the skeleton.

use super::detect_roles;
use crate::math::Transform;
use crate::model::{Joint, JointId, ModelPose, Rig, Role, Side, Skeleton};
use std::collections::BTreeMap;

/// Fewest joints of a body: hips, trunk, head, two legs and two arms of three joints.
const LEAST: usize = 15;

/// A body beside the one that has the roles of a rig.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecondBody {
    /// Its first joint; all of it hangs below unless its limbs are branches of their own.
    pub top: JointId,
    /// Its hips.
    pub hips: JointId,
    /// The number of its joints.
    pub joints: usize,
}

/// The body that the joints `own`, ascending, form, if it has legs and arms; `rest` is the pose in model space.
pub fn second_body(skeleton: &Skeleton, rest: &ModelPose, own: &[JointId]) -> Option<SecondBody> {
    let hips = body_of(skeleton, rest, own)?;
    Some(SecondBody { top: *own.first()?, hips, joints: own.len() })
}

/// Distance from a joint of a body up to which another joint rests on it, as a share of the body's length (5 mm of a person): copies
/// of a joint are on it to the rounding of their file.
pub(crate) const RESTS_ON: f64 = 0.003;

/// The largest distance between any two of these joints.
pub(crate) fn length_of(joints: &[JointId], pose: &ModelPose) -> f64 {
    let distances =
        joints.iter().flat_map(|a| joints.iter().map(|b| (pose.position(*a) - pose.position(*b)).norm()));
    distances.fold(0.0, f64::max)
}

/// Every body beside the one that has the roles of `rig`, whose pose in model space is `rest`. Clothing with a skeleton of its own, at
/// least half of whose joints rest on those of the body, is none.
pub fn second_bodies(rig: &Rig, rest: &ModelPose) -> Vec<SecondBody> {
    let Some(hips) = rig.joint(Role::Hips) else { return Vec::new() };
    let skeleton = rig.skeleton();
    let path: Vec<JointId> = skeleton.path_to_root(hips).collect();
    let other = |own: &Vec<JointId>| own.len() >= LEAST && own.iter().all(|id| rig.role(*id).is_none());
    let body: Vec<JointId> = rig.assignments().map(|(_, of)| of.joint).collect();
    let near = RESTS_ON * length_of(&body, rest);
    let rests =
        |id: &&JointId| body.iter().any(|on| (rest.position(*on) - rest.position(**id)).norm() <= near);
    let worn = |own: &Vec<JointId>| 2 * own.iter().filter(rests).count() >= own.len();
    let found = branches(skeleton, &path, Some(hips)).into_values().filter(|own| other(own) && !worn(own));
    found.filter_map(|own| second_body(skeleton, rest, &own)).collect()
}

/// The joints of each branch that leaves a path from the root, by the first of them; what hangs on `own` is no branch.
fn branches(skeleton: &Skeleton, path: &[JointId], own: Option<JointId>) -> BTreeMap<JointId, Vec<JointId>> {
    let mut on_path = vec![false; skeleton.len()];
    path.iter().for_each(|id| on_path[id.index()] = true);
    let mut branch: Vec<Option<JointId>> = vec![None; skeleton.len()];
    let mut found: BTreeMap<JointId, Vec<JointId>> = BTreeMap::new();
    for id in skeleton.ids().filter(|id| !on_path[id.index()]) {
        let Some(parent) = skeleton.parent(id) else { continue };
        let leaves = on_path[parent.index()] && Some(parent) != own;
        branch[id.index()] = if leaves { Some(id) } else { branch[parent.index()] };
        if let Some(first) = branch[id.index()] {
            found.entry(first).or_default().push(id);
        }
    }
    found
}

/// The bodies of a file that stand beside each other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BodiesApart {
    /// The joints above all of them.
    pub shared: Vec<JointId>,
    /// The joints of each, in the order of the file; none of a file with one body.
    pub own: Vec<Vec<JointId>>,
}

/// Height, as a share of the file's, from which what looks like a body is one: legs and trunk of people are half of a body each,
/// legs of quadrupeds up to two thirds.
const WHOLE: f64 = 0.75;

/// The bodies of a file that holds several beside each other; `rest` is its pose in model space, `trees` the tree of nodes in which
/// each joint below the root is, as far as known: the limbs of some skeletons are branches of their own, in one tree.
///
/// A leg with toes looks like a body. A body of another size than the rest of the file is told from it where nothing but bodies is
/// large, where these are most of the file, and where each begins below the middle of every other, as no trunk does over legs.
pub fn bodies_apart(skeleton: &Skeleton, rest: &ModelPose, trees: &[Option<usize>]) -> BodiesApart {
    // Everything above the first fork belongs to all of them.
    let only =
        |id: JointId| <[JointId; 1]>::try_from(skeleton.children(id).to_vec()).ok().map(|[child]| child);
    let shared: Vec<JointId> = std::iter::successors(Some(JointId::new(0)), |id| only(*id)).collect();
    let branches = branches(skeleton, &shared, None);
    let mut joined: BTreeMap<usize, Vec<JointId>> = BTreeMap::new();
    for (first, own) in &branches {
        let tree = trees.get(first.index()).copied().flatten();
        joined.entry(tree.map_or(first.index(), |node| skeleton.len() + node)).or_default().extend(own);
    }
    joined.values_mut().for_each(|own| own.sort());
    let mut joined: Vec<Vec<JointId>> = joined.into_values().collect();
    joined.sort();
    let single: Vec<Vec<JointId>> = branches.into_values().collect();
    let ways = if single == joined { vec![joined] } else { vec![joined, single] };
    let mut found = ways.into_iter().map(|parts| whole_bodies(skeleton, rest, parts));
    let own = found.find(|own| own.len() > 1);
    own.map_or_else(BodiesApart::default, |own| BodiesApart { shared, own })
}

/// Those of several branches, or of branches in one tree, that are whole bodies, by the rule of [`bodies_apart`]; none if fewer than
/// two can be.
fn whole_bodies(skeleton: &Skeleton, rest: &ModelPose, parts: Vec<Vec<JointId>>) -> Vec<Vec<JointId>> {
    let large: Vec<Vec<JointId>> = parts.into_iter().filter(|own| own.len() >= LEAST).collect();
    let heights = |own: &[JointId]| {
        let of = || own.iter().map(|id| rest.position(*id).y);
        [of().fold(f64::INFINITY, f64::min), of().fold(f64::NEG_INFINITY, f64::max)]
    };
    let [floor, top] = heights(&skeleton.ids().collect::<Vec<_>>());
    let last_begins = large.iter().map(|own| heights(own)[0]).fold(f64::NEG_INFINITY, f64::max);
    let are_most = 2 * large.iter().map(Vec::len).sum::<usize>() > skeleton.len();
    let stands = |own: &[JointId], among_bodies: bool| {
        let [low, high] = heights(own);
        high - low > WHOLE * (top - floor) || (among_bodies && last_begins < 0.5 * (low + high))
    };
    // Heights are known at once; what looks like a body takes reading all names.
    if large.iter().filter(|own| stands(own, are_most)).count() < 2 {
        return Vec::new();
    }
    let like_bodies = large.iter().filter(|own| body_of(skeleton, rest, own).is_some());
    let like_bodies: Vec<&Vec<JointId>> = like_bodies.collect();
    let nothing_else = are_most && like_bodies.len() == large.len();
    like_bodies.into_iter().filter(|own| stands(own, nothing_else)).cloned().collect()
}

/// The hips of the body that these joints are, if they are one with legs and arms.
fn body_of(skeleton: &Skeleton, rest: &ModelPose, own: &[JointId]) -> Option<JointId> {
    let inside = |id: &JointId| skeleton.parent(*id).and_then(|p| own.binary_search(&p).ok());
    // Several branches need a joint above them: the root of the file, which is none of theirs.
    let above = usize::from(own.iter().filter(|id| inside(id).is_none()).count() > 1);
    let root = Joint { parent: None, rest: Transform::identity(), ..skeleton.joint(JointId::new(0)).clone() };
    let joints = own.iter().map(|id| {
        let parent = inside(id).map(|p| JointId::new(p + above));
        let joint = skeleton.joint(*id).clone();
        let rest = if parent.is_some() { joint.rest } else { *rest.joint(*id) };
        Joint { parent: parent.or((above > 0).then(|| JointId::new(0))), rest, ..joint }
    });
    let part = Skeleton::new([root].into_iter().take(above).chain(joints).collect()).ok()?;
    let places = own.iter().map(|id| *rest.joint(*id));
    let pose = ModelPose::new([Transform::identity()].into_iter().take(above).chain(places).collect());
    let rig = detect_roles(part, &pose, &[]);
    let whole =
        Side::BOTH.into_iter().flat_map(|s| [Role::UpperLeg(s), Role::LowerLeg(s), Role::UpperArm(s)]);
    let hips = rig.joint(Role::Hips)?.index().checked_sub(above)?;
    whole.into_iter().all(|role| rig.joint(role).is_some()).then(|| own[hips])
}
