//! Transfer of a joint's own translation between versions of one rig.

use super::joint_map::JointMap;
use super::position_source::PositionSource;
use super::rest_alignment::CalibratedBody;
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

/// The joints whose own translation may be transferred. There are some only between versions of one rig, where nine of ten
/// joints have the same name, and there only if the parents correspond as well. Elsewhere bones keep their length.
pub fn joint_stretches(
    source: &CalibratedBody,
    t_rig: &Rig,
    map: &JointMap,
    positions: &[PositionSource],
) -> Vec<Option<JointStretch>> {
    let (s_rig, s_rest) = (source.rig, source.calibration);
    let name = |rig: &Rig, id: JointId| rig.skeleton().joint(id).name.clone();
    let same = |s: JointId, t: JointId| same_words(&name(s_rig, s), &name(t_rig, t));
    let shared = map.pairs.iter().filter(|p| p.blend.is_none() && same(p.source, p.target)).count();
    let joints = s_rig.skeleton().len().max(t_rig.skeleton().len());
    if shared * 10 < joints * 9 {
        return vec![None; t_rig.skeleton().len()];
    }
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
                s_rest.joint(from).inverse().point(&s_rest.position(pair.source))
            };
            let free = !skeleton.is_ancestor(from, pair.source);
            Some(JointStretch { source: pair.source, parent: from, at, free })
        })
        .collect()
}
