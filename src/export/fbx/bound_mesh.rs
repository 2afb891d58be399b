//! A mesh in its bind pose: its transform to model space, and its points.
//!
//! Vertices that differ only in normal, colour or texture coordinates are welded to one point, so that texture seams do not
//! split. Space: model space. Units: metres.

use crate::export::whole_mesh::WholeMesh;
use crate::math::{Mat4, Vec3, nearest_rotation};
use crate::model::{Binding, Mesh, ModelPose};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// Deviation of a bind matrix from a rotation, relative to that of the heaviest joint, that counts as a scale of its own.
const SCALED: f64 = 1e-3;

/// A matrix whose determinant is below this, relative to the cube of its norm, counts as singular: it flattens the mesh.
const SINGULAR: f64 = 1e-12;

/// A mesh in its bind pose.
pub(super) struct BoundMesh<'a> {
    pub(super) whole: &'a WholeMesh<'a>,
    pub(super) mesh: Cow<'a, Mesh>,
    pub(super) model_from_mesh: Mat4<f64>,
    pub(super) mesh_from_model: Mat4<f64>,
    /// The point of each vertex.
    pub(super) points: Vec<u32>,
    /// The first vertex of each point.
    pub(super) firsts: Vec<usize>,
    pub(super) triangles: Vec<[u32; 3]>,
}

impl<'a> BoundMesh<'a> {
    /// `None` if the bind matrix is singular.
    pub(super) fn of(whole: &'a WholeMesh<'a>, bind: &ModelPose) -> Option<Self> {
        let mut mesh = Cow::Borrowed(&*whole.mesh);
        let mut model_from_mesh = whole.unmoved.or_else(|| heaviest_transform(&mesh, bind))?;
        let mut mesh_from_model = inverse(&model_from_mesh)?;
        let mirrored = model_from_mesh.fixed_view::<3, 3>(0, 0).determinant() < 0.0;
        if whole.unmoved.is_none() && has_scaled_joints(&mesh, bind, &mesh_from_model) {
            mesh = Cow::Owned(at_bind(&mesh, bind));
            (model_from_mesh, mesh_from_model) = (Mat4::identity(), Mat4::identity());
        }
        let oriented = |t: &[u32; 3]| if mirrored { [t[0], t[2], t[1]] } else { *t };
        let triangles = mesh.triangles.iter().map(oriented).collect();
        let (points, firsts) = weld(&mesh);
        Some(Self { whole, mesh, model_from_mesh, mesh_from_model, points, firsts, triangles })
    }
}

/// Model space from mesh space when the joint with the most weight was bound.
fn heaviest_transform(mesh: &Mesh, bind: &ModelPose) -> Option<Mat4<f64>> {
    let mut loads = vec![0.0; mesh.bindings.len()];
    for (joint, weight) in mesh.joints.iter().flatten().zip(mesh.weights.iter().flatten()) {
        if let Some(load) = loads.get_mut(usize::from(*joint)) {
            *load += f64::from(*weight);
        }
    }
    let heaviest = (0..loads.len()).rev().max_by(|a, b| loads[*a].total_cmp(&loads[*b]))?;
    let binding = &mesh.bindings[heaviest];
    Some(transform(bind, binding))
}

/// Model space from mesh space when a joint was bound.
fn transform(bind: &ModelPose, binding: &Binding) -> Mat4<f64> {
    bind.joint(binding.joint).to_matrix() * binding.joint_from_mesh
}

/// Whether some joints of a mesh were bound with another scale than the others. Readers that take the bind pose of their bones from
/// the skin, such as Blender, cannot hold such a scale.
fn has_scaled_joints(mesh: &Mesh, bind: &ModelPose, mesh_from_model: &Mat4<f64>) -> bool {
    let scaled = |binding: &Binding| {
        let linear = (mesh_from_model * transform(bind, binding)).fixed_view::<3, 3>(0, 0).into_owned();
        nearest_rotation(&linear)
            .is_none_or(|(rotation, _)| (rotation.to_rotation_matrix().matrix() - linear).amax() > SCALED)
    };
    mesh.bindings.iter().any(scaled)
}

