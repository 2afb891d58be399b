//! Where the position of each target joint comes from, and the evaluation order that follows from it.
//!
//! A joint whose parent in the file is not its parent in the body (feet under a root bone, rigs exported in pieces) is
//! attached to its body parent and gets a translation channel.

use super::joint_map::JointMap;
use crate::anatomy::parent_joint;
use crate::body::LooseJoint;
use crate::math::{Transform, Vec3};
use crate::model::{JointId, ModelPose, Rig};

/// The source of a target joint's position.
#[derive(Clone, Debug)]
pub enum PositionSource {
    /// The rest translation under the parent in the tree.
    Tree,
    /// Attached to another joint than its parent in the tree: its transform in the reference pose in that joint's space.
    Attached(JointId, Transform),
    /// The hips: the pelvis point in the joint's space.
    Pelvis(Vec3),
    /// A driven joint above the hips or apart from the body, which moves through the world as this joint of the source.
    Path(JointId),
    /// Not part of the body: keeps its reference transform in model space.
    Still(Transform),
}

/// The position source of every target joint but the hips, which `Pelvis` applies to; `loose` are the joints apart from the body.
pub fn position_sources(
    rig: &Rig,
    map: &JointMap,
    reference_pose: &ModelPose,
    hips: Option<JointId>,
    loose: &[LooseJoint],
) -> Vec<PositionSource> {
    let skeleton = rig.skeleton();
    let mut positions = vec![PositionSource::Tree; skeleton.len()];
    let above_hips = |id: JointId| hips.is_some_and(|h| skeleton.is_ancestor(id, h));
    let driven: Vec<JointId> = map.pairs.iter().map(|pair| pair.target).collect();
    let is_moved = skeleton.below(&driven);
    for pair in &map.pairs {
        let id = pair.target;
        // Above the hips, or without a driven ancestor: the joint moves through the world as on the source.
        let alone = pair.role.is_none() && skeleton.parent(id).is_none_or(|parent| !is_moved[parent.index()]);
        if Some(id) != hips && (above_hips(id) || alone) {
            positions[id.index()] = PositionSource::Path(pair.source);
            continue;
        }
        // An arm under a collar bone that is not driven is attached to the chest.
        let body_parent_of = |joint: JointId| rig.role(joint).and_then(|role| parent_joint(rig, role));
        let mut parents = std::iter::successors(body_parent_of(id), |&c| body_parent_of(c));
        let parent = parents.find(|&c| map.driving(c).is_some());
        if let Some(parent) = parent.filter(|&c| !skeleton.is_ancestor(c, id)) {
            positions[id.index()] = attached(reference_pose, parent, id);
        }
    }
    attach_between(rig, map, reference_pose, above_hips, &mut positions);
    for LooseJoint { joint, on } in loose {
        positions[joint.index()] = match on {
            Some((on, within)) => PositionSource::Attached(*on, *within),
            None => PositionSource::Still(*reference_pose.joint(*joint)),
        };
    }
    positions
}

/// Attaches undriven joints apart from the body that have parts of the body below them (a spine on a joint next to the pelvis):
/// they move with what these parts are attached to, if that is one joint.
fn attach_between(
    rig: &Rig,
    map: &JointMap,
    reference_pose: &ModelPose,
    above_hips: impl Fn(JointId) -> bool,
    positions: &mut [PositionSource],
) {
    let skeleton = rig.skeleton();
    // The joint that the parts below are attached to; `Some(None)` where they are attached to several, or move alone.
    let mut below: Vec<Option<Option<JointId>>> = vec![None; skeleton.len()];
    for id in skeleton.ids().rev() {
        let own = match &positions[id.index()] {
            _ if map.driving(id).is_none() => below[id.index()],
            PositionSource::Attached(parent, _) => Some(Some(*parent)),
            _ => Some(None),
        };
        let Some(parent) = skeleton.parent(id).filter(|_| own.is_some()) else { continue };
        let all = &mut below[parent.index()];
        *all = if all.is_none() || *all == own { own } else { Some(None) };
    }
    let mut on_driven = vec![false; skeleton.len()];
    for id in skeleton.ids() {
        let above = skeleton.parent(id).is_some_and(|p| on_driven[p.index()]);
        on_driven[id.index()] = above || map.driving(id).is_some();
        if let Some(Some(parent)) = below[id.index()].filter(|_| !on_driven[id.index()] && !above_hips(id)) {
            positions[id.index()] = attached(reference_pose, parent, id);
        }
    }
}

/// A joint attached to `parent` as in the reference pose.
fn attached(reference_pose: &ModelPose, parent: JointId, id: JointId) -> PositionSource {
    PositionSource::Attached(parent, reference_pose.joint(parent).inverse() * *reference_pose.joint(id))
}

/// An order in which every joint comes after its parent in the tree and after the joint that it is attached to. Twist joints
/// need the rotation of the hand, which does not depend on other joints.
pub fn evaluation_order(rig: &Rig, positions: &[PositionSource]) -> Vec<JointId> {
    let skeleton = rig.skeleton();
    let mut order = Vec::with_capacity(skeleton.len());
    let mut done = vec![false; skeleton.len()];
    // Every round adds at least one joint: joints are attached to body parents, and the body has no cycle. A cycle from an
    // odd map is broken in joint order.
    while order.len() < skeleton.len() {
        let before = order.len();
        for id in skeleton.ids() {
            let ready = |other: JointId| done[other.index()];
            let attachment_ready = match &positions[id.index()] {
                PositionSource::Attached(parent, _) => ready(*parent),
                _ => true,
            };
            if !done[id.index()] && attachment_ready && skeleton.parent(id).is_none_or(ready) {
                done[id.index()] = true;
                order.push(id);
            }
        }
        if order.len() == before {
            let left: Vec<JointId> = skeleton.ids().filter(|id| !done[id.index()]).collect();
            order.extend(left);
        }
    }
    order
}

/// The joints of `order` that the transforms of `joints` depend on, and these.
pub fn dependencies(
    rig: &Rig,
    positions: &[PositionSource],
    order: &[JointId],
    joints: impl Iterator<Item = JointId>,
) -> Vec<JointId> {
    let mut needed = vec![false; order.len()];
    joints.for_each(|id| needed[id.index()] = true);
    for &id in order.iter().rev() {
        if !needed[id.index()] {
            continue;
        }
        if let Some(parent) = rig.skeleton().parent(id) {
            needed[parent.index()] = true;
        }
        if let PositionSource::Attached(parent, _) = positions[id.index()] {
            needed[parent.index()] = true;
        }
    }
    order.iter().copied().filter(|id| needed[id.index()]).collect()
}
