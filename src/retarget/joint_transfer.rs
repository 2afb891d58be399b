//! Transfer of one source pose to the target, joint by joint: rotations, positions, twist joints, lean of the trunk.
//!
//! For a driven joint `R_i(f) = D(f) A_i R_i0`, with `D(f) = S(f) S0^-1` the source joint's world rotation from its
//! reference pose (two of them blended for chains of different length) and `A_i R_i0` the target's aligned reference
//! pose. The result does not depend on local axes, on the order of joints, or on other frames.

use super::joint_drive::JointDrive;
use super::joint_map::JointMap;
use super::pelvis_path::{PelvisPath, pelvis_point};
use super::position_source::{PositionSource, dependencies, evaluation_order, position_sources};
use super::rest_alignment::{ReferenceBody, align};
use super::stretch::{JointStretch, joint_stretches, of_one_rig};
use super::trunk_lean::TrunkLean;
use super::twist_joints::{TwistJoint, twist_joints};
use crate::body::{LooseJoint, loose_joints};
use crate::math::{Quat, Transform, Vec3};
use crate::model::{Character, JointId, ModelPose, Role};
use std::sync::Arc;

/// The transfer of poses from one skeleton to another.
#[derive(Clone, Debug)]
pub struct JointTransfer {
    /// The character that is driven.
    pub target: Arc<Character>,
    drives: Vec<Option<JointDrive>>,
    /// The position source of every joint.
    pub positions: Vec<PositionSource>,
    /// The joints apart from the body.
    pub loose: Vec<LooseJoint>,
    /// The translations that are transferred.
    pub stretches: Vec<Option<JointStretch>>,
    twists: Vec<Option<TwistJoint>>,
    /// All joints, in an order in which a joint comes after those that it depends on.
    pub order: Vec<JointId>,
    /// The lean of the trunk, and the joints of `order` that it needs.
    pub trunk: Option<(TrunkLean, Vec<JointId>)>,
    /// The path of the pelvis.
    pub pelvis: Option<PelvisPath>,
    /// The ratio of leg lengths, target to source.
    pub scale: f64,
}

impl JointTransfer {
    /// The transfer by `map`, with the scale of the path over the ground and that of lengths.
    pub fn new(
        map: &JointMap,
        s: &ReferenceBody,
        t: &ReferenceBody,
        [across, scale]: [f64; 2],
    ) -> JointTransfer {
        let aligned = align(map, s, t);
        let twists = twist_joints(t.rig, map, t.reference_pose);
        let drive = |id: JointId| {
            let aligned = aligned[id.index()].unwrap_or_else(Quat::identity);
            let rest = aligned * t.reference_pose.joint(id).rotation;
            let shared = twists.iter().flatten().any(|twist| twist.segment() == id);
            Some(JointDrive::of(map.driving(id)?, rest, map, s, (t.rig, shared)))
        };
        let drives = t.rig.skeleton().ids().map(drive).collect();
        let hips = map.pairs.iter().find(|p| p.role == Some(Role::Hips)).or_else(|| map.pairs.first());
        let character = t.body.character();
        let is_body = |id: JointId| map.driving(id).is_some_and(|pair| pair.role.is_some());
        let moves = |id: JointId| map.driving(id).is_some();
        let mut loose = loose_joints(character, t.rig, t.reference_pose, is_body, moves);
        // Between versions of one rig, joints that move by themselves keep the motion that they have in the take.
        let of_one_rig = of_one_rig(s.rig, t.rig, map);
        loose.retain(|l| !(of_one_rig && moves(l.joint)));
        let hips_joint = hips.map(|pair| pair.target);
        let mut positions = position_sources(t.rig, map, t.reference_pose, hips_joint, &loose);
        let pelvis = hips.map(|pair| {
            let at = pelvis_point(t, pair.role, pair.target);
            positions[pair.target.index()] = PositionSource::Pelvis(at);
            PelvisPath::of(pair, s, t, [across, scale])
        });
        let stretches = match of_one_rig {
            true => joint_stretches(s, t.rig, map, &positions),
            false => vec![None; t.rig.skeleton().len()],
        };
        let order = evaluation_order(t.rig, &positions);
        let trunk = TrunkLean::of(map, s, t, &aligned).map(|trunk| {
            let needed = dependencies(t.rig, &positions, &order, trunk.joints());
            (trunk, needed)
        });
        let target = Arc::clone(t.body.character());
        JointTransfer { target, drives, positions, loose, stretches, twists, order, trunk, pelvis, scale }
    }

    /// One frame: sets the model-space transforms of `joints`, in an evaluation order, from the source's model pose. `trunk`
    /// is the lean of the trunk, if a joint depends on it.
    pub fn frame(
        &self,
        from: &ModelPose,
        (joints, trunk): (&[JointId], Option<&(TrunkLean, Vec<JointId>)>),
        model: &mut [Transform],
    ) {
        let mut deltas = Vec::new();
        if let Some((trunk, needed)) = trunk {
            needed.iter().for_each(|&id| model[id.index()] = self.transform(id, from, model, &[]));
            deltas = trunk.rotations(from, model);
        }
        for &id in joints {
            model[id.index()] = self.transform(id, from, model, &deltas);
        }
    }

    /// The model-space transform of a joint, from those of the joints that it depends on; driven joints are also rotated by
    /// `deltas`.
    fn transform(
        &self,
        id: JointId,
        from: &ModelPose,
        model: &[Transform],
        deltas: &[(JointId, Quat)],
    ) -> Transform {
        let skeleton = self.target.skeleton();
        let k = id.index();
        let rest = &skeleton.joint(id).rest;
        let parent = skeleton.parent(id).map_or_else(Transform::identity, |p| model[p.index()]);
        let rotation = match (&self.drives[k], &self.twists[k]) {
            (Some(drive), _) => match deltas.iter().find(|(link, _)| *link == id) {
                Some((_, delta)) => delta * drive.rotation(from),
                None => drive.rotation(from),
            },
            (None, Some(twist)) => parent.rotation * rest.rotation * twist.roll(from, model, &self.drives),
            (None, None) => match &self.positions[k] {
                PositionSource::Attached(other, within) => model[other.index()].rotation * within.rotation,
                PositionSource::Still(at) => at.rotation,
                _ => parent.rotation * rest.rotation,
            },
        };
        let mut position = match &self.positions[k] {
            PositionSource::Tree => parent.point(&rest.translation),
            PositionSource::Still(at) => at.translation,
            PositionSource::Attached(other, within) => model[other.index()].point(&within.translation),
            PositionSource::Pelvis(at) => {
                self.pelvis.as_ref().map_or_else(Vec3::zeros, |path| path.pelvis(from)) - rotation * at
            }
            PositionSource::Path(source) => {
                let at = from.position(*source);
                self.pelvis.as_ref().map_or(at, |path| path.point(&at))
            }
        };
        if let Some(stretch) = &self.stretches[k] {
            position += stretch.offset(from) * self.scale;
        }
        Transform::new(rotation, position)
    }
}
