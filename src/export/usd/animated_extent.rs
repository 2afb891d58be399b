//! Bounding box of a character over all frames.
//!
//! The vertices of a joint are in a box in the joint's space. A blend of positions by several joints lies between them, so the
//! bounding box of all these boxes, moved by the joints, contains the mesh in every frame. Space: model space. Units: metres.

use super::mesh_prims::{BoundMeshes, point};
use crate::math::{Transform, Vec3, single};
use crate::model::{Character, JointId, Motion};
use std::collections::BTreeMap;

/// A box: its lowest and its highest corner.
#[derive(Clone, Copy)]
struct JointBox {
    low: Vec3,
    high: Vec3,
}

impl JointBox {
    /// The box without points.
    const EMPTY: JointBox = JointBox {
        low: Vec3::new(f64::MAX, f64::MAX, f64::MAX),
        high: Vec3::new(f64::MIN, f64::MIN, f64::MIN),
    };

    fn include(&mut self, p: &Vec3) {
        (self.low, self.high) = (self.low.inf(p), self.high.sup(p));
    }

    fn corners(&self) -> [Vec3; 8] {
        std::array::from_fn(|k| {
            let pick = |axis: usize| if k >> axis & 1 == 0 { self.low[axis] } else { self.high[axis] };
            Vec3::new(pick(0), pick(1), pick(2))
        })
    }
}

/// The lowest and highest corner of the bounding box of a character in all frames of these motions, or in the rest pose if
/// there are no frames.
pub(super) fn of(motions: &[Motion], bound: &BoundMeshes) -> [[f32; 3]; 2] {
    let Some(first) = motions.first() else { return [[0.0; 3]; 2] };
    let parts = parts(&first.character);
    let mut whole = JointBox::EMPTY;
    bound.unmoved_points().for_each(|p| whole.include(p));
    let mut pose = |joints: &[Transform]| {
        for (id, part) in &parts {
            part.corners().iter().for_each(|c| whole.include(&joints[id.index()].point(c)));
        }
    };
    for motion in motions {
        (0..motion.clip.frames()).for_each(|frame| pose(motion.model_pose(frame).joints()));
    }
    if motions.iter().all(|m| m.clip.frames() == 0) {
        pose(first.character.skeleton().rest_model_pose().joints());
    }
    [whole.low, whole.high].map(|v| single(&v))
}

/// The box of the vertices of each joint, in the joint's space; for a character without meshes, of the joint itself.
fn parts(character: &Character) -> BTreeMap<JointId, JointBox> {
    let mut parts = BTreeMap::new();
    for mesh in &character.meshes {
        for (v, position) in mesh.positions.iter().enumerate() {
            let position = Vec3::from(position.map(f64::from));
            // Morph targets move a vertex at most this far down and up each axis, with weights of 0 to 1.
            let (mut down, mut up) = (position, position);
            for by in mesh.morphs.iter().map(|morph| Vec3::from(morph.offsets[v].map(f64::from))) {
                (down, up) = (down + by.inf(&Vec3::zeros()), up + by.sup(&Vec3::zeros()));
            }
            let moved = JointBox { low: down, high: up };
            for (b, _) in mesh.influences(v) {
                let Some(binding) = mesh.bindings.get(usize::from(b)) else { continue };
                let part = parts.entry(binding.joint).or_insert(JointBox::EMPTY);
                let corners =
                    if mesh.morphs.is_empty() { &moved.corners()[..1] } else { &moved.corners()[..] };
                corners.iter().for_each(|corner| part.include(&point(&binding.joint_from_mesh, corner)));
            }
        }
    }
    if parts.is_empty() {
        let mut part = JointBox::EMPTY;
        part.include(&Vec3::zeros());
        parts.extend(character.skeleton().ids().map(|id| (id, part)));
    }
    parts
}
