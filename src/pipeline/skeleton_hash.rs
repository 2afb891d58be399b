//! A hash by which results that share a skeleton are known.

use crate::model::Skeleton;

/// Hexadecimal digits of the hash of a skeleton: 64 bits, as those of lines of the manifest.
const SKELETON_DIGITS: usize = 16;

/// A hash of names, parents and rest pose of all joints, the same for results that one program can read as one skeleton.
pub(super) fn skeleton_hash(skeleton: &Skeleton) -> String {
    let mut hasher = blake3::Hasher::new();
    for joint in skeleton.joints() {
        let parent = joint.parent.map_or(-1, |parent| parent.index() as i64);
        hasher.update(&(joint.name.len() as u64).to_le_bytes());
        hasher.update(joint.name.as_bytes());
        hasher.update(&parent.to_le_bytes());
        let (position, rotation) = (joint.rest.translation, joint.rest.rotation);
        let numbers = position.iter().chain(rotation.coords.iter());
        numbers.for_each(|x| _ = hasher.update(&x.to_le_bytes()));
    }
    hasher.finalize().to_hex()[..SKELETON_DIGITS].to_owned()
}
