//! Linear blend skinning.
//!
//! `v' = sum_i w_i M_i v` with `M_i = model_from_joint * joint_from_mesh`, blended as one 3x4 matrix per vertex. Normals are
//! transformed by the inverse transpose of that matrix, so that they stay perpendicular under stretched and scaled bindings.
//! Space: mesh space in, model space out. Units: metres out; `f32` vertices.

use super::linear_blend_kernel::{Columns, Influence, Lanes, VertexBlock, WIDTH, blend};
use crate::math::{Mat4, Transform};
use crate::model::{Binding, Mesh, ModelPose};

/// The skinned vertices of one mesh in model space, metres. The caller reuses it, so that a clip allocates once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Skin {
    /// One position per vertex.
    pub positions: Vec<[f32; 3]>,
    /// One unit normal per vertex; empty where the mesh has none.
    pub normals: Vec<[f32; 3]>,
}

/// A mesh prepared for linear blending at many poses: its vertices in blocks of lanes, in their order.
///
/// Neighbouring vertices mostly have the same joints, whose matrices are then loaded once per block.
#[derive(Clone, Debug)]
pub struct LinearBlend {
    vertices: usize,
    has_normals: bool,
    bindings: Vec<Binding>,
    blocks: Vec<VertexBlock>,
    influences: Vec<Influence>,
}

impl LinearBlend {
    /// Prepares `mesh`.
    ///
    /// # Panics
    /// Where the mesh breaks its promises (`Motion::check`).
    pub fn new(mesh: &Mesh) -> Self {
        let mut influences = Vec::new();
        let vertices: Vec<usize> = (0..mesh.positions.len()).collect();
        let block = |some: &[usize]| {
            let from = influences.len();
            influences.extend(influences_of(mesh, some));
            let normals =
                if mesh.normals.is_empty() { Default::default() } else { lanes(&mesh.normals, some) };
            VertexBlock {
                influences: from..influences.len(),
                positions: lanes(&mesh.positions, some),
                normals,
            }
        };
        let blocks = vertices.chunks(WIDTH).map(block).collect();
        let (vertices, has_normals) = (vertices.len(), !mesh.normals.is_empty());
        Self { vertices, has_normals, bindings: mesh.bindings.clone(), blocks, influences }
    }

    /// Skins the vertices at the pose `model` into `skin`, bit-identical on every processor. The result for a vertex does not
    /// depend on its neighbours.
    ///
    /// # Panics
    /// Where the mesh belongs to another skeleton.
    pub fn skin(&self, model: &ModelPose, skin: &mut Skin) {
        let bindings: Vec<Columns> = self.bindings.iter().map(|b| columns(b, model)).collect();
        let room = self.blocks.len() * WIDTH;
        skin.positions.resize(room, [0.0; 3]);
        skin.normals.resize(if self.has_normals { room } else { 0 }, [0.0; 3]);
        let (positions, normals) = (skin.positions.as_chunks_mut().0, skin.normals.as_chunks_mut().0);
        blend(&self.blocks, &self.influences, &bindings, positions, normals);
        skin.positions.truncate(self.vertices);
        skin.normals.truncate(self.vertices);
    }
}

/// Skins `mesh` by linear blending at one pose into `skin`; use [`LinearBlend`] for many poses.
///
/// # Panics
/// Where the mesh breaks its promises (`Motion::check`) or belongs to another skeleton.
pub fn linear_blend(mesh: &Mesh, model: &ModelPose, skin: &mut Skin) {
    LinearBlend::new(mesh).skin(model, skin);
}

/// The coordinates of some vertices as lanes; missing vertices are zeros.
fn lanes(all: &[[f32; 3]], some: &[usize]) -> [Lanes; 3] {
    let mut lanes = [[0.0; WIDTH]; 3];
    for (lane, &vertex) in some.iter().enumerate() {
        for (lanes, x) in lanes.iter_mut().zip(all[vertex]) {
            lanes[lane] = x;
        }
    }
    lanes
}

/// The influences on these vertices, in the order of the bindings: the sum over them is then independent of the block.
fn influences_of(mesh: &Mesh, some: &[usize]) -> Vec<Influence> {
    let influences = |v: usize| mesh.joints[v].into_iter().zip(mesh.weights[v]).filter(|(_, w)| *w != 0.0);
    let mut bindings: Vec<u16> =
        some.iter().flat_map(|&v| influences(v)).map(|(binding, _)| binding).collect();
    bindings.sort_unstable();
    bindings.dedup();
    let influence = |binding: u16| {
        let mut weights = [0.0; WIDTH];
        for (lane, &vertex) in some.iter().enumerate() {
            weights[lane] = influences(vertex).filter(|(b, _)| *b == binding).map(|(_, w)| w).sum();
        }
        Influence { binding, weights }
    };
    bindings.into_iter().map(influence).collect()
}

/// Model space from mesh space for every binding.
pub(super) fn matrices(bindings: &[Binding], model: &ModelPose) -> impl Iterator<Item = Mat4<f64>> {
    let of = |t: &Transform| t.to_matrix();
    bindings.iter().map(move |b| of(model.joint(b.joint)) * b.joint_from_mesh)
}

