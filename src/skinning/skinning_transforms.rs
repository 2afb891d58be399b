//! Skinning transforms: for each joint the transform of its rest-pose points to a pose.
//!
//! Jacobson (2013), "Implementing forward kinematics for linear blend skinning", corrected: with the rest position
//! `x_i` of joint `i`, its local rotation relative to rest in rest-model axes `r_i = Q0_i delta_i Q0_i^-1`, and the
//! change `do_i` of its local translation in rest-model axes of its parent,
//! `Q_i = Q_p r_i`, `t_i = t_p + (Q_p - Q_i) x_i + Q_p do_i`.
//!
//! The printed `t_i = -Q_i x_i + Q_p x_i - Q_p x_p + x_p` replaces `t_p` by its value at a root and so fails below
//! depth 1: joints at (0,0), (1,0), (2,0), the first rotated by 90 degrees, give `t_2 = (1, -1)` although all three rotate
//! together and `t_2 = (0, 0)`. The printed `Q_i = q_i Q_p` rotates about axes that do not follow the parent.
//! Space: model space from rest-pose model space. Units: metres.

use crate::math::Transform;
use crate::model::{ModelPose, Pose, Skeleton};

/// The skinning transform of every joint relative to the skeleton's rest pose, by the corrected recursion.
///
/// # Panics
/// Where the pose has another number of joints than the skeleton.
pub fn skinning_transforms(skeleton: &Skeleton, pose: &Pose) -> Vec<Transform> {
    assert_eq!(pose.local().len(), skeleton.len(), "a pose belongs to its skeleton");
    let rest = skeleton.rest_model_pose();
    let mut skinning: Vec<Transform> = Vec::with_capacity(skeleton.len());
    for (id, local) in skeleton.ids().zip(pose.local()) {
        let own = skeleton.joint(id).rest;
        let parent = skeleton.parent(id);
        let above = parent.map_or(Transform::identity(), |p| skinning[p.index()]);
        let above_rest = parent.map_or(Transform::identity(), |p| *rest.joint(p));
        let x = rest.position(id);
        let q0 = rest.joint(id).rotation;
        let rotation_change = q0 * own.rotation.inverse() * local.rotation * q0.inverse();
        let shift = above_rest.rotation * (local.translation - own.translation);
        let rotation = above.rotation * rotation_change;
        let translation = above.translation + above.rotation * x - rotation * x + above.rotation * shift;
        skinning.push(Transform::new(rotation, translation));
    }
    skinning
}

