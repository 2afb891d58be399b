//! What hangs from what in a body, whatever the tree of the file says, and the calibration pose that a tree can take.

use crate::math::Transform;
use crate::model::{JointId, ModelPose, Rig, Role, Side};

/// The role that `role` hangs from in a complete body; `None` for the hips.
fn role_parent(role: Role) -> Option<Role> {
    Some(match role {
        Role::Hips => return None,
        Role::Spine(0) | Role::Tail(0) | Role::UpperLeg(_) => Role::Hips,
        Role::Spine(n) => Role::Spine(n - 1),
        Role::Neck(0) | Role::Clavicle(_) => Role::Spine(u8::MAX),
        Role::Neck(n) => Role::Neck(n - 1),
        Role::Head => Role::Neck(u8::MAX),
        Role::UpperArm(s) => Role::Clavicle(s),
        Role::LowerArm(s) => Role::UpperArm(s),
        Role::Hand(s) => Role::LowerArm(s),
        Role::Finger(s, _, 0) => Role::Hand(s),
        Role::Finger(s, f, n) => Role::Finger(s, f, n - 1),
        Role::LowerLeg(s) => Role::UpperLeg(s),
        Role::Foot(s) => Role::LowerLeg(s),
        Role::Toes(s) => Role::Foot(s),
        Role::Tail(n) => Role::Tail(n - 1),
    })
}

/// The joint that `role` hangs from on this rig: the nearest role towards the hips that the rig has.
pub fn body_parent(rig: &Rig, role: Role) -> Option<JointId> {
    let mut at = role_parent(role);
    while let Some(role) = at {
        // `u8::MAX` stands for the end of a chain of unknown length.
        let joint = match role {
            Role::Spine(u8::MAX) => rig.chain(Role::Spine).last().copied(),
            Role::Neck(u8::MAX) => rig.chain(Role::Neck).last().copied(),
            role => rig.joint(role),
        };
        if joint.is_some() {
            return joint;
        }
        at = match role {
            Role::Spine(u8::MAX) => Some(Role::Hips),
            Role::Neck(u8::MAX) => Some(Role::Spine(u8::MAX)),
            role => role_parent(role),
        };
    }
    None
}

/// The roles that continue a limb segment, nearest first: the segment's direction runs to the first one present.
pub fn outward(role: Role) -> &'static [fn(Side) -> Role] {
    match role {
        Role::UpperArm(_) => &[Role::LowerArm, Role::Hand],
        Role::LowerArm(_) => &[Role::Hand],
        Role::UpperLeg(_) => &[Role::LowerLeg, Role::Foot],
        Role::LowerLeg(_) => &[Role::Foot],
        _ => &[],
    }
}

/// A calibration pose that the rig's own tree can take: mapped joints keep the model rotations of `wanted`, all
/// others their local rest transform.
pub fn reachable(rig: &Rig, wanted: &ModelPose, mapped: impl Fn(JointId) -> bool) -> ModelPose {
    let skeleton = rig.skeleton();
    let mut model: Vec<Transform> = Vec::with_capacity(skeleton.len());
    for id in skeleton.ids() {
        let rest = skeleton.joint(id).rest;
        let mut placed = skeleton.parent(id).map_or(rest, |p| model[p.index()] * rest);
        if mapped(id) {
            placed.rotation = wanted.joint(id).rotation;
        }
        model.push(placed);
    }
    ModelPose::new(model)
}