/// Model space from mesh space for one binding, in `f32`: the upper three rows of its matrix; the fourth is not used.
fn columns(binding: &Binding, model: &ModelPose) -> Columns {
    let joint = model.joint(binding.joint);
    let rotation = joint.rotation.to_rotation_matrix();
    std::array::from_fn(|c| {
        let column = binding.joint_from_mesh.column(c);
        (rotation * column.xyz() + joint.translation * column[3]).map(|x| x as f32).into()
    })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::math::{Quat, Vec3, exp};
    use crate::model::{Binding, JointId};
    use proptest::prelude::*;

    /// A vector that depends wildly on `s`.
    pub(crate) fn v(s: f64) -> Vec3 {
        Vec3::new(libm::sin(3.1 * s), libm::cos(5.3 * s), libm::sin(7.7 * s))
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
        fn a_rigid_motion_moves_the_skin_rigidly(s in -9.0..9.0f64) {
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

    /// The vertices of these numbers, in this order.
    fn some_of(mesh: &Mesh, vertices: &[usize]) -> Mesh {
        Mesh {
            positions: vertices.iter().map(|&v| mesh.positions[v]).collect(),
            normals: vertices.iter().map(|&v| mesh.normals[v]).collect(),
            joints: vertices.iter().map(|&v| mesh.joints[v]).collect(),
            weights: vertices.iter().map(|&v| mesh.weights[v]).collect(),
            ..mesh.clone()
        }
    }

    /// A mesh whose vertices hang on one to four of many joints, a block on many of them, and a pose.
    fn mixed(n: usize) -> (Mesh, ModelPose) {
        let (mut mesh, _) = mesh(n, 1.0, false);
        let joint = |i: usize| Transform::new(exp(&(v(i as f64) * 2.0)), v(i as f64 + 7.0));
        mesh.bindings = (0..20)
            .map(|i| Binding {
                joint: JointId::new(i),
                joint_from_mesh: Mat4::new_scaling(1.0 + 0.1 * i as f64),
            })
            .collect();
        mesh.joints = (0..n).map(|k| [k, 3 * k + 1, 7 * k + 2, 11 * k].map(|i| (i % 20) as u16)).collect();
        let of = |k: usize| {
            [[1.0, 0.0, 0.0, 0.0], [0.7, 0.3, 0.0, 0.0], [0.5, 0.3, 0.2, 0.0], [0.4, 0.3, 0.2, 0.1]][k % 4]
        };
        mesh.weights = (0..n).map(of).collect();
        (mesh, ModelPose::new((0..20).map(joint).collect()))
    }

    #[test]
    fn lanes_are_the_plain_formula() {
        let (mesh, pose) = mixed(43);
        let matrices: Vec<Mat4<f64>> = matrices(&mesh.bindings, &pose).collect();
        let mut skin = Skin::default();
        linear_blend(&mesh, &pose, &mut skin);
        assert_eq!((skin.positions.len(), skin.normals.len()), (43, 43));
        for k in 0..43 {
            let influences = mesh.joints[k].iter().zip(mesh.weights[k]);
            let m: Mat4<f64> = influences.map(|(j, w)| matrices[usize::from(*j)] * f64::from(w)).sum();
            let p = m * exact(&mesh.positions[k]).push(1.0);
            assert!(near(&skin.positions[k], &p.xyz(), 1e-5), "vertex {k}");
            let upright = m.fixed_view::<3, 3>(0, 0).try_inverse().unwrap().transpose();
            assert!(near(&skin.normals[k], &(upright * exact(&mesh.normals[k])).normalize(), 1e-5));
        }
    }

    #[test]
    fn a_vertex_is_moved_alike_in_any_company() {
        let (mesh, pose) = mixed(43);
        let (mut all, mut some) = (Skin::default(), Skin::default());
        linear_blend(&mesh, &pose, &mut all);
        let chosen: Vec<usize> = (0..43).rev().filter(|k| k % 3 != 1).collect();
        linear_blend(&some_of(&mesh, &chosen), &pose, &mut some);
        for (at, &k) in chosen.iter().enumerate() {
            assert_eq!((some.positions[at], some.normals[at]), (all.positions[k], all.normals[k]));
        }
    }

    #[test]
    fn a_mesh_is_prepared_for_any_number_of_poses() {
        let (mesh, pose) = mixed(13);
        let prepared = LinearBlend::new(&mesh);
        let mut kept = Skin::default();
        for rotation in [0.0, 1.0, 2.0] {
            let rotation = Transform::from_rotation(exp(&Vec3::new(rotation, 0.5, 0.0)));
            let pose = ModelPose::new(pose.joints().iter().map(|t| rotation * *t).collect());
            let mut fresh = Skin::default();
            prepared.skin(&pose, &mut kept);
            linear_blend(&mesh, &pose, &mut fresh);
            assert_eq!(kept, fresh);
        }
    }

    #[test]
    fn a_mesh_without_normals_moves_as_with_them() {
        let (mesh, pose) = mixed(13);
        let (mut with, mut without) = (Skin::default(), Skin::default());
        linear_blend(&mesh, &pose, &mut with);
        linear_blend(&Mesh { normals: Vec::new(), ..mesh }, &pose, &mut without);
        assert_eq!((without.positions, without.normals), (with.positions, Vec::new()));
    }

    #[test]
    fn a_mesh_without_vertices_and_normals_gives_none() {
        let mut skin = Skin { positions: vec![[1.0; 3]], normals: vec![[1.0; 3]] };
        let pose = ModelPose::new(vec![Transform::from_rotation(Quat::identity())]);
        linear_blend(&Mesh::default(), &pose, &mut skin);
        assert_eq!(skin, Skin::default());
    }
}
