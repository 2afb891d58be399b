//! Converts a recording into a motion: each body is a child joint of a static root, with a mesh of its shape.
//!
//! Bodies are drawn by their shapes, or by the ellipsoid of their inertia; hinges as cylinders, sliders as bars, rigid
//! links as boxes, balls and universal joints as spheres, as in the drawings of J. Hakenberg, "Animation of Skeletons with
//! Hinges and Spherical Joints". Space: in, the world of the scene; out, model space, Y up. Units: metres, seconds.

use super::solid_mesh::Solid;
use crate::dynamics::{ConstraintGeometry, ConstraintKind, Frame, Recording, Shape};
use crate::math::{Quat, Transform, Vec3, arc, same_hemisphere};
use crate::model::{
    Binding, Character, Clip, Joint, JointId, Material, Mesh, Motion, Pose, Rig, Skeleton, SkeletonError,
};
use std::sync::Arc;

/// Base colours (linear RGBA) of bodies, used cyclically so that neighbours differ.
const BODIES: [[f32; 4]; 6] = [
    [0.22, 0.42, 0.69, 1.0],
    [0.80, 0.47, 0.13, 1.0],
    [0.25, 0.55, 0.33, 1.0],
    [0.65, 0.22, 0.25, 1.0],
    [0.45, 0.36, 0.62, 1.0],
    [0.72, 0.62, 0.24, 1.0],
];
/// Base colour of the drawn constraints: near black, distinct from all bodies.
const LINKS: [f32; 4] = [0.10, 0.10, 0.11, 1.0];
/// Base colour of ground planes: neutral grey, so that the bodies stand out.
const GROUND: [f32; 4] = [0.52, 0.54, 0.56, 1.0];

/// The motion of a recording: its bodies in their order, at the output rate.
///
/// # Errors
/// A [`SkeletonError`] where the names of the bodies are not unique or empty.
pub fn motion(recording: &Recording) -> Result<Motion, SkeletonError> {
    let model_from_scene = arc(&recording.up, &Vec3::y(), &Vec3::x());
    let poses = poses(recording, &model_from_scene);
    let mut root = if recording.name.is_empty() { "scene".to_owned() } else { recording.name.clone() };
    while recording.names.contains(&root) {
        root.push('_');
    }
    let mut joints = vec![Joint::new(root, None, Transform::identity())];
    for (name, rest) in recording.names.iter().zip(&poses[0]) {
        joints.push(Joint::new(name, Some(JointId::new(0)), *rest));
    }
    let skeleton = Skeleton::new(joints)?;
    let frames: Vec<Pose> = poses
        .iter()
        .map(|bodies| Pose::new(std::iter::once(&Transform::identity()).chain(bodies).copied().collect()))
        .collect();
    let clip = Clip::from_poses(&recording.name, recording.output_rate, &skeleton, &frames);
    let bind = skeleton.rest_model_pose();
    let bindings: Vec<Binding> = skeleton
        .ids()
        .map(|joint| Binding { joint, joint_from_mesh: bind.joint(joint).inverse().to_matrix() })
        .collect();
    let meshes = meshes(recording, &poses, &model_from_scene, &bindings);
    let rig = Rig::new(skeleton, []);
    let name = recording.name.clone();
    let character = Character { bind: Some(bind), meshes, ..Character::new(name, rig) };
    Ok(Motion::new(Arc::new(character), clip))
}

/// Model space from body, for each frame at the output rate. Where the time of a frame falls between recorded frames, the
/// bodies are interpolated between the two around it.
fn poses(recording: &Recording, model_from_scene: &Quat) -> Vec<Vec<Transform>> {
    let frames = &recording.frames;
    let end = frames.last().map_or(0.0, |f| f.time);
    let count = (end * recording.output_rate + 1e-6).floor() as usize + 1;
    let rotation = Transform::from_rotation(*model_from_scene);
    let mut poses: Vec<Vec<Transform>> = Vec::with_capacity(count);
    let mut k = 0;
    for frame in 0..count {
        let time = frame as f64 / recording.output_rate;
        while k + 2 < frames.len() && frames[k + 1].time <= time + 1e-9 {
            k += 1;
        }
        let mut bodies: Vec<Transform> = match (frames.get(k), frames.get(k + 1)) {
            (Some(a), Some(b)) => between(a, b, time),
            (Some(a), None) => a.bodies.clone(),
            _ => vec![Transform::identity(); recording.names.len()],
        };
        for (i, body) in bodies.iter_mut().enumerate() {
            *body = rotation * *body;
            if let Some(before) = poses.last() {
                body.rotation = same_hemisphere(body.rotation, &before[i].rotation);
            }
        }
        poses.push(bodies);
    }
    poses
}

fn between(a: &Frame, b: &Frame, time: f64) -> Vec<Transform> {
    let part = ((time - a.time) / (b.time - a.time)).clamp(0.0, 1.0);
    let near = |x: f64| (part - x).abs() * (b.time - a.time) < 1e-9;
    match () {
        _ if near(0.0) => a.bodies.clone(),
        _ if near(1.0) => b.bodies.clone(),
        _ => a.bodies.iter().zip(&b.bodies).map(|(a, b)| a.interpolated(b, part)).collect(),
    }
}

