//! A motion and its character at another size.

use crate::math::{Mat4, Transform};
use crate::model::{Character, ModelPose, Motion, Rig, Skeleton};
use std::sync::Arc;

/// The motion of a character whose lengths are `factor` times as long: the same rotations, roles and mass, without the source file
/// and contacts.
pub(super) fn scaled(motion: &Motion, factor: f64) -> Motion {
    let from = &motion.character;
    let longer = |place: &Transform| Transform::new(place.rotation, place.translation * factor);
    let mut joints = from.skeleton().joints().to_vec();
    for joint in &mut joints {
        joint.rest = longer(&joint.rest);
        joint.tip = joint.tip.map(|tip| tip * factor);
    }
    let skeleton = Skeleton::new(joints).expect("the same tree");
    let roles: Vec<_> = from.rig.assignments().map(|(role, how)| (role, how.clone())).collect();
    let mut character = Character::new(from.name.clone(), Rig::new(skeleton, roles));
    character.bind = Some(ModelPose::new(from.reference_pose().joints().iter().map(longer).collect()));
    character.mass = from.mass;
    character.meshes.clone_from(&from.meshes);
    for binding in character.meshes.iter_mut().flat_map(|mesh| &mut mesh.bindings) {
        binding.joint_from_mesh = Mat4::new_scaling(factor) * binding.joint_from_mesh;
    }
    let mut clip = motion.clip.clone();
    clip.all_translations_mut().iter_mut().for_each(|place| *place *= factor);
    Motion::new(Arc::new(character), clip)
}
