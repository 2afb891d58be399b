//! Transforms of glTF nodes (translation, rotation, scale, or a matrix) as affine maps, with their rigid parts.
//!
//! Space: parent from node, or the file's world from node. Units: metres. The rigid part of an affine map is its translation and
//! the rotation nearest to its linear part (polar decomposition, Higham 1986).

use crate::math::{Mat3, Mat4, Quat, Transform, Vec3, nearest_rotation};
use std::ops::Mul;

/// Relative tolerance within which scale counts as uniform. Exporters write scales of 1 that are off by up to twenty units in the
/// last place of `f32`; ignoring that rotates child nodes by at most 1.3e-6 radians.
const UNIFORM: f64 = 2.5e-6;

/// `p -> linear * p + translation`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Affine {
    /// Rotation, scale and shear.
    pub linear: Mat3<f64>,
    /// The translation in metres.
    pub translation: Vec3,
}

impl Affine {
    /// The identity map.
    pub fn identity() -> Self {
        Self { linear: Mat3::identity(), translation: Vec3::zeros() }
    }

    /// The upper three rows of a homogeneous matrix.
    pub fn from_matrix(m: &Mat4<f64>) -> Self {
        Self {
            linear: m.fixed_view::<3, 3>(0, 0).into_owned(),
            translation: m.fixed_view::<3, 1>(0, 3).into_owned(),
        }
    }

    /// The homogeneous matrix.
    pub fn to_matrix(self) -> Mat4<f64> {
        let mut m = Mat4::identity();
        m.fixed_view_mut::<3, 3>(0, 0).copy_from(&self.linear);
        m.fixed_view_mut::<3, 1>(0, 3).copy_from(&self.translation);
        m
    }

    /// The inverse map; `None` if the linear part is singular or not finite.
    pub fn inverse(&self) -> Option<Self> {
        let size = self.linear.norm();
        let det = self.linear.determinant();
        if !det.is_finite() || det.abs() <= 1e-12 * size * size * size {
            return None;
        }
        let linear = self.linear.try_inverse()?;
        Some(Self { linear, translation: -(linear * self.translation) })
    }

    /// The image of the point `p`.
    pub fn point(&self, p: &Vec3) -> Vec3 {
        self.linear * p + self.translation
    }
}

impl From<Transform> for Affine {
    fn from(t: Transform) -> Self {
        Self { linear: t.rotation.to_rotation_matrix().into_inner(), translation: t.translation }
    }
}

impl Mul for Affine {
    type Output = Affine;
    fn mul(self, b: Affine) -> Affine {
        Affine { linear: self.linear * b.linear, translation: self.point(&b.translation) }
    }
}

/// The local transform of a node: parent from node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LocalTransform {
    /// The translation in metres.
    pub translation: Vec3,
    /// The rotation; for a matrix, the nearest rotation.
    pub rotation: Quat,
    /// The scale along the node's axes; for a matrix, the lengths of its columns.
    pub scale: Vec3,
    /// The linear part of a node given as `matrix`.
    pub matrix: Option<Mat3<f64>>,
}

impl LocalTransform {
    /// The local transform of a node given as a matrix.
    pub fn from_matrix(m: &Mat4<f64>) -> Self {
        let a = Affine::from_matrix(m);
        let (rotation, mirrored) = nearest_rotation(&a.linear).unwrap_or((Quat::identity(), false));
        let sign = if mirrored { -1.0 } else { 1.0 };
        let scale = Vec3::from_fn(|i, _| sign * a.linear.column(i).norm());
        Self { translation: a.translation, rotation, scale, matrix: Some(a.linear) }
    }

    /// The linear part.
    pub fn linear(&self) -> Mat3<f64> {
        self.matrix.unwrap_or_else(|| {
            let mut m = self.rotation.to_rotation_matrix().into_inner();
            for (i, mut column) in m.column_iter_mut().enumerate() {
                column *= self.scale[i];
            }
            m
        })
    }

    /// The scale if it is uniform and positive, so that it does not affect rotations.
    fn uniform(&self) -> Option<f64> {
        let s = &self.scale;
        let even = s.max() - s.min() <= UNIFORM * s.max() && s.min() > 0.0;
        (even && self.matrix.is_none()).then(|| (s.x + s.y + s.z) / 3.0)
    }
}

/// The world transform of a node, a similarity unless some scale above it is non-uniform.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WorldTransform {
    /// The origin of the node in metres.
    pub translation: Vec3,
    rotation: Quat,
    scale: f64,
    /// The linear part, if some scale is non-uniform.
    non_uniform: Option<Mat3<f64>>,
}

