//! Writes skinned meshes as Mesh prims on the common skeleton, or on an additional one if a mesh was bound in another pose.
//!
//! USD has one bind transform `B_j` per joint and moves a point to the sum of `w J_j B_j^-1 p`; a mesh here has its own matrix
//! `K_j` (joint from mesh) for each joint. If the `M_j = B_j K_j` of every point agree, the point is written as the sum of
//! `w M_j p`. Otherwise the mesh gets a skeleton with the bind transforms `M K_j^-1`, with the `M` of its first joint, and its
//! points are `M p`. That is exact too, but shows as another armature.
//! Space: model space of the bind pose. Units: metres.

use super::blend_shapes;
use super::preview_materials::texcoord_name;
use super::prim_names::PrimNames;
use super::usd_layer::{ROOT, UsdLayer, UsdValue};
use crate::export::whole_mesh::WholeMesh;
use crate::gltf_document::bounds;
use crate::kinematics::figure_size;
use crate::math::{Mat4, Vec3, single};
use crate::model::{Binding, Character, Mesh, ModelPose};
use crate::report::Warnings;
use std::collections::BTreeSet;

/// Tolerance within which the positions of a point by different joints agree, relative to the size of the figure: half of the
/// error that is allowed for USD. 32-bit matrices in files with several skins differ by 3e-6.
const SAME: f64 = 5e-6;

/// The meshes of a character in their bind poses.
pub(super) struct BoundMeshes {
    /// The bind transforms of each skeleton; the first is that of the character.
    pub(super) skeletons: Vec<Vec<Mat4<f64>>>,
    /// The meshes, in their order.
    pub(super) meshes: Vec<PlacedMesh>,
}

/// A mesh in its bind pose.
pub(super) struct PlacedMesh {
    /// The index of its skeleton; `None` for a mesh that no joint moves.
    skeleton: Option<usize>,
    /// Bind pose from mesh space, by its first joint.
    matrix: Mat4<f64>,
    /// Its points in the bind pose.
    points: Vec<Vec3>,
}

impl BoundMeshes {
    /// The skeletons and meshes of a character.
    pub(super) fn of(character: &Character, meshes: &[WholeMesh], warnings: &mut Warnings) -> Self {
        let skeleton = character.skeleton();
        let bind = character.bind.clone().unwrap_or_else(|| skeleton.rest_model_pose());
        let common: Vec<Mat4<f64>> = bind.joints().iter().map(|t| t.to_matrix()).collect();
        let tolerance = SAME * figure_size(skeleton);
        let mut bound = Self { skeletons: vec![common.clone()], meshes: Vec::new() };
        let mut known: Vec<&[Binding]> = Vec::new();
        for whole in meshes {
            let mesh = &*whole.mesh;
            if let Some(matrix) = whole.unmoved {
                let points = mesh.positions.iter().map(|p| point(&matrix, &double(p))).collect();
                bound.meshes.push(PlacedMesh { skeleton: None, matrix, points });
                continue;
            }
            let used = used(mesh);
            let first = used.first().copied().unwrap_or_default();
            let matrix = mesh.bindings.get(first).map_or_else(Mat4::identity, |b| model_from_mesh(&bind, b));
            let (blended, disagreement) = blended(mesh, &bind);
            let transformed = || mesh.positions.iter().map(|p| point(&matrix, &double(p))).collect();
            let placed = if disagreement <= tolerance {
                PlacedMesh { skeleton: Some(0), matrix, points: blended }
            } else if let Some(k) = known.iter().position(|b| **b == mesh.bindings) {
                PlacedMesh { skeleton: Some(k + 1), matrix, points: transformed() }
            } else if let Some(own) = own(mesh, &used, &matrix, &common) {
                let message = "meshes that were bound in another pose than the body have their own skeletons";
                warnings.add("usd-skeletons", message, mesh.name.clone());
                known.push(&mesh.bindings);
                bound.skeletons.push(own);
                PlacedMesh { skeleton: Some(known.len()), matrix, points: transformed() }
            } else {
                let message =
                    "a bind matrix is singular: the mesh is written in the bind pose of the skeleton";
                warnings.add("usd-singular-bind", message, mesh.name.clone());
                PlacedMesh { skeleton: Some(0), matrix, points: blended }
            };
            bound.meshes.push(placed);
        }
        bound
    }

    /// The points that no joint moves.
    pub(super) fn unmoved_points(&self) -> impl Iterator<Item = &Vec3> {
        self.meshes.iter().filter(|placed| placed.skeleton.is_none()).flat_map(|placed| &placed.points)
    }
}

/// The indices of the bindings that vertices use.
fn used(mesh: &Mesh) -> Vec<usize> {
    let influences = mesh.joints.as_flattened().iter().zip(mesh.weights.as_flattened());
    let further = mesh.further_influences.iter().map(|f| f.binding);
    let used: BTreeSet<u16> = influences.filter(|(_, w)| **w > 0.0).map(|(j, _)| *j).chain(further).collect();
    used.into_iter().map(usize::from).collect()
}

