//! One number or several side by side, so that one piece of arithmetic serves one frame or a batch of frames.
//!
//! Branches become [`Real::select`] by a bit mask with one bit a lane; a scalar has lane 0 only.

use simba::simd::{SimdComplexField, WideF32x8, WideF64x4};
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

macro_rules! lanes {
    ($wide:ty, $number:ty, $lanes:literal) => {
        impl Real for $wide {
            const LANES: usize = $lanes;
            #[inline(always)]
            fn splat(x: f64) -> Self {
                Self::from_arr([x as $number; $lanes])
            }
            #[inline(always)]
            fn from_lanes(mut value: impl FnMut(usize) -> f64) -> Self {
                Self::from_arr(std::array::from_fn(|lane| value(lane) as $number))
            }
            #[inline(always)]
            fn lane(self, lane: usize) -> f64 {
                self.into_arr()[lane] as f64
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                self.simd_sqrt()
            }
            #[inline(always)]
            fn select(self, mask: u32, other: Self) -> Self {
                if mask == (1 << $lanes) - 1 {
                    return self;
                }
                let (a, b) = (self.into_arr(), other.into_arr());
                Self::from_arr(std::array::from_fn(|k| if mask >> k & 1 == 1 { a[k] } else { b[k] }))
            }
            #[inline(always)]
            fn max(self, other: Self) -> Self {
                let (a, b) = (self.into_arr(), other.into_arr());
                Self::from_arr(std::array::from_fn(|k| a[k].max(b[k])))
            }
            #[inline(always)]
            fn less(self, other: Self) -> u32 {
                let (a, b) = (self.into_arr(), other.into_arr());
                (0..$lanes).fold(0, |mask, k| mask | u32::from(a[k] < b[k]) << k)
            }
        }
    };
}

lanes!(WideF64x4, f64, 4);
lanes!(WideF32x8, f32, 8);

/// Four `f64` numbers side by side.
pub type RealX4 = WideF64x4;
/// Eight `f32` numbers side by side.
pub type RealX8 = WideF32x8;

#[cfg(test)]
mod tests {
    use super::*;

    fn arithmetic_is_that_of_every_lane<T: Real>(tolerance: f64) {
        let number = |k: usize| 1.5 + k as f64;
        let x = T::from_lanes(number);
        let y = (x * x + T::splat(2.0)).sqrt() / x - T::splat(0.25);
        let picked = y.select(0b1, -y).max(T::splat(-0.5));
        assert_eq!(x.less(T::splat(2.0)), 0b1);
        for k in 0..T::LANES {
            let expected = (number(k).powi(2) + 2.0).sqrt() / number(k) - 0.25;
            assert!((y.lane(k) - expected).abs() < tolerance);
            let expected = if k == 0 { expected } else { (-expected).max(-0.5) };
            assert!((picked.lane(k) - expected).abs() < tolerance);
        }
    }

    #[test]
    fn lanes_compute_what_scalars_compute() {
        arithmetic_is_that_of_every_lane::<f64>(1e-15);
        arithmetic_is_that_of_every_lane::<RealX4>(1e-15);
        arithmetic_is_that_of_every_lane::<RealX8>(1e-6);
    }
}
