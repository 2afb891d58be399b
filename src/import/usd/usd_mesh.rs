//! Converts the Mesh prims that a skeleton moves to meshes of glTF: points, normals, texture coordinates, weights and blend shapes.
//!
//! Values of corners (`faceVarying`) get a vertex for each corner, others keep the points. Faces become fans of triangles.

use super::usd_error::UsdError;
use super::usd_skeleton::{UsdSkeleton, matrices};
use super::usda_layer::Prim;
use crate::gltf_document::{GlbBuilder, UNSIGNED_INT, UNSIGNED_SHORT};
use crate::import::import_error::ImportError;
use crate::math::{Mat4, Vec3};
use crate::memory_budget::MemoryBudget;
use crate::report::Warnings;
use serde_json::{Value as Json, json};
use std::collections::HashMap;

/// Influences of a vertex that are kept, in two sets of glTF.
const MOST_INFLUENCES: usize = 8;

/// Largest coordinate that is kept: no unit makes a length of it, and its square is no 32-bit float.
const LARGEST: f32 = 1e30;

/// The faces of a mesh as vertices and triangles.
struct Faces {
    /// The point of each vertex.
    points: Vec<usize>,
    /// The corner of each vertex, where vertices are corners.
    corners: Option<Vec<usize>>,
    triangles: Vec<u32>,
}

/// The space of a mesh when it was bound to the skeleton (`geomBindTransform`), in that of the skeleton: its vertices are put there,
/// so that bind matrices are those of the joints alone.
struct BindSpace(Mat4<f64>);

impl BindSpace {
    fn of(prim: &Prim) -> Self {
        let stated = matrices(prim.numbers("primvars:skel:geomBindTransform")).first().copied();
        Self(stated.filter(|matrix| matrix.iter().all(|x| x.is_finite())).unwrap_or_else(Mat4::identity))
    }

    fn points(&self, list: Vec<[f32; 3]>) -> Vec<[f32; 3]> {
        self.all(list, |at| self.0.transform_point(&at.into()).coords)
    }

    /// Displacements of points.
    fn vectors(&self, list: Vec<[f32; 3]>) -> Vec<[f32; 3]> {
        self.all(list, |v| self.0.transform_vector(&v))
    }

    /// The same bits where nothing is transformed.
    fn all(&self, mut list: Vec<[f32; 3]>, to: impl Fn(Vec3) -> Vec3) -> Vec<[f32; 3]> {
        if self.0 != Mat4::identity() {
            list.iter_mut()
                .for_each(|v| *v = <[f64; 3]>::from(to(Vec3::from(v.map(f64::from)))).map(|x| x as f32));
        }
        list
    }

    /// A normal, of any length.
    fn normal(&self, normal: &[f32; 3]) -> Vec3 {
        let normal = Vec3::from(normal.map(f64::from));
        let linear = self.0.fixed_view::<3, 3>(0, 0).into_owned();
        linear
            .try_inverse()
            .map_or(normal, |inverse| inverse.transpose() * normal * linear.determinant().signum())
    }

    /// Triangles, turned around where the space is mirrored.
    fn triangles(&self, mut list: Vec<u32>) -> Vec<u32> {
        if self.0.fixed_view::<3, 3>(0, 0).determinant() < 0.0 {
            list.chunks_exact_mut(3).for_each(|corners| corners.swap(1, 2));
        }
        list
    }
}

/// A mesh of the document and the names of its morph targets.
pub(super) struct GltfMesh {
    pub(super) mesh: Json,
    pub(super) targets: Vec<String>,
}

