//! Additional input of shape detection: skin weight per joint, sampled frames of a clip, and properties of the file.
//!
//! Space: frames are in the space of the clip, which may differ from that of the rest pose.

use crate::math::Vec3;
use crate::model::{Clip, JointId, Mesh, ModelPose, Skeleton};

/// Sampled frames of a clip, evenly spread: enough to show which joints bend.
const FRAMES: usize = 16;

/// Input from a file besides names and the rest pose.
#[derive(Clone, Copy, Debug, Default)]
pub struct ShapeEvidence<'a> {
    /// Sum of the skin weights of each joint, in joint order; `None` without a skin.
    pub mass: Option<&'a [f64]>,
    /// Whether every mesh is moved by one joint alone: joints without a mesh may still be toes.
    pub rigid: bool,
    /// A clip that plays on the skeleton.
    pub clip: Option<&'a Clip>,
    /// Whether the file mirrors the body by a scale below zero: names of sides may be those of the mirror image.
    pub mirrored: bool,
}

/// Whether every mesh is moved by one joint alone: a figure of rigid parts. Without meshes there is nothing to contradict it.
pub fn is_rigid(meshes: &[Mesh]) -> bool {
    meshes.iter().all(|mesh| mesh.bindings.len() == 1)
}

/// Sum of the skin weights of each joint; `None` where no mesh is bound to any.
pub fn skin_mass(meshes: &[Mesh], joints: usize) -> Option<Vec<f64>> {
    let mut mass = vec![0.0; joints];
    for mesh in meshes {
        for (bound, weights) in mesh.joints.iter().zip(&mesh.weights) {
            for (&b, &weight) in bound.iter().zip(weights) {
                if let Some(binding) = mesh.bindings.get(usize::from(b)) {
                    mass[binding.joint.index()] += f64::from(weight);
                }
            }
        }
    }
    mass.iter().any(|&m| m > 0.0).then_some(mass)
}

/// Radians of rotation (half a degree) below which a joint keeps still: more than rounding, less than any breath.
const STILL: f64 = 0.01;

/// Whether a joint keeps its rotation in the clip while another one rotates.
pub fn is_still(clip: &Clip, joint: JointId, other: JointId) -> bool {
    rotates(clip, other) && !rotates(clip, joint)
}

/// Whether a joint rotates in a clip.
pub fn rotates(clip: &Clip, joint: JointId) -> bool {
    let step = clip.frames().div_ceil(FRAMES).max(1);
    let at = |frame: usize| clip.rotations(frame)[joint.index()];
    (0..clip.frames()).step_by(step).any(|frame| at(0).angle_to(&at(frame)) > STILL)
}

/// The positions of all joints in sampled frames of a clip.
pub(super) fn frames(skeleton: &Skeleton, clip: &Clip) -> Vec<Vec<Vec3>> {
    let count = clip.frames();
    let step = count.div_ceil(FRAMES).max(1);
    let mut pose = skeleton.rest_pose();
    let positions = |frame: usize| {
        clip.read_pose(frame, &mut pose);
        let model = ModelPose::of(skeleton, &pose);
        skeleton.ids().map(|id| model.position(id)).collect()
    };
    (0..count).step_by(step).map(positions).collect()
}
