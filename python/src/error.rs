//! Faults become exceptions; work is done without the lock of the interpreter.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};

pyo3::create_exception!(posemill, Error, PyValueError, "What went wrong, in the words of the program.");

/// The exception of a fault.
pub fn fault(error: impl Display) -> PyErr {
    Error::new_err(error.to_string())
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
