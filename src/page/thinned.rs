//! Thins the surfaces of a character for the player, to an error in the poses of its clip.
//!
//! Edges are collapsed onto one of their ends by `meshopt`, so that vertices keep their weights, normals and texture coordinates.
//! The error is that of the surface in several poses at once (DeCoro and Rusinkiewicz 2005), so that joints keep the triangles by
//! which they bend.

use crate::model::{Mesh, ModelPose, Motion};
use crate::skinning::{Skin, linear_blend};
use meshopt::{
    SimplifyOptions, VertexDataAdapter, simplify_scale, simplify_with_attributes_and_locks, typed_to_bytes,
};
use std::borrow::Cow;
use std::collections::HashMap;

/// Poses of the clip in which the error counts beside that of its first frame.
const POSES: usize = 4;
/// Error of a normal that differs by a radian, as a part of the body's extent: on an adult a wrong shade of 15 degrees counts as
/// much as an edge that is off by 1 mm.
const NORMAL: f32 = 0.002;
/// Error of a texture that is shifted by its whole width, as a part of the body's extent: on an adult a hundredth of it, a few of
/// its texels, counts as 2 mm.
const TEXTURE: f32 = 0.1;

/// The surfaces with as few triangles as an error of `most` allows, a part of the body's extent; corners that several of them share
/// stay.
pub(super) fn thinned<'a>(motion: &Motion, meshes: &[Cow<'a, Mesh>], most: f32) -> Vec<Cow<'a, Mesh>> {
    let last = motion.clip.frames() - 1;
    let skeleton = motion.character.skeleton();
    let poses: Vec<Vec<Skin>> = (0..=POSES)
        .map(|k| {
            let model = ModelPose::of(skeleton, &motion.clip.pose(skeleton, last * k / POSES));
            let skinned = |mesh: &Cow<Mesh>| {
                let mut skin = Skin::default();
                linear_blend(mesh, &model, &mut skin);
                skin
            };
            meshes.iter().map(skinned).collect()
        })
        .collect();
    let bits = |p: &[f32; 3]| p.map(f32::to_bits);
    let mut surfaces_at: HashMap<[u32; 3], (usize, bool)> = HashMap::new();
    for (m, skin) in poses[0].iter().enumerate() {
        for p in &skin.positions {
            let (first, shared) = surfaces_at.entry(bits(p)).or_insert((m, false));
            *shared |= *first != m;
        }
    }
    let along = |k: usize| {
        let all = poses[0].iter().flat_map(|skin| &skin.positions).map(move |p| p[k]);
        all.clone().fold(f32::MIN, f32::max) - all.fold(f32::MAX, f32::min)
    };
    let extent = (0..3).map(along).fold(0.0, f32::max);
    let thin = |(m, mesh): (usize, &Cow<'a, Mesh>)| {
        let own: Vec<&Skin> = poses.iter().map(|pose| &pose[m]).collect();
        let locked: Vec<bool> = own[0].positions.iter().map(|p| surfaces_at[&bits(p)].1).collect();
        triangles(mesh, &own, &locked, (extent, most * extent))
            .map_or_else(|| mesh.clone(), |t| Cow::Owned(with_triangles(mesh, &t)))
    };
    meshes.iter().enumerate().map(thin).collect()
}

/// The corners that remain within an error in metres on a body of this extent; `None` where positions are not finite.
fn triangles(mesh: &Mesh, poses: &[&Skin], locked: &[bool], (extent, most): (f32, f32)) -> Option<Vec<u32>> {
    let finite = |skin: &&Skin| skin.positions.iter().flatten().all(|x| x.is_finite());
    if !poses.iter().all(finite) {
        return None;
    }
    let adapter = VertexDataAdapter::new(typed_to_bytes(&poses[0].positions), 12, 0).ok()?;
    let scale = simplify_scale(&adapter);
    let mut weights = vec![1.0 / scale; 3 * (poses.len() - 1)];
    weights.extend([NORMAL * extent / scale; 3]);
    let textured = mesh.material.texture.is_some() && !mesh.texcoords.is_empty();
    if textured {
        weights.extend([TEXTURE * extent / scale; 2]);
    }
    let attributes = |v: usize| {
        let posed = poses[1..].iter().flat_map(move |pose| pose.positions[v]);
        let texcoord = mesh.texcoords.get(v).filter(|_| textured).into_iter().flatten().copied();
        posed.chain(mesh.normals[v]).chain(texcoord)
    };
    let attributes: Vec<f32> = (0..mesh.positions.len()).flat_map(attributes).collect();
    let corners: Vec<u32> = mesh.triangles.iter().flatten().copied().collect();
    let options = SimplifyOptions::ErrorAbsolute;
    Some(simplify_with_attributes_and_locks(
        &corners,
        &adapter,
        &attributes,
        &weights,
        4 * weights.len(),
        locked,
        0,
        most,
        options,
        None,
    ))
}

/// The mesh with these corners and the vertices that they use.
fn with_triangles(mesh: &Mesh, corners: &[u32]) -> Mesh {
    let mut used: Vec<usize> = corners.iter().map(|&v| v as usize).collect();
    used.sort_unstable();
    used.dedup();
    let mut number = vec![0; mesh.positions.len()];
    for (k, &v) in used.iter().enumerate() {
        number[v] = k as u32;
    }
    fn kept<T: Copy>(all: &[T], used: &[usize]) -> Vec<T> {
        if all.is_empty() { Vec::new() } else { used.iter().map(|&v| all[v]).collect() }
    }
    Mesh {
        positions: kept(&mesh.positions, &used),
        normals: kept(&mesh.normals, &used),
        texcoords: kept(&mesh.texcoords, &used),
        colors: kept(&mesh.colors, &used),
        joints: kept(&mesh.joints, &used),
        weights: kept(&mesh.weights, &used),
        triangles: corners.chunks_exact(3).map(|t| [t[0], t[1], t[2]].map(|v| number[v as usize])).collect(),
        bindings: mesh.bindings.clone(),
        material: mesh.material.clone(),
        ..Mesh::default()
    }
}
