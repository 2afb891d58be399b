//! Twist joints of the forearm, which share its roll.

use super::joint_drive::JointDrive;
use super::joint_map::JointMap;
use crate::math::{Quat, Transform, Vec3, twist_angle};
use crate::model::{JointId, ModelPose, Rig, Role, Side};

/// A share of the forearm's roll for a twist joint: `local = rest * twist(axis, share * roll)`.
#[derive(Clone, Debug)]
pub(super) struct TwistJoint {
    lower: JointId,
    hand: JointId,
    /// The axis of the forearm in the joint's own space, and in the forearm's.
    axis: Vec3,
    lower_axis: Vec3,
    /// The hand's rotation relative to the forearm in the reference pose.
    rest: Quat,
    share: f64,
}

/// Largest distance of a parallel twist joint from the axis of the forearm, as a share of its length.
const PARALLEL_DISTANCE: f64 = 0.15;
/// Where twist joints are along the forearm, from 0 at the elbow to 1 at the wrist: joints at its ends roll with them.
const ALONG: std::ops::Range<f64> = 0.05..0.999;

impl TwistJoint {
    /// The joint at the start of the segment whose roll it shares.
    pub(super) fn segment(&self) -> JointId {
        self.lower
    }

    /// The rotation about the twist joint's own axis; `drives` are those of the target's joints.
    pub(super) fn roll(&self, from: &ModelPose, model: &[Transform], drives: &[Option<JointDrive>]) -> Quat {
        let lower = model[self.lower.index()].rotation;
        // The rotation of the driven hand does not depend on the joints between.
        let Some(drive) = &drives[self.hand.index()] else { return Quat::identity() };
        let hand = drive.rotation(from);
        let delta = lower.inverse() * hand * self.rest.inverse();
        let angle = twist_angle(&delta, &self.lower_axis) * self.share;
        Quat::new(self.axis * angle)
    }
}

/// The undriven joints along the forearm that share its roll, in line with it or parallel to it.
pub(super) fn twist_joints(rig: &Rig, map: &JointMap, reference_pose: &ModelPose) -> Vec<Option<TwistJoint>> {
    let skeleton = rig.skeleton();
    let mut twists: Vec<Option<TwistJoint>> = vec![None; skeleton.len()];
    for side in Side::BOTH {
        let ends = (rig.joint(Role::LowerArm(side)), rig.joint(Role::Hand(side)));
        let (Some(lower), Some(hand)) = ends else { continue };
        if !(map.driving(lower).is_some() && map.driving(hand).is_some()) {
            continue;
        }
        let (start, end) = (reference_pose.position(lower), reference_pose.position(hand));
        let length = (end - start).norm();
        let Some(axis) = (end - start).try_normalize(1e-9) else { continue };
        let within = |id: JointId, v: &Vec3| reference_pose.joint(id).rotation.inverse() * v;
        let mut above = 0.0;
        for id in skeleton.ids().filter(|&id| id != lower && skeleton.is_ancestor(lower, id)) {
            let in_line = skeleton.is_ancestor(id, hand);
            let offset = reference_pose.position(id) - start;
            let along = offset.dot(&axis) / length;
            let off = (offset - axis * offset.dot(&axis)).norm() / length;
            let parallel = skeleton.parent(id) == Some(lower)
                && skeleton.children(id).is_empty()
                && off < PARALLEL_DISTANCE;
            let between = ALONG.contains(&along) && map.driving(id).is_none() && rig.role(id).is_none();
            if !between || !(in_line || parallel) {
                continue;
            }
            // A joint in line adds to the roll of those above it.
            let share = if in_line { along - above } else { along };
            if in_line {
                above = along;
            }
            twists[id.index()] = Some(TwistJoint {
                lower,
                hand,
                axis: within(id, &axis),
                lower_axis: within(lower, &axis),
                rest: reference_pose.joint(lower).rotation.inverse() * reference_pose.joint(hand).rotation,
                share,
            });
        }
    }
    twists
}
