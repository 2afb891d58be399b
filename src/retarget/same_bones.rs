//! Recognises a skeleton that comes back without its skin: a character's motion written as BVH and read again.
//!
//! Two bodies have the same bones if there is a pose of each in which all mapped joints are at the same places, whatever their
//! size, and nothing between two mapped joints moves on the source alone. Rotations from that pose are then the same on both,
//! and the transfer is a copy: there is nothing to align, and no leg or arm to correct. Sources with skin are left to the usual
//! way: their girth may differ. Space: model space. Units: metres.

use super::body_plan::reachable;
use super::joint_map::JointMap;
use crate::anatomy::Figure;
use crate::body::CharacterBody;
use crate::math::Vec3;
use crate::model::{ModelPose, Role};

/// The distance between two places that are the same, over the length of a leg: files with two decimals of a centimetre round
/// by a tenth of it.
const SAME: f64 = 1e-3;
/// The fewest joints that make a body: hips, legs and feet alone may agree by chance.
const FEWEST: usize = 8;

/// The poses of both in which all mapped joints are at the same places; `None` of different bodies.
pub fn same_bones(source: &CharacterBody, target: &CharacterBody, map: &JointMap) -> Option<[ModelPose; 2]> {
    if source.character().bind.is_some() || !source.character().meshes.is_empty() {
        return None;
    }
    if map.pairs.len() < FEWEST || !moves_alike(source, map) {
        return None;
    }
    let there = source.rig().skeleton().rest_model_pose();
    let rest = target.rig().skeleton().rest_model_pose();
    // The bind pose as it is and as the tree can take it: they differ in a rig in pieces.
    let bind = target.character().bind.clone();
    let in_tree = bind.as_ref().map(|bind| reachable(target.rig(), bind, |_| true));
    bind.into_iter()
        .chain(in_tree)
        .chain([rest])
        .find(|here| agree((source, &there), (target, here), map))
        .map(|here| [there, here])
}

/// Whether every mapped joint of the source hangs on the next mapped one without a joint between them.
fn moves_alike(source: &CharacterBody, map: &JointMap) -> bool {
    let skeleton = source.rig().skeleton();
    let mapped = |id| map.pairs.iter().any(|pair| pair.source == id);
    map.pairs.iter().all(|pair| {
        let above = skeleton.parent(pair.source);
        pair.blend.is_none() && (pair.role == Some(Role::Hips) || above.is_none_or(mapped))
    })
}

/// Whether all mapped joints are at the same places from the hips, of bodies of any size.
fn agree(
    (from, there): (&CharacterBody, &ModelPose),
    (to, here): (&CharacterBody, &ModelPose),
    map: &JointMap,
) -> bool {
    let figure = |body: &CharacterBody, pose| Figure::of(body.rig(), pose);
    let (Some(s), Some(t)) = (figure(from, there), figure(to, here)) else { return false };
    let Some(hips) = map.pairs.iter().find(|pair| pair.role == Some(Role::Hips)) else { return false };
    let off = |pose: &ModelPose, joint, hips| -> Vec3 { pose.position(joint) - pose.position(hips) };
    map.pairs.iter().filter(|pair| pair.role.is_some()).all(|pair| {
        let [a, b] = [off(there, pair.source, hips.source), off(here, pair.target, hips.target)];
        (a / s.leg - b / t.leg).norm() < SAME
    })
}
