//! One joint turns so that directions seen from it meet wanted ones, as far as its freedom and limit let it: the
//! step that the geometric solvers repeat. Space: model space. Units: metres, radians.

use super::freedom::Freedom;
use super::mechanism::Mechanism;
use super::outcome::{Progress, Stop, all_reached};
use super::task::Task;
use super::task_rows::TaskRows;
use crate::math::{Vec3, arc, log};
use crate::model::{JointId, ModelPose, Pose};

/// Sweeps over the joints until every task is reached or a sweep moves nothing; `sweep` says whether it moved one.
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

/// A direction from the joint, where it shall point, and how much that matters.
pub(super) type Wish = (Vec3, Vec3, f64);

/// RotationErrors one joint towards the weighted mean of the wishes by at most `most` radians, and brings it inside its limit.
/// Returns whether it moved by more than a picoradian. Slides and fixed joints stay.
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
        // The angle that brings the parts across the axis together best: both sums are those of least squares.
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

/// Makes a step of one joint and brings it inside its limit; whether it moved.
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

/// A vector of at most this length.
pub(super) fn cut(v: Vec3, most: f64) -> Vec3 {
    let n = v.norm();
    if n > most { v * (most / n) } else { v }
}
