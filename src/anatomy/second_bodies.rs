//! Finds further bodies in a file of which only one is used.
//!
//! Space: any, Y up. Units: those of the skeleton.

use super::detect_roles;
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

/// Every body beside the one that has the roles of `rig`, whose pose in model space is `rest`.
pub fn second_bodies(rig: &Rig, rest: &ModelPose) -> Vec<SecondBody> {
    let Some(hips) = rig.joint(Role::Hips) else { return Vec::new() };
    let skeleton = rig.skeleton();
    let path: Vec<JointId> = skeleton.path_to_root(hips).collect();
    let body = |(top, own): (JointId, Vec<JointId>)| {
        let other = own.len() >= LEAST && own.iter().all(|id| rig.role(*id).is_none());
        let hips = other.then(|| body_of(skeleton, rest, &own))??;
        Some(SecondBody { top, hips, joints: own.len() })
    };
    branches(skeleton, &path, Some(hips)).into_iter().filter_map(body).collect()
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
    let large: Vec<Vec<JointId>> =
        branches(skeleton, &shared, None).into_values().filter(|own| own.len() >= LEAST).collect();
    if large.len() < 2 {
        return BodiesApart::default();
    }
    let heights = |own: &[JointId]| {
        let of = || own.iter().map(|id| rest.position(*id).y);
        [of().fold(f64::INFINITY, f64::min), of().fold(f64::NEG_INFINITY, f64::max)]
    };
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
    let own: Vec<Vec<JointId>> = like_bodies.into_iter().filter(stands).cloned().collect();
    if own.len() < 2 { BodiesApart::default() } else { BodiesApart { shared, own } }
}

/// The hips of the body that these joints are, if they are one with legs and arms.
fn body_of(skeleton: &Skeleton, rest: &ModelPose, own: &[JointId]) -> Option<JointId> {
    let joints = own.iter().map(|&id| {
        let parent = skeleton.parent(id).and_then(|p| own.binary_search(&p).ok()).map(JointId::new);
        let joint = skeleton.joint(id).clone();
        let rest = if parent.is_some() { joint.rest } else { *rest.joint(id) };
        Joint { parent, rest, ..joint }
    });
    let part = Skeleton::new(joints.collect()).ok()?;
    let pose = ModelPose::new(own.iter().map(|id| *rest.joint(*id)).collect());
    let rig = detect_roles(part, &pose, &[]);
    let whole =
        Side::BOTH.into_iter().flat_map(|s| [Role::UpperLeg(s), Role::LowerLeg(s), Role::UpperArm(s)]);
    let hips = rig.joint(Role::Hips)?;
    whole.into_iter().all(|role| rig.joint(role).is_some()).then(|| own[hips.index()])
}
