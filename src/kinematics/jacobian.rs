//! The geometric Jacobian: how a point fixed to a joint moves and turns when the joints above it turn.
//!
//! Increments are rotation vectors in world axes, `R_j <- exp(delta_j) R_j` about the joint's position `x_j`, so
//! there is no singularity of a parametrisation: a point `y` moves by `dy = delta_j x (y - x_j)` and its frame
//! turns by `delta_j` (Whitney 1969). Space: model space. Units: metres and radians.

use crate::math::{DMatrix, Vec3, hat};
use crate::model::{JointId, ModelPose, Skeleton};

/// The Jacobian of one point and of the joint that carries it.
#[derive(Clone, Debug, PartialEq)]
pub struct Jacobian {
    /// The joints that move the point, the carrying joint first, the root last.
    pub joints: Vec<JointId>,
    /// Shape: 6 rows (three of the position in metres, three of the rotation vector in radians) and three
    /// columns for each of `joints`.
    pub matrix: DMatrix<f64>,
}

/// The Jacobian of the point `point_in_joint` (metres, joint space) that `joint` carries, at the pose `model`.
pub fn jacobian(skeleton: &Skeleton, model: &ModelPose, joint: JointId, point_in_joint: &Vec3) -> Jacobian {
    let joints: Vec<JointId> = skeleton.path_to_root(joint).collect();
    let y = model.joint(joint).point(point_in_joint);
    let mut matrix = DMatrix::zeros(6, 3 * joints.len());
    for (k, &j) in joints.iter().enumerate() {
        // delta x (y - x_j) = -hat(y - x_j) delta
        matrix.fixed_view_mut::<3, 3>(0, 3 * k).copy_from(&-hat(&(y - model.position(j))));
        matrix.fixed_view_mut::<3, 3>(3, 3 * k).fill_with_identity();
    }
    Jacobian { joints, matrix }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{DVector, Transform, exp, log};
    use crate::model::{Joint, Pose};

    /// The pose in which the joint `turned` is turned by `delta` in world axes, everything below following.
    fn turned(skeleton: &Skeleton, pose: &Pose, turned: JointId, delta: &Vec3) -> ModelPose {
        let model = ModelPose::of(skeleton, pose);
        let world = model.joint(turned).rotation;
        let mut pose = pose.clone();
        let local = &mut pose.local_mut()[turned.index()].rotation;
        *local *= world.inverse() * exp(delta) * world;
        ModelPose::of(skeleton, &pose)
    }

    #[test]
    fn the_jacobian_is_the_finite_difference() {
        let v = |s: f64| Vec3::new((3.1 * s).sin(), (5.3 * s).cos(), (7.7 * s).sin());
        let joints = (0..5usize)
            .map(|i| {
                let parent = [None, Some(0), Some(1), Some(1), Some(3)][i].map(JointId::new);
                Joint::new(format!("j{i}"), parent, Transform::new(exp(&v(i as f64)), v(i as f64 + 9.0)))
            })
            .collect();
        let skeleton = Skeleton::new(joints).unwrap();
        let pose = skeleton.rest_pose();
        let (tip, point) = (JointId::new(4), v(20.0));
        let found = jacobian(&skeleton, &ModelPose::of(&skeleton, &pose), tip, &point);
        assert_eq!(found.joints, [4, 3, 1, 0].map(JointId::new));
        let h = 1e-6;
        for (k, &j) in found.joints.iter().enumerate() {
            for axis in 0..3 {
                let mut delta = Vec3::zeros();
                delta[axis] = h;
                let plus = *turned(&skeleton, &pose, j, &delta).joint(tip);
                let minus = *turned(&skeleton, &pose, j, &-delta).joint(tip);
                let moved = (plus.point(&point) - minus.point(&point)) / (2.0 * h);
                let spun = log(&(plus.rotation * minus.rotation.inverse())) / (2.0 * h);
                let difference = DVector::from_iterator(6, moved.iter().chain(spun.iter()).copied());
                assert!((found.matrix.column(3 * k + axis) - difference).norm() < 1e-8);
            }
        }
    }
}
