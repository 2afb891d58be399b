//! Rigid transforms: a rotation followed by a translation.

use super::{Mat4, Quat, Vec3, slerp};
use std::ops::Mul;

/// A rotation followed by a translation: `p -> rotation * p + translation`.
///
/// Space: named by the variable that holds it, `parent_from_joint` mapping joint space to parent space;
/// in a product the inner names meet. Units: metres.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct Transform {
    /// The rotation, applied first.
    pub rotation: Quat,
    /// The translation, applied second, in metres.
    pub translation: Vec3,
}

impl Transform {
    /// The identity.
    pub fn identity() -> Self {
        Self { rotation: Quat::identity(), translation: Vec3::zeros() }
    }

    /// A transform from its two parts.
    pub fn new(rotation: Quat, translation: Vec3) -> Self {
        Self { rotation, translation }
    }

    /// A pure translation.
    pub fn from_translation(translation: Vec3) -> Self {
        Self { rotation: Quat::identity(), translation }
    }

    /// A pure rotation.
    pub fn from_rotation(rotation: Quat) -> Self {
        Self { rotation, translation: Vec3::zeros() }
    }

    /// The inverse transform.
    #[inline]
    pub fn inverse(&self) -> Self {
        let rotation = self.rotation.inverse();
        Self { rotation, translation: -(rotation * self.translation) }
    }

    /// Maps the point `p`.
    #[inline]
    pub fn point(&self, p: &Vec3) -> Vec3 {
        self.rotation * p + self.translation
    }

    /// Maps the free vector `v`: rotated, not translated.
    pub fn vector(&self, v: &Vec3) -> Vec3 {
        self.rotation * v
    }

    /// The same transform as a homogeneous matrix.
    pub fn to_matrix(&self) -> Mat4<f64> {
        let mut m = self.rotation.to_homogeneous();
        m.fixed_view_mut::<3, 1>(0, 3).copy_from(&self.translation);
        m
    }

    /// The transform at `share` of the path to `other`: [`slerp`] of the rotation, a straight line of the translation.
    pub fn interpolated(&self, other: &Self, share: f64) -> Self {
        let translation = self.translation.lerp(&other.translation, share);
        Self { rotation: slerp(&self.rotation, &other.rotation, share), translation }
    }

    /// Whether every number is finite.
    pub fn is_finite(&self) -> bool {
        self.rotation.coords.iter().chain(self.translation.iter()).all(|x| x.is_finite())
    }
}

impl Mul for Transform {
    type Output = Transform;
    #[inline]
    fn mul(self, b: Transform) -> Transform {
        Transform {
            rotation: self.rotation * b.rotation,
            translation: self.translation + self.rotation * b.translation,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::exp;

    #[test]
    fn a_transform_and_its_inverse_cancel() {
        let t = Transform::new(exp(&Vec3::new(0.3, -1.0, 2.0)), Vec3::new(1.0, 2.0, -3.0));
        let p = Vec3::new(0.1, 0.2, 0.3);
        assert!(((t.inverse() * t).point(&p) - p).norm() < 1e-14);
        assert!(((t * t).point(&p) - t.point(&t.point(&p))).norm() < 1e-14);
        assert!((t.to_matrix().transform_point(&p.into()).coords - t.point(&p)).norm() < 1e-14);
    }
}
