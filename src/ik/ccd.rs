//! Cyclic coordinate descent (Wang and Chen 1991): one joint after the other, tip to root, rotates the direction to
//! the effector onto the direction to the target. Joints above several effectors rotate by the weighted mean.
//! Space: model space. Units: metres, radians.

use super::freedom::Freedom;
use super::joint_rotation::{Wish, move_joint, rotate_joint, sweeps};
use super::mechanism::Mechanism;
use super::outcome::{Progress, Solver, Stop};
use super::task::{Goal, Task};
use crate::math::{Vec3, log};
use crate::model::{JointId, ModelPose, Pose};

/// Cyclic coordinate descent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ccd {
    /// Largest rotation of a joint per visit, radians; less distributes the bend over the chain and takes longer.
    pub most: f64,
}

impl Default for Ccd {
    fn default() -> Self {
        Self { most: std::f64::consts::FRAC_PI_2 }
    }
}

impl Solver for Ccd {
    fn name(&self) -> &'static str {
        "ccd"
    }

    fn run(&self, mechanism: &Mechanism, tasks: &[Task], pose: &mut Pose, stop: &Stop) -> Progress {
        let sweep = |pose: &mut Pose, model: &mut ModelPose| {
            let visit = |moved, id| moved | self.visit(mechanism, tasks, pose, model, id);
            mechanism.skeleton().ids().rev().fold(false, visit)
        };
        sweeps(mechanism, tasks, pose, stop, sweep)
    }
}

impl Ccd {
    fn visit(
        &self,
        mechanism: &Mechanism,
        tasks: &[Task],
        pose: &mut Pose,
        model: &mut ModelPose,
        id: JointId,
    ) -> bool {
        let skeleton = mechanism.skeleton();
        let x = model.position(id);
        let mut wishes: Vec<Wish> = Vec::new();
        let (mut shift, mut spin, mut total, mut spins) = (Vec3::zeros(), Vec3::zeros(), 0.0, 0.0);
        for task in tasks {
            match &task.goal {
                Goal::Position { joint, point, target } if skeleton.is_ancestor(id, *joint) => {
                    let y = model.joint(*joint).point(point);
                    shift += (target - y) * task.weight;
                    total += task.weight;
                    if (y - x).norm() > 1e-9 && (target - x).norm() > 1e-9 {
                        wishes.push((y - x, target - x, task.weight));
                    }
                }
                Goal::Orientation { joint, target } if *joint == id => {
                    spin += log(&(target * model.joint(*joint).rotation.inverse())) * task.weight;
                    spins += task.weight;
                }
                _ => {}
            }
        }
        let mut moved = rotate_joint(mechanism, pose, model, id, &wishes, self.most);
        let range = mechanism.dofs_of(id);
        let mut step = vec![0.0; mechanism.dofs()];
        if spins > 0.0 && matches!(mechanism.freedom(id), Freedom::Ball | Freedom::Free) {
            step[range.clone()][..3].copy_from_slice((spin / spins).as_slice());
        }
        if total > 0.0 {
            let axes: Vec<_> = mechanism.axes(model, id).collect();
            for (dof, axis) in range.zip(axes) {
                step[dof] += axis.linear.dot(&shift) / total;
            }
        }
        if step.iter().any(|s| *s != 0.0) {
            moved |= move_joint(mechanism, pose, model, id, &step);
        }
        moved
    }
}
