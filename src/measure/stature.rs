//! A character becomes the one length that every measure is scaled by: its height, sole to the top of the head.
//!
//! Measured in the bind pose, else in the rest pose, along the body's own upright direction. Units: metres.

use crate::anatomy::Figure;
use crate::math::Vec3;
use crate::model::{Character, JointId, ModelPose, Role};

/// The height that lengths are scaled to before they are compared, metres.
pub const COMMON_HEIGHT: f64 = 1.75;

/// The heights of the hip joints and of the joint of the head, as parts of the whole (Drillis and Contini 1966, in
/// Winter, Biomechanics and Motor Control of Human Movement, fig. 4.1: greater trochanter and chin).
const HIP: f64 = 0.53;
const CHIN: f64 = 0.87;

/// The pose that bodies are measured in, model space: the bind pose, else the rest pose.
pub fn standing_pose(character: &Character) -> ModelPose {
    character.bind.clone().unwrap_or_else(|| character.skeleton().rest_model_pose())
}

/// The height of `character`: from the sole to the top of the head, by skin, tips and joints of the head; where those
/// say nothing, by the head's joint or by the legs; the extent of the skeleton without legs. At least a micrometre.
pub fn height(character: &Character, standing: &ModelPose) -> f64 {
    let rig = &character.rig;
    let Some(figure) = Figure::of(rig, standing) else { return extent(standing).max(1e-6) };
    let above = |p: &Vec3| p.dot(&figure.up) - figure.sole;
    let by_leg = figure.leg / HIP;
    let Some(head) = rig.joint(Role::Head) else { return by_leg };
    let chin = above(&standing.position(head));
    let crown = crown(character, standing, head).iter().map(above).fold(chin, f64::max);
    // A head that does not reach a twentieth beyond its joint is a joint without extent.
    let height = if crown > 1.05 * chin { crown } else { chin / CHIN };
    if chin > 0.0 && height.is_finite() { height } else { by_leg }
}

/// Where the head's joints, their tips and their skin lie.
fn crown(character: &Character, standing: &ModelPose, head: JointId) -> Vec<Vec3> {
    let skeleton = character.skeleton();
    let mut of_head = vec![false; skeleton.len()];
    for id in skeleton.ids() {
        of_head[id.index()] = id == head || skeleton.parent(id).is_some_and(|p| of_head[p.index()]);
    }
    let mut found = Vec::new();
    for id in skeleton.ids().filter(|id| of_head[id.index()]) {
        found.push(standing.position(id));
        found.extend(skeleton.joint(id).tip.map(|tip| standing.joint(id).point(&tip)));
    }
    for mesh in &character.meshes {
        for ((p, joints), weights) in mesh.positions.iter().zip(&mesh.joints).zip(&mesh.weights) {
            let heaviest = (0..4).max_by(|&a, &b| weights[a].total_cmp(&weights[b])).unwrap_or(0);
            let Some(binding) = mesh.bindings.get(usize::from(joints[heaviest])) else { continue };
            if of_head[binding.joint.index()] {
                let p = Vec3::new(p[0].into(), p[1].into(), p[2].into());
                let inside = binding.joint_from_mesh.transform_point(&p.into()).coords;
                found.push(standing.joint(binding.joint).point(&inside));
            }
        }
    }
    found
}

/// The greatest side of the box around the joints.
fn extent(standing: &ModelPose) -> f64 {
    let side = |axis: usize| {
        let along = standing.joints().iter().map(|t| t.translation[axis]);
        let (low, high) =
            along.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
        high - low
    };
    (0..3).map(side).fold(0.0, f64::max)
}
