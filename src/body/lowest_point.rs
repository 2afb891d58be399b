//! Height of the lowest of some points of a body in a pose.
//!
//! Space: joint space in, model space out, Y up. Units: metres.

use crate::math::{Transform, Vec3};
use crate::model::{JointId, ModelPose};

/// The height of the lowest of these points, which are listed joint by joint; infinite without any.
pub fn lowest(points: &[(JointId, Vec3)], pose: &ModelPose) -> f64 {
    let of_joint = |points: &[(JointId, Vec3)]| {
        lowest_on_joint(points.iter().map(|(_, at)| at), pose.joint(points[0].0))
    };
    points.chunk_by(|a, b| a.0 == b.0).map(of_joint).fold(f64::INFINITY, f64::min)
}

/// The height of the lowest of these points of one joint; infinite without any.
pub fn lowest_on_joint<'a>(points: impl Iterator<Item = &'a Vec3>, joint: &Transform) -> f64 {
    let up = joint.rotation.inverse() * Vec3::y();
    // Not `f64::min`, which checks every point for NaN.
    let lower = |low: f64, at: f64| if at < low { at } else { low };
    joint.translation.y + points.map(|at| up.dot(at)).fold(f64::INFINITY, lower)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::exp;

    #[test]
    fn the_lowest_point_is_the_lowest_of_all_in_model_space() {
        let number = |k: usize| (1.7 * k as f64).sin();
        let vector = |k: usize| Vec3::new(number(k), number(3 * k + 1), number(5 * k + 2));
        for case in 0..50 {
            let at =
                |joint: usize| Transform::new(exp(&(vector(7 * case + joint) * 3.0)), vector(case + joint));
            let pose = ModelPose::new((0..3).map(at).collect());
            let points: Vec<(JointId, Vec3)> =
                (0..90).map(|k| (JointId::new(k / 30), vector(11 * case + k))).collect();
            let heights = points.iter().map(|(joint, at)| pose.joint(*joint).point(at).y);
            assert!((lowest(&points, &pose) - heights.fold(f64::INFINITY, f64::min)).abs() < 1e-12);
        }
    }
}
