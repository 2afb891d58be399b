//! Range of motion of a joint: the mobility of its role as swing and twist limits in the joint's own axes.
//!
//! Measured from the anatomical direction of the bone where the body defines one, not from the rest pose. Space: model
//! space, Y up, facing +Z, and the body's own axes where its file leans it over. Units: radians.

use super::mobility::mobility;
use crate::anatomy::{Figure, on_four_legs};
use crate::math::{Quat, Vec3, arc};
use crate::model::{Finger, JointId, ModelPose, Rig, Role, Side};

/// The range of one joint: how far its bone swings from a reference, and twists about itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MotionRange {
    /// The local rotation from which it is measured: parent space from joint space.
    pub reference: Quat,
    /// The bone, a unit vector in joint space.
    pub axis: Vec3,
    /// The axis of flexion, a unit vector in joint space perpendicular to the bone; the second swing axis is
    /// `axis x first`.
    pub first: Vec3,
    /// Least and greatest swing about the first and about the second axis, radians.
    pub swing: [[f64; 2]; 2],
    /// Least and greatest twist, radians.
    pub twist: [f64; 2],
    /// Whether the joint twists before it swings, so that the swing axes rotate with the twist: a hand, whose joint also has
    /// the pronation of the forearm.
    pub twist_first: bool,
}

/// The range of a joint of a body that rests as `reference_pose` (model space, normal form); `None` for joints without a role,
/// without a mobility, or without a bone, and for those that hang elsewhere than people's do (a foot on the root, as
/// rigs for animators have it): their local rotation is not that of the anatomical joint. A mobility override holds for any
/// parent.
pub fn range_of_motion(rig: &Rig, reference_pose: &ModelPose, id: JointId) -> Option<MotionRange> {
    let role = rig.role(id)?;
    // Published ranges are those of people.
    let overridden = rig.mobility_override(role).is_some();
    if !overridden && (on_four_legs(rig, reference_pose) || !hangs_like_people(rig, id, role)) {
        return None;
    }
    let mobility = mobility(rig, role)?;
    let skeleton = rig.skeleton();
    let at = reference_pose.joint(id);
    let bone = bone_of(rig, reference_pose, id)?;
    let [left, up, ahead] = body_axes(rig, reference_pose);
    // The bone's direction from which the ranges count, and the direction it bends to.
    let parent_bone = above(rig, id).and_then(|(p, _)| bone_of(rig, reference_pose, p));
    let outward = role.side().map_or(left, |s| left * s.sign());
    let (neutral, towards) = match role {
        Role::UpperLeg(_) => (-up, ahead),
        Role::LowerLeg(_) => (parent_bone.unwrap_or(bone), -ahead),
        Role::UpperArm(_) => (outward, ahead),
        Role::LowerArm(_) => (parent_bone.unwrap_or(bone), ahead),
        Role::Clavicle(_) => (bone, ahead),
        Role::Hand(side) | Role::Finger(side, ..) => (bone, palm(rig, reference_pose, side).unwrap_or(-up)),
        Role::Foot(_) | Role::Toes(_) => (bone, up),
        _ => (bone, ahead),
    };
    let aligned = arc(&bone, &neutral, &left) * at.rotation;
    let joint_from_model = aligned.inverse();
    // A positive rotation about `flexion` takes the bone to where it bends.
    let flexion =
        neutral.cross(&towards).try_normalize(1e-6).or_else(|| neutral.cross(&left).try_normalize(1e-6))?;
    let second = neutral.cross(&flexion);
    // A positive rotation about `second` moves the bone along `-flexion`-wards or against it: outwards counts as positive.
    let moved = second.cross(&neutral);
    let out = match role {
        Role::UpperArm(_) | Role::Clavicle(_) => up,
        Role::Hand(s) | Role::Finger(s, ..) => towards.cross(&neutral) * s.sign(),
        _ => outward,
    };
    let [least, greatest] = mobility.side;
    let side = if moved.dot(&out) < 0.0 { [-greatest, -least] } else { [least, greatest] };
    let reference =
        skeleton.parent(id).map_or(Quat::identity(), |p| reference_pose.joint(p).rotation).inverse()
            * aligned;
    Some(MotionRange {
        reference,
        axis: joint_from_model * neutral,
        first: joint_from_model * flexion,
        swing: [mobility.bend, side],
        twist: mobility.twist,
        twist_first: matches!(role, Role::Hand(_)),
    })
}

