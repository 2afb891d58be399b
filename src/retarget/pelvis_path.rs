//! Path of the pelvis: the middle of the hip joints, scaled by the ratio of leg lengths, with heights from the ground.
//!
//! The ground of a take with contact labels is where its soles are planted, and a character that stands upright in its own
//! file then stands on the height of its own soles, including its skin. Without labels the ground of a capture is the zero
//! of its world, and heights are those of joints.

use super::joint_map::JointPair;
use super::rest_alignment::ReferenceBody;
use crate::math::Vec3;
use crate::model::{JointId, ModelPose, Role};

/// The path of the middle of the hip joints.
#[derive(Clone, Debug)]
pub struct PelvisPath {
    hips: JointId,
    /// The pelvis point in the source hips' space.
    pelvis_in_hips: Vec3,
    source_ground: f64,
    target_ground: f64,
    /// The scale over the ground.
    path_scale: f64,
    /// The scale of heights.
    height_scale: f64,
    over_known_ground: Option<GroundedHeights>,
}

/// The target's ground and the scale of heights for a known ground of the source.
#[derive(Clone, Copy, Debug)]
struct GroundedHeights {
    /// The height of the target's soles.
    sole: f64,
    /// The ratio of the heights of hip joints above soles, target to source.
    height_scale: f64,
}

impl PelvisPath {
    /// The path of the pair of hips, with the scales over the ground and of heights.
    pub fn of(
        pair: &JointPair,
        source: &ReferenceBody,
        target: &ReferenceBody,
        [path_scale, height_scale]: [f64; 2],
    ) -> PelvisPath {
        // A character onto itself, and one without a file to stand in, keep their floor.
        let own = source.twin || source.rig.skeleton() == target.rig.skeleton();
        let stands = target.body.character().document.is_some() && !own;
        let ratio = || {
            let (from, to) = (soles(source)?, soles(target)?);
            Some(GroundedHeights { sole: to.0, height_scale: to.1 / from.1 })
        };
        PelvisPath {
            hips: pair.source,
            pelvis_in_hips: pelvis_point(source, pair.role, pair.source),
            source_ground: if own { 0.0 } else { ground(source) },
            target_ground: if own { 0.0 } else { ground(target) },
            path_scale,
            height_scale,
            over_known_ground: stands.then(ratio).flatten(),
        }
    }

    /// The height in the target's world of a height in the source's.
    pub fn height(&self, y: f64) -> f64 {
        self.target_ground + self.height_scale * (y - self.source_ground)
    }

    /// The path over a ground known to be at this height of the source's world.
    pub fn on_ground(self, ground: f64) -> PelvisPath {
        match self.over_known_ground {
            Some(GroundedHeights { sole, height_scale }) => {
                PelvisPath { source_ground: ground, target_ground: sole, height_scale, ..self }
            }
            None => self,
        }
    }

    /// The target's pelvis point for a source pose.
    pub fn pelvis(&self, from: &ModelPose) -> Vec3 {
        self.point(&from.joint(self.hips).point(&self.pelvis_in_hips))
    }

    /// The point in the target's world of a point in the source's: scaled over the ground and above it.
    pub fn point(&self, p: &Vec3) -> Vec3 {
        Vec3::new(p.x * self.path_scale, self.height(p.y), p.z * self.path_scale)
    }
}

/// The middle of the hip joints in the space of `joint`, which has `role`; for another role than the hips its own origin.
pub fn pelvis_point(body: &ReferenceBody, role: Option<Role>, joint: JointId) -> Vec3 {
    let point = match role {
        Some(Role::Hips) => body.figure.map(|f| f.pelvis),
        _ => None,
    };
    let reference_pose = body.reference_pose;
    reference_pose.joint(joint).inverse().point(&point.unwrap_or(reference_pose.position(joint)))
}

/// The height of the ground of a body: that of its soles for a model, the zero of its world for a capture.
fn ground(body: &ReferenceBody) -> f64 {
    match (body.body.character().document.is_some(), body.figure) {
        (true, Some(figure)) if figure.up == Vec3::y() => figure.sole,
        _ => 0.0,
    }
}

/// The height of the soles of a body that stands upright, and the height of its hip joints above them.
fn soles(body: &ReferenceBody) -> Option<(f64, f64)> {
    let figure = body.figure.filter(|f| f.up == Vec3::y())?;
    let sole = body.body.sole_height()?;
    Some((sole, figure.leg_to_sole + figure.sole - sole))
}
