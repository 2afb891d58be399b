//! The bones of a standard figure, moved like a character by the roles of its joints.
//!
//! With `T` the rotation of a joint in a T-pose and `W` that in a frame, both in model space, the bone is rotated by `W T^-1 B^-1`,
//! where `B` takes the T-pose to the bind pose of the figure, whose arms slope. The middle of the hip joints follows the character's,
//! scaled by the ratio of the lengths of the legs.

use crate::anatomy::{Figure, TPose};
use crate::export::vrma::bone_name;
use crate::math::{Quat, Transform, Vec3, exp};
use crate::mmd_document::{ARM_SLOPE, MmdBone, humanoid_bones, standard_bones};
use crate::model::{Character, JointId, ModelPose, Role};

/// The figure and what moves it.
pub(super) struct FigureBones {
    pub(super) bones: Vec<MmdBone>,
    /// For each bone the joint that rotates it, and `T^-1 B^-1`.
    drives: Vec<Option<(JointId, Quat)>>,
    hips: JointId,
    /// The middle of the hip joints in the space of the hips.
    pelvis: Vec3,
    /// The lower body, and the middle of the hip joints in its space.
    lower: usize,
    lower_pelvis: Vec3,
    centre: usize,
    scale: f64,
    ground: f64,
}

impl FigureBones {
    /// The figure of a character; `None` if it has no hips or no legs.
    pub(super) fn of(character: &Character) -> Option<Self> {
        let (rig, pose) = (&character.rig, character.reference_pose());
        let (figure, hips) = (Figure::of(rig, &pose)?, rig.joint(Role::Hips)?);
        let t_pose = TPose::of(character, &pose);
        let bones = standard_bones();
        let names = humanoid_bones(&bones);
        let spine = rig.chain(Role::Spine).len();
        let mut drives = vec![None; bones.len()];
        for (role, assignment) in rig.assignments() {
            let word = match role {
                // The figure has two bones of the spine: the first and the last.
                Role::Spine(0) => Some("spine".to_owned()),
                Role::Spine(n) if usize::from(n) + 1 == spine => Some("chest".to_owned()),
                Role::Spine(_) => None,
                role => bone_name(role, spine, false),
            };
            let bone = word.and_then(|word| names.iter().find(|(known, _)| *known == word));
            if let Some((_, bone)) = bone {
                let t = t_pose.as_ref().map_or_else(Quat::identity, |t| t.rotation(role));
                let t = t * pose.joint(assignment.joint).rotation;
                drives[*bone] = Some((assignment.joint, (slope(role) * t).inverse()));
            }
        }
        let find = |name: &str| bones.iter().position(|bone| bone.name == name);
        let (lower, centre) = (find("下半身")?, find("センター")?);
        let middle = (bones[find("左足")?].position + bones[find("右足")?].position) * 0.5;
        let lower_pelvis = middle - bones[lower].position;
        let pelvis = pose.joint(hips).inverse().point(&figure.pelvis);
        // The soles of the figure are at height 0, and so is the ground of a capture.
        let ground = if character.document.is_some() { figure.sole } else { 0.0 };
        let scale = middle.y / figure.leg_to_sole;
        Some(Self { bones, drives, hips, pelvis, lower, lower_pelvis, centre, scale, ground })
    }

    /// The bones in a pose of the character.
    pub(super) fn placed(&self, pose: &ModelPose) -> Vec<Transform> {
        let rotation = |k: usize| {
            let (joint, inverse) = self.drives[k].as_ref()?;
            Some(pose.joint(*joint).rotation * inverse)
        };
        let pelvis = pose.joint(self.hips).point(&self.pelvis) - Vec3::y() * self.ground;
        let rotated = rotation(self.lower).unwrap_or_else(Quat::identity) * self.lower_pelvis;
        let moved = pelvis * self.scale - rotated - self.bones[self.lower].position;
        let mut placed: Vec<Transform> = Vec::with_capacity(self.bones.len());
        // Parents come first.
        for (k, bone) in self.bones.iter().enumerate() {
            let parent = bone.parent.map_or_else(Transform::identity, |p| placed[p]);
            let mut at = parent.point(&bone.offset(&self.bones));
            if k == self.centre {
                at += moved;
            }
            placed.push(Transform::new(rotation(k).unwrap_or(parent.rotation), at));
        }
        placed
    }
}

/// The rotation of a limb from the T-pose to the bind pose of the figure.
fn slope(role: Role) -> Quat {
    let side = match role {
        Role::UpperArm(side) | Role::LowerArm(side) | Role::Hand(side) | Role::Finger(side, ..) => side,
        _ => return Quat::identity(),
    };
    let [sine, cosine] = ARM_SLOPE;
    exp(&(Vec3::z() * -libm::atan2(sine, cosine) * side.sign()))
}
