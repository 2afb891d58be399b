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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made_bodies::{ADULT, bones};
    use crate::math::{Vec3, exp};
    use crate::model::{Binding, Clip, Role};
    use std::sync::Arc;

    const AROUND: usize = 96;

    /// An adult that bends its trunk, with a tube between these heights as skin, which the hips and the chest move.
    fn bent(heights: &[[f32; 2]], rings: usize) -> (Motion, Vec<Cow<'static, Mesh>>) {
        let body = Arc::new(bones(&ADULT));
        let skeleton = body.skeleton();
        let [hips, chest] = [Role::Hips, Role::Spine(0)].map(|role| body.rig.joint(role).unwrap());
        let rest = ModelPose::of(skeleton, &skeleton.rest_pose());
        let bind = |id| Binding { joint: id, joint_from_mesh: rest.joint(id).inverse().to_matrix() };
        let tube = |[low, high]: &[f32; 2]| {
            let mut mesh = Mesh { bindings: [hips, chest].map(bind).to_vec(), ..Mesh::default() };
            for k in 0..rings * AROUND {
                let (ring, angle) = (k / AROUND, (k % AROUND) as f32 * std::f32::consts::TAU / AROUND as f32);
                let up = (ring as f32 / (rings - 1) as f32).clamp(0.0, 1.0);
                let y = low + (high - low) * up;
                let upper = ((y - 0.9) / 0.4).clamp(0.0, 1.0);
                mesh.positions.push([0.15 * angle.cos(), y, 0.15 * angle.sin()]);
                mesh.normals.push([angle.cos(), 0.0, angle.sin()]);
                mesh.joints.push([0, 1, 0, 0]);
                mesh.weights.push([1.0 - upper, upper, 0.0, 0.0]);
            }
            let corner = |ring: usize, k: usize| (ring * AROUND + k % AROUND) as u32;
            for (ring, k) in (1..rings).flat_map(|ring| (0..AROUND).map(move |k| (ring - 1, k))) {
                let [a, b, c, d] =
                    [corner(ring, k), corner(ring, k + 1), corner(ring + 1, k), corner(ring + 1, k + 1)];
                mesh.triangles.extend([[a, c, b], [b, c, d]]);
            }
            Cow::Owned(mesh)
        };
        let meshes = heights.iter().map(tube).collect();
        let poses: Vec<_> = (0..20)
            .map(|k| {
                let mut pose = skeleton.rest_pose();
                pose.local_mut()[chest.index()].rotation = exp(&(Vec3::x() * (0.05 * f64::from(k))));
                pose
            })
            .collect();
        let clip = Clip::from_poses("bend", 20.0, skeleton, &poses);
        (Motion::new(body, clip), meshes)
    }

    #[test]
    fn what_remains_are_vertices_of_the_surface_within_the_error() {
        let (motion, meshes) = bent(&[[0.9, 1.7]], 160);
        let most = 1.0 / 1000.0;
        let thin = thinned(&motion, &meshes, most);
        let (before, after) = (&meshes[0], &thin[0]);
        println!("{} of {} triangles", after.triangles.len(), before.triangles.len());
        assert!(10 * after.triangles.len() < before.triangles.len());
        let known =
            |v: usize| (0..before.positions.len()).find(|&w| before.positions[w] == after.positions[v]);
        for v in 0..after.positions.len() {
            let w = known(v).expect("a vertex of the surface");
            assert_eq!((after.normals[v], after.joints[v]), (before.normals[w], before.joints[w]));
            assert_eq!(after.weights[v], before.weights[w]);
        }
        // A tube keeps its radius between its corners: the middle of each edge, in the last pose.
        let skeleton = motion.character.skeleton();
        let model = ModelPose::of(skeleton, &motion.clip.pose(skeleton, 19));
        let (mut all, mut some) = (Skin::default(), Skin::default());
        linear_blend(before, &model, &mut all);
        linear_blend(after, &model, &mut some);
        let far = |p: [f32; 3]| {
            let off = |q: &[f32; 3]| (0..3).map(|k| (p[k] - q[k]).powi(2)).sum::<f32>();
            all.positions.iter().map(off).fold(f32::MAX, f32::min).sqrt()
        };
        let middle = |t: &[u32; 3]| {
            let [a, b] = [t[0], t[1]].map(|v| some.positions[v as usize]);
            [0, 1, 2].map(|k| (a[k] + b[k]) / 2.0)
        };
        // Vertices of the whole surface are 10 mm apart around and 5 mm along it.
        let worst = after.triangles.iter().map(|t| far(middle(t))).fold(0.0, f32::max);
        assert!(worst < 0.0075, "{worst}");
    }

    #[test]
    fn corners_that_surfaces_share_stay() {
        let (motion, meshes) = bent(&[[0.9, 1.3], [1.3, 1.7]], 80);
        let thin = thinned(&motion, &meshes, 1.0 / 500.0);
        for mesh in &thin {
            let shared = mesh.positions.iter().filter(|p| p[1] == 1.3).count();
            assert_eq!(shared, AROUND);
            assert!(mesh.triangles.len() < meshes[0].triangles.len() / 8, "{}", mesh.triangles.len());
        }
    }
}
