//! The bones of a character whose document was made of a `.pmx` file.

use crate::export::save::ExportError;
use crate::math::Transform;
use crate::mmd_document::{MmdBone, bones_of_document};
use crate::model::{Character, JointId, ModelPose};

/// The bones of a character and its joints.
pub(super) struct ModelBones {
    pub(super) bones: Vec<MmdBone>,
    /// The bones that have chains.
    pub(super) chains: Vec<String>,
    joints: Vec<JointId>,
    /// From model space to the space of the document.
    file_from_model: Transform,
    rest: ModelPose,
}

impl ModelBones {
    /// The bones of a character; `None` if its document is none of a `.pmx` file.
    ///
    /// # Errors
    /// A document that cannot be opened.
    pub(super) fn of(character: &Character) -> Result<Option<Self>, ExportError> {
        let Some(document) = &character.document else { return Ok(None) };
        let Some(nodes) = bones_of_document(&document.bytes)? else { return Ok(None) };
        // The bones that are joints, in order.
        let mut joint_of = vec![None; nodes.len()];
        for (joint, node) in document.nodes.iter().enumerate() {
            node.and_then(|node| joint_of.get_mut(node)).into_iter().for_each(|slot| *slot = Some(joint));
        }
        let mut index = vec![None; nodes.len()];
        let (mut bones, mut joints, mut chains) = (Vec::new(), Vec::new(), Vec::new());
        for (k, bone) in nodes.into_iter().enumerate() {
            if let Some(((bone, has_chain), joint)) = bone.zip(joint_of[k]) {
                index[k] = Some(bones.len());
                chains.extend(has_chain.then(|| bone.name.clone()));
                bones.push(bone);
                joints.push(JointId::new(joint));
            }
        }
        for bone in &mut bones {
            bone.parent = bone.parent.and_then(|p| index[p]);
            bone.append = bone.append.take().and_then(|mut append| {
                append.source = index[append.source]?;
                Some(append)
            });
        }
        let file_from_model = Transform::from_rotation(document.model_from_file.inverse());
        let rest = character.skeleton().rest_model_pose();
        Ok((!bones.is_empty()).then_some(Self { bones, chains, joints, file_from_model, rest }))
    }

    /// The bones in a pose: bones have the axes of the model, joints may have others.
    pub(super) fn placed(&self, pose: &ModelPose) -> Vec<Transform> {
        let place = |joint: &JointId| {
            let (now, rest) = (pose.joint(*joint), self.rest.joint(*joint));
            let axes = self.file_from_model.rotation * rest.rotation;
            let placed = self.file_from_model * *now;
            Transform::new(placed.rotation * axes.inverse(), placed.translation)
        };
        self.joints.iter().map(place).collect()
    }
}
