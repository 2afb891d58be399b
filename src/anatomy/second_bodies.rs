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
    let mut on_path = vec![false; skeleton.len()];
    skeleton.path_to_root(hips).for_each(|id| on_path[id.index()] = true);
    // The branch of every joint: the first joint beside the path from the root to the hips.
    let mut branch: Vec<Option<JointId>> = vec![None; skeleton.len()];
    let mut branches: BTreeMap<JointId, Vec<JointId>> = BTreeMap::new();
    for id in skeleton.ids().filter(|id| !on_path[id.index()]) {
        let Some(parent) = skeleton.parent(id) else { continue };
        branch[id.index()] = match branch[parent.index()] {
            None if on_path[parent.index()] && parent != hips => Some(id),
            above => above,
        };
        if let Some(top) = branch[id.index()] {
            branches.entry(top).or_default().push(id);
        }
    }
    let body = |(top, own): (JointId, Vec<JointId>)| {
        let other = own.len() >= LEAST && own.iter().all(|id| rig.role(*id).is_none());
        let hips = other.then(|| body_of(skeleton, rest, &own))??;
        Some(SecondBody { top, hips, joints: own.len() })
    };
    branches.into_iter().filter_map(body).collect()
}

/// Least height of a body beside others, as a share of the file's: legs and trunk of people are half of a body each, legs of
/// quadrupeds up to two thirds.
const WHOLE: f64 = 0.75;

/// The joints of every body of a file that holds several beside each other, each with the joints above it, in the order of the file;
/// `rest` is its pose in model space. Empty of a file with one body.
pub fn bodies_apart(skeleton: &Skeleton, rest: &ModelPose) -> Vec<Vec<JointId>> {
    // Everything above the first fork belongs to all of them.
    let only =
        |id: JointId| <[JointId; 1]>::try_from(skeleton.children(id).to_vec()).ok().map(|[child]| child);
    let above: Vec<JointId> = std::iter::successors(Some(JointId::new(0)), |id| only(*id)).collect();
    let Some(fork) = above.last() else { return Vec::new() };
    let mut branches: BTreeMap<JointId, Vec<JointId>> = BTreeMap::new();
    let mut branch: Vec<Option<JointId>> = vec![None; skeleton.len()];
    for id in skeleton.ids() {
        let Some(parent) = skeleton.parent(id) else { continue };
        branch[id.index()] = if parent == *fork { Some(id) } else { branch[parent.index()] };
        branch[id.index()].into_iter().for_each(|top| branches.entry(top).or_default().push(id));
    }
    let large: Vec<Vec<JointId>> = branches.into_values().filter(|own| own.len() >= LEAST).collect();
    if large.len() < 2 {
        return Vec::new();
    }
    let extent = |own: &[JointId]| {
        let heights = || own.iter().map(|id| rest.position(*id).y);
        [heights().fold(f64::INFINITY, f64::min), heights().fold(f64::NEG_INFINITY, f64::max)]
    };
    let [floor, top] = extent(&skeleton.ids().collect::<Vec<_>>());
    let branches = large.len();
    // A body whose parts hang side by side has many small ones.
    let most = 2 * large.iter().map(Vec::len).sum::<usize>() > skeleton.len();
    let lowest = large.iter().map(|own| extent(own)[0]).fold(f64::NEG_INFINITY, f64::max);
    let whole: Vec<Vec<JointId>> =
        large.into_iter().filter(|own| body_of(skeleton, rest, own).is_some()).collect();
    // A leg with toes looks like a body. But legs have a trunk above them, or parts beside them that are no bodies.
    let beside = |own: &Vec<JointId>| {
        let [low, high] = extent(own);
        high - low > WHOLE * (top - floor) || (most && whole.len() == branches && lowest < 0.5 * (low + high))
    };
    let whole: Vec<Vec<JointId>> = whole.iter().filter(|own| beside(own)).cloned().collect();
    if whole.len() < 2 {
        return Vec::new();
    }
    whole.into_iter().map(|own| above.iter().copied().chain(own).collect()).collect()
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
