//! Work in the widest registers that the processor at hand has. The arithmetic, and so every bit, is the same in all.

use pulp::{Arch, NullaryFnOnce};

/// Does `work` in them.
///
/// Only what is part of `work` itself is compiled for them: the closure and what it calls are marked `#[inline(always)]`.
#[inline(always)]
pub(crate) fn in_wide_registers<R>(work: impl FnMut() -> R) -> R {
    Arch::new().dispatch(Wide(work))
}

/// Work that is called in place. A closure that is given away is called through a function of its own, which stays outside
/// of what the registers are for.
struct Wide<F>(F);

impl<R, F: FnMut() -> R> NullaryFnOnce for Wide<F> {
    type Output = R;

    #[inline(always)]
    fn call(mut self) -> R {
        (self.0)()
    }
}
