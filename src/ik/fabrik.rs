//! FABRIK, forward and backward reaching inverse kinematics (Aristidou and Lasenby 2011), for trees.
//!
//! Backward: from effectors to root, each joint moves to its bone's length from its child; a branching joint moves to
//! the centroid of the proposals. Forward: from the root outwards, every joint rotates by the smallest rotation that
//! points its bones at these positions, within its freedom and limit. Bone lengths are exact because only
//! rotations change. Space: model space.

use super::freedom::Freedom;
use super::joint_rotation::{Wish, move_joint, rotate_joint, sweeps};
use super::mechanism::Mechanism;
use super::outcome::{Progress, Solver, Stop};
use super::task::{Goal, Task};
use crate::math::{Vec3, log};
use crate::model::{JointId, ModelPose, Pose};

/// Forward and backward reaching (FABRIK).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fabrik;

impl Solver for Fabrik {
    fn name(&self) -> &'static str {
        "fabrik"
    }

    fn run(&self, mechanism: &Mechanism, tasks: &[Task], pose: &mut Pose, stop: &Stop) -> Progress {
        sweeps(mechanism, tasks, pose, stop, |pose, model| {
            let pulled = pull(mechanism, tasks, model);
            reach(mechanism, tasks, pose, model, &pulled)
        })
    }
}

/// Backward pass: the position proposed for every joint; `None` for joints without an effector below.
fn pull(mechanism: &Mechanism, tasks: &[Task], model: &ModelPose) -> Vec<Option<Vec3>> {
    let skeleton = mechanism.skeleton();
    let mut sums = vec![(Vec3::zeros(), 0.0); skeleton.len()];
    let mut pulled = vec![None; skeleton.len()];
    for id in skeleton.ids().rev() {
        let x = model.position(id);
        let mut own = (Vec3::zeros(), 0.0);
        for task in tasks {
            if let Goal::Position { joint, point, target } = &task.goal
                && *joint == id
            {
                own.0 += (target - model.joint(id).vector(point)) * task.weight;
                own.1 += task.weight;
            }
        }
        let (sum, weight) = if own.1 > 0.0 { own } else { sums[id.index()] };
        if weight <= 0.0 {
            continue;
        }
        let position = sum / weight;
        pulled[id.index()] = Some(position);
        if let Some(parent) = skeleton.parent(id) {
            // The parent moves along the line to the child's new position, to the bone's length from it.
            let p = model.position(parent);
            let length = (x - p).norm();
            let back = (p - position).try_normalize(1e-12).unwrap_or_default();
            let entry = &mut sums[parent.index()];
            entry.0 += (position + back * length) * weight;
            entry.1 += weight;
        }
    }
    pulled
}

/// Forward pass: rotates all joints towards the proposed positions; returns whether any moved.
fn reach(
    mechanism: &Mechanism,
    tasks: &[Task],
    pose: &mut Pose,
    model: &mut ModelPose,
    pulled: &[Option<Vec3>],
) -> bool {
    let skeleton = mechanism.skeleton();
    let mut moved = false;
    for id in skeleton.ids() {
        let Some(position) = pulled[id.index()] else { continue };
        let mut step = vec![0.0; mechanism.dofs()];
        let axes: Vec<_> = mechanism.axes(model, id).collect();
        for (dof, axis) in mechanism.dofs_of(id).zip(axes) {
            step[dof] = axis.linear.dot(&(position - model.position(id)));
        }
        if step.iter().any(|s| *s != 0.0) {
            moved |= move_joint(mechanism, pose, model, id, &step);
        }
        let x = model.position(id);
        let wish = |child: &JointId| -> Option<Wish> {
            let (from, to) = (model.position(*child) - x, pulled[child.index()]? - x);
            (from.norm() > 1e-9 && to.norm() > 1e-9).then_some((from, to, 1.0))
        };
        let mut wishes: Vec<Wish> = skeleton.children(id).iter().filter_map(wish).collect();
        for task in tasks {
            if let Goal::Position { joint, point, target } = &task.goal
                && *joint == id
                && *point != Vec3::zeros()
            {
                wishes.push((model.joint(id).vector(point), target - x, task.weight));
            }
        }
        moved |= rotate_joint(mechanism, pose, model, id, &wishes, std::f64::consts::PI);
        moved |= orient(mechanism, tasks, pose, model, id);
    }
    moved
}

/// Rotates a joint with an orientation task to its target.
fn orient(
    mechanism: &Mechanism,
    tasks: &[Task],
    pose: &mut Pose,
    model: &mut ModelPose,
    id: JointId,
) -> bool {
    let target = tasks.iter().find_map(|t| match &t.goal {
        Goal::Orientation { joint, target } if *joint == id => Some(target),
        _ => None,
    });
    let (Some(target), Freedom::Ball | Freedom::Free) = (target, mechanism.freedom(id)) else { return false };
    let mut step = vec![0.0; mechanism.dofs()];
    let spin = log(&(target * model.joint(id).rotation.inverse()));
    step[mechanism.dofs_of(id)][..3].copy_from_slice(spin.as_slice());
    move_joint(mechanism, pose, model, id, &step)
}
