//! Scalars and SIMD lanes behind one trait, so that the same code computes one frame or several.
//!
//! Branches are written as [`Real::select`] with a bit mask, one bit per lane; a scalar has lane 0 only.

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
    /// Number of lanes, at most 32.
    const LANES: usize;

    /// The same number in every lane.
    fn splat(x: f64) -> Self;
    /// The number `value(k)` in lane k.
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
    /// Bit mask of the lanes in which `self` is less than `other`.
    fn less(self, other: Self) -> u32;
}

impl Real for f64 {
    /// One number.
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

macro_rules! by_lane {
    ($name:ident: $operation:ident, $function:ident, $sign:tt, $lanes:tt) => {
        impl $operation for $name {
            type Output = Self;
            #[inline(always)]
            fn $function(self, other: Self) -> Self {
                by_lane!(@ $name, self.0, other.0, $sign, $lanes)
            }
        }
    };
    (@ $name:ident, $a:expr, $b:expr, $sign:tt, [$($k:tt)*]) => { $name([$($a[$k] $sign $b[$k]),*]) };
}

macro_rules! side_by_side {
    ($(#[$meta:meta])* $name:ident, $number:ty, $count:literal, [$($k:tt)*]) => {
        $(#[$meta])*
        ///
        /// A plain array, which the compiler maps to registers of the target features of the surrounding code.
        #[derive(Clone, Copy, Debug, PartialEq)]
        #[repr(align(32))]
        pub struct $name([$number; $count]);

        impl From<[$number; $count]> for $name {
            #[inline(always)]
            fn from(lanes: [$number; $count]) -> Self {
                Self(lanes)
            }
        }

        impl From<$name> for [$number; $count] {
            #[inline(always)]
            fn from($name(lanes): $name) -> Self {
                lanes
            }
        }

        by_lane!($name: Add, add, +, [$($k)*]);
        by_lane!($name: Sub, sub, -, [$($k)*]);
        by_lane!($name: Mul, mul, *, [$($k)*]);
        by_lane!($name: Div, div, /, [$($k)*]);

        impl Neg for $name {
            type Output = Self;
            #[inline(always)]
            fn neg(self) -> Self {
                Self([$(-self.0[$k]),*])
            }
        }

        impl AddAssign for $name {
            #[inline(always)]
            fn add_assign(&mut self, other: Self) {
                *self = *self + other;
            }
        }

        impl SubAssign for $name {
            #[inline(always)]
            fn sub_assign(&mut self, other: Self) {
                *self = *self - other;
            }
        }

        impl Real for $name {
            /// The lanes of the type.
            const LANES: usize = $count;
            #[inline(always)]
            fn splat(x: f64) -> Self {
                Self([x as $number; $count])
            }
            #[inline(always)]
            fn from_lanes(mut value: impl FnMut(usize) -> f64) -> Self {
                Self([$(value($k) as $number),*])
            }
            #[inline(always)]
            fn lane(self, lane: usize) -> f64 {
                self.0[lane].into()
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                Self([$(self.0[$k].sqrt()),*])
            }
            #[inline(always)]
            fn select(self, mask: u32, other: Self) -> Self {
                Self([$(if mask >> $k & 1 == 1 { self.0[$k] } else { other.0[$k] }),*])
            }
            #[inline(always)]
            fn max(self, other: Self) -> Self {
                Self([$(self.0[$k].max(other.0[$k])),*])
            }
            #[inline(always)]
            fn less(self, other: Self) -> u32 {
                (0..$count).fold(0, |mask, k| mask | u32::from(self.0[k] < other.0[k]) << k)
            }
        }
    };
}

side_by_side!(
    /// Four lanes of `f64`.
    RealX4, f64, 4, [0 1 2 3]
);
side_by_side!(
    /// Eight lanes of `f32`.
    RealX8, f32, 8, [0 1 2 3 4 5 6 7]
);

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
            assert!((y.lane(k) - expected).abs() <= tolerance);
            let expected = if k == 0 { expected } else { (-expected).max(-0.5) };
            assert!((picked.lane(k) - expected).abs() <= tolerance);
        }
    }

    #[test]
    fn lanes_compute_what_scalars_compute() {
        arithmetic_is_that_of_every_lane::<f64>(0.0);
        arithmetic_is_that_of_every_lane::<RealX4>(0.0);
        arithmetic_is_that_of_every_lane::<RealX8>(1e-6);
    }
}
