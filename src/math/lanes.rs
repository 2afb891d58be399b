//! Transforms in SIMD lanes: the same joint in eight frames in `f32`, or in four in `f64`, computed at once.
//!
//! The lanes are frames, not joints: a joint depends on its parent, frames are independent. All functions are inlined, so
//! that they are compiled for the caller's register width.

use super::{Quat, RawQuat, Real, RealX4, RealX8, Transform, Triple, Vec3, cross, sum};

/// Numbers per lane value.
pub(crate) const LANES: usize = RealX8::LANES;
/// Eight vectors.
pub(crate) type LaneVec3 = Triple<RealX8>;

/// A rigid transform in every lane. Space and units as [`Transform`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LaneTransform<T = RealX8> {
    /// The rotations, applied first: unit quaternions `x, y, z, w`.
    pub(crate) rotation: [T; 4],
    /// The translations, applied second, in metres.
    pub(crate) translation: Triple<T>,
}

impl LaneTransform {
    /// One of the eight transforms in `f64`, with its rotation renormalised.
    ///
    /// # Panics
    /// If `lane` is not below [`LANES`].
    pub(crate) fn lane(&self, lane: usize) -> Transform {
        let [x, y, z, w] = self.rotation.map(|c| c.lane(lane));
        Transform::new(Quat::new_normalize(RawQuat::new(w, x, y, z)), self.position(lane))
    }

    /// One of the eight translations, in `f64` metres.
    ///
    /// # Panics
    /// Where `lane` is not below [`LANES`].
    pub(crate) fn position(&self, lane: usize) -> Vec3 {
        self.translation.map(|c| c.lane(lane)).into()
    }
}

impl LaneTransform<RealX4> {
    /// The transform in one lane.
    #[inline(always)]
    pub(crate) fn exact(&self, lane: usize) -> Transform {
        let [x, y, z, w] = self.rotation.map(|c| c.lane(lane));
        let translation = self.translation.map(|c| c.lane(lane)).into();
        Transform::new(Quat::new_unchecked(RawQuat::new(w, x, y, z)), translation)
    }
}

impl<T: Real> LaneTransform<T> {
    /// The identity in every lane.
    pub(crate) fn identity() -> Self {
        let [zero, one] = [0.0, 1.0].map(T::splat);
        Self { rotation: [zero, zero, zero, one], translation: [zero; 3] }
    }

    /// Maps a point in every lane: `t + q p q*`, with `q p q* = p + w c + v x c`, `c = 2 v x p`.
    #[inline(always)]
    pub(crate) fn point(&self, p: Triple<T>) -> Triple<T> {
        let [x, y, z, w] = self.rotation;
        let half = cross([x, y, z], p);
        let c = sum(half, half);
        let d = cross([x, y, z], c);
        let rotated = [c[0] * w + d[0] + p[0], c[1] * w + d[1] + p[1], c[2] * w + d[2] + p[2]];
        sum(self.translation, rotated)
    }
}

impl<T: Real> std::ops::Mul for LaneTransform<T> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, b: Self) -> Self {
        LaneTransform {
            rotation: quat_product(self.rotation, b.rotation),
            translation: self.point(b.translation),
        }
    }
}

/// The product of quaternions `x, y, z, w`.
#[inline(always)]
pub(crate) fn quat_product<T: Real>([ax, ay, az, aw]: [T; 4], [bx, by, bz, bw]: [T; 4]) -> [T; 4] {
    [
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    ]
}

/// The rotations at the index `at` of eight lists, as lanes.
#[inline(always)]
pub(crate) fn lane_quat(lists: &[&[Quat]; LANES], at: usize) -> [RealX8; 4] {
    let mut rows = [[0.0; LANES]; 4];
    for (lane, list) in lists.iter().enumerate() {
        let q = &list[at].coords;
        for (c, row) in rows.iter_mut().enumerate() {
            row[lane] = q[c] as f32;
        }
    }
    [rows[0].into(), rows[1].into(), rows[2].into(), rows[3].into()]
}

/// The vectors at the index `at` of eight lists, as lanes.
#[inline(always)]
pub(crate) fn lane_vec3(lists: &[&[Vec3]; LANES], at: usize) -> LaneVec3 {
    let of = |c: usize| RealX8::from_lanes(|lane| lists[lane][at][c]);
    [of(0), of(1), of(2)]
}

/// The same vector in all lanes.
pub(crate) fn splat_vec3(v: &Vec3) -> LaneVec3 {
    [v.x, v.y, v.z].map(RealX8::splat)
}
