//! A part of the body, and what it can do: rate of return to the clip, passive tissue, strength.

use crate::math::{Transform, Vec3};
use crate::model::{JointId, Role};

/// A joint with mass.
#[derive(Clone, Debug)]
pub struct PartJoint {
    /// The joint.
    pub joint: JointId,
    /// Its role, if it has one.
    pub role: Option<Role>,
    /// The nearest role at or above it.
    pub kind: Role,
    /// The part above, which comes earlier.
    pub parent: Option<usize>,
    /// Whether its joint is no descendant of its parent's in the skeleton.
    pub(super) apart: bool,
    /// The body that it belongs to, and its place in the axes of that body.
    pub body: usize,
    pub(super) body_from_part: Transform,
    /// From the joint to the end of the part, joint axes, metres.
    pub bone: Vec3,
}

/// Constants of one kind of part, for a body with a leg of 0.86 m.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PartKind {
    /// Rate at which a deviation of its joint from the clip decays, 1/s, for the default time of recovery.
    pub rate: f64,
    /// Passive stiffness of its joint, N m/rad per kilogram of the body.
    pub stiffness: f64,
    /// Passive damping of its joint, N m s/rad per kilogram of the body.
    pub damping: f64,
    /// Largest torque of its joint in a person, N m per kilogram of the body.
    pub torque: f64,
    /// The length that a part of unknown length has, metres.
    pub length: f64,
}

const fn kind(rate: f64, [stiffness, damping]: [f64; 2], torque: f64, length: f64) -> PartKind {
    PartKind { rate, stiffness, damping, torque, length }
}

/// No passive tissue: the muscles of heavy parts are stiffer than it.
const NONE: [f64; 2] = [0.0; 2];

impl PartKind {
    /// The constants of a role's part.
    ///
    /// Rates: pelvis and legs share one, since they form closed chains on the floor; with 5 instead of 8 1/s a body hit by
    /// 50 N s is 2.2 cm from the clip after one second, with 12 it is 0.44 cm. Tissue: light ends under the weight of a whole
    /// body would flip without it (toes by 60 degrees). Torques: rounded from dynamometry, of the order of Anderson, Madigan
    /// and Nussbaum (2007).
    pub fn of(role: Role) -> PartKind {
        match role {
            Role::Hips => kind(8.0, NONE, f64::INFINITY, 0.1),
            Role::Spine(_) => kind(12.0, NONE, 4.0, 0.05),
            Role::Clavicle(_) => kind(12.0, NONE, 1.5, 0.04),
            Role::Neck(_) => kind(12.0, [0.3, 0.02], 0.7, 0.04),
            Role::Head => kind(12.0, [0.3, 0.02], 0.7, 0.18),
            Role::UpperArm(_) => kind(10.0, NONE, 1.3, 0.04),
            Role::LowerArm(_) => kind(10.0, [0.1, 0.006], 1.0, 0.04),
            Role::Hand(_) | Role::Finger(..) => kind(10.0, [0.1, 0.004], 0.25, 0.16),
            Role::UpperLeg(_) => kind(8.0, NONE, 3.6, 0.04),
            Role::LowerLeg(_) => kind(8.0, NONE, 3.4, 0.04),
            Role::Foot(_) => kind(8.0, [1.5, 0.06], 2.4, 0.12),
            Role::Toes(_) => kind(8.0, [3.0, 0.06], 0.5, 0.07),
            Role::Tail(_) => kind(10.0, NONE, 1.0, 0.1),
        }
    }
}
