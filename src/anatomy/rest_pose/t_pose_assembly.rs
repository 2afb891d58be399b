//! Builds the T-pose of all joints from the rotations of the roles: body parts are visited on their parents in the
//! body.

use super::motion_samples::MotionSamples;
use super::partial_estimate::PartialEstimate;
use crate::anatomy::body_hierarchy::parent_role;
use crate::math::{Quat, Transform, Vec3, mean_rotation, median_of};
use crate::model::{JointId, ModelPose, Role};

/// Every n-th sampled frame is used for a joint without a role, which is averaged relative to its parent: it matters
/// little.
const SPARSE: usize = 8;

/// All joints in the T-pose, the lowest point of the feet at height 0.
///
/// Joints without a role keep their average relative to the parent; joints above the hips are not rotated.
pub(super) fn assemble(e: &MotionSamples, found: &PartialEstimate) -> ModelPose {
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
    // Feet may be children of the root: the parent in the body determines their position.
    let hips = e.joint(Role::Hips);
    let parents: Vec<Option<JointId>> = skeleton
        .ids()
        .map(|id| {
            let parent = e.rig.role(id).and_then(|role| parent_role(e.rig, role));
            parent.map(|role| e.joint(role)).or(skeleton.parent(id)).filter(|_| id != hips)
        })
        .collect();
    let mut positions: Vec<Option<Vec3>> = parents.iter().map(|c| c.is_none().then(Vec3::zeros)).collect();
    for id in order(&parents) {
        let Some(on) = parents[id.index()] else { continue };
        let pairs = e.of_joint(on).iter().zip(e.of_joint(id));
        let inside =
            |(c, j): (&Transform, &Transform)| c.rotation.inverse() * (j.translation - c.translation);
        let offset = median_of(pairs.map(inside));
        let base = positions[on.index()].unwrap_or_default();
        positions[id.index()] = Some(base + rotations[on.index()] * offset);
    }
    let joints = rotations.iter().zip(positions);
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

/// The joints sorted so that each follows its parent. A cycle, which an odd map could create, is cut in joint order.
fn order(parents: &[Option<JointId>]) -> Vec<JointId> {
    let mut order = Vec::with_capacity(parents.len());
    let mut visited = vec![false; parents.len()];
    for start in 0..parents.len() {
        let mut path = Vec::new();
        let mut at = Some(JointId::new(start));
        while let Some(id) = at.filter(|id| !visited[id.index()]) {
            visited[id.index()] = true;
            path.push(id);
            at = parents[id.index()];
        }
        order.extend(path.into_iter().rev());
    }
    order
}
