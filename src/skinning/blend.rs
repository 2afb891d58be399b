//! Bound vertices become moved ones: linear blend skinning.
//!
//! `v' = sum_i w_i M_i v` with `M_i = model_from_joint * joint_from_mesh`, blended as one 3x4 matrix a vertex.
//! Normals turn with the inverse transpose of that matrix, so that stretched and scaled bindings keep them upright.
//! Space: mesh space in, model space out. Units: metres out; `f32` vertices.

use crate::math::{F32x4, Mat4, Transform};
use crate::model::{Mesh, ModelPose};

/// The moved vertices of one mesh in model space, in metres. Kept by the caller, so that a clip allocates once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Skin {
    /// One position a vertex.
    pub positions: Vec<[f32; 3]>,
    /// One unit normal a vertex; empty where the mesh has none.
    pub normals: Vec<[f32; 3]>,
}

/// The four columns of a 3x4 matrix, one register each; the fourth row is not used.
type Columns = [F32x4; 4];

/// Moves the vertices of `mesh` by linear blending at the pose `model`, written over `skin`.
///
/// # Panics
/// Where the mesh breaks its promises (`Motion::check`) or belongs to another skeleton.
pub fn linear_blend(mesh: &Mesh, model: &ModelPose, skin: &mut Skin) {
    let bindings: Vec<Columns> = matrices(mesh, model).map(|m| columns(&m)).collect();
    let blended = |joints: &[u16; 4], weights: &[f32; 4]| -> Columns {
        let [a, b, c, d] = joints.map(|j| &bindings[usize::from(j)]);
        let [wa, wb, wc, wd] = weights.map(splat);
        std::array::from_fn(|k| a[k] * wa + b[k] * wb + c[k] * wc + d[k] * wd)
    };
    let bound = mesh.joints.iter().zip(&mesh.weights);
    skin.positions.clear();
    skin.normals.clear();
    if mesh.normals.is_empty() {
        skin.positions.extend(mesh.positions.iter().zip(bound).map(|(p, (j, w))| point(&blended(j, w), p)));
        return;
    }
    skin.positions.resize(mesh.positions.len(), [0.0; 3]);
    skin.normals.resize(mesh.positions.len(), [0.0; 3]);
    let moved = skin.positions.iter_mut().zip(&mut skin.normals);
    let vertices = mesh.positions.iter().zip(&mesh.normals);
    for (((position, turned), (p, n)), (j, w)) in moved.zip(vertices).zip(bound) {
        let m = blended(j, w);
        *position = point(&m, p);
        *turned = normal(&m, n);
    }
}

/// Model space from mesh space, for every binding.
pub(super) fn matrices(mesh: &Mesh, model: &ModelPose) -> impl Iterator<Item = Mat4<f64>> {
    let of = |t: &Transform| t.to_matrix();
    mesh.bindings.iter().map(move |b| of(model.joint(b.joint)) * b.joint_from_mesh)
}

/// The columns in `f32`.
fn columns(m: &Mat4<f64>) -> Columns {
    std::array::from_fn(|c| F32x4::from_arr(std::array::from_fn(|r| m[(r, c)] as f32)))
}

fn splat(x: f32) -> F32x4 {
    F32x4::from_arr([x; 4])
}

fn first_three(v: F32x4) -> [f32; 3] {
    let [x, y, z, _] = v.into_arr();
    [x, y, z]
}

fn point(m: &Columns, p: &[f32; 3]) -> [f32; 3] {
    first_three(m[0] * splat(p[0]) + m[1] * splat(p[1]) + m[2] * splat(p[2]) + m[3])
}

