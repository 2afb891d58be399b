//! A character becomes two legs: their joints, and where their soles are.
//!
//! Space: joint space unless said otherwise. Units: metres.

use crate::anatomy::{Figure, contact_points};
use crate::kinematics::map_frames;
use crate::math::{Quat, Transform, Vec3, exp, from_columns};
use crate::model::{Character, ContactPart, JointId, ModelPose, Motion, Role, Side};

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
    /// From the heel to the toe joint (the ball without one).
    pub length: f64,
    /// Where the ball lies from the toe joint while the foot stands and points along +Z: aside, up, ahead.
    pub ball_offset: Vec3,
    /// The world rotation of what carries the front while the foot stands and points along +Z.
    pub front_flat: Quat,
    /// The axis about which the heel rises and the front sinks, in the spaces of the foot and of what carries the front.
    pub across: [Vec3; 2],
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
        let stand = character.calibration_pose();
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
            let ahead = figure.left.cross(&figure.up);
            let within = |j: JointId, v: &Vec3| stand.joint(j).rotation.inverse() * v;
            let bones = [upper, lower, foot].map(|j| stand.position(j));
            let pivot = if toes.is_some() { stand.position(ball.joint) } else { at(ball) };
            let along = level(&(at(ball) - at(heel)), &figure.up).try_normalize(1e-9).unwrap_or(ahead);
            let aside = figure.up.cross(&along);
            let flat_from_stand = from_columns(&aside, &figure.up, &along).inverse();
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
                ball_offset: flat_from_stand * (at(ball) - pivot),
                front_flat: flat_from_stand * stand.joint(ball.joint).rotation,
                across: [within(foot, &aside), within(ball.joint, &aside)],
                reach: (bones[1] - bones[0]).norm() + (bones[2] - bones[1]).norm(),
            })
        };
        Side::BOTH.into_iter().filter_map(leg).collect()
    }

    /// The arms as limbs whose sole is the palm, with the thickness of the hand around it.
    pub fn arms(character: &Character) -> Vec<(Leg, f64)> {
        let rig = &character.rig;
        let stand = character.calibration_pose();
        let points = contact_points(character, rig);
        let arm = |side: Side| {
            let joint = |role: fn(Side) -> Role| rig.joint(role(side));
            let (upper, lower, foot) = (joint(Role::UpperArm)?, joint(Role::LowerArm)?, joint(Role::Hand)?);
            let palm = points.iter().find(|p| p.part == ContactPart::Hand(side) && p.joint == foot)?;
            let within = |j: JointId, v: Vec3| stand.joint(j).rotation.inverse() * v;
            let bones = [upper, lower, foot].map(|j| stand.position(j));
            let arm = Leg {
                side,
                upper,
                lower,
                foot,
                toes: None,
                heel: palm.at,
                front: [palm.at; 2],
                up: [within(foot, Vec3::y()); 2],
                // Elbows point back and down.
                ahead: within(upper, Vec3::new(0.0, -0.5, -1.0)),
                length: 0.0,
                ball_offset: Vec3::zeros(),
                front_flat: stand.joint(foot).rotation,
                across: [within(foot, Vec3::x()); 2],
                reach: (bones[1] - bones[0]).norm() + (bones[2] - bones[1]).norm(),
            };
            Some((arm, palm.radius))
        };
        Side::BOTH.into_iter().filter_map(arm).collect()
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

    /// How far apart heel and ball lie over the ground while both rest and the toes lie flat, the heel `rise` metres
    /// above the ball.
    pub fn span(&self, rise: f64) -> f64 {
        let [aside, up, ahead] = [self.ball_offset.x, self.ball_offset.y, self.ball_offset.z];
        let fall = rise + up;
        (self.length * self.length - fall * fall - aside * aside).max(0.0).sqrt() + ahead
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

/// Every limb in every frame of a motion.
pub fn read(motion: &Motion, limbs: &[Leg]) -> Vec<Vec<Step>> {
    let of = |model: &ModelPose| -> Vec<Step> { limbs.iter().map(|limb| limb.step(model)).collect() };
    let frames = map_frames(motion.character.skeleton(), &motion.clip, of);
    (0..limbs.len()).map(|k| frames.iter().map(|steps| steps[k]).collect()).collect()
}

/// The part of a vector that is perpendicular to `up`.
pub fn level(v: &Vec3, up: &Vec3) -> Vec3 {
    v - up * v.dot(up)
}
