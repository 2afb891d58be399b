//! Detects a root joint that an importer added to join several roots; such a root is not written.

use crate::math::{Quat, Vec3};
use crate::model::{Clip, JointId, Skeleton};

/// Whether the root was added by an importer above several roots, and neither rests nor moves away from the origin.
pub(super) fn has_synthetic_root(skeleton: &Skeleton, clip: &Clip) -> bool {
    let root = JointId::new(0);
    let joint = skeleton.joint(root);
    let still = |q: &Quat| q.imag() == Vec3::zeros();
    joint.file_name.is_none()
        && skeleton.children(root).len() > 1
        && joint.rest.translation == Vec3::zeros()
        && still(&joint.rest.rotation)
        && !clip.translated().contains(&root)
        && (0..clip.frames()).all(|f| still(&clip.rotations(f)[0]))
}
