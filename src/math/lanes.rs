//! Eight transforms in `f32` SIMD lanes: the same joint in eight frames, computed at once.
//!
//! The lanes are frames, not joints: a joint depends on its parent, frames are independent. All functions are inlined, so
//! that they are compiled for the caller's register width.

use super::{Quat, RawQuat, Real, RealX8, Transform, Triple, Vec3, cross, sum};

/// Numbers per lane value.
pub(crate) const LANES: usize = RealX8::LANES;
/// Eight vectors.
pub(crate) type LaneVec3 = Triple<RealX8>;

/// Eight rigid transforms. Space and units as [`Transform`], in `f32`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LaneTransform {
    /// The rotations, applied first: unit quaternions `x, y, z, w`.
    pub(crate) rotation: [RealX8; 4],
    /// The translations, applied second, in metres.
    pub(crate) translation: LaneVec3,
}

impl LaneTransform {
    /// Eight identity transforms.
    pub(crate) fn identity() -> Self {
        let [zero, one] = [0.0, 1.0].map(RealX8::splat);
        Self { rotation: [zero, zero, zero, one], translation: [zero; 3] }
    }

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

    /// Maps eight points by the transforms: `t + q p q*`, with `q p q* = p + w c + v x c`, `c = 2 v x p`.
    #[inline(always)]
    pub(crate) fn point(&self, p: LaneVec3) -> LaneVec3 {
        let [x, y, z, w] = self.rotation;
        let half = cross([x, y, z], p);
        let c = sum(half, half);
        let d = cross([x, y, z], c);
        let rotated = [c[0] * w + d[0] + p[0], c[1] * w + d[1] + p[1], c[2] * w + d[2] + p[2]];
        sum(self.translation, rotated)
    }
}

impl std::ops::Mul for LaneTransform {
    type Output = LaneTransform;
    #[inline(always)]
    fn mul(self, b: LaneTransform) -> LaneTransform {
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
