//! Detects a take whose skeleton is the character's own, for example its motion written as BVH and read again.
//!
//! Two bodies have the same bones if there is a pose of each in which all mapped joints are at the same places, whatever their
//! size and however the rest pose of a file is rotated (Blender writes the bind pose of some characters as a leaning one), and
//! nothing between two mapped joints moves on the source alone. Rotations from that pose are then the same on both,
//! and are transferred as they are: there is nothing to align, and no leg or arm to correct. A source with skin has to have
//! that of the target: FBX and USD files of its own motion have. Space: model space. Units: metres.

use super::body_plan::reachable;
use super::joint_map::{JointMap, JointPair};
use crate::body::CharacterBody;
use crate::math::{Quat, Transform, Vec3, best_rotation};
use crate::model::{ModelPose, Role};

/// The distance between two places that are the same, over that of the joint farthest from the hips: files with two decimals of a
/// centimetre round by a tenth of it.
const SAME: f64 = 1e-3;
/// The fewest joints that make a body: hips, legs and feet alone may agree by chance.
const FEWEST: usize = 8;

/// The poses of both in which all mapped joints are at the same places, and the ratio of their sizes, target to source; `None` for
/// different bodies.
pub fn same_bones(
    source: &CharacterBody,
    target: &CharacterBody,
    map: &JointMap,
) -> Option<([ModelPose; 2], f64)> {
    if map.pairs.len() < FEWEST || !moves_alike(source, map) {
        return None;
    }
    let source_pose = source.rig().skeleton().rest_model_pose();
    let rest = target.rig().skeleton().rest_model_pose();
    // The bind pose as it is and as the tree can take it: they differ in a rig in pieces.
    let bind = target.character().bind.clone();
    let in_tree = bind.as_ref().map(|bind| reachable(target.rig(), bind, |_| true));
    let poses = bind.into_iter().chain(in_tree).chain([rest]);
    let mut found = poses
        .into_iter()
        .filter_map(|target_pose| Some((agree(&source_pose, &target_pose, map)?, target_pose)));
    let ((scale, rotation), target_pose) = found.next()?;
    let source_pose = match rotation {
        Some(rotation) => {
            source_pose.joints().iter().map(|t| Transform::from_rotation(rotation) * *t).collect()
        }
        None => source_pose.joints().to_vec(),
    };
    let source_pose = ModelPose::new(source_pose);
    let bare = source.character().bind.is_none() && source.character().meshes.is_empty();
    let same_skin =
        || source.surface().zip(target.surface()).is_none_or(|(own, other)| own.has_skin_of(other));
    (bare || same_skin()).then_some(([source_pose, target_pose], scale))
}

/// Whether every mapped joint of the source hangs on the next mapped one without a joint between them. Joints next to the body
/// without a role, as props below the root, say nothing about it.
fn moves_alike(source: &CharacterBody, map: &JointMap) -> bool {
    let skeleton = source.rig().skeleton();
    let mapped = |id| map.pairs.iter().any(|pair| pair.source == id);
    let hips = source.rig().joint(Role::Hips);
    let of_body = |pair: &&JointPair| {
        pair.role.is_some() || hips.is_none_or(|hips| skeleton.is_ancestor(hips, pair.source))
    };
    map.pairs.iter().filter(of_body).all(|pair| {
        let above = skeleton.parent(pair.source);
        pair.blend.is_none() && (pair.role == Some(Role::Hips) || above.is_none_or(mapped))
    })
}

/// The ratio of the sizes of two bodies, `target_pose` to `source_pose`, and the rotation from `source_pose` to `target_pose`
/// unless it is none, if all mapped joints are at the same places from the hips.
fn agree(source_pose: &ModelPose, target_pose: &ModelPose, map: &JointMap) -> Option<(f64, Option<Quat>)> {
    let hips = map.pairs.iter().find(|pair| pair.role == Some(Role::Hips))?;
    let pairs = map.pairs.iter().filter(|pair| pair.role.is_some());
    let offsets: Vec<[Vec3; 2]> = pairs
        .map(|pair| {
            let off = |pose: &ModelPose, joint, hips| pose.position(joint) - pose.position(hips);
            [off(source_pose, pair.source, hips.source), off(target_pose, pair.target, hips.target)]
        })
        .collect();
    let [s, t] = [0, 1].map(|k| offsets.iter().map(|off| off[k].norm()).fold(f64::MIN_POSITIVE, f64::max));
    let same = |q: &Quat| offsets.iter().all(|[a, b]| (q * a / s - b / t).norm() < SAME);
    if same(&Quat::identity()) {
        return Some((t / s, None));
    }
    let (rotation, _) = best_rotation(&offsets.iter().map(|[a, b]| a / s * (b / t).transpose()).sum());
    same(&rotation).then_some((t / s, Some(rotation)))
}
