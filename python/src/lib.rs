//! posemill for Python: motions as NumPy arrays without copies, and the pipelines of the program.
//!
//! Every call that works releases the lock of the interpreter; faults are raised as `posemill.Error` with the words of the
//! program.

mod arrays;
mod assess;
mod error;
mod files;
mod motion;
mod packed;
mod pipeline;
mod slices;
mod view;
mod words;

/// The compiled part of the package; `posemill` shows all of it.
#[pyo3::pymodule]
mod _posemill {
    #[pymodule_export]
    use crate::assess::{measure, measures, verdict};
    #[pymodule_export]
    use crate::error::Error;
    #[pymodule_export]
    use crate::files::{from_bytes, load, load_all, save};
    #[pymodule_export]
    use crate::motion::Motion;
    #[pymodule_export]
    use crate::packed::unpickled;
    #[pymodule_export]
    use crate::pipeline::{Pipeline, restored, retarget};
    #[pymodule_export]
    use crate::view::View;

    #[pymodule_export]
    #[allow(non_upper_case_globals, reason = "the name that Python gives it")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
