//! A motion prepared for rendering: one list of triangles with colours, and their vertices at any time.
//!
//! Time is clip time in seconds from the clip's first frame; rotations between frames are interpolated along the
//! shorter arc, and a clip that has ended holds its last pose. Space: model space. Units: metres, seconds.

use super::figure::figure;
use super::options::Subject;
use super::texture::{Image, Images};
use super::vector::{V3, add, cross, sub, unit};
use crate::math::Vec3;
use crate::model::{Clip, Mesh, ModelPose, Motion, Pose, Role};
use crate::skinning::{LinearBlend, Skin};
use std::borrow::Cow;
use std::sync::Arc;

/// The texture of a surface, and whether it is double-sided.
#[derive(Clone, Debug)]
pub(super) struct Surface {
    pub(super) image: Option<Arc<Image>>,
    pub(super) both: bool,
}

/// A motion prepared for rendering.
#[derive(Clone, Debug)]
pub(super) struct Actor<'a> {
    pub(super) subject: &'a Subject<'a>,
    skins: Vec<LinearBlend>,
    /// Linear colours, one per vertex, meshes concatenated.
    pub(super) colors: Vec<V3>,
    /// Texture coordinates, likewise.
    pub(super) texcoords: Vec<[f32; 2]>,
    /// Triangles over all vertices, each with the index of its surface.
    pub(super) triangles: Vec<([u32; 3], u16)>,
    pub(super) looks: Vec<Surface>,
}

/// An actor at one time, kept by the caller so that a clip allocates once.
#[derive(Clone, Debug)]
pub(super) struct Posed {
    pose: Pose,
    next: Pose,
    pub(super) model: ModelPose,
    skin: Skin,
    pub(super) positions: Vec<V3>,
    pub(super) normals: Vec<V3>,
}

impl<'a> Actor<'a> {
    /// Prepares a motion; textures are reduced to `texture_side` pixels.
    pub(super) fn new(subject: &'a Subject<'a>, texture_side: u32) -> Self {
        let meshes = surfaces(subject.motion);
        let (mut colors, mut texcoords, mut triangles) = (Vec::new(), Vec::new(), Vec::new());
        let mut looks = Vec::new();
        let mut images = Images::new(texture_side);
        for mesh in &meshes {
            let first = colors.len() as u32;
            let base = mesh.material.base_color;
            let color = |v: usize| {
                let own = mesh.colors.get(v).map_or([1.0; 4], |c| *c);
                [base[0] * own[0], base[1] * own[1], base[2] * own[2]]
            };
            colors.extend((0..mesh.positions.len()).map(color));
            let texcoord = |v: usize| mesh.texcoords.get(v).copied().unwrap_or_default();
            texcoords.extend((0..mesh.positions.len()).map(texcoord));
            let look = looks.len() as u16;
            let texture = mesh.material.texture.as_ref().filter(|_| !mesh.texcoords.is_empty());
            let image = texture.and_then(|t| images.get(t));
            looks.push(Surface { image, both: mesh.material.double_sided });
            // A binding that mirrors reverses the winding of triangles.
            let mirrored = mesh.bindings[0].joint_from_mesh.determinant() < 0.0;
            triangles.extend(mesh.triangles.iter().map(|&[a, b, c]| {
                let [b, c] = if mirrored { [c, b] } else { [b, c] };
                ([first + a, first + b, first + c], look)
            }));
        }
        let skins = meshes.iter().map(|mesh| LinearBlend::new(mesh)).collect();
        Self { subject, skins, colors, texcoords, triangles, looks }
    }

    /// The motion.
    pub(super) fn motion(&self) -> &'a Motion {
        self.subject.motion
    }

    /// Buffers for one time.
    pub(super) fn posed(&self) -> Posed {
        let skeleton = self.motion().character.skeleton();
        let pose = skeleton.rest_pose();
        Posed {
            model: ModelPose::of(skeleton, &pose),
            next: pose.clone(),
            pose,
            skin: Skin::default(),
            positions: Vec::with_capacity(self.colors.len()),
            normals: Vec::with_capacity(self.colors.len()),
        }
    }

    /// Moves the joints to `time`.
    pub(super) fn move_joints(&self, time: f64, posed: &mut Posed) {
        let clip = &self.motion().clip;
        let (frame, between) = frame_at(clip, time);
        clip.read_pose(frame, &mut posed.pose);
        if between > 0.0 {
            clip.read_pose(frame + 1, &mut posed.next);
            for (a, b) in posed.pose.local_mut().iter_mut().zip(posed.next.local()) {
                *a = a.interpolated(b, between);
            }
        }
        posed.model.set(self.motion().character.skeleton(), &posed.pose);
    }

    /// Moves joints and skin to `time`.
    pub(super) fn move_skin(&self, time: f64, posed: &mut Posed) {
        self.move_joints(time, posed);
        posed.positions.clear();
        posed.normals.clear();
        for skin in &self.skins {
            skin.skin(&posed.model, &mut posed.skin);
            posed.positions.extend_from_slice(&posed.skin.positions);
            posed.normals.extend_from_slice(&posed.skin.normals);
        }
    }

    /// Where the body is: its hips, or the middle of all joints.
    pub(super) fn middle(&self, model: &ModelPose) -> Vec3 {
        match self.motion().character.rig.joint(Role::Hips) {
            Some(hips) => model.position(hips),
            None => {
                let sum: Vec3 = model.joints().iter().map(|t| t.translation).sum();
                sum / model.joints().len() as f64
            }
        }
    }
}

/// The frame at or before `time`, and the fraction towards the next one, 0 to 1. Times within a millionth of a frame
/// are that frame.
fn frame_at(clip: &Clip, time: f64) -> (usize, f64) {
    let last = clip.frames() - 1;
    let at = (time * clip.sample_rate).clamp(0.0, last as f64);
    let nearest = at.round();
    if (at - nearest).abs() < 1e-6 {
        return (nearest as usize, 0.0);
    }
    (at.floor() as usize, at - at.floor())
}

/// The surfaces that stand for a motion's character, with normals: its skinned meshes, else a figure around its
/// skeleton.
pub fn surfaces(motion: &Motion) -> Vec<Cow<'_, Mesh>> {
    let drawable = |m: &&Mesh| !m.triangles.is_empty() && !m.bindings.is_empty();
    let own: Vec<Cow<Mesh>> = motion.character.meshes.iter().filter(drawable).map(with_normals).collect();
    if own.is_empty() { vec![Cow::Owned(figure(motion))] } else { own }
}

/// The mesh with smooth normals: its own, or the area-weighted mean of the triangles around each position.
fn with_normals(mesh: &Mesh) -> Cow<'_, Mesh> {
    if !mesh.normals.is_empty() {
        return Cow::Borrowed(mesh);
    }
    let mut sums = vec![[0.0; 3]; mesh.positions.len()];
    for t in &mesh.triangles {
        let [a, b, c] = t.map(|k| mesh.positions[k as usize]);
        let normal = cross(sub(b, a), sub(c, a));
        for k in t {
            sums[*k as usize] = add(sums[*k as usize], normal);
        }
    }
    let mut whole = mesh.clone();
    whole.normals = sums.into_iter().map(unit).collect();
    Cow::Owned(whole)
}