/// The mesh as it stands in the bind pose, in model space, on joints without scale. Exact in the bind pose, and in every pose where
/// a vertex has one joint; between joints of different scale skin then moves by a quarter of their disagreement at most.
fn at_bind(mesh: &Mesh, bind: &ModelPose) -> Mesh {
    let transforms: Vec<Mat4<f64>> = mesh.bindings.iter().map(|b| transform(bind, b)).collect();
    let blended = |vertex: usize| -> Mat4<f64> {
        let influences = mesh.influences(vertex);
        let known = influences.iter().filter_map(|(k, w)| Some((transforms.get(usize::from(*k))?, *w)));
        let (sum, total) = known.fold((Mat4::zeros(), 0.0), |(sum, total), (t, w)| (sum + t * w, total + w));
        if total > 0.0 { sum / total } else { Mat4::identity() }
    };
    let mut placed = mesh.clone();
    for vertex in 0..mesh.positions.len() {
        let by = blended(vertex);
        let linear = by.fixed_view::<3, 3>(0, 0).into_owned();
        let single = |v: Vec3| -> [f32; 3] { v.map(|x| x as f32).into() };
        let double = |v: &[f32; 3]| Vec3::from(v.map(f64::from));
        let position = by.transform_point(&double(&mesh.positions[vertex]).into());
        placed.positions[vertex] = single(position.coords);
        if let (Some(normal), Some(from_model)) = (placed.normals.get_mut(vertex), linear.try_inverse()) {
            let turned = from_model.transpose() * double(normal);
            *normal = single(turned.try_normalize(1e-12).unwrap_or(Vec3::y()));
        }
        for morph in &mut placed.morphs {
            morph.offsets[vertex] = single(linear * double(&morph.offsets[vertex]));
        }
    }
    for binding in &mut placed.bindings {
        binding.joint_from_mesh = bind.joint(binding.joint).inverse().to_matrix();
    }
    placed
}

/// The inverse of an affine matrix, `None` if it is singular.
pub(super) fn inverse(matrix: &Mat4<f64>) -> Option<Mat4<f64>> {
    let linear = matrix.fixed_view::<3, 3>(0, 0).into_owned();
    let size = linear.norm();
    (linear.determinant().abs() > SINGULAR * size * size * size).then(|| matrix.try_inverse()).flatten()
}

/// Vertices with equal keys are one point: position, joints, weights, further weights and morph targets, compared bitwise.
type WeldKey = ([u32; 3], [u16; 4], [u32; 4], Vec<u32>);

/// The point of each vertex and the first vertex of each point. Nothing is welded if a face would degenerate or two faces would
/// become identical.
fn weld(mesh: &Mesh) -> (Vec<u32>, Vec<usize>) {
    let mut known: HashMap<WeldKey, u32> = HashMap::new();
    let mut firsts = Vec::new();
    let points: Vec<u32> = (0..mesh.positions.len())
        .map(|v| {
            let further = mesh.further(v).iter().flat_map(|f| [u32::from(f.binding), f.weight.to_bits()]);
            let moved = mesh.morphs.iter().flat_map(|m| m.offsets[v].map(f32::to_bits));
            let more = further.chain(moved).collect();
            let (position, weights) =
                (mesh.positions[v].map(f32::to_bits), mesh.weights[v].map(f32::to_bits));
            let bits = (position, mesh.joints[v], weights, more);
            *known.entry(bits).or_insert_with(|| {
                firsts.push(v);
                firsts.len() as u32 - 1
            })
        })
        .collect();
    let mut faces = HashSet::new();
    let whole = mesh.triangles.iter().all(|t| {
        let mut corners = t.map(|v| points[v as usize]);
        corners.sort_unstable();
        let flat = corners[0] == corners[1] || corners[1] == corners[2];
        !flat && faces.insert(corners)
    });
    match whole {
        true => (points, firsts),
        false => ((0..mesh.positions.len() as u32).collect(), (0..mesh.positions.len()).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Vec3;
    use crate::model::FurtherInfluence;

    fn quad(second: [f32; 3]) -> Mesh {
        let positions =
            vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], second, [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
        let n = positions.len();
        Mesh {
            positions,
            joints: vec![[0; 4]; n],
            weights: vec![[1.0, 0.0, 0.0, 0.0]; n],
            triangles: vec![[0, 1, 2], [3, 5, 4]],
            ..Mesh::default()
        }
    }

    #[test]
    fn points_with_other_further_weights_stay_apart() {
        let mut mesh = quad([1.0, 1.0, 0.0]);
        let further = |vertex, weight| FurtherInfluence { vertex, binding: 1, weight };
        mesh.further_influences = vec![further(1, 0.25), further(4, 0.5)];
        assert_eq!(weld(&mesh), (vec![0, 1, 2, 3, 4, 2], vec![0, 1, 2, 3, 4]));
    }

    #[test]
    fn seams_close_and_two_sided_faces_stay_two() {
        assert_eq!(weld(&quad([1.0, 1.0, 0.0])), (vec![0, 1, 2, 3, 1, 2], vec![0, 1, 2, 3]));
        let (points, firsts) = weld(&quad([0.0; 3]));
        assert_eq!((points.len(), firsts.len(), points[3]), (6, 6, 3));
    }

    #[test]
    fn a_flattening_matrix_has_no_inverse() {
        let scaled = Mat4::new_nonuniform_scaling(&Vec3::new(1e-4, 1e-4, 1e-4));
        assert!(inverse(&scaled).is_some());
        assert!(inverse(&Mat4::new_nonuniform_scaling(&Vec3::new(1.0, 1.0, 0.0))).is_none());
    }
}
