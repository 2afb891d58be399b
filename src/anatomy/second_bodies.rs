//! Finds further bodies in a file of which only one is used.
//!
//! Space: any, Y up. Units: those of the skeleton.

use super::detect_roles;
use crate::math::Transform;
use crate::model::{Joint, JointId, ModelPose, Rig, Role, Side, Skeleton};
use std::collections::BTreeMap;

/// Fewest joints of a body: hips, trunk, head, two legs and two arms of three joints.
const LEAST: usize = 15;

/// A body beside the one that has the roles of a rig.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecondBody {
    /// The joint that all of it hangs below.
    pub top: JointId,
    /// Its hips.
    pub hips: JointId,
    /// The number of its joints.
    pub joints: usize,
}

/// The body that these joints are, ascending, if they are one with legs and arms; `rest` is the pose in model space.
pub fn second_body(skeleton: &Skeleton, rest: &ModelPose, own: &[JointId]) -> Option<SecondBody> {
    let hips = body_of(skeleton, rest, own)?;
    Some(SecondBody { top: *own.first()?, hips, joints: own.len() })
}

/// Every body beside the one that has the roles of `rig`, whose pose in model space is `rest`.
pub fn second_bodies(rig: &Rig, rest: &ModelPose) -> Vec<SecondBody> {
    let Some(hips) = rig.joint(Role::Hips) else { return Vec::new() };
    let skeleton = rig.skeleton();
    let path: Vec<JointId> = skeleton.path_to_root(hips).collect();
    let other = |own: &Vec<JointId>| own.len() >= LEAST && own.iter().all(|id| rig.role(*id).is_none());
    let found = branches(skeleton, &path, Some(hips)).into_values().filter(other);
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

/// The bodies of a file that holds several beside each other; `rest` is its pose in model space.
///
/// A leg with toes looks like a body. A body of another size than the rest of the file is told from it where nothing but bodies is
/// large, where these are most of the file, and where each begins below the middle of every other, as no trunk does over legs.
pub fn bodies_apart(skeleton: &Skeleton, rest: &ModelPose) -> BodiesApart {
    // Everything above the first fork belongs to all of them.
    let only =
        |id: JointId| <[JointId; 1]>::try_from(skeleton.children(id).to_vec()).ok().map(|[child]| child);
    let shared: Vec<JointId> = std::iter::successors(Some(JointId::new(0)), |id| only(*id)).collect();
    let branches: Vec<Vec<JointId>> = branches(skeleton, &shared, None).into_values().collect();
    let own = whole_bodies(skeleton, rest, branches.clone());
    // The limbs of some skeletons are branches of their own.
    let grouped = |axis: usize| whole_bodies(skeleton, rest, groups_along(axis, rest, &branches));
    let own =
        if own.len() < 2 { [0, 2].map(grouped).into_iter().find(|own| own.len() > 1) } else { Some(own) };
    own.map_or_else(BodiesApart::default, |own| BodiesApart { shared, own })
}

/// Those of several branches or groups of branches that are whole bodies, by the rule of [`bodies_apart`].
fn whole_bodies(skeleton: &Skeleton, rest: &ModelPose, parts: Vec<Vec<JointId>>) -> Vec<Vec<JointId>> {
    let large: Vec<Vec<JointId>> = parts.into_iter().filter(|own| own.len() >= LEAST).collect();
    if large.len() < 2 {
        return Vec::new();
    }
    let heights = |own: &[JointId]| range(1, rest, own);
    let [floor, top] = heights(&skeleton.ids().collect::<Vec<_>>());
    let last_begins = large.iter().map(|own| heights(own)[0]).fold(f64::NEG_INFINITY, f64::max);
    let like_bodies = large.iter().filter(|own| body_of(skeleton, rest, own).is_some());
    let like_bodies: Vec<&Vec<JointId>> = like_bodies.collect();
    let nothing_else =
        like_bodies.len() == large.len() && 2 * large.iter().map(Vec::len).sum::<usize>() > skeleton.len();
    let stands = |own: &&Vec<JointId>| {
        let [low, high] = heights(own);
        high - low > WHOLE * (top - floor) || (nothing_else && last_begins < 0.5 * (low + high))
    };
    like_bodies.into_iter().filter(stands).cloned().collect()
}

/// The least and the greatest coordinate of these joints along an axis.
fn range(axis: usize, rest: &ModelPose, own: &[JointId]) -> [f64; 2] {
    let of = || own.iter().map(|id| rest.position(*id)[axis]);
    [of().fold(f64::INFINITY, f64::min), of().fold(f64::NEG_INFINITY, f64::max)]
}

/// Gap between branches, as a share of the file's height, from which they are parts of different bodies: limbs that are branches of their
/// own begin within the width of the shoulders, a quarter of a person's height.
const GAP: f64 = 0.25;

/// The branches in groups with gaps between them along an axis of the ground, the joints of each ascending.
fn groups_along(axis: usize, rest: &ModelPose, branches: &[Vec<JointId>]) -> Vec<Vec<JointId>> {
    let [floor, top] = range(1, rest, &branches.concat());
    let mut sorted: Vec<([f64; 2], &Vec<JointId>)> =
        branches.iter().map(|own| (range(axis, rest, own), own)).collect();
    sorted.sort_by(|a, b| a.0[0].total_cmp(&b.0[0]));
    let mut groups: Vec<Vec<JointId>> = Vec::new();
    let mut end = f64::NEG_INFINITY;
    for ([from, to], own) in sorted {
        match groups.last_mut().filter(|_| from - end < GAP * (top - floor)) {
            Some(group) => group.extend(own),
            None => groups.push(own.clone()),
        }
        end = end.max(to);
    }
    groups.iter_mut().for_each(|group| group.sort());
    groups.sort_by_key(|group| group.first().copied());
    groups
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
