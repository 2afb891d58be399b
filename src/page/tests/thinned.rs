//! Thinned surfaces: what remains of them, how far they are off in a pose, and what they share.

use crate::made_bodies::{ADULT, bones};
use crate::math::{Vec3, exp};
use crate::model::{Binding, Clip, Mesh, ModelPose, Motion, Role};
use crate::page::thinned::thinned;
use crate::skinning::{Skin, linear_blend};
use std::borrow::Cow;
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
    let known = |v: usize| (0..before.positions.len()).find(|&w| before.positions[w] == after.positions[v]);
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
    println!("{:.1} mm", worst * 1e3);
    assert!(worst < 0.0125, "{worst}");
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
