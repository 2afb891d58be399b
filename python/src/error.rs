//! Errors are raised as exceptions; work is done without the lock of the interpreter.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

pyo3::create_exception!(posemill, Error, PyValueError, "What went wrong, in the words of the program.");

/// The exception of a fault.
pub fn fault(error: impl Display) -> PyErr {
    Error::new_err(error.to_string())
}

/// Refuses a file that does not exist with `posemill.MissingFile`, which is a `FileNotFoundError` with the path as well as a
/// `posemill.Error`.
pub fn must_exist(py: Python<'_>, path: &Path) -> PyResult<()> {
    let kind = match std::fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            py.import("posemill")?.getattr("MissingFile")?
        }
        _ => return Ok(()),
    };
    let number = py.import("errno")?.getattr("ENOENT")?;
    let reason = py.import("os")?.call_method1("strerror", (&number,))?;
    Err(PyErr::from_value(kind.call1((number, reason, path.display().to_string()))?))
}

/// What `work` gives, without the lock. A mistake of the program is an exception like any other.
pub fn released<T: Send, E: Display>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<T, E> + Send,
) -> PyResult<T> {
    let ended = py.detach(|| catch_unwind(AssertUnwindSafe(|| work().map_err(|error| error.to_string()))));
    match ended {
        Ok(result) => result.map_err(Error::new_err),
        Err(_) => Err(fault("internal error: posemill made a mistake on this input; please report it")),
    }
}
