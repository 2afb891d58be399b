//! One number or several side by side, so that one piece of arithmetic serves one frame or a batch of frames.
//!
//! Branches become [`Real::select`] by a bit mask with one bit a lane; a scalar has lane 0 only.

use std::fmt::Debug;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

/// A real number in every lane.
pub trait Real:
    Copy
    + Debug
    + Send
    + Sync
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
{
    /// How many numbers stand side by side, at most 32.
    const LANES: usize;

    /// The same number in every lane.
    fn splat(x: f64) -> Self;
    /// The number that `value` gives for every lane.
    fn from_lanes(value: impl FnMut(usize) -> f64) -> Self;
    /// The number in one lane.
    ///
    /// # Panics
    /// Where there is no such lane.
    fn lane(self, lane: usize) -> f64;
    /// The square root of every lane.
    fn sqrt(self) -> Self;
    /// `self` in the lanes whose bit of `mask` is set, `other` elsewhere.
    fn select(self, mask: u32, other: Self) -> Self;
    /// The greater of two, lane by lane.
    fn max(self, other: Self) -> Self;
    /// The lanes, as bits, in which `self` is less than `other`.
    fn less(self, other: Self) -> u32;
}

impl Real for f64 {
    const LANES: usize = 1;
    #[inline(always)]
    fn splat(x: f64) -> Self {
        x
    }
    #[inline(always)]
    fn from_lanes(mut value: impl FnMut(usize) -> f64) -> Self {
        value(0)
    }
    #[inline(always)]
    fn lane(self, _: usize) -> f64 {
        self
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        f64::sqrt(self)
    }
    #[inline(always)]
    fn select(self, mask: u32, other: Self) -> Self {
        if mask & 1 == 1 { self } else { other }
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        f64::max(self, other)
    }
    #[inline(always)]
    fn less(self, other: Self) -> u32 {
        u32::from(self < other)
    }
}

/// Four `f64` numbers side by side.
///
/// A plain array: the compiler keeps it in the widest registers of whatever processor the code around it is for.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(align(32))]
pub struct RealX4([f64; 4]);

macro_rules! by_lane {
    ($operation:ident, $function:ident, $sign:tt) => {
        impl $operation for RealX4 {
            type Output = Self;
            #[inline(always)]
            fn $function(self, Self(b): Self) -> Self {
                let Self(a) = self;
                Self([a[0] $sign b[0], a[1] $sign b[1], a[2] $sign b[2], a[3] $sign b[3]])
            }
        }
    };
}

by_lane!(Add, add, +);
by_lane!(Sub, sub, -);
by_lane!(Mul, mul, *);
by_lane!(Div, div, /);

impl Neg for RealX4 {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        let Self([a, b, c, d]) = self;
        Self([-a, -b, -c, -d])
    }
}

impl AddAssign for RealX4 {
    #[inline(always)]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl SubAssign for RealX4 {
    #[inline(always)]
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl Real for RealX4 {
    const LANES: usize = 4;
    #[inline(always)]
    fn splat(x: f64) -> Self {
        Self([x; 4])
    }
    #[inline(always)]
    fn from_lanes(value: impl FnMut(usize) -> f64) -> Self {
        Self(std::array::from_fn(value))
    }
    #[inline(always)]
    fn lane(self, lane: usize) -> f64 {
        self.0[lane]
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        let Self([a, b, c, d]) = self;
        Self([a.sqrt(), b.sqrt(), c.sqrt(), d.sqrt()])
    }
    #[inline(always)]
    fn select(self, mask: u32, other: Self) -> Self {
        Self::from_lanes(|k| if mask >> k & 1 == 1 { self.0[k] } else { other.0[k] })
    }
    #[inline(always)]
    fn max(self, Self(b): Self) -> Self {
        let Self(a) = self;
        Self([a[0].max(b[0]), a[1].max(b[1]), a[2].max(b[2]), a[3].max(b[3])])
    }
    #[inline(always)]
    fn less(self, other: Self) -> u32 {
        (0..4).fold(0, |mask, k| mask | u32::from(self.0[k] < other.0[k]) << k)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arithmetic_is_that_of_every_lane<T: Real>() {
        let number = |k: usize| 1.5 + k as f64;
        let x = T::from_lanes(number);
        let y = (x * x + T::splat(2.0)).sqrt() / x - T::splat(0.25);
        let picked = y.select(0b1, -y).max(T::splat(-0.5));
        assert_eq!(x.less(T::splat(2.0)), 0b1);
        for k in 0..T::LANES {
            let expected = (number(k).powi(2) + 2.0).sqrt() / number(k) - 0.25;
            assert_eq!(y.lane(k), expected);
            let expected = if k == 0 { expected } else { (-expected).max(-0.5) };
            assert_eq!(picked.lane(k), expected);
        }
    }

    #[test]
    fn lanes_compute_what_scalars_compute() {
        arithmetic_is_that_of_every_lane::<f64>();
        arithmetic_is_that_of_every_lane::<RealX4>();
    }
}
