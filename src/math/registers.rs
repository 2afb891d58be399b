//! Arithmetic in the registers of the processor at hand.

use pulp::{Arch, Simd, WithSimd};

/// Does `work` by code for registers of 256 bits where the processor has them. The arithmetic is the same, and so are
/// the bits. All that `work` calls is to be `#[inline(always)]`: a closure, or a function that stands by itself, is
/// compiled for the oldest processor, whoever calls it.
///
/// Not for wider ones: there the compiler puts unlike numbers of plain arrays together in one register and moves them
/// about for three times as long as it computes (measured for forward kinematics).
#[inline]
pub(crate) fn in_wide_registers<W: WithSimd>(work: W) -> W::Output {
    match Arch::new() {
        #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
        Arch::V4(wider) => Simd::vectorize(*wider, work),
        arch => arch.dispatch(work),
    }
}