/// One mesh per body, one for all constraints, one for the ground.
fn meshes(
    recording: &Recording,
    poses: &[Vec<Transform>],
    model_from_scene: &Quat,
    bindings: &[Binding],
) -> Vec<Mesh> {
    let rest = &poses[0];
    let blank = |name: &str, base_color: [f32; 4]| Mesh {
        name: name.to_owned(),
        bindings: bindings.to_vec(),
        material: Material { base_color, ..Material::default() },
        ..Mesh::default()
    };
    let mut meshes = Vec::new();
    for (i, (name, drawn)) in recording.names.iter().zip(&recording.geometry).enumerate() {
        let mut mesh = blank(name, BODIES[i % BODIES.len()]);
        add(&mut mesh, i + 1, &Solid::of(&drawn.shape), &(rest[i] * drawn.body_from_shape));
        meshes.push(mesh);
    }
    let mut links = blank("links", LINKS);
    for link in &recording.constraints {
        let ends = [Some(link.body), link.other].into_iter().flatten();
        let thick = ends.map(|b| thickness(recording, b)).fold(f64::INFINITY, f64::min);
        let (solid, body_from_solid) = link_solid(link, thick);
        add(&mut links, link.body + 1, &solid, &(rest[link.body] * body_from_solid));
    }
    let mut ground = blank("ground", GROUND);
    ground.material.double_sided = true;
    for plane in &recording.planes {
        let model_from_plane = Transform::from_rotation(*model_from_scene) * *plane;
        let (middle, half) = covered(recording, poses, &model_from_plane);
        let place = model_from_plane * Transform::new(Quat::identity(), middle);
        add(&mut ground, 0, &Solid::square(half), &place);
    }
    meshes.extend([links, ground].into_iter().filter(|m| !m.triangles.is_empty()));
    meshes
}

fn add(mesh: &mut Mesh, joint: usize, solid: &Solid, model_from_solid: &Transform) {
    let first = mesh.positions.len() as u32;
    let single = |v: Vec3| <[f64; 3]>::from(v).map(|x| x as f32);
    let joint = u16::try_from(joint).unwrap_or(u16::MAX);
    mesh.positions.extend(solid.positions.iter().map(|p| single(model_from_solid.point(p))));
    mesh.normals.extend(solid.normals.iter().map(|n| single(model_from_solid.rotation * n)));
    mesh.joints.extend(solid.positions.iter().map(|_| [joint, 0, 0, 0]));
    mesh.weights.extend(solid.positions.iter().map(|_| [1.0, 0.0, 0.0, 0.0]));
    mesh.triangles.extend(solid.triangles.iter().map(|t| t.map(|i| first + i)));
}

/// Half the smallest width of a body: constraints are drawn slightly thicker than the bodies they connect.
fn thickness(recording: &Recording, body: usize) -> f64 {
    match recording.geometry[body].shape {
        Shape::Plane => 0.0,
        Shape::Sphere { radius } | Shape::Capsule { radius, .. } => radius,
        Shape::Cuboid { half } => half.min(),
        Shape::Ellipsoid { semi_axes } => semi_axes.min(),
    }
}

fn link_solid(link: &ConstraintGeometry, thick: f64) -> (Solid, Transform) {
    // The axis of a kind without one is zero, which gives the identity.
    let along = arc(&Vec3::z(), &link.axis, &Vec3::x());
    let solid = match link.kind {
        ConstraintKind::Hinge => Solid::cylinder(0.45 * thick, 2.5 * thick),
        ConstraintKind::Ball | ConstraintKind::Universal => {
            Solid::of(&Shape::Sphere { radius: 1.06 * thick })
        }
        ConstraintKind::Slider => Solid::cuboid(&Vec3::new(0.25 * thick, 0.25 * thick, 2.4 * thick)),
        ConstraintKind::Fixed => Solid::cuboid(&Vec3::repeat(0.9 * thick)),
    };
    (solid, Transform::new(along, link.anchor))
}

/// Centre and half side of the square of a plane that covers the bodies of all frames, in the axes of the plane.
fn covered(recording: &Recording, poses: &[Vec<Transform>], model_from_plane: &Transform) -> (Vec3, f64) {
    let plane_from_model = model_from_plane.inverse();
    let (mut low, mut high) = (Vec3::repeat(f64::INFINITY), Vec3::repeat(f64::NEG_INFINITY));
    for bodies in poses {
        for (body, drawn) in bodies.iter().zip(&recording.geometry) {
            let at = plane_from_model.point(&body.translation);
            let reach = Vec3::repeat(drawn.shape.reach());
            (low, high) = (low.inf(&(at - reach)), high.sup(&(at + reach)));
        }
    }
    if !(high - low).iter().all(|x| x.is_finite()) {
        return (Vec3::zeros(), 1.0);
    }
    let middle = (low + high) * 0.5;
    (Vec3::new(middle.x, middle.y, 0.0), 0.65 * (high - low).xy().max())
}
