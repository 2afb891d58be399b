//! What the measures need of a character beyond its body: scale, end joints, joint limits, arm vertices.

use super::arm_penetration::ArmSkin;
use super::skin_check::SkinCheck;
use crate::body::{COMMON_HEIGHT, CharacterBody, LowestSkin, PointMass};
use crate::ik::Mechanism;
use crate::model::{Character, ContactPoint, JointId, Role, Side};
use std::sync::Arc;

/// A character prepared for measuring.
#[derive(Clone, Debug)]
pub struct MetricContext {
    pub(super) body: Arc<CharacterBody>,
    /// The figure's own height, metres.
    pub(super) height: f64,
    /// From the figure's own metres to those of the common height.
    pub(super) scale: f64,
    /// Hands, feet and head.
    pub(super) ends: Vec<JointId>,
    /// The joint that stands for the whole in root-aligned measures.
    pub(super) root: JointId,
    /// Joints with a role; all joints where none has one.
    pub(super) joints: Vec<JointId>,
    pub(super) mechanism: Mechanism,
    /// Joints with a range of motion.
    pub(super) limited: Vec<JointId>,
    pub(super) skin: ArmSkin,
    pub(super) check: SkinCheck,
    pub(super) lowest: LowestSkin,
}

impl MetricContext {
    /// Prepares `character` with the roles of its own rig.
    pub fn new(character: &Arc<Character>) -> Self {
        Self::of(Arc::new(CharacterBody::new(character)))
    }

    /// As [`MetricContext::new`], with a body that is shared with others; its rig must be the character's own.
    pub(crate) fn of(body: Arc<CharacterBody>) -> Self {
        body.prepare();
        let (rig, pose) = (body.rig(), body.reference_pose());
        let skeleton = rig.skeleton();
        let mechanism = Mechanism::humanoid(rig, pose);
        let of_role = |role: Role| rig.joint(role);
        let sides = |role: fn(Side) -> Role| Side::BOTH.into_iter().filter_map(move |s| of_role(role(s)));
        let ends = sides(Role::Hand).chain(sides(Role::Foot)).chain(of_role(Role::Head)).collect();
        let mut joints: Vec<JointId> = skeleton.ids().filter(|id| rig.role(*id).is_some()).collect();
        if joints.is_empty() {
            joints = skeleton.ids().collect();
        }
        let height = body.height();
        Self {
            height,
            scale: COMMON_HEIGHT / height,
            ends,
            root: of_role(Role::Hips).unwrap_or(JointId::new(0)),
            joints,
            limited: mechanism.joints_with_limits().collect(),
            mechanism,
            skin: ArmSkin::of(body.character(), body.capsules(), pose, height),
            check: SkinCheck::of(body.character(), rig, body.capsules(), pose, height),
            lowest: LowestSkin::of(body.character(), rig, pose, body.sole_height()),
            body,
        }
    }

    /// The character.
    pub(crate) fn character(&self) -> &Arc<Character> {
        self.body.character()
    }

    /// The length of the legs from hip joint to sole, metres; of a body without legs its height.
    pub(crate) fn leg_to_sole(&self) -> f64 {
        self.body.figure().map_or(self.height, |figure| figure.leg_to_sole)
    }

    /// The height of the lowest sole above 0 in the reference pose, metres of the common height; `None` without soles.
    pub(super) fn rest_height(&self) -> Option<f64> {
        Some(self.body.sole_height()? * self.scale)
    }

    /// The point masses that stand for the body; none for bodies that do not walk on two legs.
    pub fn particles(&self) -> &[PointMass] {
        self.body.point_masses()
    }

    /// The points that can rest on something.
    pub fn points(&self) -> &[ContactPoint] {
        self.body.contact_points()
    }

    /// The figure's own height, sole to the top of the head, metres.
    pub fn height(&self) -> f64 {
        self.height
    }
}