/// Bind pose from mesh space, by one binding.
fn model_from_mesh(bind: &ModelPose, binding: &Binding) -> Mat4<f64> {
    bind.joint(binding.joint).to_matrix() * binding.joint_from_mesh
}

/// The points of a mesh blended in the bind pose, and the maximum weighted disagreement between joints about a point, metres.
fn blended(mesh: &Mesh, bind: &ModelPose) -> (Vec<Vec3>, f64) {
    let matrices: Vec<Mat4<f64>> = mesh.bindings.iter().map(|b| model_from_mesh(bind, b)).collect();
    let mut disagreement: f64 = 0.0;
    let blend = |(v, p): (usize, &[f32; 3])| {
        let p = double(p);
        let influences = mesh.influences(v);
        let parts =
            influences.iter().filter_map(|(b, w)| Some((point(matrices.get(usize::from(*b))?, &p), *w)));
        let total: f64 = parts.clone().map(|(_, w)| w).sum();
        let position = parts.clone().map(|(at, w)| at * w).sum::<Vec3>() / total;
        disagreement = disagreement.max(parts.map(|(at, w)| (at - position).norm() * w).sum::<f64>() / total);
        position
    };
    let points = mesh.positions.iter().enumerate().map(blend).collect();
    (points, disagreement)
}

/// The bind transforms of a skeleton for this mesh alone; `None` if a matrix is singular.
fn own(mesh: &Mesh, used: &[usize], matrix: &Mat4<f64>, common: &[Mat4<f64>]) -> Option<Vec<Mat4<f64>>> {
    let mut own = common.to_vec();
    for binding in used.iter().filter_map(|b| mesh.bindings.get(*b)) {
        own[binding.joint.index()] = matrix * binding.joint_from_mesh.try_inverse()?;
    }
    Some(own)
}

/// The image of a point under an affine matrix.
pub(super) fn point(matrix: &Mat4<f64>, p: &Vec3) -> Vec3 {
    matrix.transform_point(&(*p).into()).coords
}

pub(super) fn double(v: &[f32; 3]) -> Vec3 {
    Vec3::from(v.map(f64::from))
}

/// What the prim of a mesh refers to.
pub(super) struct MeshReferences {
    /// The name of the prim.
    pub(super) name: String,
    /// The paths of the materials, in the order of the mesh.
    pub(super) materials: Vec<String>,
    /// The names of the morph targets in animations.
    pub(super) morphs: Vec<String>,
}

/// Writes the prim of a mesh.
pub(super) fn write(
    layer: &mut UsdLayer,
    whole: &WholeMesh,
    placed: &PlacedMesh,
    references: &MeshReferences,
) {
    let mesh = &*whole.mesh;
    let schemas: &[&str] = match placed.skeleton {
        None if mesh.morphs.is_empty() => &["MaterialBindingAPI"],
        _ => &["SkelBindingAPI", "MaterialBindingAPI"],
    };
    layer.open("Mesh", &references.name, schemas);
    layer.display_name(&whole.first.name);
    write_surface(layer, whole, placed);
    if placed.skeleton.is_some() {
        write_influences(layer, mesh);
    }
    if let [material] = &references.materials[..] {
        layer.relationship("material:binding", material.clone());
    }
    if let Some(skeleton) = placed.skeleton {
        let name = match skeleton {
            0 => "Skeleton".to_owned(),
            n => format!("Skeleton_{}", n + 1),
        };
        layer.relationship("skel:skeleton", format!("{ROOT}/{name}"));
    }
    layer.attribute("uniform token subdivisionScheme", UsdValue::Token("none".into()));
    let mut names = PrimNames::default();
    if references.materials.len() > 1 {
        write_subsets(layer, whole, &references.materials, &mut names);
    }
    blend_shapes::write(layer, mesh, &placed.matrix, (&references.name, &references.morphs), &mut names);
    layer.close();
}

/// Writes the joints of each point with their weights.
fn write_influences(layer: &mut UsdLayer, mesh: &Mesh) {
    layer.attribute("matrix4d primvars:skel:geomBindTransform", UsdValue::Matrix(Mat4::identity()));
    let influences: Vec<Vec<(usize, f64)>> = (0..mesh.positions.len()).map(|v| influences(mesh, v)).collect();
    let width = influences.iter().map(Vec::len).max().unwrap_or(0).max(1);
    let padded = || influences.iter().flat_map(|i| (0..width).map(|k| i.get(k).copied().unwrap_or_default()));
    let indices = UsdValue::Integers(padded().map(|(joint, _)| joint as i32).collect());
    layer.per_vertex("int[] primvars:skel:jointIndices", indices, Some(width));
    let weights = UsdValue::Singles(padded().map(|(_, weight)| weight as f32).collect());
    layer.per_vertex("float[] primvars:skel:jointWeights", weights, Some(width));
}

