//! Retargeting of takes on a ramp: the take is rotated so that its ramp is level, and the robot's motion is rotated back.
//!
//! Hinges do not change with a rotation of the world, so the robot stands on the ramp as it does on level ground. Space: the robot's
//! world, Z up. Units: metres of the take.

use crate::body::CharacterBody;
use crate::contacts::FootingJoints;
use crate::kinematics::shots;
use crate::math::{Quat, Transform, Vec3, arc};
use crate::model::{Motion, UnevenGround, model_from_world};

/// The ground of a take, if it is a ramp or stairs.
pub(crate) fn uneven_ground(take: &Motion) -> Option<UnevenGround> {
    FootingJoints::of(&CharacterBody::new(&take.character)).footing(take, &shots(take)).uneven
}

/// A ramp on which a whole take is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ramp {
    /// From the ramp to level ground.
    pub(super) levels: Quat,
    /// Its height below the origin, above the height of the take that becomes 0.
    height: f64,
}

impl Ramp {
    /// The ramp of this ground; `None` of stairs, and of a slope that begins on the way.
    pub(super) fn of(ground: &UnevenGround) -> Option<Self> {
        let plane = ground.plane()?;
        let normal = Vec3::new(-plane.slope[0], 1.0, -plane.slope[1]);
        let levels = arc(&(model_from_world().inverse() * normal), &Vec3::z(), &Vec3::x());
        Some(Self { levels, height: plane.height(&Vec3::zeros()) + ground.lowest })
    }

    /// The base of a robot that stands on level ground, on the ramp instead; the take's lengths times `scale` are the robot's.
    pub(super) fn inclined(&self, base: &Transform, scale: f64) -> Transform {
        let by = Transform::new(self.levels.inverse(), Vec3::z() * (self.height * scale));
        by * *base
    }
}
