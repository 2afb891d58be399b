//! Moves joints above the hips on which skin hangs, so that the skin is not torn.
//!
//! A transfer moves the hips through the world and leaves the joints above them where they are. Skin that hangs on such a
//! joint would stay behind. Skin at the height of the pelvis moves with the hips, as if it were bound to them; skin near the
//! ground moves over the ground with the pelvis and its heading, since it may not swing when the pelvis tilts. All other joints
//! keep their model-space transforms. Space: model space, Y up. Units: metres.

use super::rest_alignment::ReferenceBody;
use crate::math::{Transform, Vec3, exp, horizontal, twist_angle};
use crate::model::{Character, JointId, ModelPose, Motion, Skeleton};
use crate::signal::fix_hemispheres;

/// Least weight of a vertex that counts as skin: over a path of 5 m a lighter vertex is torn by less than 5 cm, and
/// rounding to bytes gives 0.004.
const LEAST_WEIGHT: f32 = 0.01;
/// Share of the height of the hip joints above which the skin of a joint is at the pelvis, and below which near the ground.
const AT_PELVIS: f64 = 0.5;

/// How a joint is moved.
#[derive(Clone, Debug)]
enum RootLink {
    /// Rigidly with the hips: the joint in the hips' space.
    WithHips(Transform),
    /// Over the ground with the pelvis and its heading: the joint in the reference pose.
    OverGround(Transform),
}

/// The joints above the hips that have skin, and how they move.
#[derive(Clone, Debug)]
pub struct SkinnedRoots {
    hips: JointId,
    /// The hips in the reference pose.
    reference_hips: Transform,
    joints: Vec<(JointId, RootLink)>,
}

impl SkinnedRoots {
    /// Those of a character; `None` if no joint above the hips has skin.
    pub fn of(body: &ReferenceBody, hips: JointId) -> Option<Self> {
        let (figure, skeleton) = (body.figure?, body.rig.skeleton());
        let at = |id: JointId| *body.reference_pose.joint(id);
        let middle = AT_PELVIS * (figure.pelvis.y - figure.sole) + figure.sole;
        let link = |id: JointId| {
            let height = skin_height(body.body.character(), body.reference_pose, id)?;
            let moves = match height > middle {
                true => RootLink::WithHips(at(hips).inverse() * at(id)),
                false => RootLink::OverGround(at(id)),
            };
            Some((id, moves))
        };
        let joints: Vec<_> = skeleton.path_to_root(hips).skip(1).filter_map(link).collect();
        (!joints.is_empty()).then(|| Self { hips, reference_hips: at(hips), joints })
    }

    /// The motion with these joints moved.
    pub fn applied_to(&self, motion: Motion) -> Motion {
        let Motion { character, mut clip, contacts } = motion;
        let skeleton = character.skeleton();
        let moved_joints: Vec<JointId> = skeleton.ids().filter(|id| self.is_moved(skeleton, *id)).collect();
        // Joints that the clip moves through the world stay where they are; others follow their parents.
        let mut follows = vec![false; skeleton.len()];
        let mut changed: Vec<JointId> = Vec::new();
        for id in skeleton.ids() {
            let parent_follows = skeleton.parent(id).is_some_and(|p| follows[p.index()]);
            let stays = id == self.hips || clip.translated().contains(&id);
            follows[id.index()] = moved_joints.contains(&id) || parent_follows && !stays;
            if follows[id.index()] || parent_follows {
                changed.push(id);
            }
        }
        let mut translated = clip.translated().to_vec();
        translated.extend(&moved_joints);
        translated.push(self.hips);
        translated.sort();
        translated.dedup();
        let mut translations = Vec::with_capacity(clip.frames() * translated.len());
        for f in 0..clip.frames() {
            let mut pose = clip.pose(skeleton, f);
            let model = ModelPose::of(skeleton, &pose);
            let mut new = model.joints().to_vec();
            for &id in &changed {
                let above = skeleton.parent(id).map_or_else(Transform::identity, |p| new[p.index()]);
                let own = &mut pose.local_mut()[id.index()];
                if let Some(at) = self.transform(id, &model) {
                    new[id.index()] = at;
                } else if follows[id.index()] {
                    new[id.index()] = above * *own;
                    if !moved_joints.contains(&id) {
                        continue;
                    }
                }
                *own = above.inverse() * new[id.index()];
                clip.rotations_mut(f)[id.index()] = own.rotation;
            }
            translations.extend(translated.iter().map(|id| pose.joint(*id).translation));
        }
        let mut clip = clip.translating(translated, translations);
        fix_hemispheres(&mut clip);
        Motion { character, clip, contacts }
    }

    /// Whether a joint above the hips is one of these or below one.
    fn is_moved(&self, skeleton: &Skeleton, id: JointId) -> bool {
        let own = |(joint, _): &(JointId, RootLink)| *joint == id || skeleton.is_ancestor(*joint, id);
        skeleton.is_ancestor(id, self.hips) && id != self.hips && self.joints.iter().any(own)
    }

    /// The new model-space transform of a joint, if it is one of these.
    fn transform(&self, id: JointId, model: &ModelPose) -> Option<Transform> {
        let (_, link) = self.joints.iter().find(|(joint, _)| *joint == id)?;
        let hips = model.joint(self.hips);
        Some(match link {
            RootLink::WithHips(within) => *hips * *within,
            RootLink::OverGround(at) => {
                let heading =
                    twist_angle(&(hips.rotation * self.reference_hips.rotation.inverse()), &Vec3::y());
                let over_ground = |p: &Vec3| Transform::from_translation(horizontal(p));
                let rotated = Transform::from_rotation(exp(&(Vec3::y() * heading)));
                over_ground(&hips.translation)
                    * rotated
                    * over_ground(&self.reference_hips.translation).inverse()
                    * *at
            }
        })
    }
}

/// The joints above the hips that have skin.
pub(crate) fn skinned_above(character: &Character, hips: JointId) -> Vec<JointId> {
    let pose = character.reference_pose();
    let above = character.skeleton().path_to_root(hips).skip(1);
    above.filter(|id| skin_height(character, &pose, *id).is_some()).collect()
}

/// The mean height of the skin of a joint in the reference pose, by weight; `None` without skin.
fn skin_height(character: &Character, reference_pose: &ModelPose, joint: JointId) -> Option<f64> {
    let model_from_joint = reference_pose.joint(joint);
    let (mut sum, mut mass) = (0.0, 0.0);
    for mesh in &character.meshes {
        for ((p, joints), weights) in mesh.positions.iter().zip(&mesh.joints).zip(&mesh.weights) {
            for (k, weight) in joints.iter().zip(weights).filter(|(_, weight)| **weight >= LEAST_WEIGHT) {
                let Some(binding) = mesh.bindings.get(usize::from(*k)).filter(|b| b.joint == joint) else {
                    continue;
                };
                let p = Vec3::new(p[0].into(), p[1].into(), p[2].into());
                let within = binding.joint_from_mesh.transform_point(&p.into()).coords;
                sum += f64::from(*weight) * model_from_joint.point(&within).y;
                mass += f64::from(*weight);
            }
        }
    }
    (mass > 0.0).then(|| sum / mass)
}
