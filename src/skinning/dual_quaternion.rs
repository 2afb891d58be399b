//! Dual quaternion skinning, which does not collapse at twisted joints.
//!
//! Kavan, Collins, Zara and O'Sullivan (2008), sec. 4: each binding's matrix is split into a stretch and a rigid
//! part; the stretch is blended linearly and applied first, the rigid parts are blended as
//! `b = sum w_i (q_i + eps 0.5 (0, t_i) q_i)`, signs taken along the largest weight, and normalised.
//! Space: mesh space in, model space out. Units: metres out; `f32` vertices, `f64` inside.

use super::Skin;
use super::linear_blend::matrices;
use crate::math::{Mat3, Mat4, Quat, RawQuat, Vec3, nearest_rotation};
use crate::model::{Mesh, ModelPose};

/// One binding: stretch, then a dual quaternion.
struct DualBinding {
    stretch: Mat3<f64>,
    real: RawQuat,
    dual: RawQuat,
}

impl DualBinding {
    fn of(m: &Mat4<f64>) -> Self {
        let linear: Mat3<f64> = m.fixed_view::<3, 3>(0, 0).into_owned();
        let t = m.fixed_view::<3, 1>(0, 3).into_owned();
        // A singular matrix has no unique rotation: all of it counts as stretch.
        let q = nearest_rotation(&linear).map_or(Quat::identity(), |(q, _)| q);
        let stretch = q.inverse().to_rotation_matrix().into_inner() * linear;
        let real = q.into_inner();
        Self { stretch, real, dual: RawQuat::from_imag(t) * real * 0.5 }
    }
}

/// Skins `mesh` by blended dual quaternions at the pose `model` into `skin`.
///
/// # Panics
/// Where the mesh breaks its promises (`Motion::check`) or belongs to another skeleton.
pub fn dual_quaternion_blend(mesh: &Mesh, model: &ModelPose, skin: &mut Skin) {
    let parts: Vec<DualBinding> = matrices(&mesh.bindings, model).map(|m| DualBinding::of(&m)).collect();
    skin.positions.clear();
    skin.normals.clear();
    for (v, p) in mesh.positions.iter().enumerate() {
        let (stretch, rotation, translation) = blend(&parts, &mesh.joints[v], &mesh.weights[v]);
        skin.positions.push((rotation * (stretch * vec3(p)) + translation).map(|x| x as f32).into());
        if let Some(n) = mesh.normals.get(v) {
            let upright = stretch.try_inverse().map_or(vec3(n), |inverse| inverse.transpose() * vec3(n));
            skin.normals.push((rotation * upright.normalize()).map(|x| x as f32).into());
        }
    }
}

fn vec3(p: &[f32; 3]) -> Vec3 {
    Vec3::new(p[0].into(), p[1].into(), p[2].into())
}

/// The blended stretch, rotation and translation of one vertex.
fn blend(parts: &[DualBinding], joints: &[u16; 4], weights: &[f32; 4]) -> (Mat3<f64>, Quat, Vec3) {
    let largest = (0..4).max_by(|&i, &k| weights[i].total_cmp(&weights[k]).then(k.cmp(&i))).unwrap_or(0);
    let reference = &parts[usize::from(joints[largest])];
    let mut stretch = Mat3::zeros();
    let (mut real, mut dual) = (reference.real * 0.0, reference.dual * 0.0);
    for (&joint, &weight) in joints.iter().zip(weights) {
        let (part, weight) = (&parts[usize::from(joint)], f64::from(weight));
        let signed = if part.real.coords.dot(&reference.real.coords) < 0.0 { -weight } else { weight };
        stretch += part.stretch * weight;
        real += part.real * signed;
        dual += part.dual * signed;
    }
    let length = real.norm();
    let (real, dual) = (real / length, dual / length);
    // 2 vec(d q*) with the part of d along q removed by the product itself.
    let translation = (dual * real.conjugate()).imag() * 2.0;
    (stretch, Quat::new_unchecked(real), translation)
}

#[cfg(test)]
mod tests {
    use super::super::linear_blend;
    use super::super::linear_blend::tests::{mesh, near, v};
    use super::*;
    use crate::math::{Transform, exp};
    use proptest::prelude::*;

    fn posed(bind: &ModelPose, s: f64) -> ModelPose {
        let one =
            |(i, t): (usize, &Transform)| Transform::new(exp(&v(s + i as f64)), v(2.0 * s + i as f64)) * *t;
        ModelPose::new(bind.joints().iter().enumerate().map(one).collect())
    }

    proptest! {
        #[test]
        fn one_joint_of_weight_one_is_linear_blending(s in -9.0..9.0f64) {
            let (mesh, bind) = mesh(30, 0.01, true);
            let pose = posed(&bind, s);
            let (mut linear, mut dual) = (Skin::default(), Skin::default());
            linear_blend(&mesh, &pose, &mut linear);
            dual_quaternion_blend(&mesh, &pose, &mut dual);
            for k in 0..30 {
                prop_assert!(near(&dual.positions[k], &vec3(&linear.positions[k]), 1e-5));
                prop_assert!(near(&dual.normals[k], &vec3(&linear.normals[k]), 1e-5));
            }
        }

        #[test]
        fn a_rigid_motion_moves_the_skin_rigidly(s in -9.0..9.0f64) {
            let (mesh, bind) = mesh(30, 0.01, false);
            let whole = Transform::new(exp(&(v(s) * 3.0)), v(s + 1.0));
            let moved = ModelPose::new(bind.joints().iter().map(|t| whole * *t).collect());
            let mut skin = Skin::default();
            dual_quaternion_blend(&mesh, &moved, &mut skin);
            for k in 0..30 {
                prop_assert!(near(&skin.positions[k], &whole.point(&(vec3(&mesh.positions[k]) * 0.01)), 1e-5));
            }
        }
    }

    #[test]
    fn a_half_twisted_tube_keeps_its_radius() {
        let (mut mesh, _) = mesh(1, 1.0, false);
        let pose = ModelPose::new(
            [0.0, 2.5, 0.0, 2.5].map(|a| Transform::from_rotation(exp(&Vec3::new(a, 0.0, 0.0)))).to_vec(),
        );
        mesh.bindings.iter_mut().for_each(|b| b.joint_from_mesh = Mat4::identity());
        mesh.positions[0] = [0.3, 1.0, 0.0];
        mesh.weights[0] = [0.5, 0.5, 0.0, 0.0];
        let radius = |skin: &Skin| skin.positions[0][1].hypot(skin.positions[0][2]);
        let (mut linear, mut dual) = (Skin::default(), Skin::default());
        linear_blend(&mesh, &pose, &mut linear);
        dual_quaternion_blend(&mesh, &pose, &mut dual);
        assert!((radius(&dual) - 1.0).abs() < 1e-6 && radius(&linear) < 0.4);
    }
}
