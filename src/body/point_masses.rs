//! Point masses that move with the joints of a body and stand for its segments.
//!
//! Each limb segment is two equal masses on its bone, `rho` of its length to either side of its centre of mass: such a
//! pair has the mass, the centre and the moment of inertia of a rod with radius of gyration `rho` (`segment_table`).
//! Assumed where the table's landmarks are no joints: the pelvis' mass lies in the hip joints; half of the chest's at the
//! shoulders, half at the lowest joint of the spine; the head with the neck is a uniform rod. Space: joint space. Units:
//! metres, shares of the body's mass.

use super::segment_table::{
    CHEST_AND_ABDOMEN, FOOT, FOREARM, HAND, HEAD_AND_NECK, PELVIS, SHIN, Segment, THIGH, UPPER_ARM,
};
use crate::anatomy::{Figure, on_four_legs};
use crate::math::Vec3;
use crate::model::{Finger, JointId, ModelPose, Rig, Role, Side};

/// A mass that moves with a joint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointMass {
    /// The joint that moves it.
    pub joint: JointId,
    /// Its position in the joint's space, metres.
    pub at: Vec3,
    /// Its share of the body's mass; all shares sum to 1.
    pub mass: f64,
}

/// The masses of a body of this height that stands as `reference_pose`; `None` for a body on four legs, which the table does not
/// describe.
pub fn point_masses(
    rig: &Rig,
    reference_pose: &ModelPose,
    figure: &Figure,
    height: f64,
) -> Option<Vec<PointMass>> {
    if on_four_legs(rig, reference_pose) {
        return None;
    }
    let position = |role: Role| rig.joint(role).map(|id| reference_pose.position(id));
    let mut found = Vec::new();
    let mut add = |joint: Option<JointId>, at: Option<Vec3>, mass: f64| {
        let Some((joint, at)) = joint.zip(at) else { return };
        found.push(PointMass { joint, at: reference_pose.joint(joint).inverse().point(&at), mass });
    };

    let spine = rig.chain(Role::Spine);
    let hips = rig.joint(Role::Hips).or(spine.first().copied());
    let (low, high) = (spine.first().copied().or(hips), spine.last().copied().or(hips));
    add(low, low.map(|id| reference_pose.position(id)), 0.5 * CHEST_AND_ABDOMEN.mass);
    for side in Side::BOTH {
        add(hips, position(Role::UpperLeg(side)), 0.5 * PELVIS.mass);
        add(high, position(Role::UpperArm(side)), 0.25 * CHEST_AND_ABDOMEN.mass);
        for (from, to, Segment { mass, centre, gyration: rho }) in limbs(rig, reference_pose, side) {
            let Some(start) = position(from) else { continue };
            // A hand or foot of unknown length is a point.
            let along = to.map_or(Vec3::zeros(), |to| to - start);
            for share in [centre - rho, centre + rho] {
                add(rig.joint(from), Some(start + along * share), 0.5 * mass);
            }
        }
    }
    let head = rig.joint(Role::Head);
    let neck = position(Role::Neck(0)).or_else(|| position(Role::Head));
    let top = height + figure.sole;
    if let (Some(head), Some(neck)) = (head, neck) {
        let reach = top - neck.dot(&figure.up);
        let uniform = 1.0 / 12f64.sqrt();
        for share in [0.5 - uniform, 0.5 + uniform] {
            add(Some(head), Some(neck + figure.up * (reach * share)), 0.5 * HEAD_AND_NECK);
        }
    }
    let whole: f64 = found.iter().map(|p| p.mass).sum();
    found.iter_mut().for_each(|p| p.mass /= whole);
    Some(found)
}

/// The limb segments of one side: the role at the near end, the position of the far end where it is known, and the shares.
fn limbs(rig: &Rig, reference_pose: &ModelPose, side: Side) -> [(Role, Option<Vec3>, Segment); 6] {
    let position = |role: Role| rig.joint(role).map(|id| reference_pose.position(id));
    let tip = |role: Role| {
        let id = rig.joint(role)?;
        Some(reference_pose.joint(id).point(&rig.skeleton().joint(id).tip?))
    };
    let knuckle = position(Role::Finger(side, Finger::Middle, 0)).or_else(|| tip(Role::Hand(side)));
    let ball = position(Role::Toes(side)).or_else(|| tip(Role::Foot(side)));
    [
        (Role::UpperArm(side), position(Role::LowerArm(side)), UPPER_ARM),
        (Role::LowerArm(side), position(Role::Hand(side)), FOREARM),
        (Role::Hand(side), knuckle, HAND),
        (Role::UpperLeg(side), position(Role::LowerLeg(side)), THIGH),
        (Role::LowerLeg(side), position(Role::Foot(side)), SHIN),
        (Role::Foot(side), ball, FOOT),
    ]
}
