//! Leg and arm chains of a rig.
//!
//! Space: model space. Units: metres.

use crate::body::CharacterBody;
use crate::math::Vec3;
use crate::model::{ContactPart, ContactPoint, JointId, Role, Side};

/// A two-bone limb whose end can be in contact: a leg with its foot, or an arm with its hand.
#[derive(Clone, Debug, PartialEq)]
pub struct LimbChain {
    /// The side of the body.
    pub side: Side,
    /// The hip joint, of an arm the shoulder.
    pub upper: JointId,
    /// The knee joint, of an arm the elbow.
    pub lower: JointId,
    /// The ankle joint, of an arm the wrist; the knee joint of a leg without an ankle joint.
    pub foot: JointId,
    /// The end of the shin in the space of the knee joint: the ankle of a leg without an ankle joint.
    pub shin_end: Option<Vec3>,
    /// The toe joint, if there is one.
    pub toes: Option<JointId>,
    /// The lengths of thigh and shin in the reference pose.
    pub bones: [f64; 2],
    /// Height of the ankle above the sole in the reference pose.
    pub ankle: f64,
    /// Horizontal distance from ankle to ball in the reference pose: the lever of a rising heel; 0 if there is no ball.
    /// Skin and bones agree about it, unlike about the heel.
    pub forefoot: f64,
    /// The direction up in the space of the foot in the reference pose.
    pub foot_up: Vec3,
    /// The contact points of the sole: the part, its joint, and the position in that joint's space.
    pub soles: Vec<(ContactPart, JointId, Vec3)>,
}

impl LimbChain {
    /// The leg of one side of a body; `None` if a joint of it is missing.
    pub fn of(body: &CharacterBody, side: Side) -> Option<LimbChain> {
        Self::limb(body, [Role::UpperLeg(side), Role::LowerLeg(side), Role::Foot(side)])
    }

    /// The leg of one side of a body whose skeleton ends with the shins, which stands on their ends; `None` for other legs.
    pub fn without_foot(body: &CharacterBody, side: Side) -> Option<LimbChain> {
        let (rig, reference_pose) = (body.rig(), body.reference_pose());
        let (upper, lower) = (rig.joint(Role::UpperLeg(side))?, rig.joint(Role::LowerLeg(side))?);
        let on_shin = |p: &&ContactPoint| p.part == ContactPart::Heel(side) && p.joint == lower;
        let end = body.sole_points().find(on_shin)?.at;
        let bones = [(reference_pose.position(lower) - reference_pose.position(upper)).norm(), end.norm()];
        let whole = bones.iter().all(|b| *b > 1e-6);
        whole.then_some(LimbChain {
            side,
            upper,
            lower,
            foot: lower,
            shin_end: Some(end),
            toes: None,
            bones,
            ankle: 0.0,
            forefoot: 0.0,
            foot_up: reference_pose.joint(lower).rotation.inverse() * Vec3::y(),
            soles: Vec::new(),
        })
    }

    /// The arm of one side, with the palm as its sole.
    pub fn arm(body: &CharacterBody, side: Side) -> Option<LimbChain> {
        Self::limb(body, [Role::UpperArm(side), Role::LowerArm(side), Role::Hand(side)])
    }

    fn limb(body: &CharacterBody, roles: [Role; 3]) -> Option<LimbChain> {
        let (rig, reference_pose) = (body.rig(), body.reference_pose());
        let side = roles[2].side()?;
        let [upper, lower, foot] = roles.map(|role| rig.joint(role));
        let (upper, lower, foot) = (upper?, lower?, foot?);
        let at = [upper, lower, foot].map(|id| reference_pose.position(id));
        let bones = [(at[1] - at[0]).norm(), (at[2] - at[1]).norm()];
        let toes = rig.joint(Role::Toes(side)).filter(|_| roles[2] == Role::Foot(side));
        let of_limb = |part: ContactPart| match roles[2] {
            Role::Foot(_) => part == ContactPart::Heel(side) || part == ContactPart::Ball(side),
            _ => part == ContactPart::Hand(side),
        };
        let soles: Vec<_> = body.contact_points().iter().filter(|p| of_limb(p.part)).collect();
        let lowest = soles.iter().map(|p| reference_pose.joint(p.joint).point(&p.at).y - p.radius);
        let ankle = lowest.min_by(f64::total_cmp).map_or(0.0, |low| (at[2].y - low).max(0.0));
        let ball = soles.iter().find(|p| p.part == ContactPart::Ball(side));
        let forefoot = ball.map_or(0.0, |p| (reference_pose.joint(p.joint).point(&p.at) - at[2]).xz().norm());
        let soles = soles.iter().map(|p| (p.part, p.joint, p.at)).collect();
        let whole = bones.iter().all(|b| *b > 1e-6);
        whole.then_some(LimbChain {
            side,
            upper,
            lower,
            foot,
            shin_end: None,
            toes,
            bones,
            ankle,
            forefoot,
            foot_up: reference_pose.joint(foot).rotation.inverse() * Vec3::y(),
            soles,
        })
    }

    /// The length of thigh plus shin.
    pub fn length(&self) -> f64 {
        self.bones[0] + self.bones[1]
    }

    /// The joints, from the hip to the toes.
    pub fn joints(&self) -> impl Iterator<Item = JointId> {
        [self.upper, self.lower, self.foot].into_iter().chain(self.toes)
    }
}
