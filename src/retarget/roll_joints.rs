//! Roll joints of limbs: joints in line between two parts of a limb, which hold a part of the twist of its segment.
//!
//! Skeletons of captures (`LeftArmRoll` between upper arm and forearm) split the twist of a bone between them. A target without such
//! joints takes the orientation at the end of the segment.

use super::rest_alignment::ReferenceBody;
use crate::model::JointId;

/// Largest distance of a roll joint from the line of its segment, as a share of its length: of a limb whose joints between bend, no
/// roll is known. Chosen.
const IN_LINE: f64 = 0.1;

/// The last joint between `start` and `end` of the source, if all between are in line.
pub fn roll_joint(start: JointId, end: JointId, source: &ReferenceBody) -> Option<JointId> {
    let [from, to] = [start, end].map(|id| source.tree_pose.position(id));
    let axis = (to - from).try_normalize(1e-9)?;
    let off = |id: &JointId| {
        let offset = source.tree_pose.position(*id) - from;
        (offset - axis * offset.dot(&axis)).norm() > IN_LINE * (to - from).norm()
    };
    let above = source.rig.skeleton().path_to_root(end).skip(1);
    let between: Vec<JointId> = above.take_while(|&id| id != start).collect();
    between.first().copied().filter(|_| !between.iter().any(off))
}
