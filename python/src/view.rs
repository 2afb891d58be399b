//! Numbers that a motion holds become a NumPy array that shares their memory.
//!
//! The address is handed over by NumPy's array interface (version 3), which keeps the object that owns the memory alive for
//! as long as any array looks at it. Nothing can write: motions are shared and do not change.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::any::Any;
use std::sync::Arc;

/// Read-only numbers in the memory of a motion.
#[pyclass(frozen, module = "posemill")]
pub struct View {
    /// Owns the memory; never changed.
    _owner: Arc<dyn Any + Send + Sync>,
    address: usize,
    shape: Vec<usize>,
    kind: &'static str,
}

/// A number that NumPy has a type for.
pub trait Number: Copy {
    /// The name of the type in an array interface, in the byte order of this machine.
    const KIND: &'static str;
}

impl Number for f64 {
    const KIND: &'static str = if cfg!(target_endian = "little") { "<f8" } else { ">f8" };
}

impl Number for i32 {
    const KIND: &'static str = if cfg!(target_endian = "little") { "<i4" } else { ">i4" };
}

impl Number for bool {
    const KIND: &'static str = "|b1";
}

/// An array of `shape` that begins with the first of `numbers`, which lie in the memory of `owner` and fill the shape.
pub fn shared<'py, N: Number>(
    py: Python<'py>,
    owner: Arc<dyn Any + Send + Sync>,
    numbers: &[N],
    shape: &[usize],
) -> PyResult<Bound<'py, PyAny>> {
    assert_eq!(numbers.len(), shape.iter().product::<usize>(), "the numbers fill the shape");
    lying(py, owner, numbers.as_ptr(), shape)
}

/// An array of `shape` that begins at `first`: rows of numbers that lie behind each other in the memory of `owner`.
pub fn lying<'py, N: Number>(
    py: Python<'py>,
    owner: Arc<dyn Any + Send + Sync>,
    first: *const N,
    shape: &[usize],
) -> PyResult<Bound<'py, PyAny>> {
    let view = View { _owner: owner, address: first as usize, shape: shape.to_vec(), kind: N::KIND };
    py.import("numpy")?.call_method1("asarray", (Bound::new(py, view)?,))
}

/// An array that owns `numbers`: moved, not copied.
pub fn owned<'py, N: Number + Send + Sync + 'static>(
    py: Python<'py>,
    numbers: Arc<Vec<N>>,
    shape: &[usize],
) -> PyResult<Bound<'py, PyAny>> {
    let owner: Arc<dyn Any + Send + Sync> = numbers.clone();
    shared(py, owner, &numbers, shape)
}

#[pymethods]
impl View {
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let interface = PyDict::new(py);
        interface.set_item("version", 3)?;
        interface.set_item("typestr", self.kind)?;
        interface.set_item("shape", PyTuple::new(py, &self.shape)?)?;
        interface.set_item("data", (self.address, true))?;
        Ok(interface)
    }
}

/// The numbers of an array of this shape that Python brings; `None` in the shape stands for any length.
///
/// # Errors
/// Where it has another shape, or is no array of numbers.
pub fn numbers(
    what: &str,
    array: &Bound<'_, PyAny>,
    shape: &[Option<usize>],
) -> PyResult<(Vec<f64>, Vec<usize>)> {
    let numpy = array.py().import("numpy")?;
    let array = numpy.call_method1("ascontiguousarray", (array, "<f8"))?;
    let found: Vec<usize> = array.getattr("shape")?.extract()?;
    let fits = found.len() == shape.len()
        && found.iter().zip(shape).all(|(found, wanted)| wanted.is_none_or(|wanted| wanted == *found));
    if !fits {
        let wanted: Vec<String> =
            shape.iter().map(|n| n.map_or_else(|| "any".to_owned(), |n| n.to_string())).collect();
        let found: Vec<String> = found.iter().map(usize::to_string).collect();
        return Err(crate::error::fault(format!(
            "`{what}` has the shape ({}), expected ({})",
            found.join(", "),
            wanted.join(", ")
        )));
    }
    let bytes: Vec<u8> = array.call_method0("tobytes")?.extract()?;
    let read = |eight: &[u8]| f64::from_le_bytes(eight.try_into().expect("chunks of eight"));
    Ok((bytes.chunks_exact(8).map(read).collect(), found))
}