/// Writes faces, points, normals, colours and texture coordinates.
fn write_surface(layer: &mut UsdLayer, whole: &WholeMesh, placed: &PlacedMesh) {
    let mesh = &*whole.mesh;
    let points: Vec<[f32; 3]> = placed.points.iter().map(single).collect();
    let linear = placed.matrix.fixed_view::<3, 3>(0, 0).into_owned();
    // Normals are transformed by the inverse transpose; the winding of mirrored triangles is reversed.
    let normal_matrix = linear.try_inverse().unwrap_or_else(crate::math::Mat3::identity).transpose();
    let mirrored = linear.determinant() < 0.0;
    let both_sides = whole.parts.iter().any(|(_, part)| part.material.double_sided);
    layer.attribute("uniform bool doubleSided", UsdValue::Bool(both_sides));
    layer.attribute("float3[] extent", UsdValue::Triples(bounds(&points).to_vec()));
    layer.attribute("int[] faceVertexCounts", UsdValue::Integers(vec![3; mesh.triangles.len()]));
    let corners = mesh.triangles.iter().flat_map(|&[a, b, c]| if mirrored { [a, c, b] } else { [a, b, c] });
    let corners = corners.map(|corner| corner as i32).collect();
    layer.attribute("int[] faceVertexIndices", UsdValue::Integers(corners));
    if !mesh.normals.is_empty() {
        let normal =
            |n: &[f32; 3]| single(&(normal_matrix * double(n)).try_normalize(0.0).unwrap_or_default());
        let normals = UsdValue::Triples(mesh.normals.iter().map(normal).collect());
        layer.per_vertex("normal3f[] normals", normals, None);
    }
    layer.attribute("point3f[] points", UsdValue::Triples(points));
    if !mesh.colors.is_empty() {
        let bases = base_colors(whole);
        let colors = mesh.colors.iter().zip(&bases).map(|(c, [r, g, b, _])| [c[0] * r, c[1] * g, c[2] * b]);
        layer.per_vertex("color3f[] primvars:displayColor", UsdValue::Triples(colors.collect()), None);
        if mesh.colors.iter().any(|color| color[3] != 1.0) {
            let alphas = mesh.colors.iter().zip(&bases).map(|(c, base)| c[3] * base[3]).collect();
            layer.per_vertex("float[] primvars:displayOpacity", UsdValue::Singles(alphas), None);
        }
    }
    let sets = std::iter::once(&mesh.texcoords).chain(&mesh.further_texcoords);
    for (set, texcoords) in sets.enumerate().filter(|(_, list)| !list.is_empty()) {
        // The origin of texture coordinates is the upper left here and the lower left in USD.
        let st = texcoords.iter().map(|[u, v]| [*u, 1.0 - v]);
        let name = texcoord_name(set);
        layer.per_vertex(&format!("texCoord2f[] primvars:{name}"), UsdValue::Pairs(st.collect()), None);
    }
}

/// The base colour of the material of each vertex.
fn base_colors(whole: &WholeMesh) -> Vec<[f32; 4]> {
    let mut colors = vec![[1.0; 4]; whole.mesh.positions.len()];
    for (range, part) in &whole.parts {
        for &vertex in whole.mesh.triangles[range.clone()].as_flattened() {
            colors[vertex as usize] = part.material.base_color;
        }
    }
    colors
}

/// Writes the faces of each material as a subset.
fn write_subsets(layer: &mut UsdLayer, whole: &WholeMesh, materials: &[String], names: &mut PrimNames) {
    let family = UsdValue::Token("partition".into());
    layer.attribute("uniform token subsetFamily:materialBind:familyType", family);
    let of_triangles = whole.material_of_triangles();
    for (k, material) in materials.iter().enumerate() {
        let name = names.fresh(material.rsplit('/').next().unwrap_or_default());
        layer.open("GeomSubset", &name, &["MaterialBindingAPI"]);
        layer.attribute("uniform token elementType", UsdValue::Token("face".into()));
        layer.attribute("uniform token familyName", UsdValue::Token("materialBind".into()));
        let faces = of_triangles.iter().enumerate().filter(|(_, m)| **m == k).map(|(face, _)| face as i32);
        layer.attribute("int[] indices", UsdValue::Integers(faces.collect()));
        layer.relationship("material:binding", material.clone());
        layer.close();
    }
}

/// The joints of a vertex and their normalised weights, in descending order.
fn influences(mesh: &Mesh, vertex: usize) -> Vec<(usize, f64)> {
    let all = mesh.influences(vertex).into_iter();
    let mut found: Vec<(usize, f64)> = all
        .filter_map(|(b, weight)| Some((mesh.bindings.get(usize::from(b))?.joint.index(), weight)))
        .collect();
    let total: f64 = found.iter().map(|(_, weight)| weight).sum();
    found.iter_mut().for_each(|(_, weight)| *weight /= total);
    found.sort_by(|a, b| b.1.total_cmp(&a.1));
    found
}
