//! A character made ready to be measured: its height, its contact points, its end joints, its limits and its masses.

use super::skin::Skin;
use crate::body::{
    ArmedBody, BodySkin, COMMON_HEIGHT, MeasuredBody, Particle, contact_points, height, particles,
};
use crate::ik::Mechanism;
use crate::model::{Character, ContactPoint, JointId, Role, Side};
use std::sync::Arc;

/// A character made ready to be measured.
#[derive(Clone, Debug)]
pub struct Gauge {
    pub(super) character: Arc<Character>,
    /// The figure's own height, metres.
    pub(super) height: f64,
    /// From the figure's own metres to those of the common height.
    pub(super) scale: f64,
    pub(super) points: Vec<ContactPoint>,
    /// Hands, feet and head.
    pub(super) ends: Vec<JointId>,
    /// The joint that stands for the whole in root-aligned measures.
    pub(super) root: JointId,
    /// Joints with a role; all joints where none has one.
    pub(super) joints: Vec<JointId>,
    pub(super) mechanism: Mechanism,
    /// Joints with a range of motion.
    pub(super) limited: Vec<JointId>,
    pub(super) particles: Vec<Particle>,
    pub(super) skin: Skin,
    /// What of the body can be in the floor.
    pub(super) floor_skin: BodySkin,
    /// What hands are near to; nothing of bodies without arms.
    pub(super) body: Option<ArmedBody>,
}

impl Gauge {
    /// Reads off `character` what measures need.
    pub fn new(character: &Arc<Character>) -> Self {
        Self::of(character, &MeasuredBody::of(character, &character.rig))
    }

    /// As [`Gauge::new`], of a character that has been measured.
    pub(crate) fn of(character: &Arc<Character>, body: &MeasuredBody) -> Self {
        let rig = &character.rig;
        let skeleton = rig.skeleton();
        let standing = character.calibration_pose();
        let mechanism = Mechanism::humanoid(rig, &standing);
        let of_role = |role: Role| rig.joint(role);
        let sides = |role: fn(Side) -> Role| Side::BOTH.into_iter().filter_map(move |s| of_role(role(s)));
        let ends = sides(Role::Hand).chain(sides(Role::Foot)).chain(of_role(Role::Head)).collect();
        let mut joints: Vec<JointId> = skeleton.ids().filter(|id| rig.role(*id).is_some()).collect();
        if joints.is_empty() {
            joints = skeleton.ids().collect();
        }
        let height = height(character, &body.capsules, &standing);
        Self {
            height,
            scale: COMMON_HEIGHT / height,
            points: contact_points(character, rig),
            ends,
            root: of_role(Role::Hips).unwrap_or(JointId::new(0)),
            joints,
            limited: mechanism.joints_with_limits().collect(),
            mechanism,
            particles: particles(character, &standing, height),
            floor_skin: body.skin.clone(),
            skin: Skin::of(character, &body.capsules, &standing, height),
            body: body.arms.clone(),
            character: Arc::clone(character),
        }
    }

    /// How high the lowest sole of the character is above height 0 in its calibration pose, metres of the common height;
    /// nothing without soles.
    pub(super) fn rest_height(&self) -> Option<f64> {
        let stand = self.character.calibration_pose();
        let soles = self.points.iter().filter(|p| p.part.of_foot());
        let low = soles.map(|p| stand.joint(p.joint).point(&p.at).y).min_by(f64::total_cmp)?;
        Some(low * self.scale)
    }

    /// Whether it was made for `character`.
    pub fn is_of(&self, character: &Arc<Character>) -> bool {
        Arc::ptr_eq(&self.character, character)
    }

    /// The masses that stand for the body; none of bodies that do not go on two legs.
    pub fn particles(&self) -> &[Particle] {
        &self.particles
    }

    /// The points that can rest on something.
    pub fn points(&self) -> &[ContactPoint] {
        &self.points
    }

    /// The figure's own height, sole to the top of the head, metres.
    pub fn height(&self) -> f64 {
        self.height
    }
}
