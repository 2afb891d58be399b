//! Finds group nodes: joints without skin or motion at the place of their parent or of their only child.
//!
//! Riggers put one above each joint to hold its rest transform (`wrist_grp`, `wrist_offset`), and importers do so for rotations that
//! their joints cannot have (`wrist_$AssimpFbx$_PreRotation`). None is a body part, whatever its name.

use super::joint_names::JointNames;
use super::shape::{ShapeEvidence, rotates};
use crate::model::{JointId, Skeleton};

/// Joints at one place are nearer to each other than this, in lengths of the longest bone: far less than a millimetre of a person.
const ONE_PLACE: f64 = 1e-4;

/// The joint that each joint groups, by joint; `None` for all that are no group nodes. A group node has the name of the joint below,
/// with or without more words, or one that denotes nothing. The joint below is real if it has skin or rotates in the clip; of a take
/// without skin it may keep still as well.
pub fn grouped_joints(
    skeleton: &Skeleton,
    names: &JointNames,
    evidence: &ShapeEvidence,
) -> Vec<Option<JointId>> {
    let offset = |id: JointId| skeleton.joint(id).rest.translation.norm();
    // The offset of a root is that of the whole body.
    let bones = skeleton.ids().filter(|id| skeleton.parent(*id).is_some());
    let near = ONE_PLACE * bones.map(offset).fold(0.0, f64::max);
    let at_parent = |id: JointId| skeleton.parent(id).is_some() && offset(id) <= near;
    let moves = |id: JointId| {
        let skin = evidence.mass.is_some_and(|mass| mass[id.index()] > 0.0);
        skin || evidence.clip.is_some_and(|clip| rotates(clip, id))
    };
    let is_take = evidence.mass.is_none() && evidence.clip.is_some();
    let is_real = |id: JointId| moves(id) || is_take;
    // A joint that its parent groups is no group node for the next one.
    let is_grouped = |id: JointId| {
        let groups = |parent| skeleton.children(parent) == [id] && !moves(parent);
        skeleton.parent(id).is_some_and(|parent| groups(parent) && names.may_group(parent, id))
    };
    let mut grouped: Vec<Option<JointId>> = vec![None; skeleton.len()];
    for id in skeleton.ids().rev() {
        if let [below] = *skeleton.children(id)
            && (at_parent(below) || (at_parent(id) && !is_grouped(id)))
            && !moves(id)
        {
            let real = grouped[below.index()].or(Some(below).filter(|below| is_real(*below)));
            grouped[id.index()] = real.filter(|real| names.may_group(id, *real));
        }
    }
    grouped
}