impl WorldTransform {
    /// The identity.
    pub fn identity() -> Self {
        Self { translation: Vec3::zeros(), rotation: Quat::identity(), scale: 1.0, non_uniform: None }
    }

    /// A uniform scale about the origin.
    pub fn scaled(scale: f64) -> Self {
        Self { scale, ..Self::identity() }
    }

    /// The scale from the node to the world, if it is uniform.
    pub fn uniform_scale(&self) -> Option<f64> {
        self.non_uniform.is_none().then_some(self.scale)
    }

    /// The world transform of a child with this local transform.
    pub fn child(&self, local: &LocalTransform) -> Self {
        let rotation = self.rotation * local.rotation;
        match (self.non_uniform, local.uniform()) {
            (None, Some(scale)) => Self {
                translation: self.translation + self.rotation * (local.translation * self.scale),
                rotation,
                scale: self.scale * scale,
                non_uniform: None,
            },
            _ => {
                let linear = self.linear();
                Self {
                    translation: self.translation + linear * local.translation,
                    rotation,
                    scale: self.scale,
                    non_uniform: Some(linear * local.linear()),
                }
            }
        }
    }

    /// The linear part.
    pub fn linear(&self) -> Mat3<f64> {
        self.non_uniform.unwrap_or_else(|| self.rotation.to_rotation_matrix().into_inner() * self.scale)
    }

    /// The whole map.
    pub fn affine(&self) -> Affine {
        Affine { linear: self.linear(), translation: self.translation }
    }

    /// Whether some scale between the node and the world is non-uniform.
    pub fn is_non_uniform(&self) -> bool {
        self.non_uniform.is_some()
    }

    /// The free vector `v` of the node in the world.
    pub fn vector(&self, v: &Vec3) -> Vec3 {
        match &self.non_uniform {
            None => self.rotation * (v * self.scale),
            Some(m) => m * v,
        }
    }

    /// The point of the node that is at `p` in the world; `None` if the map is singular.
    pub fn inverse_point(&self, p: &Vec3) -> Option<Vec3> {
        let v = p - self.translation;
        match &self.non_uniform {
            None => Some(self.rotation.inverse() * v / self.scale),
            Some(_) => Some(self.affine().inverse()?.linear * v),
        }
    }

    /// The rigid part, and whether the map mirrors.
    ///
    /// A singular map (a joint with scale zero) has no nearest rotation; the product of the node rotations is used instead.
    pub fn rigid(&self) -> (Transform, bool) {
        let (rotation, mirrored) = match &self.non_uniform {
            None => (self.rotation, false),
            Some(m) => nearest_rotation(m).unwrap_or((self.rotation, false)),
        };
        (Transform::new(rotation, self.translation), mirrored)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::exp;

    #[test]
    fn a_chain_of_scales_is_the_product_of_its_matrices() {
        for uneven in [0.0, 0.3] {
            let a = LocalTransform {
                translation: Vec3::new(1.0, 2.0, 3.0),
                rotation: exp(&Vec3::new(0.3, -0.2, 0.9)),
                scale: Vec3::new(2.0 + uneven, 2.0, 2.0),
                matrix: None,
            };
            let b = LocalTransform { rotation: exp(&Vec3::new(-1.0, 0.1, 0.2)), ..a };
            let world = WorldTransform::identity().child(&a).child(&b).child(&a);
            let affine =
                |local: &LocalTransform| Affine { linear: local.linear(), translation: local.translation };
            let product = (affine(&a) * affine(&b) * affine(&a)).to_matrix();
            assert!((world.affine().to_matrix() - product).norm() < 1e-12);
            let (rigid, mirrored) = world.rigid();
            assert!(!mirrored && rigid.translation == world.translation);
            let (nearest, _) = nearest_rotation(&world.linear()).unwrap();
            assert!(rigid.rotation.angle_to(&nearest) < 1e-12);
        }
    }

    #[test]
    fn an_affine_map_and_its_inverse_cancel() {
        let m = Mat3::new(1.0, 2.0, 0.5, 0.0, -3.0, 1.0, 0.2, 0.1, 0.7);
        let a = Affine { linear: m, translation: Vec3::new(1.0, 2.0, 3.0) };
        let p = Vec3::new(-1.0, 0.5, 2.0);
        assert!((a.inverse().unwrap().point(&a.point(&p)) - p).norm() < 1e-12);
        assert!(Affine { linear: Mat3::zeros(), ..a }.inverse().is_none());
    }
}
