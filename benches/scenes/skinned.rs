//! A mesh of vertices with normals and four influences each, and a pose of its 60 joints.

use posemill::math::{Mat4, Transform, Vec3, exp};
use posemill::model::{Binding, JointId, Mesh, ModelPose};

/// How many vertices characters of games have.
pub const VERTICES: usize = 20_000;

/// Neighbours hang on the same joints, as in the meshes that people make.
pub fn scene(vertices: usize) -> (Mesh, ModelPose) {
    let v = |s: f64| Vec3::new((3.1 * s).sin(), (5.3 * s).cos(), (7.7 * s).sin());
    let list = |s: f64| (0..vertices).map(|k| v(k as f64 * s).normalize().map(|x| x as f32).into()).collect();
    let joint = |i: usize| Transform::new(exp(&v(i as f64)), v(i as f64 + 7.0));
    let mesh = Mesh {
        positions: list(0.3),
        normals: list(0.7),
        joints: (0..vertices).map(|k| [0, 1, 2, 3].map(|i| (k * 57 / vertices + i) as u16)).collect(),
        weights: vec![[0.4, 0.3, 0.2, 0.1]; vertices],
        bindings: (0..60)
            .map(|i| Binding { joint: JointId::new(i), joint_from_mesh: Mat4::identity() })
            .collect(),
        ..Mesh::default()
    };
    (mesh, ModelPose::new((0..60).map(joint).collect()))
}
