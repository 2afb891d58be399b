//! A pose of a body becomes the T-pose, part by part: how far each part must be turned.
//!
//! The rules are those by which bodies are compared when motion is carried over, with the ideal T-pose as the other body:
//! trunk and head are turned upright to face +Z as a whole, arms point sideways, legs down, feet stay as flat as they are and point to
//! the front, palms face down, thumbs point halfway between side and front (VRM 1.0, `tpose.md`). Space: model space,
//! Y up.

use super::body_hierarchy::parent_role;
use super::figure::Figure;
use crate::math::{Quat, Vec3, arc, from_columns};
use crate::model::{Finger, ModelPose, Rig, Role, Side};

/// Collar bones that point further from sideways than this (60 degrees) are raised: then they are aimed. Elsewhere rigs
/// merely put their ends at other places.
const RAISED: f64 = 1.05;
/// Toes that point further from the front than this (60 degrees) say nothing of where the foot points.
const TOE_OUT: f64 = 1.05;

/// A body in a pose, about to be turned into the T-pose.
#[derive(Debug)]
pub struct TPose<'a> {
    rig: &'a Rig,
    pose: &'a ModelPose,
    /// The whole body upright, facing +Z.
    whole: Quat,
}

impl<'a> TPose<'a> {
    /// A rig in `pose`; `None` where it has no thighs to tell its front by.
    pub fn of(rig: &'a Rig, pose: &'a ModelPose) -> Option<Self> {
        let figure = Figure::of(rig, pose)?;
        let whole = from_columns(&figure.left, &figure.up, &figure.left.cross(&figure.up)).inverse();
        Some(Self { rig, pose, whole })
    }

    /// How the part of `role` must be turned, in model space, to stand as in the T-pose.
    pub fn turn(&self, role: Role) -> Quat {
        // Parts hang from parts as in a body: at most a dozen are above any.
        let above = || parent_role(self.rig, role).map_or(self.whole, |above| self.turn(above));
        let aimed = |carried: Quat, to: Role, along: Vec3| match self.direction(role, to) {
            Some(d) => arc(&(carried * d), &along, &Vec3::z()) * carried,
            None => carried,
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
        self.rig.joint(role).map(|id| self.pose.position(id))
    }

    fn direction(&self, from: Role, to: Role) -> Option<Vec3> {
        (self.at(to)? - self.at(from)?).try_normalize(1e-9)
    }

    /// The first of two roles, else the second where the rig lacks it.
    fn first(&self, [first, second]: [Role; 2]) -> Role {
        if self.rig.joint(first).is_some() { first } else { second }
    }

    /// A hand by its knuckles: their middle lies sideways of the wrist, the index finger in front of the little one.
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

    /// A foot turned about Y alone, so that its toes point to the front.
    fn foot(&self, side: Side) -> Quat {
        let foot = self.rig.joint(Role::Foot(side));
        let tip = foot.and_then(|id| {
            let tip = self.rig.skeleton().joint(id).tip?;
            (self.pose.joint(id).point(&tip) - self.pose.position(id)).try_normalize(1e-9)
        });
        let toes = self.direction(Role::Foot(side), Role::Toes(side)).or(tip);
        let level = |d: Vec3| {
            let d = self.whole * d;
            Vec3::new(d.x, 0.0, d.z).try_normalize(1e-3)
        };
        let turn = toes.and_then(level).map(|d| arc(&d, &Vec3::z(), &Vec3::y()));
        turn.filter(|turn| turn.angle() < TOE_OUT).map_or(self.whole, |turn| turn * self.whole)
    }
}

/// Where the arm of a side points in the T-pose.
fn sideways(side: Side) -> Vec3 {
    Vec3::x() * side.sign()
}
