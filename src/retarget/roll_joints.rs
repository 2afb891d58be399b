//! Roll joints of limbs: joints in line between two parts of a limb, which hold a part of the twist of its segment.
//!
//! Skeletons of captures (`LeftArmRoll` between upper arm and forearm) split the twist of a bone between them. A target with such
//! joints takes each share by its own; one without takes the orientation at the end of the segment.

use super::body_plan::outward;
use super::joint_map::JointPair;
use super::rest_alignment::CalibratedBody;
use crate::model::{JointId, Rig, Role, Side};

/// Largest distance of a roll joint from the line of its segment, as a share of its length: of a limb whose joints between bend, no
/// roll is known. Rolls are within 0.01, upper arms in two parts bend at 0.2 and more.
const IN_LINE: f64 = 0.1;
/// Confidence of a pair of roll joints, as that of equivalent names.
const CONFIDENCE: f64 = 0.7;

/// The last joint between `start` and `end` of the source, if all between are in line.
pub fn roll_joint(start: JointId, end: JointId, source: &CalibratedBody) -> Option<JointId> {
    let [from, to] = [start, end].map(|id| source.pose.position(id));
    let axis = (to - from).try_normalize(1e-9)?;
    let off = |id: &JointId| {
        let offset = source.pose.position(*id) - from;
        (offset - axis * offset.dot(&axis)).norm() > IN_LINE * (to - from).norm()
    };
    let between = between(source.rig, start, end);
    between.last().copied().filter(|_| !between.iter().any(off))
}

/// The joints between two joints of one chain, outwards.
fn between(rig: &Rig, start: JointId, end: JointId) -> Vec<JointId> {
    let path = rig.skeleton().path_to_root(end).skip(1);
    let mut between: Vec<JointId> = path.take_while(|&id| id != start).collect();
    between.reverse();
    between
}

/// Pairs of the joints between the ends of limb segments that both bodies have, where no name pairs any of the target's: in order
/// from the start, the last with the last.
pub fn pairs(s: &Rig, t: &Rig, taken: &[JointPair]) -> Vec<JointPair> {
    let parts = [Role::UpperArm, Role::LowerArm, Role::UpperLeg, Role::LowerLeg];
    let mut pairs = Vec::new();
    for (role, side) in parts.iter().flat_map(|part| Side::BOTH.map(|side| (part(side), side))) {
        let both = |end: Role| {
            let of = |rig: &Rig| {
                let (start, end) = (rig.joint(role)?, rig.joint(end)?);
                rig.skeleton().is_ancestor(start, end).then(|| between(rig, start, end))
            };
            Some((of(s)?, of(t)?))
        };
        let Some((from, to)) = outward(role).iter().find_map(|end| both(end(side))) else { continue };
        let known = |id: &JointId| t.role(*id).is_some() || taken.iter().any(|pair| pair.target == *id);
        if from.is_empty() || to.iter().any(known) || from.iter().any(|id| s.role(*id).is_some()) {
            continue;
        }
        pairs.extend(to.iter().enumerate().map(|(k, &target)| JointPair {
            role: None,
            source: from[((k + 1) * from.len()).div_ceil(to.len()) - 1],
            blend: None,
            target,
            confidence: CONFIDENCE,
            reason: "between the same joints of a limb".into(),
        }));
    }
    pairs
}
