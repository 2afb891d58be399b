//! The rotation that takes each body part from a given pose to the T-pose.
//!
//! The same rules as in retargeting, with the ideal T-pose as the target body: trunk and head are rotated as a whole
//! to be upright and face +Z, arms point sideways, legs down, feet keep their pitch and point ahead (feet that spread legs roll are
//! level: [`foot_roll`]), palms face down,
//! thumbs point halfway between sideways and ahead (VRM 1.0, `tpose.md`). Space: model space, Y up.

use super::body_hierarchy::parent_role;
use super::figure_measures::Figure;
use super::spread_feet::foot_roll;
use crate::math::{Quat, Vec3, arc, from_columns, horizontal};
use crate::model::{Character, Finger, ModelPose, Role, Side};

/// Radians (60 degrees): collar bones further from sideways are raised, and are rotated sideways. Below it a
/// difference only shows where the rig places the ends of the bone.
const RAISED: f64 = 1.05;
/// Radians (60 degrees): toes further from the front do not show where the foot points.
const TOE_OUT: f64 = 1.05;

/// A body in a pose, and its rotation to the T-pose.
#[derive(Debug)]
pub struct TPose<'a> {
    character: &'a Character,
    pose: &'a ModelPose,
    figure: Figure,
    /// Rotation of the whole body to upright, facing +Z.
    whole: Quat,
}

impl<'a> TPose<'a> {
    /// A character in `pose`; `None` without thighs, which define the front.
    pub fn of(character: &'a Character, pose: &'a ModelPose) -> Option<Self> {
        let figure = Figure::of(&character.rig, pose)?;
        let whole = from_columns(&figure.left, &figure.up, &figure.front()).inverse();
        Some(Self { character, pose, figure, whole })
    }

    /// The model-space rotation that takes the part of `role` to the T-pose.
    pub fn rotation(&self, role: Role) -> Quat {
        // The recursion is at most a dozen deep: the parents of a body part.
        let above =
            || parent_role(&self.character.rig, role).map_or(self.whole, |above| self.rotation(above));
        let aimed = |parent: Quat, to: Role, along: Vec3| match self.direction(role, to) {
            Some(d) => arc(&(parent * d), &along, &Vec3::z()) * parent,
            None => parent,
        };
        match role {
            Role::Hips | Role::Spine(_) | Role::Neck(_) | Role::Head => self.whole,
            Role::Clavicle(side) => {
                let bone = self.direction(role, Role::UpperArm(side)).map(|d| self.whole * d);
                match bone.filter(|d| d.angle(&sideways(side)) > RAISED) {
                    Some(d) => arc(&d, &sideways(side), &Vec3::z()) * self.whole,
                    None => self.whole,
                }
            }
            Role::UpperArm(side) => {
                let next = [Role::LowerArm(side), Role::Hand(side)];
                aimed(above(), self.first(next), sideways(side))
            }
            Role::LowerArm(side) => aimed(above(), Role::Hand(side), sideways(side)),
            Role::UpperLeg(side) => {
                let next = [Role::LowerLeg(side), Role::Foot(side)];
                aimed(above(), self.first(next), -Vec3::y())
            }
            Role::LowerLeg(side) => aimed(above(), Role::Foot(side), -Vec3::y()),
            Role::Hand(side) => self.hand(side).unwrap_or_else(above),
            Role::Foot(side) => self.foot(side),
            Role::Finger(side, finger, n) => {
                let along = match finger {
                    Finger::Thumb => (sideways(side) + Vec3::z()).normalize(),
                    _ => sideways(side),
                };
                aimed(above(), Role::Finger(side, finger, n.saturating_add(1)), along)
            }
            Role::Toes(_) | Role::Tail(_) => above(),
        }
    }

    fn at(&self, role: Role) -> Option<Vec3> {
        self.character.rig.joint(role).map(|id| self.pose.position(id))
    }

    fn direction(&self, from: Role, to: Role) -> Option<Vec3> {
        (self.at(to)? - self.at(from)?).try_normalize(1e-9)
    }

    /// The first of two roles, or the second where the rig lacks the first.
    fn first(&self, [first, second]: [Role; 2]) -> Role {
        if self.character.rig.joint(first).is_some() { first } else { second }
    }

    /// A hand aligned by its knuckles: their middle is sideways of the wrist, the index finger in front of the little
    /// one.
    fn hand(&self, side: Side) -> Option<Quat> {
        let wrist = self.at(Role::Hand(side))?;
        let fingers = [Finger::Index, Finger::Middle, Finger::Ring, Finger::Little];
        let knuckles: Vec<Vec3> = fingers.iter().filter_map(|f| self.at(Role::Finger(side, *f, 0))).collect();
        let (first, last) = (knuckles.first()?, knuckles.last()?);
        let along = (knuckles.iter().sum::<Vec3>() / knuckles.len() as f64 - wrist).try_normalize(1e-9)?;
        let across = first - last;
        let across = (across - along * across.dot(&along)).try_normalize(1e-9)?;
        let goal = (sideways(side), Vec3::z());
        let frame = |along: &Vec3, across: &Vec3| from_columns(along, across, &along.cross(across));
        Some(frame(&goal.0, &goal.1) * frame(&along, &across).inverse())
    }

    /// A foot without the roll of a spread leg, rotated about Y so that its toes point ahead.
    fn foot(&self, side: Side) -> Quat {
        let roll = foot_roll(self.character, (&self.character.rig, self.pose), &self.figure, side);
        let level = Quat::from_axis_angle(&Vec3::z_axis(), -roll) * self.whole;
        let foot = self.character.rig.joint(Role::Foot(side));
        let tip = foot.and_then(|id| {
            let tip = self.character.rig.skeleton().joint(id).tip?;
            (self.pose.joint(id).point(&tip) - self.pose.position(id)).try_normalize(1e-9)
        });
        let toes = self.direction(Role::Foot(side), Role::Toes(side)).or(tip);
        let flat = |d: Vec3| horizontal(&(level * d)).try_normalize(1e-3);
        let yaw = toes.and_then(flat).map(|d| arc(&d, &Vec3::z(), &Vec3::y()));
        yaw.filter(|yaw| yaw.angle() < TOE_OUT).map_or(level, |yaw| yaw * level)
    }
}

/// The direction of a side's arm in the T-pose.
fn sideways(side: Side) -> Vec3 {
    Vec3::x() * side.sign()
}
