//! Skin weights of a mesh: joints, bind matrices, and the vertex positions at binding.
//!
//! If all clusters agree on the mesh's transform at binding, it is applied to the vertices and the inverse bind matrices are
//! those of plain joint poses: then the space of the skin is known. Otherwise vertices are kept and each cluster
//! has its own matrix.

use super::joint_nodes::index;
use crate::report::{Warnings, one_line};
use ufbx::{Matrix, Mesh, SkinDeformer, Vec3, matrix_invert, matrix_mul, transform_position};

/// Largest difference between the transforms of clusters, relative to the size of the mesh.
const AGREES: f64 = 1e-3;
/// Number of vertices by which the transforms of clusters are compared.
const COMPARED: usize = 64;
/// Maximum number of weights per vertex: two glTF attributes of four.
pub(super) const INFLUENCES: usize = 8;

/// The skin of one mesh.
pub(super) struct FbxSkin {
    /// The nodes of the joints.
    pub(super) joints: Vec<usize>,
    /// Column-major.
    pub(super) inverse_bind: Vec<[f32; 16]>,
    /// The transform of the vertices at binding.
    pub(super) model_from_mesh: Option<Matrix>,
    /// The strongest weights of every vertex, the position in `joints` and the weight; their sum is 1.
    pub(super) weights: Vec<Vec<(u16, f32)>>,
}

/// The skin of the mesh of this name, `None` if nothing is bound.
pub(super) fn skin(mesh: &Mesh, name: &str, warnings: &mut Warnings) -> Option<FbxSkin> {
    let place_of = || one_line(name);
    let deformer = mesh.skin_deformers.iter().find(|d| d.clusters.iter().any(|c| c.bone_node.is_some()))?;
    if mesh.skin_deformers.len() > 1 {
        warnings.add("fbx-skins", "a mesh has several skins; the first is used", place_of());
    }
    let mut kept: Vec<Option<u16>> = Vec::with_capacity(deformer.clusters.len());
    let mut joints = Vec::new();
    let mut bound = Vec::new();
    let mut matrices = Vec::new();
    let mut not_finite = 0;
    for cluster in &deformer.clusters {
        let node = cluster.bone_node.as_ref().filter(|_| joints.len() < usize::from(u16::MAX));
        let Some(node) = node else {
            kept.push(None);
            continue;
        };
        let own = (cluster.geometry_to_bone, matrix_invert(&cluster.bind_to_world));
        if ![&own.0, &own.1, &cluster.bind_to_world].iter().all(|m| finite(m)) {
            not_finite += 1;
            kept.push(None);
            continue;
        }
        kept.push(u16::try_from(joints.len()).ok());
        joints.push(index(node));
        bound.push(matrix_mul(&cluster.bind_to_world, &cluster.geometry_to_bone));
        matrices.push(own);
    }
    if not_finite > 0 {
        let said = format!(
            "the bind matrices of {not_finite} clusters are not finite numbers; the other weights share their part"
        );
        warnings.add("fbx-not-finite", said, place_of());
    }
    if joints.is_empty() {
        return None;
    }
    if kept.iter().filter(|k| k.is_none()).count() > not_finite {
        warnings.add(
            "fbx-cluster",
            "a cluster without a bone was left out; the other weights share its part",
            place_of(),
        );
    }
    let model_from_mesh = model_from_mesh(mesh, &bound);
    let inverse_bind = matrices
        .iter()
        .map(|(own, pose)| columns(if model_from_mesh.is_some() { pose } else { own }))
        .collect();
    let weights = weights((mesh, name), deformer, &kept, warnings);
    Some(FbxSkin { joints, inverse_bind, model_from_mesh, weights })
}

/// The transform of the mesh at binding, if all clusters agree.
fn model_from_mesh(mesh: &Mesh, bound: &[Matrix]) -> Option<Matrix> {
    let first = bound.first()?;
    let largest = |v: Vec3| v.x.abs().max(v.y.abs()).max(v.z.abs());
    let at = |m: &Matrix, v: &Vec3| transform_position(m, *v);
    let sizes = mesh.vertices.iter().map(|v| largest(at(first, v)));
    let size = sizes.filter(|x| x.is_finite()).fold(1e-9, f64::max);
    let far = |m: &Matrix| {
        let apart = |v: &Vec3| {
            let (a, b) = (at(first, v), at(m, v));
            largest(Vec3 { x: a.x - b.x, y: a.y - b.y, z: a.z - b.z })
        };
        mesh.vertices.iter().take(COMPARED).map(apart).fold(0.0, f64::max)
    };
    bound.iter().all(|m| far(m) <= AGREES * size).then_some(*first)
}

/// Whether all numbers of a matrix are finite as 32-bit floats.
fn finite(m: &Matrix) -> bool {
    columns(m).iter().all(|x| x.is_finite())
}

/// A matrix in the order of glTF.
fn columns(m: &Matrix) -> [f32; 16] {
    [m.m00, m.m10, m.m20, 0.0, m.m01, m.m11, m.m21, 0.0, m.m02, m.m12, m.m22, 0.0, m.m03, m.m13, m.m23, 1.0]
        .map(|x| x as f32)
}

fn weights(
    (mesh, name): (&Mesh, &str),
    deformer: &SkinDeformer,
    kept: &[Option<u16>],
    warnings: &mut Warnings,
) -> Vec<Vec<(u16, f32)>> {
    let (mut loose, mut cut, mut odd) = (0usize, 0usize, 0usize);
    let weights = (0..mesh.num_vertices).map(|v| {
        let listed = deformer.vertices.get(v).map_or(&[][..], |vertex| {
            let first = vertex.weight_begin as usize;
            deformer.weights.get(first..first + vertex.num_weights as usize).unwrap_or(&[])
        });
        odd += listed.iter().filter(|w| !w.weight.is_finite()).count();
        let mut all: Vec<(u16, f64)> = listed
            .iter()
            .filter(|w| w.weight > 0.0 && w.weight.is_finite())
            .filter_map(|w| Some(((*kept.get(w.cluster_index as usize)?)?, w.weight)))
            .collect();
        all.sort_by(|a, b| b.1.total_cmp(&a.1));
        cut += usize::from(all.len() > INFLUENCES);
        all.truncate(INFLUENCES);
        let sum: f64 = all.iter().map(|w| w.1).sum();
        if sum <= 0.0 {
            loose += 1;
            return vec![(0, 1.0)];
        }
        all.into_iter().map(|(joint, w)| (joint, (w / sum) as f32)).collect()
    });
    let weights = weights.collect();
    let place_of = || one_line(name);
    if odd > 0 {
        let said = format!("{odd} skin weights are not finite numbers and were left out");
        warnings.add("fbx-not-finite", said, place_of());
    }
    if loose > 0 {
        let said = format!("{loose} vertices have no weight and follow the first joint of their skin");
        warnings.add("fbx-unweighted", said, place_of());
    }
    if cut > 0 {
        let said = format!("{cut} vertices have more than {INFLUENCES} weights; the strongest were kept");
        warnings.add("fbx-weights", said, place_of());
    }
    weights
}
