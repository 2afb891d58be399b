//! A character becomes two legs: their joints, and where their soles are.
//!
//! Space: joint space unless said otherwise. Units: metres.

use crate::anatomy::{Figure, contact_points};
use crate::math::{Quat, Transform, Vec3, exp};
use crate::model::{Character, ContactPart, JointId, ModelPose, Role, Side};

/// One leg of a character and the sole under its foot.
#[derive(Clone, Debug, PartialEq)]
pub struct Leg {
    /// Which.
    pub side: Side,
    /// The joint at the hip.
    pub upper: JointId,
    /// The joint at the knee.
    pub lower: JointId,
    /// The joint at the ankle.
    pub foot: JointId,
    /// The joint of the toes, where there is one.
    pub toes: Option<JointId>,
    /// The heel, in the foot's space.
    pub heel: Vec3,
    /// The ball and the tip of the toes, in the toes' space, or in the foot's without a toe joint.
    pub front: [Vec3; 2],
    /// Up, in the spaces of the foot and of what carries the front, while the character stands.
    pub up: [Vec3; 2],
    /// Where the knee points, in the space of the upper leg, while the character stands.
    pub ahead: Vec3,
    /// From the heel to the toe joint (to the ball without one).
    pub length: f64,
    /// How far the toe joint lies above the ball and behind it, while the character stands.
    pub pivot: [f64; 2],
    /// Thigh and shin.
    pub reach: f64,
}

/// One instant of a leg in model space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// The upper leg.
    pub upper: Transform,
    /// The lower leg.
    pub lower: Transform,
    /// The foot.
    pub foot: Transform,
    /// The toes; the foot, where there is no toe joint.
    pub toes: Transform,
}

/// How a foot is moved away from where it arrives, in model axes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Change {
    /// The rotation vector by which the foot is turned about the ankle, toes and all.
    pub turn: Vec3,
    /// The rotation vector by which the toes are turned after that.
    pub toes: Vec3,
    /// The way of the ankle.
    pub shift: Vec3,
}

/// Heel, ball and tip of the toes in model space.
pub type Sole = [Vec3; 3];

impl Leg {
    /// The legs of a character that has the joints and the soles for it.
    pub fn of(character: &Character) -> Vec<Leg> {
        let rig = &character.rig;
        let stand = character.bind.clone().unwrap_or_else(|| rig.skeleton().rest_model_pose());
        let Some(figure) = Figure::of(rig, &stand) else { return Vec::new() };
        let points = contact_points(character, rig);
        let leg = |side: Side| {
            let joint = |role: fn(Side) -> Role| rig.joint(role(side));
            let (upper, lower, foot) = (joint(Role::UpperLeg)?, joint(Role::LowerLeg)?, joint(Role::Foot)?);
            let point = |part: ContactPart| points.iter().find(|p| p.part == part);
            let heel = point(ContactPart::Heel(side))?;
            let ball = point(ContactPart::Ball(side)).unwrap_or(heel);
            let tip = point(ContactPart::Toe(side)).filter(|t| t.joint == ball.joint).unwrap_or(ball);
            let toes = (ball.joint != foot).then_some(ball.joint);
            let at = |p: &crate::model::ContactPoint| stand.joint(p.joint).point(&p.at);
            let pivot = toes.map_or(at(ball), |t| stand.position(t));
            let ahead = figure.left.cross(&figure.up);
            let within = |j: JointId, v: &Vec3| stand.joint(j).rotation.inverse() * v;
            let bones = [upper, lower, foot].map(|j| stand.position(j));
            Some(Leg {
                side,
                upper,
                lower,
                foot,
                toes,
                heel: heel.at,
                front: [ball.at, tip.at],
                up: [within(foot, &figure.up), within(ball.joint, &figure.up)],
                ahead: within(upper, &ahead),
                length: (pivot - at(heel)).norm(),
                pivot: [(pivot - at(ball)).dot(&figure.up), level(&(at(ball) - pivot), &figure.up).norm()],
                reach: (bones[1] - bones[0]).norm() + (bones[2] - bones[1]).norm(),
            })
        };
        Side::BOTH.into_iter().filter_map(leg).collect()
    }

    /// This leg in a pose.
    pub fn step(&self, model: &ModelPose) -> Step {
        let [upper, lower, foot] = [self.upper, self.lower, self.foot].map(|j| *model.joint(j));
        Step { upper, lower, foot, toes: self.toes.map_or(foot, |t| *model.joint(t)) }
    }

    /// The sole of a step.
    pub fn sole(&self, step: &Step) -> Sole {
        [step.foot.point(&self.heel), step.toes.point(&self.front[0]), step.toes.point(&self.front[1])]
    }

    /// Foot and toes of a step after a change.
    pub fn changed(&self, step: &Step, change: &Change) -> Step {
        let turn = exp(&change.turn);
        let ankle = step.foot.translation;
        let foot = Transform::new(turn * step.foot.rotation, ankle + change.shift);
        let toes = match self.toes {
            Some(_) => {
                let pivot = foot.translation + turn * (step.toes.translation - ankle);
                Transform::new(exp(&change.toes) * turn * step.toes.rotation, pivot)
            }
            None => foot,
        };
        Step { foot, toes, ..*step }
    }

    /// How far apart heel and ball lie over the ground while both rest, the heel `rise` metres above the ball.
    pub fn span(&self, rise: f64) -> f64 {
        let [above, behind] = self.pivot;
        let fall = rise - above;
        (self.length * self.length - fall * fall).max(0.0).sqrt() + behind
    }

    /// Where the toe joint is (the ball without one) in a step.
    pub fn pivot(&self, step: &Step) -> Vec3 {
        if self.toes.is_some() { step.toes.translation } else { step.toes.point(&self.front[0]) }
    }

    /// The world rotation of what carries the front of the foot.
    pub fn front_rotation(&self, step: &Step) -> Quat {
        step.toes.rotation
    }
}

/// The part of a vector that is perpendicular to `up`.
pub fn level(v: &Vec3, up: &Vec3) -> Vec3 {
    v - up * v.dot(up)
}
