//! Eight transforms side by side in `f32`: the same joint in eight frames, computed at once.
//!
//! Frames are the lanes, never joints: a joint waits for its parent, a frame waits for nothing.

use super::{Quat, RawQuat, Transform, Vec3};

/// How many numbers one lane value holds.
pub const LANES: usize = 8;
/// Eight `f32` numbers.
pub type F32x8 = simba::simd::WideF32x8;
/// Eight vectors.
pub type LaneVec3 = nalgebra::Vector3<F32x8>;
/// Eight rotations.
pub type LaneQuat = nalgebra::UnitQuaternion<F32x8>;

/// Eight rigid transforms. Space and units as [`Transform`], in `f32`.
#[derive(Clone, Copy, Debug)]
pub struct LaneTransform {
    /// The rotations, applied first.
    pub rotation: LaneQuat,
    /// The translations, applied second, in metres.
    pub translation: LaneVec3,
}

impl LaneTransform {
    /// Eight times the transform that moves nothing.
    pub fn identity() -> Self {
        Self { rotation: lane_quat(&[&Quat::identity(); LANES]), translation: splat_vec3(&Vec3::zeros()) }
    }

    /// One of the eight transforms, in `f64` and with its rotation normalised again.
    ///
    /// # Panics
    /// Where `lane` is not below [`LANES`].
    pub fn lane(&self, lane: usize) -> Transform {
        let [x, y, z, w] = [0, 1, 2, 3].map(|c| f64::from(self.rotation.coords[c].into_arr()[lane]));
        Transform::new(Quat::new_normalize(RawQuat::new(w, x, y, z)), self.position(lane))
    }

    /// One of the eight translations, in `f64` metres.
    ///
    /// # Panics
    /// Where `lane` is not below [`LANES`].
    pub fn position(&self, lane: usize) -> Vec3 {
        Vec3::from_fn(|c, _| f64::from(self.translation[c].into_arr()[lane]))
    }
}

impl std::ops::Mul for LaneTransform {
    type Output = LaneTransform;
    #[inline]
    fn mul(self, b: LaneTransform) -> LaneTransform {
        LaneTransform {
            rotation: self.rotation * b.rotation,
            translation: self.translation + self.rotation * b.translation,
        }
    }
}

/// Eight rotations side by side.
#[inline]
pub fn lane_quat(rotations: &[&Quat; LANES]) -> LaneQuat {
    // Narrowed rotation by rotation and transposed afterwards: two numbers are narrowed at a time that way.
    let narrow = rotations.map(|q| <[f64; 4]>::from(q.coords).map(|x| x as f32));
    let rows: [[f32; LANES]; 4] = std::array::from_fn(|c| std::array::from_fn(|lane| narrow[lane][c]));
    let [x, y, z, w] = rows.map(F32x8::from_arr);
    LaneQuat::new_unchecked(nalgebra::Quaternion::new(w, x, y, z))
}

/// Eight vectors side by side.
#[inline]
pub fn lane_vec3(vectors: &[&Vec3; LANES]) -> LaneVec3 {
    LaneVec3::from_fn(|c, _| F32x8::from_arr(vectors.map(|v| v[c] as f32)))
}

/// The same vector eight times.
#[inline]
pub fn splat_vec3(v: &Vec3) -> LaneVec3 {
    LaneVec3::from_fn(|c, _| F32x8::from_arr([v[c] as f32; LANES]))
}
