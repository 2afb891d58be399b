//! The rotations of all roles become a pose of all joints: parts of the body on the parts that carry them.

use super::estimate::PartialEstimate;
use super::motion_samples::MotionSamples;
use crate::anatomy::body_hierarchy::parent_role;
use crate::math::{Quat, Transform, Vec3, mean_rotation, median_of};
use crate::model::{JointId, ModelPose, Role};

/// Of the sampled frames, every so manieth counts for a joint without a role: it follows the joint above.
const SPARSE: usize = 8;

/// Every joint in the T-pose, the lowest point of the feet at height 0.
///
/// Joints without a role keep their average to the joint above; joints above the hips stand without a turn.
pub(super) fn stand(e: &MotionSamples, found: &PartialEstimate) -> ModelPose {
    let skeleton = e.skeleton();
    let role_of = |id: JointId| e.rig.role(id).filter(|r| found.c.contains_key(r));
    let ones = vec![1.0; e.count.div_ceil(SPARSE)];
    let mut rotations: Vec<Quat> = Vec::with_capacity(skeleton.len());
    for id in skeleton.ids() {
        let rotation = match (role_of(id), skeleton.parent(id)) {
            (Some(role), _) => found.c[&role],
            (None, None) => Quat::identity(),
            (None, Some(p)) => {
                let pairs = e.of_joint(p).iter().zip(e.of_joint(id)).step_by(SPARSE);
                let relative: Vec<Quat> = pairs.map(|(p, j)| p.rotation.inverse() * j.rotation).collect();
                rotations[p.index()] * mean_rotation(&relative, &ones)
            }
        };
        rotations.push(rotation);
    }
    // Feet may hang from the root: what carries a part in the body places it.
    let hips = e.joint(Role::Hips);
    let carriers: Vec<Option<JointId>> = skeleton
        .ids()
        .map(|id| {
            let carried = e.rig.role(id).and_then(|role| parent_role(e.rig, role));
            carried.map(|role| e.joint(role)).or(skeleton.parent(id)).filter(|_| id != hips)
        })
        .collect();
    let mut places: Vec<Option<Vec3>> = carriers.iter().map(|c| c.is_none().then(Vec3::zeros)).collect();
    for id in order(&carriers) {
        let Some(on) = carriers[id.index()] else { continue };
        let pairs = e.of_joint(on).iter().zip(e.of_joint(id));
        let inside =
            |(c, j): (&Transform, &Transform)| c.rotation.inverse() * (j.translation - c.translation);
        let offset = median_of(pairs.map(inside));
        let base = places[on.index()].unwrap_or_default();
        places[id.index()] = Some(base + rotations[on.index()] * offset);
    }
    let joints = rotations.iter().zip(places);
    let mut pose: Vec<Transform> = joints.map(|(r, p)| Transform::new(*r, p.unwrap_or_default())).collect();
    let mut low = f64::INFINITY;
    for (role, a) in e.rig.assignments().filter(|(r, _)| matches!(r, Role::Foot(_) | Role::Toes(_))) {
        let joint = &pose[a.joint.index()];
        low = low.min(joint.translation.y);
        if let Some(tip) = skeleton.joint(a.joint).tip.filter(|_| found.c.contains_key(&role)) {
            low = low.min(joint.point(&tip).y);
        }
    }
    if low.is_finite() {
        pose.iter_mut().for_each(|t| t.translation.y -= low);
    }
    ModelPose::new(pose)
}

/// The joints in an order in which every joint comes after its parent_role. A circle, which an odd map could make, is cut in
/// joint order.
fn order(carriers: &[Option<JointId>]) -> Vec<JointId> {
    let mut order = Vec::with_capacity(carriers.len());
    let mut placed = vec![false; carriers.len()];
    for start in 0..carriers.len() {
        let mut path = Vec::new();
        let mut at = Some(JointId::new(start));
        while let Some(id) = at.filter(|id| !placed[id.index()]) {
            placed[id.index()] = true;
            path.push(id);
            at = carriers[id.index()];
        }
        order.extend(path.into_iter().rev());
    }
    order
}
