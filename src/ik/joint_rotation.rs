//! Rotation of one joint towards target directions within its freedom and limit: the step that CCD and FABRIK repeat.
//!
//! Space: model space. Units: metres, radians.

use super::freedom::Freedom;
use super::mechanism::Mechanism;
use super::outcome::{Progress, Stop, all_reached};
use super::task::Task;
use super::task_rows::TaskRows;
use crate::math::{Vec3, arc, log};
use crate::model::{JointId, ModelPose, Pose};

/// Repeats `sweep` until every task is reached or `sweep` returns false (no joint moved).
pub(super) fn sweeps(
    mechanism: &Mechanism,
    tasks: &[Task],
    pose: &mut Pose,
    stop: &Stop,
    mut sweep: impl FnMut(&mut Pose, &mut ModelPose) -> bool,
) -> Progress {
    mechanism.enforce(pose);
    let mut model = ModelPose::of(mechanism.skeleton(), pose);
    let mut rows = TaskRows::default();
    for iterations in 0..stop.iterations {
        if all_reached(mechanism, tasks, pose, &model, stop, &mut rows) {
            return Progress { iterations, stationary: false };
        }
        if !sweep(pose, &mut model) {
            return Progress { iterations: iterations + 1, stationary: true };
        }
    }
    Progress { iterations: stop.iterations, stationary: false }
}

/// Current direction from the joint, target direction, and weight.
pub(super) type Wish = (Vec3, Vec3, f64);

/// Rotates one joint towards the weighted mean of `wishes` by at most `most` radians and applies its limit.
/// Returns whether it moved by more than a picoradian. Slides and fixed joints do not move.
pub(super) fn rotate_joint(
    mechanism: &Mechanism,
    pose: &mut Pose,
    model: &mut ModelPose,
    id: JointId,
    wishes: &[Wish],
    most: f64,
) -> bool {
    let total: f64 = wishes.iter().map(|w| w.2).sum();
    let freedom = mechanism.freedom(id);
    if total <= 0.0 || matches!(freedom, Freedom::Fixed | Freedom::Slide(_)) {
        return false;
    }
    let mut step = vec![0.0; mechanism.dofs()];
    let range = mechanism.dofs_of(id);
    if matches!(freedom, Freedom::Ball | Freedom::Free) {
        let spin: Vec3 = wishes.iter().map(|(from, to, w)| log(&arc(from, to, &Vec3::y())) * *w).sum();
        let spin = cut(spin / total, most);
        step[range][..3].copy_from_slice(spin.as_slice());
    } else {
        // Least-squares angle between the components perpendicular to the axis.
        for (dof, axis) in range.zip(mechanism.axes(model, id)) {
            let a = axis.angular;
            let (mut sine, mut cosine) = (0.0, 0.0);
            for (from, to, w) in wishes {
                sine += w * a.dot(&from.cross(to));
                cosine += w * (from.dot(to) - a.dot(from) * a.dot(to));
            }
            if libm::hypot(sine, cosine) > 1e-12 {
                step[dof] = libm::atan2(sine, cosine).clamp(-most, most);
            }
        }
    }
    move_joint(mechanism, pose, model, id, &step)
}

/// Applies a step to one joint and then its limit; returns whether it moved.
pub(super) fn move_joint(
    mechanism: &Mechanism,
    pose: &mut Pose,
    model: &mut ModelPose,
    id: JointId,
    step: &[f64],
) -> bool {
    let before = *pose.joint(id);
    mechanism.step(pose, model, step);
    let inside = mechanism.limited(id, pose.joint(id));
    pose.local_mut()[id.index()] = inside;
    model.set(mechanism.skeleton(), pose);
    inside.rotation.angle_to(&before.rotation) > 1e-12
        || (inside.translation - before.translation).norm() > 1e-12
}

/// The vector, shortened to at most this length.
pub(super) fn cut(v: Vec3, most: f64) -> Vec3 {
    let n = v.norm();
    if n > most { v * (most / n) } else { v }
}
