//! Skinned meshes become Mesh prims on one skeleton, or, where skins were bound in other poses, on a skeleton of their own.
//!
//! USD has one bind transform `B_j` for each joint and moves a point by the sum of `w J_j B_j^-1 p`; a mesh of the program
//! has a matrix `K_j` (joint from mesh) of its own for each joint. Where the `M_j = B_j K_j` of a point agree, it is written at
//! the sum of `w M_j p`. Else the mesh gets a skeleton whose bind transforms are `M K_j^-1`, with the `M` of its first joint,
//! and its points are `M p`: exact too, and another armature to look at.
//! Space: model space of the bind pose. Units: metres.

use super::usda_text::{SingleNumber, UsdaText, list, matrix, tuples};
use crate::kinematics::figure_size;
use crate::math::{Mat4, Vec3};
use crate::model::{Binding, Character, Mesh, ModelPose};
use crate::report::Warnings;
use std::collections::BTreeSet;

/// Places of one point this near to each other, relative to the figure, are the same: half of what USD may be off by. Matrices
/// of 32 bits in files of several skins differ by 3e-6.
const SAME: f64 = 5e-6;

/// Where meshes were bound.
pub(super) struct BoundMeshes {
    /// The bind transforms of each skeleton; the first is that of the character.
    pub(super) skeletons: Vec<Vec<Mat4<f64>>>,
    /// What becomes of each mesh.
    pub(super) meshes: Vec<PlacedMesh>,
}

/// Where a mesh stands.
pub(super) struct PlacedMesh {
    /// The number of its skeleton.
    skeleton: usize,
    /// Bind pose from mesh space, as its first joint says.
    matrix: Mat4<f64>,
    /// Its points in the bind pose.
    points: Vec<Vec3>,
}

impl BoundMeshes {
    /// The skeletons and places of a character's meshes.
    pub(super) fn of(character: &Character, warnings: &mut Warnings) -> Self {
        let skeleton = character.skeleton();
        let bind = character.bind.clone().unwrap_or_else(|| skeleton.rest_model_pose());
        let common: Vec<Mat4<f64>> = bind.joints().iter().map(|t| t.to_matrix()).collect();
        let tolerance = SAME * figure_size(skeleton);
        let mut bound = Self { skeletons: vec![common.clone()], meshes: Vec::new() };
        let mut known: Vec<&[Binding]> = Vec::new();
        for mesh in &character.meshes {
            let used = used(mesh);
            let first = used.first().copied().unwrap_or_default();
            let matrix = mesh.bindings.get(first).map_or_else(Mat4::identity, |b| carry(&bind, b));
            let (blended, apart) = blended(mesh, &bind);
            let carried = || mesh.positions.iter().map(|p| point(&matrix, &double(p))).collect();
            let placed = if apart <= tolerance {
                PlacedMesh { skeleton: 0, matrix, points: blended }
            } else if let Some(k) = known.iter().position(|b| **b == mesh.bindings) {
                PlacedMesh { skeleton: k + 1, matrix, points: carried() }
            } else if let Some(own) = own(mesh, &used, &matrix, &common) {
                let said = "meshes that were bound in other poses than the body have skeletons of their own";
                warnings.add("usd-skeletons", said, mesh.name.clone());
                known.push(&mesh.bindings);
                bound.skeletons.push(own);
                PlacedMesh { skeleton: known.len(), matrix, points: carried() }
            } else {
                let said = "a bind matrix has no inverse: the mesh is written as it lies in the bind pose";
                warnings.add("usd-singular-bind", said, mesh.name.clone());
                PlacedMesh { skeleton: 0, matrix, points: blended }
            };
            bound.meshes.push(placed);
        }
        bound
    }
}

/// The bindings that vertices use.
fn used(mesh: &Mesh) -> Vec<usize> {
    let influences = mesh.joints.as_flattened().iter().zip(mesh.weights.as_flattened());
    let used: BTreeSet<u16> = influences.filter(|(_, w)| **w > 0.0).map(|(j, _)| *j).collect();
    used.into_iter().map(usize::from).collect()
}

/// Bind pose from mesh space, as one binding says.
fn carry(bind: &ModelPose, binding: &Binding) -> Mat4<f64> {
    bind.joint(binding.joint).to_matrix() * binding.joint_from_mesh
}

/// The points of a mesh blended in the bind pose, and how far their joints disagree about one of them at most.
fn blended(mesh: &Mesh, bind: &ModelPose) -> (Vec<Vec3>, f64) {
    let matrices: Vec<Mat4<f64>> = mesh.bindings.iter().map(|b| carry(bind, b)).collect();
    let mut apart: f64 = 0.0;
    let blend = |(v, p): (usize, &[f32; 3])| {
        let p = double(p);
        let parts = std::iter::zip(mesh.joints[v], mesh.weights[v])
            .filter_map(|(b, w)| Some((point(matrices.get(usize::from(b))?, &p), f64::from(w))));
        let total: f64 = parts.clone().map(|(_, w)| w).sum();
        let place = parts.clone().map(|(at, w)| at * w).sum::<Vec3>() / total;
        apart = apart.max(parts.map(|(at, w)| (at - place).norm() * w).sum::<f64>() / total);
        place
    };
    let points = mesh.positions.iter().enumerate().map(blend).collect();
    (points, apart)
}