/// The skinning transform of every joint relative to any bind pose: `model_from_joint * bind_from_joint^-1`.
pub fn skinning_from_bind(bind: &ModelPose, model: &ModelPose) -> Vec<Transform> {
    bind.joints().iter().zip(model.joints()).map(|(bind, now)| *now * bind.inverse()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Vec3, exp};
    use crate::model::{Joint, JointId};
    use proptest::prelude::*;

    fn vector(size: f64) -> impl Strategy<Value = Vec3> {
        [-size..size, -size..size, -size..size].prop_map(|v| Vec3::new(v[0], v[1], v[2]))
    }

    /// A random tree and, for each joint, a rotation vector relative to rest and a change of translation.
    fn tree() -> impl Strategy<Value = (Skeleton, Vec<(Vec3, Vec3)>)> {
        let one = (vector(1.0), vector(3.0), any::<prop::sample::Index>(), vector(3.0), vector(0.2));
        proptest::collection::vec(one, 2..25).prop_map(|all| {
            let joint = |(i, (offset, rotation_change, parent, _, _)): (
                usize,
                &(Vec3, Vec3, prop::sample::Index, _, _),
            )| {
                let parent = (i > 0).then(|| JointId::new(parent.index(i)));
                Joint::new(format!("j{i}"), parent, Transform::new(exp(rotation_change), *offset))
            };
            let skeleton = Skeleton::new(all.iter().enumerate().map(joint).collect()).unwrap();
            (skeleton, all.into_iter().map(|a| (a.3, a.4)).collect())
        })
    }

    fn posed(skeleton: &Skeleton, changes: &[(Vec3, Vec3)], shifted: bool) -> Pose {
        let mut pose = skeleton.rest_pose();
        for (t, (rotation_change, shift)) in pose.local_mut().iter_mut().zip(changes) {
            t.rotation *= exp(rotation_change);
            t.translation += if shifted { *shift } else { Vec3::zeros() };
        }
        pose
    }

    fn distance(a: &Transform, b: &Transform) -> f64 {
        (a.to_matrix() - b.to_matrix()).norm()
    }

    proptest! {
        #[test]
        fn i1_the_rest_pose_moves_nothing((skeleton, _) in tree()) {
            for t in skinning_transforms(&skeleton, &skeleton.rest_pose()) {
                prop_assert!(distance(&t, &Transform::identity()) < 1e-12);
            }
        }

        #[test]
        fn i2_joints_stay_together((skeleton, changes) in tree()) {
            let skinning = skinning_transforms(&skeleton, &posed(&skeleton, &changes, false));
            let rest = skeleton.rest_model_pose();
            for id in skeleton.ids() {
                let Some(parent) = skeleton.parent(id) else { continue };
                let x = rest.position(id);
                let (own, above) = (skinning[id.index()].point(&x), skinning[parent.index()].point(&x));
                prop_assert!((own - above).norm() < 1e-11);
            }
        }

        #[test]
        fn i3_the_recursion_is_the_inverse_bind_form((skeleton, changes) in tree()) {
            let pose = posed(&skeleton, &changes, true);
            let bound = skinning_from_bind(&skeleton.rest_model_pose(), &ModelPose::of(&skeleton, &pose));
            for (a, b) in skinning_transforms(&skeleton, &pose).iter().zip(&bound) {
                prop_assert!(distance(a, b) < 1e-11);
            }
        }

        #[test]
        fn i4_rotating_the_root_moves_all_alike((skeleton, changes) in tree()) {
            let mut pose = skeleton.rest_pose();
            pose.local_mut()[0].rotation *= exp(&changes[0].0);
            let skinning = skinning_transforms(&skeleton, &pose);
            let root = skeleton.joint(JointId::new(0)).rest;
            prop_assert!((skinning[0].point(&root.translation) - root.translation).norm() < 1e-12);
            prop_assert!(skinning.iter().all(|t| distance(t, &skinning[0]) < 1e-11));
        }

        #[test]
        fn i5_a_hinge_rotates_about_the_axis_of_its_parent((skeleton, changes) in tree(), axis in vector(1.0), angle in -3.0..3.0f64) {
            prop_assume!(axis.norm() > 1e-2);
            let mut pose = posed(&skeleton, &changes, false);
            let rest = skeleton.rest_model_pose();
            for id in skeleton.ids().skip(1) {
                let local = &mut pose.local_mut()[id.index()].rotation;
                let before = *local;
                *local = skeleton.joint(id).rest.rotation * exp(&(axis.normalize() * angle));
                let skinning = skinning_transforms(&skeleton, &pose);
                pose.local_mut()[id.index()].rotation = before;
                let n = rest.joint(id).rotation * axis;
                let parent = skinning[skeleton.parent(id).unwrap().index()];
                prop_assert!((skinning[id.index()].vector(&n) - parent.vector(&n)).norm() < 1e-11);
            }
        }

        #[test]
        fn i6_bones_keep_their_lengths((skeleton, changes) in tree()) {
            let skinning = skinning_transforms(&skeleton, &posed(&skeleton, &changes, false));
            let rest = skeleton.rest_model_pose();
            for id in skeleton.ids() {
                for &child in skeleton.children(id) {
                    let (x, c) = (rest.position(id), rest.position(child));
                    let moved = skinning[id.index()].point(&c) - skinning[id.index()].point(&x);
                    prop_assert!((moved.norm() - (c - x).norm()).abs() < 1e-11);
                }
            }
        }
    }

    #[test]
    fn i7_the_counter_example_to_the_printed_formula() {
        let joint = |i: usize| {
            let offset = Vec3::new(f64::from(u8::from(i > 0)), 0.0, 0.0);
            let parent = i.checked_sub(1).map(JointId::new);
            Joint::new(format!("j{i}"), parent, Transform::from_translation(offset))
        };
        let skeleton = Skeleton::new((0..3).map(joint).collect()).unwrap();
        let mut pose = skeleton.rest_pose();
        pose.local_mut()[0].rotation = exp(&Vec3::new(0.0, 0.0, std::f64::consts::FRAC_PI_2));
        let skinning = skinning_transforms(&skeleton, &pose);
        assert!(skinning[2].translation.norm() < 1e-12);
        let (x_p, x_i) = (Vec3::new(1.0, 0.0, 0.0), Vec3::new(2.0, 0.0, 0.0));
        let (q_p, q_i) = (skinning[1].rotation, skinning[2].rotation);
        let printed = -(q_i * x_i) + q_p * x_i - q_p * x_p + x_p;
        assert!((printed - Vec3::new(1.0, -1.0, 0.0)).norm() < 1e-12);
    }
}
