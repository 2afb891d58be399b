//! A motion as bytes for another process of the same version (pickle): every number, the character and its document.

use crate::error::fault;
use crate::motion::Motion;
use posemill::model;
use posemill::report::{NotJudged, TakeChange};
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::sync::Arc;

/// The version that wrote the bytes, first, so that others can refuse the rest.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// All that a motion holds.
#[derive(Serialize, Deserialize)]
struct Packed<'a> {
    motion: Cow<'a, model::Motion>,
    said: Cow<'a, [String]>,
    measured: Cow<'a, [(String, f64)]>,
    not_judged: Cow<'a, NotJudged>,
    take_changes: Cow<'a, [TakeChange]>,
}

/// The bytes of a motion.
pub fn pack(motion: &Motion) -> Result<Vec<u8>, postcard::Error> {
    let packed = Packed {
        motion: Cow::Borrowed(&motion.inner),
        said: Cow::Borrowed(&motion.said),
        measured: Cow::Borrowed(&motion.measured),
        not_judged: Cow::Borrowed(&motion.not_judged),
        take_changes: Cow::Borrowed(&motion.take_changes),
    };
    postcard::to_allocvec(&(VERSION, packed))
}

/// The motion of such bytes.
///
/// # Errors
/// Bytes of another version, and damaged ones.
pub fn unpack(bytes: &[u8]) -> Result<Motion, String> {
    let damaged =
        |reason: postcard::Error| format!("the pickled motion is damaged: {reason}\npickle it again");
    let (version, rest): (String, _) = postcard::take_from_bytes(bytes).map_err(damaged)?;
    if version != VERSION {
        return Err(format!(
            "the motion was pickled by posemill {version}, this is {VERSION}\nkeep motions as files (`posemill.save`), and pickle them \
             only between processes of one version"
        ));
    }
    let packed: Packed<'_> = postcard::from_bytes(rest).map_err(damaged)?;
    packed
        .motion
        .check()
        .map_err(|reason| format!("the pickled motion is damaged: {reason}\npickle it again"))?;
    let mut motion = Motion::of(Arc::new(packed.motion.into_owned()));
    motion.said = packed.said.into_owned();
    motion.measured = packed.measured.into_owned();
    motion.not_judged = packed.not_judged.into_owned();
    motion.take_changes = packed.take_changes.into_owned();
    Ok(motion)
}

/// The motion that another process packed.
#[pyfunction]
#[pyo3(name = "_unpickled")]
pub fn unpickled(py: Python<'_>, bytes: &[u8]) -> PyResult<Motion> {
    crate::error::released(py, || unpack(bytes))
}

/// The bytes of a motion, without the lock.
pub fn packed(py: Python<'_>, motion: &Motion) -> PyResult<Vec<u8>> {
    py.detach(|| pack(motion)).map_err(|reason| fault(format!("the motion cannot be pickled: {reason}")))
}
