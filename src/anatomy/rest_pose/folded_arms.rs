//! Arms that a rest pose folds as no body does, while the rest of it stands: their roll is estimated from the motion.
//!
//! An arm is compared by the directions of its bones, and its roll about them is that of the rest pose, straightened. At the rest
//! pose of an arm that is folded at the elbow or points into the body this roll is undefined.
//! Space: model space, Y up, facing +Z, the left along +X.

use super::estimate::{CONTRADICTED, Estimate};
use crate::math::{Quat, Transform, Vec3, arc, rotation_between};
use crate::model::{ModelPose, Rig, Role, Side};

/// Cosine between upper arm and forearm below which the elbow of a rest pose is folded (120 degrees): A-poses and T-poses of people
/// are above 0.8, guards of fighters near 0.
const FOLDED_ELBOW: f64 = -0.5;
/// Cosine between upper arm and its side of the body below which it points into the body (107 degrees).
const INTO_BODY: f64 = -0.3;
/// Confidence below which the estimate of a joint's rotation about its bone (twist) is a guess: errors of 9 degrees are then usual.
pub const UNSURE: f64 = 0.45;

/// The parts of an arm that are replaced together.
fn is_of_arm(role: Role, side: Side) -> bool {
    match role {
        Role::UpperArm(s) | Role::LowerArm(s) | Role::Hand(s) | Role::Finger(s, ..) => s == side,
        _ => false,
    }
}

/// The arms that no body folds as `rest` does, however that lies in space.
pub fn folded_arms(rig: &Rig, rest: &ModelPose) -> Vec<Side> {
    let bone = |from: Role, to: Role| {
        let [from, to] = [from, to].map(|role| rig.joint(role).map(|joint| rest.position(joint)));
        (to? - from?).try_normalize(1e-9)
    };
    let across = bone(Role::UpperLeg(Side::Right), Role::UpperLeg(Side::Left));
    let is_folded = |side: &Side| {
        let upper = bone(Role::UpperArm(*side), Role::LowerArm(*side));
        let lower = bone(Role::LowerArm(*side), Role::Hand(*side));
        let (Some(across), Some(upper), Some(lower)) = (across, upper, lower) else { return false };
        upper.dot(&lower) < FOLDED_ELBOW || upper.dot(&(across * side.sign())) < INTO_BODY
    };
    Side::BOTH.into_iter().filter(is_folded).collect()
}

/// `rest` with those of these arms as in the estimate that the estimate contradicts; `None` if it contradicts none.
pub fn with_estimated_arms(
    rig: &Rig,
    rest: &ModelPose,
    estimate: &Estimate,
    sides: &[Side],
) -> Option<ModelPose> {
    let skeleton = rig.skeleton();
    let wrong: Vec<Side> =
        sides.iter().copied().filter(|side| is_contradicted(rig, rest, estimate, *side)).collect();
    let replaced = |id| rig.role(id).is_some_and(|role| wrong.iter().any(|side| is_of_arm(role, *side)));
    let mut model: Vec<Transform> = Vec::with_capacity(skeleton.len());
    for id in skeleton.ids() {
        let mut at = match skeleton.parent(id) {
            Some(parent) => model[parent.index()] * (rest.joint(parent).inverse() * *rest.joint(id)),
            None => *rest.joint(id),
        };
        if replaced(id) {
            at.rotation = estimate.pose.joint(id).rotation;
        }
        model.push(at);
    }
    (!wrong.is_empty()).then(|| ModelPose::new(model))
}

/// Whether upper arm or forearm of a confident estimate differ by more than [`CONTRADICTED`] from those of the rest pose, straightened
/// along the bones of the estimate.
fn is_contradicted(rig: &Rig, rest: &ModelPose, estimate: &Estimate, side: Side) -> bool {
    let parts = [Role::UpperArm(side), Role::LowerArm(side), Role::Hand(side)].map(|role| rig.joint(role));
    let [Some(upper), Some(lower), Some(hand)] = parts else { return false };
    let bone = |pose: &ModelPose, [from, to]: [_; 2]| pose.position(to) - pose.position(from);
    let mut straight = Quat::identity();
    [[upper, lower], [lower, hand]].into_iter().any(|ends| {
        let [own, wanted] = [rest, &estimate.pose].map(|pose| bone(pose, ends));
        straight = arc(&(straight * own), &wanted, &Vec3::y()) * straight;
        let [from, to] = [straight * rest.joint(ends[0]).rotation, estimate.pose.joint(ends[0]).rotation];
        let sure = estimate.joints.iter().any(|j| j.joint == ends[0] && j.confidence >= UNSURE);
        sure && rotation_between(&from, &to) > CONTRADICTED
    })
}