fn cross(a: &[f32; 3], b: &[f32; 3]) -> [f32; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn dot(a: &[f32; 3], b: &[f32; 3]) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// The normal by the cofactors of the matrix, which are its inverse transpose up to the determinant. Where the
/// matrix flattens space the normal stays as it was.
fn normal(m: &Columns, n: &[f32; 3]) -> [f32; 3] {
    let [a, b, c] = [m[0], m[1], m[2]].map(first_three);
    let (bc, ca, ab) = (cross(&b, &c), cross(&c, &a), cross(&a, &b));
    let turned: [f32; 3] = std::array::from_fn(|k| bc[k] * n[0] + ca[k] * n[1] + ab[k] * n[2]);
    let length = dot(&turned, &turned).sqrt().copysign(dot(&bc, &a));
    if length.abs() > f32::MIN_POSITIVE { turned.map(|x| x / length) } else { *n }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::math::{Quat, Vec3, exp};
    use crate::model::{Binding, JointId};
    use proptest::prelude::*;

    /// A vector that depends wildly on `s`.
    pub(crate) fn v(s: f64) -> Vec3 {
        Vec3::new((3.1 * s).sin(), (5.3 * s).cos(), (7.7 * s).sin())
    }

    /// A mesh of `n` vertices bound to four joints, stored at `scale` of a metre; every vertex of weight one in
    /// its first binding where `single`.
    pub(crate) fn mesh(n: usize, scale: f64, single: bool) -> (Mesh, ModelPose) {
        let joint = |i: usize| Transform::new(exp(&(v(i as f64) * 2.0)), v(i as f64 + 7.0));
        let bind = ModelPose::new((0..4).map(joint).collect());
        let metres = Mat4::new_scaling(scale);
        let binding = |i: usize| Binding {
            joint: JointId::new(i),
            joint_from_mesh: bind.joints()[i].inverse().to_matrix() * metres,
        };
        let weights = if single { [1.0, 0.0, 0.0, 0.0] } else { [0.4, 0.3, 0.2, 0.1] };
        let mesh = Mesh {
            positions: (0..n).map(|k| (v(k as f64 * 0.3) / scale).map(|x| x as f32).into()).collect(),
            normals: (0..n).map(|k| v(k as f64 * 0.7).normalize().map(|x| x as f32).into()).collect(),
            joints: (0..n).map(|k| [k, k + 1, k + 2, k + 3].map(|i| (i % 4) as u16)).collect(),
            weights: vec![weights; n],
            bindings: (0..4).map(binding).collect(),
            ..Mesh::default()
        };
        (mesh, bind)
    }

    pub(crate) fn near(a: &[f32; 3], b: &Vec3, tolerance: f64) -> bool {
        (0..3).all(|c| (f64::from(a[c]) - b[c]).abs() < tolerance)
    }

    fn exact(p: &[f32; 3]) -> Vec3 {
        Vec3::new(p[0].into(), p[1].into(), p[2].into())
    }

    #[test]
    fn the_bind_pose_moves_nothing_but_the_unit() {
        for scale in [1.0, 0.01] {
            let (mesh, bind) = mesh(50, scale, false);
            let mut skin = Skin::default();
            linear_blend(&mesh, &bind, &mut skin);
            for k in 0..50 {
                assert!(near(&skin.positions[k], &(exact(&mesh.positions[k]) * scale), 1e-5));
                assert!(near(&skin.normals[k], &exact(&mesh.normals[k]), 1e-5));
            }
        }
    }

    proptest! {
        #[test]
        fn a_character_that_moves_as_one_takes_its_skin_along(s in -9.0..9.0f64) {
            let (mesh, bind) = mesh(40, 0.01, false);
            let whole = Transform::new(exp(&(v(s) * 3.0)), v(s + 1.0));
            let moved = ModelPose::new(bind.joints().iter().map(|t| whole * *t).collect());
            let mut skin = Skin::default();
            linear_blend(&mesh, &moved, &mut skin);
            for k in 0..40 {
                prop_assert!(near(&skin.positions[k], &whole.point(&(exact(&mesh.positions[k]) * 0.01)), 1e-5));
                prop_assert!(near(&skin.normals[k], &whole.vector(&exact(&mesh.normals[k])), 1e-5));
            }
        }
    }

    #[test]
    fn normals_stay_upright_on_stretched_and_mirrored_bindings() {
        let (mut mesh, bind) = mesh(12, 1.0, true);
        for stretch in [Vec3::new(1.0, 3.0, 1.0), Vec3::new(-1.0, 1.0, 2.0)] {
            for (binding, joint) in mesh.bindings.iter_mut().zip(bind.joints()) {
                binding.joint_from_mesh =
                    joint.inverse().to_matrix() * Mat4::new_nonuniform_scaling(&stretch);
            }
            let mut skin = Skin::default();
            linear_blend(&mesh, &bind, &mut skin);
            for k in 0..12 {
                let expected = exact(&mesh.normals[k]).component_div(&stretch).normalize();
                assert!(near(&skin.normals[k], &expected, 1e-5));
            }
        }
    }

    #[test]
    fn a_mesh_without_vertices_and_normals_gives_none() {
        let mut skin = Skin { positions: vec![[1.0; 3]], normals: vec![[1.0; 3]] };
        let pose = ModelPose::new(vec![Transform::from_rotation(Quat::identity())]);
        linear_blend(&Mesh::default(), &pose, &mut skin);
        assert_eq!(skin, Skin::default());
    }
}
