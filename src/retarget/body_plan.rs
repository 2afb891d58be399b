//! Where the segments of a body end, and the calibration pose that a tree can take.

use crate::math::Transform;
use crate::model::{JointId, ModelPose, Rig, Role, Side};

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