/// The directions to the left, up and ahead of a body as it rests: X, Y and Z, unless its file leans it over.
fn body_axes(rig: &Rig, reference_pose: &ModelPose) -> [Vec3; 3] {
    match Figure::of(rig, reference_pose) {
        Some(figure) if figure.up != Vec3::y() => [figure.left, figure.up, figure.front()],
        _ => [Vec3::x(), Vec3::y(), Vec3::z()],
    }
}

/// The nearest joint with a role above a joint.
fn above(rig: &Rig, id: JointId) -> Option<(JointId, Role)> {
    let skeleton = rig.skeleton();
    std::iter::successors(skeleton.parent(id), |&p| skeleton.parent(p))
        .find_map(|p| rig.role(p).map(|role| (p, role)))
}

/// Whether the nearest joint with a role above a joint is the one that people have there.
fn hangs_like_people(rig: &Rig, id: JointId, role: Role) -> bool {
    let above = above(rig, id).map(|(_, role)| role);
    let trunk = matches!(above, Some(Role::Hips | Role::Spine(_) | Role::Neck(_)));
    match role {
        Role::LowerLeg(s) => above == Some(Role::UpperLeg(s)),
        Role::Foot(s) => above == Some(Role::LowerLeg(s)),
        Role::Toes(s) => above == Some(Role::Foot(s)),
        Role::UpperArm(s) => trunk || above == Some(Role::Clavicle(s)),
        Role::LowerArm(s) => above == Some(Role::UpperArm(s)),
        Role::Hand(s) => above == Some(Role::LowerArm(s)),
        Role::Finger(s, finger, _) => {
            above == Some(Role::Hand(s))
                || matches!(above, Some(Role::Finger(t, f, _)) if (t, f) == (s, finger))
        }
        Role::Spine(_) => trunk || above.is_none(),
        _ => trunk,
    }
}

/// The direction from a joint to the next one of its chain at rest, model space: to the child with a role that
/// continues the limb, else to the mean of the children, else to the tip.
fn bone_of(rig: &Rig, reference_pose: &ModelPose, id: JointId) -> Option<Vec3> {
    let skeleton = rig.skeleton();
    let x = reference_pose.position(id);
    let role = rig.role(id)?;
    let following = || role.next().and_then(|next| rig.joint(next));
    let next = match role {
        Role::UpperLeg(s) => rig.joint(Role::LowerLeg(s)),
        Role::LowerLeg(s) => rig.joint(Role::Foot(s)),
        Role::Foot(s) => rig.joint(Role::Toes(s)),
        Role::Clavicle(s) => rig.joint(Role::UpperArm(s)),
        Role::UpperArm(s) => rig.joint(Role::LowerArm(s)),
        Role::LowerArm(s) => rig.joint(Role::Hand(s)),
        Role::Hand(s) => rig.joint(Role::Finger(s, Finger::Middle, 0)),
        Role::Finger(..) => following(),
        Role::Spine(_) => following().or_else(|| rig.joint(Role::Neck(0))),
        Role::Neck(_) => following().or_else(|| rig.joint(Role::Head)),
        _ => None,
    };
    if let Some(d) = next.and_then(|n| (reference_pose.position(n) - x).try_normalize(1e-6)) {
        return Some(d);
    }
    let children = skeleton.children(id);
    let mean: Vec3 = children.iter().map(|&c| reference_pose.position(c) - x).sum();
    let tip = || skeleton.joint(id).tip.map(|t| reference_pose.joint(id).vector(&t));
    let along = || skeleton.parent(id).map(|p| x - reference_pose.position(p));
    mean.try_normalize(1e-6).or_else(|| tip()?.try_normalize(1e-6)).or_else(|| along()?.try_normalize(1e-6))
}

/// The direction out of the palm at rest, from the spread of the knuckles.
fn palm(rig: &Rig, reference_pose: &ModelPose, side: Side) -> Option<Vec3> {
    let knuckle = |f| rig.joint(Role::Finger(side, f, 0)).map(|id| reference_pose.position(id));
    let hand = reference_pose.position(rig.joint(Role::Hand(side))?);
    let (index, little) = (knuckle(Finger::Index)?, knuckle(Finger::Little)?);
    let along = (index + little) * 0.5 - hand;
    (along.cross(&(index - little)) * side.sign()).try_normalize(1e-9)
}