/// The bind transforms of a skeleton for this mesh alone.
fn own(mesh: &Mesh, used: &[usize], matrix: &Mat4<f64>, common: &[Mat4<f64>]) -> Option<Vec<Mat4<f64>>> {
    let mut own = common.to_vec();
    for binding in used.iter().filter_map(|b| mesh.bindings.get(*b)) {
        own[binding.joint.index()] = matrix * binding.joint_from_mesh.try_inverse()?;
    }
    Some(own)
}

pub(super) fn point(matrix: &Mat4<f64>, p: &Vec3) -> Vec3 {
    matrix.transform_point(&(*p).into()).coords
}

fn double(v: &[f32; 3]) -> Vec3 {
    Vec3::from(v.map(f64::from))
}

/// The box around points.
fn extent(points: &[[f32; 3]]) -> [[f32; 3]; 2] {
    let bound = |fold: fn(f32, f32) -> f32| {
        std::array::from_fn(|k| points.iter().map(|p| p[k]).reduce(fold).unwrap_or(0.0))
    };
    [bound(f32::min), bound(f32::max)]
}

/// Writes the prim `name` of a mesh that looks like `material` (a path).
pub(super) fn write(text: &mut UsdaText, mesh: &Mesh, placed: &PlacedMesh, name: &str, material: &str) {
    let single = |v: Vec3| <[f64; 3]>::from(v).map(|x| x as f32);
    let points: Vec<[f32; 3]> = placed.points.iter().map(|p| single(*p)).collect();
    let linear = placed.matrix.fixed_view::<3, 3>(0, 0).into_owned();
    // Normals go by the inverse transpose; mirrored triangles are turned round.
    let across = linear.try_inverse().unwrap_or_else(crate::math::Mat3::identity).transpose();
    let mirrored = linear.determinant() < 0.0;

    let schemas = r#"prepend apiSchemas = ["SkelBindingAPI", "MaterialBindingAPI"]"#;
    text.open(&format!("def Mesh \"{name}\""), &[schemas]);
    text.line(&format!("uniform bool doubleSided = {}", u8::from(mesh.material.double_sided)));
    text.line(&format!("float3[] extent = {}", tuples(extent(&points))));
    text.line(&format!("int[] faceVertexCounts = {}", list(mesh.triangles.iter().map(|_| 3))));
    let corners = mesh.triangles.iter().flat_map(|&[a, b, c]| if mirrored { [a, c, b] } else { [a, b, c] });
    text.line(&format!("int[] faceVertexIndices = {}", list(corners)));
    if !mesh.normals.is_empty() {
        let normal = |n: &[f32; 3]| single((across * double(n)).try_normalize(0.0).unwrap_or_default());
        let normals = tuples(mesh.normals.iter().map(normal));
        text.per_vertex(&format!("normal3f[] normals = {normals}"), None);
    }
    text.line(&format!("point3f[] points = {}", tuples(points)));
    if !mesh.colors.is_empty() {
        let [r, g, b, _] = mesh.material.base_color;
        let colors = mesh.colors.iter().map(|c| [c[0] * r, c[1] * g, c[2] * b]);
        text.per_vertex(&format!("color3f[] primvars:displayColor = {}", tuples(colors)), None);
    }
    if !mesh.texcoords.is_empty() {
        // The origin of ours is the upper left, of theirs the lower left.
        let st = mesh.texcoords.iter().map(|[u, v]| [*u, 1.0 - v]);
        text.per_vertex(&format!("texCoord2f[] primvars:st = {}", tuples(st)), None);
    }
    text.line(&format!("matrix4d primvars:skel:geomBindTransform = {}", matrix(&Mat4::identity())));
    let influences: Vec<Vec<(usize, f64)>> = (0..mesh.positions.len()).map(|v| influences(mesh, v)).collect();
    let width = influences.iter().map(Vec::len).max().unwrap_or(0).max(1);
    let padded = || influences.iter().flat_map(|i| (0..width).map(|k| i.get(k).copied().unwrap_or_default()));
    let indices = list(padded().map(|(joint, _)| joint));
    text.per_vertex(&format!("int[] primvars:skel:jointIndices = {indices}"), Some(width));
    let weights = list(padded().map(|(_, weight)| SingleNumber(weight as f32)));
    text.per_vertex(&format!("float[] primvars:skel:jointWeights = {weights}"), Some(width));
    text.line(&format!("rel material:binding = <{material}>"));
    let skeleton = match placed.skeleton {
        0 => "Skeleton".to_owned(),
        n => format!("Skeleton_{}", n + 1),
    };
    text.line(&format!("rel skel:skeleton = <{}/{skeleton}>", super::skeleton_prims::ROOT));
    text.line(r#"uniform token subdivisionScheme = "none""#);
    text.close();
}

/// The joints that move a vertex and their shares, the largest first.
fn influences(mesh: &Mesh, vertex: usize) -> Vec<(usize, f64)> {
    let mut found: Vec<(usize, f64)> = std::iter::zip(mesh.joints[vertex], mesh.weights[vertex])
        .filter(|(_, weight)| *weight > 0.0)
        .filter_map(|(b, weight)| Some((mesh.bindings.get(usize::from(b))?.joint.index(), f64::from(weight))))
        .collect();
    let total: f64 = found.iter().map(|(_, weight)| weight).sum();
    found.iter_mut().for_each(|(_, weight)| *weight /= total);
    found.sort_by(|a, b| b.1.total_cmp(&a.1));
    found
}
