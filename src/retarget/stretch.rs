//! Transfer of a joint's own translation between versions of one rig.

use super::joint_map::JointMap;
use super::position_source::PositionSource;
use super::rest_alignment::ReferenceBody;
use crate::anatomy::same_words;
use crate::math::Vec3;
use crate::model::{JointId, ModelPose, Rig};

/// The translation of a source joint that its target joint copies, as a world-space offset.
#[derive(Clone, Debug)]
pub struct JointStretch {
    /// The joint of the source.
    pub source: JointId,
    /// The source joint that it is attached to, and its position in that joint's space in the reference pose.
    parent: JointId,
    at: Vec3,
    /// Whether the source joint is not a descendant of that joint, and so moves freely relative to it.
    pub free: bool,
}

impl JointStretch {
    /// The displacement of the source joint from its position without stretch.
    pub fn offset(&self, from: &ModelPose) -> Vec3 {
        from.position(self.source) - from.joint(self.parent).point(&self.at)
    }
}

/// Whether both rigs are versions of one: nine of ten joints have the same name.
pub fn of_one_rig(source: &Rig, target: &Rig, map: &JointMap) -> bool {
    let same = |s: JointId, t: JointId| same_words(&name(source, s), &name(target, t));
    let shared = map.pairs.iter().filter(|p| p.blend.is_none() && same(p.source, p.target)).count();
    shared * 10 >= source.skeleton().len().max(target.skeleton().len()) * 9
}

fn name(rig: &Rig, id: JointId) -> String {
    rig.skeleton().joint(id).name.clone()
}

/// The joints whose own translation may be transferred, between versions of one rig: those whose parents correspond as well.
/// Elsewhere bones keep their length.
pub fn joint_stretches(
    source: &ReferenceBody,
    t_rig: &Rig,
    map: &JointMap,
    positions: &[PositionSource],
) -> Vec<Option<JointStretch>> {
    let (s_rig, source_reference) = (source.rig, source.reference_pose);
    let same = |s: JointId, t: JointId| same_words(&name(s_rig, s), &name(t_rig, t));
    t_rig
        .skeleton()
        .ids()
        .map(|id| {
            let pair = map.driving(id).filter(|p| p.blend.is_none() && same(p.source, id))?;
            let parent = match &positions[id.index()] {
                PositionSource::Tree => t_rig.skeleton().parent(id)?,
                PositionSource::Attached(parent, _) => *parent,
                PositionSource::Pelvis(_) | PositionSource::Path(_) | PositionSource::Still(_) => {
                    return None;
                }
            };
            let from = map.driving(parent).filter(|p| p.blend.is_none() && same(p.source, parent))?.source;
            let skeleton = s_rig.skeleton();
            let at = if skeleton.parent(pair.source) == Some(from) {
                skeleton.joint(pair.source).rest.translation
            } else {
                source_reference.joint(from).inverse().point(&source_reference.position(pair.source))
            };
            let free = !skeleton.is_ancestor(from, pair.source);
            Some(JointStretch { source: pair.source, parent: from, at, free })
        })
        .collect()
}
