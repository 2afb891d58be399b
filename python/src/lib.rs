//! posemill for Python: motions as NumPy arrays without copies, and the pipelines of the program.
//!
//! Every call that works releases the lock of the interpreter; faults are raised as `posemill.Error` with the words of the
//! program.

mod error;
mod motion;
mod pipeline;
mod view;
mod words;

/// The compiled part of the package; `posemill` shows all of it.
#[pyo3::pymodule]
mod _posemill {
    #[pymodule_export]
    use crate::error::Error;
    #[pymodule_export]
    use crate::motion::{Motion, load, load_all, measure, measures, save, verdict};
    #[pymodule_export]
    use crate::pipeline::{Pipeline, restored, retarget};
    #[pymodule_export]
    use crate::view::View;

    #[pymodule_export]
    #[allow(non_upper_case_globals, reason = "the name that Python gives it")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
