//! Arithmetic in the registers of the processor at hand.

use pulp::{Arch, Simd, WithSimd};

/// Does `work` by code for registers of 256 bits where the processor has them. The arithmetic is the same, and so are
/// the bits. The closure and all that it calls are to be `#[inline(always)]`: what stands by itself is compiled for the
/// oldest processor, whoever calls it.
///
/// Not for wider ones: there the compiler puts unlike numbers of plain arrays together in one register and moves them
/// about for three times as long as it computes (measured for forward kinematics).
#[inline(always)]
pub(crate) fn in_wide_registers<R>(work: impl FnMut() -> R) -> R {
    match Arch::new() {
        #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
        Arch::V4(wider) => Simd::vectorize(*wider, InPlace(work)),
        arch => arch.dispatch(InPlace(work)),
    }
}

/// A closure that is called in place: one that is given away is called through a function of its own, which stands by
/// itself.
struct InPlace<F>(F);

impl<R, F: FnMut() -> R> WithSimd for InPlace<F> {
    type Output = R;

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, _: S) -> R {
        (self.0)()
    }
}
