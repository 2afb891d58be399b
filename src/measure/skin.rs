//! Skin and bones become how much of the arms lies inside the rest of the body.
//!
//! After the penetration rate of Zhang et al., Skinned Motion Retargeting with Residual Perception of Motion Semantics and
//! Geometry (2023): the share of limb vertices inside the body. Assumed here: the body is a capsule about every bone of
//! trunk, head and thighs, as thick as the skin is at its thinnest fifth, so that what counts as inside is inside; arms are
//! forearms and hands; at most 256 vertices stand for all; vertices inside when the skin was bound are left out.
//! Space: model space. Units: the figure's own metres.

use super::statistics::percentile;
use crate::math::Vec3;
use crate::model::{Character, JointId, ModelPose, Role, Side};

/// How many vertices stand for both arms.
const VERTICES: usize = 256;
/// The part of a bone's skin that is nearer to it than the capsule is thick.
const THIN: f64 = 0.2;

/// A vertex of an arm: its place in the space of each joint that moves it, with the weight.
#[derive(Clone, Debug)]
struct Vertex {
    bound: Vec<(JointId, Vec3, f64)>,
}

impl Vertex {
    fn place(&self, model: &ModelPose) -> Vec3 {
        self.bound.iter().map(|(joint, at, weight)| model.joint(*joint).point(at) * *weight).sum()
    }
}

/// A bone with its thickness: from a joint to a place in its space.
#[derive(Clone, Copy, Debug)]
struct Capsule {
    joint: JointId,
    end: Vec3,
    radius: f64,
}

/// The arms' vertices and the body's capsules.
#[derive(Clone, Debug, Default)]
pub struct Skin {
    arms: Vec<Vertex>,
    body: Vec<Capsule>,
}

impl Skin {
    /// The skin of `character`, bound as `standing`; nothing of those that have none, or no arms.
    pub fn of(character: &Character, standing: &ModelPose) -> Self {
        let rig = &character.rig;
        let skeleton = rig.skeleton();
        let mut of_arm = vec![false; skeleton.len()];
        let mut of_bone: Vec<Option<JointId>> = vec![None; skeleton.len()];
        let bones = bones(character, standing);
        for id in skeleton.ids() {
            let above = skeleton.parent(id);
            let starts = Side::BOTH.into_iter().any(|s| rig.joint(Role::LowerArm(s)) == Some(id));
            of_arm[id.index()] = starts || above.is_some_and(|p| of_arm[p.index()]);
            of_bone[id.index()] = Some(id).filter(|id| bones.iter().any(|b| b.0 == *id));
        }
        let mut arms = Vec::new();
        let mut distances: Vec<Vec<f64>> = vec![Vec::new(); bones.len()];
        for mesh in &character.meshes {
            for ((p, joints), weights) in mesh.positions.iter().zip(&mesh.joints).zip(&mesh.weights) {
                let p = Vec3::new(p[0].into(), p[1].into(), p[2].into());
                let bound = |k: usize| {
                    let binding = mesh.bindings.get(usize::from(joints[k]))?;
                    let at = binding.joint_from_mesh.transform_point(&p.into()).coords;
                    Some((binding.joint, at, f64::from(weights[k]))).filter(|b| b.2 > 0.0)
                };
                let vertex = Vertex { bound: (0..4).filter_map(bound).collect() };
                let Some(heaviest) = vertex.bound.iter().max_by(|a, b| a.2.total_cmp(&b.2)).map(|b| b.0)
                else {
                    continue;
                };
                if of_arm[heaviest.index()] {
                    arms.push(vertex);
                } else if let Some(bone) = of_bone[heaviest.index()] {
                    let place = vertex.place(standing);
                    for ((joint, end), distances) in bones.iter().zip(&mut distances) {
                        // Skin beyond the ends belongs to the next bone.
                        if *joint == bone
                            && let Some(distance) = beside(&place, &standing.position(bone), end)
                        {
                            distances.push(distance);
                        }
                    }
                }
            }
        }
        let capsule = |((joint, end), mut distances): ((JointId, Vec3), Vec<f64>)| {
            let end = standing.joint(joint).inverse().point(&end);
            (distances.len() >= 8).then(|| Capsule { joint, end, radius: percentile(&mut distances, THIN) })
        };
        let body: Vec<Capsule> = bones.into_iter().zip(distances).filter_map(capsule).collect();
        arms.retain(|v| !inside(&body, standing, &v.place(standing)));
        let stride = arms.len().div_ceil(VERTICES).max(1);
        Self { arms: arms.into_iter().step_by(stride).collect(), body }
    }

    /// Whether there is anything to be inside of anything.
    pub fn is_empty(&self) -> bool {
        self.arms.is_empty() || self.body.is_empty()
    }

    /// The share of the arms' vertices inside the body.
    pub fn share_inside(&self, model: &ModelPose) -> f64 {
        let count = self.arms.iter().filter(|v| inside(&self.body, model, &v.place(model))).count();
        count as f64 / self.arms.len().max(1) as f64
    }
}

/// Joints of trunk, head and thighs, each with the end of its bone.
fn bones(character: &Character, standing: &ModelPose) -> Vec<(JointId, Vec3)> {
    let rig = &character.rig;
    let mut trunk: Vec<JointId> = rig.joint(Role::Hips).into_iter().collect();
    trunk.extend(rig.chain(Role::Spine));
    trunk.extend(rig.chain(Role::Neck));
    trunk.extend(rig.joint(Role::Head));
    let mut bones: Vec<(JointId, Vec3)> =
        trunk.windows(2).map(|pair| (pair[0], standing.position(pair[1]))).collect();
    if let Some(head) = rig.joint(Role::Head)
        && let Some(tip) = rig.skeleton().joint(head).tip
    {
        bones.push((head, standing.joint(head).point(&tip)));
    }
    for side in Side::BOTH {
        if let (Some(thigh), Some(shin)) = (rig.joint(Role::UpperLeg(side)), rig.joint(Role::LowerLeg(side)))
        {
            bones.push((thigh, standing.position(shin)));
        }
    }
    bones
}

/// The distance of `p` from the line of a bone; `None` beyond its ends.
fn beside(p: &Vec3, from: &Vec3, to: &Vec3) -> Option<f64> {
    let along = to - from;
    let share = (p - from).dot(&along) / along.norm_squared();
    (0.0..=1.0).contains(&share).then(|| (p - from - along * share).norm())
}

fn inside(body: &[Capsule], model: &ModelPose, p: &Vec3) -> bool {
    body.iter().any(|capsule| {
        let joint = model.joint(capsule.joint);
        let (from, to) = (joint.translation, joint.point(&capsule.end));
        let along = to - from;
        let share = ((p - from).dot(&along) / along.norm_squared().max(1e-12)).clamp(0.0, 1.0);
        (p - from - along * share).norm_squared() < capsule.radius * capsule.radius
    })
}
