//! Runtime dispatch to code for wider SIMD registers.

use pulp::{Arch, Simd, WithSimd};

/// Runs `work` compiled for 256-bit registers if the processor has them. The arithmetic and the resulting bits are the
/// same. The closure and everything it calls must be `#[inline(always)]`: a separate function is compiled for the
/// baseline processor.
///
/// 512-bit registers are not used: the compiler then packs unrelated array elements into one register and spends three
/// times as long on shuffles as on arithmetic (measured for forward kinematics).
#[inline(always)]
pub(crate) fn in_wide_registers<R>(work: impl FnMut() -> R) -> R {
    match Arch::new() {
        #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
        Arch::V4(wider) => Simd::vectorize(*wider, InPlace(work)),
        arch => arch.dispatch(InPlace(work)),
    }
}

/// Wraps a closure so that it is inlined: passed by value it would be called through a separate function.
struct InPlace<F>(F);

impl<R, F: FnMut() -> R> WithSimd for InPlace<F> {
    type Output = R;

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, _: S) -> R {
        (self.0)()
    }
}