/// The mesh of a prim; `by_path` are all prims, by their paths.
///
/// # Errors
/// A [`UsdError`] for lists that do not fit together, and a mesh that exceeds the memory limit.
pub(super) fn mesh(
    by_path: &HashMap<&str, &Prim>,
    prim: &Prim,
    skeleton: &UsdSkeleton,
    binary: &mut GlbBuilder,
    budget: &MemoryBudget,
    warnings: &mut Warnings,
) -> Result<GltfMesh, ImportError> {
    let fault = |reason: &str| UsdError::Prim { prim: prim.path.clone(), reason: reason.to_owned() };
    let points = triples(prim, "points", warnings);
    let per_corner = ["normals", "primvars:normals", "primvars:st"].into_iter().any(|name| {
        let property = prim.properties.get(name);
        property.is_some_and(|p| p.interpolation == "faceVarying")
    });
    let faces = faces(prim, points.len(), per_corner)
        .ok_or_else(|| fault("its faces name points that are not there"))?;
    let vertices = faces.points.len();
    // Positions, normals, texture coordinates and eight influences.
    budget.reserve(120 * vertices as u64, || format!("{vertices} vertices"))?;
    let moved = |list: &[[f32; 3]]| -> Vec<[f32; 3]> { faces.points.iter().map(|&p| list[p]).collect() };
    let bound = BindSpace::of(prim);
    let positions = bound.points(moved(&points));
    let mut attributes = json!({"POSITION": binary.positions(&positions, None)});
    let normals =
        ["primvars:normals", "normals"].into_iter().find_map(|name| of_vertices::<3>(prim, name, &faces));
    if let Some(normals) = normals {
        let unit = normals.iter().map(|n| bound.normal(n).try_normalize(0.0));
        let unit: Option<Vec<[f32; 3]>> =
            unit.map(|n| Some(<[f64; 3]>::from(n?).map(|x| x as f32))).collect();
        if let Some(unit) = unit {
            attributes["NORMAL"] = binary.tuples(&unit, None).into();
        }
    }
    if let Some(st) = of_vertices::<2>(prim, "primvars:st", &faces) {
        let uv: Vec<[f32; 2]> = st.iter().map(|[u, v]| [*u, 1.0 - v]).collect();
        attributes["TEXCOORD_0"] = binary.tuples(&uv, None).into();
    }
    let influences = influences(prim, skeleton, points.len()).map_err(fault)?;
    let sets = influences.iter().map(Vec::len).max().unwrap_or(0).div_ceil(4).clamp(1, MOST_INFLUENCES / 4);
    for set in 0..sets {
        let at = |p: usize, k: usize| influences[p].get(4 * set + k).copied().unwrap_or_default();
        let joints = faces.points.iter().flat_map(|&p| (0..4).flat_map(move |k| at(p, k).0.to_le_bytes()));
        let joints: Vec<u8> = joints.collect();
        let accessor = json!({"componentType": UNSIGNED_SHORT, "count": vertices, "type": "VEC4"});
        attributes[format!("JOINTS_{set}")] = binary.push(&joints, None, accessor).into();
        let weights: Vec<[f32; 4]> =
            faces.points.iter().map(|&p| std::array::from_fn(|k| at(p, k).1)).collect();
        attributes[format!("WEIGHTS_{set}")] = binary.tuples(&weights, None).into();
    }
    let indices = bound.triangles(faces.triangles);
    let count = indices.len();
    let indices: Vec<u8> = indices.iter().flat_map(|i| i.to_le_bytes()).collect();
    let accessor = json!({"componentType": UNSIGNED_INT, "count": count, "type": "SCALAR"});
    let indices = binary.push(&indices, None, accessor);
    let mut primitive = json!({"attributes": attributes, "indices": indices});
    let (mut targets, mut names) = (Vec::new(), Vec::new());
    for (name, path) in prim.words("skel:blendShapes").iter().zip(prim.words("skel:blendShapeTargets")) {
        let Some(shape) = by_path.get(path.as_str()) else { continue };
        if shape.properties.keys().any(|name| name.starts_with("inbetweens:")) {
            let said = "shapes between zero and a blend shape are not read: the shape is blended in linearly";
            warnings.add("usd-inbetweens", said, path.clone());
        }
        budget.reserve(12 * (vertices + points.len()) as u64, || format!("the blend shape {name}"))?;
        let offsets = offsets(shape, points.len(), warnings)
            .ok_or_else(|| fault("a blend shape moves points that are not there"))?;
        targets.push(json!({"POSITION": binary.positions(&bound.vectors(moved(&offsets)), None)}));
        names.push(name.clone());
    }
    let mut mesh = json!({"name": prim.name(), "primitives": []});
    if !targets.is_empty() {
        primitive["targets"] = targets.into();
        mesh["weights"] = vec![0.0; names.len()].into();
        mesh["extras"] = json!({"targetNames": names});
    }
    mesh["primitives"] = json!([primitive]);
    Ok(GltfMesh { mesh, targets: names })
}

/// A number as an index or a count; below zero it is out of every range.
fn index(number: &f64) -> usize {
    if *number < 0.0 { usize::MAX } else { *number as usize }
}

/// The vectors of a list; one that no mesh can have is the one before it, with a warning: the bounds of positions have to be
/// finite.
fn triples(prim: &Prim, name: &str, warnings: &mut Warnings) -> Vec<[f32; 3]> {
    let (mut odd, mut last) = (0, [0.0; 3]);
    let vector = |v: &[f64]| {
        let vector = [v[0], v[1], v[2]].map(|x| x as f32);
        match vector.iter().all(|x| x.abs() < LARGEST) {
            true => last = vector,
            false => odd += 1,
        }
        last
    };
    let list = prim.numbers(name).chunks_exact(3).map(vector).collect();
    if odd > 0 {
        let said = format!(
            "{odd} values of `{name}` are not finite numbers (or beyond 1e30) and were replaced by the one before it"
        );
        warnings.add("usd-not-finite", said, prim.path.clone());
    }
    list
}

