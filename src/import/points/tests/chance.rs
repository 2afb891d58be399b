//! Numbers by chance that are the same in every run.

use crate::math::Vec3;

/// A linear congruential generator (Knuth, MMIX).
pub(in crate::import::points) struct Chance(pub(in crate::import::points) u64);

impl Chance {
    pub(in crate::import::points) fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    pub(in crate::import::points) fn below(&mut self, n: usize) -> usize {
        (self.uniform() * n as f64) as usize
    }

    /// Of variance 1: the sum of twelve uniform numbers.
    pub(in crate::import::points) fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }

    pub(in crate::import::points) fn vector(&mut self) -> Vec3 {
        Vec3::new(self.normal(), self.normal(), self.normal())
    }
}
