//! End joints of limb segments, and the reference pose as the joint tree can take it.

use crate::math::Transform;
use crate::model::{JointId, ModelPose, Rig, Role, Side};

/// The roles at which a limb segment may end, nearest first: the segment's direction is to the first one present.
pub fn outward(role: Role) -> &'static [fn(Side) -> Role] {
    match role {
        Role::UpperArm(_) => &[Role::LowerArm, Role::Hand],
        Role::LowerArm(_) => &[Role::Hand],
        Role::UpperLeg(_) => &[Role::LowerLeg, Role::Foot],
        Role::LowerLeg(_) => &[Role::Foot],
        _ => &[],
    }
}

/// The reference pose as the rig's own tree can take it: mapped joints have the model-space rotations of `wanted`, all
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
