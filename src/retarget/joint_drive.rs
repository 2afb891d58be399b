//! Rotation of a driven target joint from the source's pose.

use super::body_plan::outward;
use super::joint_map::{JointMap, JointPair};
use super::rest_alignment::ReferenceBody;
use super::roll_joints::roll_joint;
use crate::math::{Quat, Vec3, arc, slerp};
use crate::model::{JointId, ModelPose, Rig, Role};

/// The source joints that drive a target joint, and the reference rotations of both.
#[derive(Clone, Debug)]
pub struct JointDrive {
    /// The source joint, and a second one with its share.
    source: JointId,
    blend: Option<(JointId, f64)>,
    /// The inverse of the source's reference rotation, and the same of the second joint.
    inverse_reference: [Quat; 2],
    /// The target's aligned reference rotation, and that from the source's.
    rest: Quat,
    rest_from_source: Quat,
    /// The source joint at the end of the limb segment and the segment's direction in the reference pose, for a source segment
    /// with joints between its ends and a target segment without.
    aim: Option<(JointId, Vec3)>,
    /// The roll joint of the source at the end of that segment, whose roll about it the target takes, and the inverse of its
    /// reference rotation.
    roll: Option<(JointId, Quat)>,
}

impl JointDrive {
    /// The drive of `pair`, with the target's aligned reference rotation `rest`. `shared` tells that the target's segment has
    /// twist joints, which share the roll of the source's.
    pub fn of(
        pair: &JointPair,
        rest: Quat,
        map: &JointMap,
        source: &ReferenceBody,
        (target, shared): (&Rig, bool),
    ) -> JointDrive {
        let inverse = |joint: JointId| source.reference_pose.joint(joint).rotation.inverse();
        let aim = pair.role.and_then(|role| limb_segment(role, map, source, target));
        let inverse_reference = [inverse(pair.source), inverse(pair.blend.map_or(pair.source, |b| b.0))];
        let roll = aim.filter(|_| !shared).and_then(|(end, _)| roll_joint(pair.source, end, source));
        JointDrive {
            source: pair.source,
            blend: pair.blend,
            inverse_reference,
            rest,
            rest_from_source: inverse_reference[0] * rest,
            aim,
            roll: roll.map(|joint| (joint, inverse(joint))),
        }
    }

    /// The model-space rotation of the target joint.
    pub fn rotation(&self, from: &ModelPose) -> Quat {
        // Most joints have one source.
        if self.blend.is_none() && self.aim.is_none() {
            return from.joint(self.source).rotation * self.rest_from_source;
        }
        let delta_from_reference = |joint: JointId, inverse: Quat| from.joint(joint).rotation * inverse;
        let first = delta_from_reference(self.source, self.inverse_reference[0]);
        let delta = match self.blend {
            Some((joint, share)) => {
                slerp(&first, &delta_from_reference(joint, self.inverse_reference[1]), share)
            }
            None => first,
        };
        let Some((end, at_rest)) = self.aim else { return delta * self.rest };
        let delta = self.roll.map_or(delta, |(joint, inverse)| delta_from_reference(joint, inverse));
        let segment = from.position(end) - from.position(self.source);
        arc(&(delta * at_rest), &segment, &Vec3::z()) * delta * self.rest
    }
}

/// The end joint and the reference direction of a source segment that joints between its ends bend (upper arms in two
/// parts), if the target's segment has no driven joint between its ends.
fn limb_segment(role: Role, map: &JointMap, source: &ReferenceBody, target: &Rig) -> Option<(JointId, Vec3)> {
    let side = role.side()?;
    let end_role = outward(role)
        .iter()
        .map(|r| r(side))
        .find(|&r| source.rig.joint(r).is_some() && target.joint(r).is_some())?;
    let (start, end) = (source.rig.joint(role)?, source.rig.joint(end_role)?);
    let skeleton = source.rig.skeleton();
    if skeleton.parent(end) == Some(start) || !skeleton.is_ancestor(start, end) {
        return None;
    }
    let between = target.skeleton().path_to_root(target.joint(end_role)?).skip(1);
    let mut between = between.take_while(|&j| Some(j) != target.joint(role));
    if between.any(|j| map.driving(j).is_some()) {
        return None;
    }
    Some((end, source.tree_pose.position(end) - source.tree_pose.position(start)))
}