/// The vertices and triangles; `None` if an index is out of range.
fn faces(prim: &Prim, points: usize, per_corner: bool) -> Option<Faces> {
    let corners: Vec<usize> = prim.numbers("faceVertexIndices").iter().map(index).collect();
    if corners.is_empty() || corners.iter().any(|&p| p >= points) || corners.len() > u32::MAX as usize {
        return None;
    }
    let flipped = prim.words("orientation").first().is_some_and(|o| o == "leftHanded");
    let vertex = |corner: usize| (if per_corner { corner } else { corners[corner] }) as u32;
    let (mut triangles, mut start) = (Vec::new(), 0_usize);
    for count in prim.numbers("faceVertexCounts") {
        let end = start.checked_add(index(count)).filter(|end| *end <= corners.len())?;
        for k in start + 2..end {
            let [b, c] = if flipped { [k, k - 1] } else { [k - 1, k] };
            triangles.extend([start, b, c].map(vertex));
        }
        start = end;
    }
    Some(match per_corner {
        true => Faces { corners: Some((0..corners.len()).collect()), points: corners, triangles },
        false => Faces { points: (0..points).collect(), corners: None, triangles },
    })
}

/// An attribute at every vertex; `None` where it is missing or has another interpolation or length.
fn of_vertices<const N: usize>(prim: &Prim, name: &str, faces: &Faces) -> Option<Vec<[f32; N]>> {
    let property = prim.properties.get(name)?;
    let values: Vec<[f32; N]> =
        prim.numbers(name).chunks_exact(N).map(|v| std::array::from_fn(|k| v[k] as f32)).collect();
    // Indices compress a list of repeated values.
    let indices = prim.numbers(&format!("{name}:indices"));
    let at = |k: usize| match indices {
        [] => values.get(k).copied(),
        indices => values.get(index(indices.get(k)?)).copied(),
    };
    match property.interpolation.as_str() {
        "faceVarying" => faces.corners.as_ref()?.iter().map(|&corner| at(corner)).collect(),
        "vertex" | "varying" | "" => faces.points.iter().map(|&point| at(point)).collect(),
        _ => None,
    }
}

/// The joints of every point with their weights, the strongest first; their sum is 1.
fn influences(
    prim: &Prim,
    skeleton: &UsdSkeleton,
    points: usize,
) -> Result<Vec<Vec<(u16, f32)>>, &'static str> {
    let (indices, weights) =
        (prim.numbers("primvars:skel:jointIndices"), prim.numbers("primvars:skel:jointWeights"));
    let property = prim.properties.get("primvars:skel:jointIndices");
    let width = property.and_then(|p| p.element_size).unwrap_or(1).max(1);
    let constant = property.is_some_and(|p| p.interpolation == "constant");
    let expected = if constant { width } else { width.saturating_mul(points) };
    if indices.len() != weights.len() || indices.len() != expected {
        return Err("its joint indices and weights do not fit its points");
    }
    let order = skeleton.order(prim.words("skel:joints"));
    let of_point = |point: usize| {
        let at = if constant { 0 } else { width * point };
        let pairs = indices[at..at + width].iter().zip(&weights[at..at + width]).filter(|(_, w)| **w > 0.0);
        let mut found: Vec<(u16, f64)> = Vec::new();
        for (number, weight) in pairs {
            let joint = order
                .get(index(number))
                .copied()
                .flatten()
                .ok_or("a weight names a joint that is not there")?;
            let joint = u16::try_from(joint).map_err(|_| "the skeleton has more than 65,536 joints")?;
            found.push((joint, *weight));
        }
        // glTF forbids one joint twice.
        found.sort_by_key(|influence| influence.0);
        found.dedup_by(|next, first| {
            let same = next.0 == first.0;
            first.1 += if same { next.1 } else { 0.0 };
            same
        });
        found.sort_by(|a, b| b.1.total_cmp(&a.1));
        found.truncate(MOST_INFLUENCES);
        if found.is_empty() {
            found.push((0, 1.0));
        }
        let total: f64 = found.iter().map(|(_, w)| w).sum();
        Ok(found.into_iter().map(|(joint, w)| (joint, (w / total) as f32)).collect())
    };
    match constant && points > 0 {
        true => Ok(vec![of_point(0)?; points]),
        false => (0..points).map(of_point).collect(),
    }
}

/// The displacement of every point; `None` if one is out of range.
fn offsets(shape: &Prim, points: usize, warnings: &mut Warnings) -> Option<Vec<[f32; 3]>> {
    let listed = triples(shape, "offsets", warnings);
    let indices = shape.numbers("pointIndices");
    let mut all = vec![[0.0; 3]; points];
    for (k, offset) in listed.into_iter().enumerate() {
        let point = if indices.is_empty() { k } else { index(indices.get(k)?) };
        *all.get_mut(point)? = offset;
    }
    Some(all)
}
