//! Joins the primitives of a mesh: one list of vertices with several materials, as FBX and USD have it.
//!
//! Primitives with different attributes, or with different joints, stay apart.

use super::surface_hash::{MaterialNumbers, SurfaceHashes};
use crate::math::{Mat4, Transform};
use crate::model::{Character, Material, Mesh, MorphTarget};
use std::borrow::Cow;
use std::ops::Range;

/// A mesh with all its materials.
pub(super) struct WholeMesh<'a> {
    /// The vertices and triangles of all primitives; its material is that of the first.
    pub(super) mesh: Cow<'a, Mesh>,
    /// The first primitive.
    pub(super) first: &'a Mesh,
    /// The triangles of each primitive, with its material.
    pub(super) parts: Vec<(Range<usize>, &'a Mesh)>,
    /// The number of the material of each primitive among the different ones.
    numbers: Vec<usize>,
    /// For a mesh that no joint moves: model space from mesh space.
    pub(super) unmoved: Option<Mat4<f64>>,
}

impl WholeMesh<'_> {
    /// For each triangle, the index of its material among `materials`.
    pub(super) fn material_of_triangles(&self) -> Vec<usize> {
        let parts = self.parts.iter().zip(&self.numbers);
        parts.flat_map(|((range, _), number)| std::iter::repeat_n(*number, range.len())).collect()
    }

    /// The different materials, each with the first primitive that has it.
    pub(super) fn materials(&self) -> Vec<(&Material, &Mesh)> {
        let mut found: Vec<(&Material, &Mesh)> = Vec::new();
        for ((_, part), number) in self.parts.iter().zip(&self.numbers) {
            if *number == found.len() {
                found.push((&part.material, part));
            }
        }
        found
    }
}

/// The meshes of a character, their primitives joined: first those that joints move.
pub(super) fn whole_meshes(character: &Character) -> Vec<WholeMesh<'_>> {
    let mut hashes = SurfaceHashes::default();
    let mut all = joined_primitives(&character.meshes, &mut hashes);
    if let Some(document) = &character.document {
        let model_from_file = Transform::from_rotation(document.model_from_file).to_matrix();
        for mut whole in joined_primitives(document.static_meshes.meshes(), &mut hashes) {
            whole.unmoved = whole.first.bindings.first().map(|b| model_from_file * b.joint_from_mesh);
            all.push(whole);
        }
    }
    all
}

fn joined_primitives<'a>(meshes: &'a [Mesh], hashes: &mut SurfaceHashes<'a>) -> Vec<WholeMesh<'a>> {
    meshes.chunk_by(joinable).map(|parts| joined(parts, hashes)).collect()
}

/// Whether two primitives can be one list of vertices.
fn joinable(a: &Mesh, b: &Mesh) -> bool {
    let attributes = |m: &Mesh| {
        let sets = m.further_texcoords.len();
        (m.normals.is_empty(), m.texcoords.is_empty(), sets, m.colors.is_empty())
    };
    a.primitive_of.is_some()
        && a.primitive_of == b.primitive_of
        && a.bindings == b.bindings
        && attributes(a) == attributes(b)
        && a.morphs.iter().map(|t| &t.name).eq(b.morphs.iter().map(|t| &t.name))
}

fn joined<'a>(parts: &'a [Mesh], hashes: &mut SurfaceHashes<'a>) -> WholeMesh<'a> {
    let first = &parts[0];
    let ranges = parts.iter().scan(0, |start, part| {
        let range = *start..*start + part.triangles.len();
        *start = range.end;
        Some((range, part))
    });
    let ranges = ranges.collect();
    let mut different = MaterialNumbers::default();
    let numbers = parts.iter().map(|part| different.of(&part.material, hashes)).collect();
    if parts.len() == 1 {
        return WholeMesh { mesh: Cow::Borrowed(first), first, parts: ranges, numbers, unmoved: None };
    }
    let mut mesh = first.clone();
    for part in &parts[1..] {
        let offset = mesh.positions.len() as u32;
        mesh.positions.extend_from_slice(&part.positions);
        mesh.normals.extend_from_slice(&part.normals);
        mesh.texcoords.extend_from_slice(&part.texcoords);
        for (set, more) in mesh.further_texcoords.iter_mut().zip(&part.further_texcoords) {
            set.extend_from_slice(more);
        }
        mesh.colors.extend_from_slice(&part.colors);
        mesh.joints.extend_from_slice(&part.joints);
        mesh.weights.extend_from_slice(&part.weights);
        let moved = part.further_influences.iter().map(|f| {
            let mut moved = *f;
            moved.vertex += offset;
            moved
        });
        mesh.further_influences.extend(moved);
        mesh.triangles.extend(part.triangles.iter().map(|t| t.map(|v| v + offset)));
        for (MorphTarget { offsets, .. }, more) in mesh.morphs.iter_mut().zip(&part.morphs) {
            offsets.extend_from_slice(&more.offsets);
        }
    }
    WholeMesh { mesh: Cow::Owned(mesh), first, parts: ranges, numbers, unmoved: None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::FurtherInfluence;

    fn part(material: &str, node: Option<usize>) -> Mesh {
        Mesh {
            primitive_of: node,
            positions: vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
            joints: vec![[0; 4]; 3],
            weights: vec![[1.0, 0.0, 0.0, 0.0]; 3],
            triangles: vec![[0, 1, 2]],
            further_influences: vec![FurtherInfluence { vertex: 2, binding: 1, weight: 0.1 }],
            morphs: vec![MorphTarget { name: "smile".into(), weight: 0.0, offsets: vec![[0.5; 3]; 3] }],
            material: Material { name: material.into(), ..Material::default() },
            ..Mesh::default()
        }
    }

    #[test]
    fn primitives_of_a_node_are_one_mesh_with_several_materials() {
        let meshes =
            [part("a", Some(4)), part("b", Some(4)), part("a", Some(4)), part("a", Some(5)), part("a", None)];
        let whole = joined_primitives(&meshes, &mut SurfaceHashes::default());
        assert_eq!(whole.iter().map(|w| w.parts.len()).collect::<Vec<_>>(), [3, 1, 1]);
        let mesh = &whole[0].mesh;
        assert_eq!(mesh.triangles, [[0, 1, 2], [3, 4, 5], [6, 7, 8]]);
        assert_eq!(mesh.further_influences.iter().map(|f| f.vertex).collect::<Vec<_>>(), [2, 5, 8]);
        assert_eq!(mesh.morphs[0].offsets.len(), 9);
        assert_eq!(whole[0].material_of_triangles(), [0, 1, 0]);
        assert_eq!(whole[0].materials().len(), 2);
    }

    #[test]
    fn primitives_with_other_attributes_stay_apart() {
        let other = Mesh { normals: vec![[0.0, 0.0, 1.0]; 3], ..part("b", Some(4)) };
        assert_eq!(joined_primitives(&[part("a", Some(4)), other], &mut SurfaceHashes::default()).len(), 2);
        let mut renamed = part("b", Some(4));
        renamed.morphs[0].name = "frown".into();
        assert_eq!(joined_primitives(&[part("a", Some(4)), renamed], &mut SurfaceHashes::default()).len(), 2);
    }
}
