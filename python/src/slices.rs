//! Parts of a motion, by frames and by seconds.

use crate::error::fault;
use crate::motion::Motion;
use posemill::model;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PySlice, PySliceMethods};
use std::ops::Range;
use std::sync::Arc;

/// The frames that a slice selects; every `step`th lowers the rate.
pub fn sliced(motion: &Motion, slice: &Bound<'_, PyAny>) -> PyResult<Motion> {
    let whole = "write a slice of frames, `motion[10:50]`, or use `motion.seconds(0.5, 2.0)`";
    let Ok(slice) = slice.cast::<PySlice>() else {
        return Err(PyTypeError::new_err(format!("a motion has no single frames\n{whole}")));
    };
    let frames = motion.inner.clip.frames();
    let found = (slice.indices(isize::try_from(frames)?))
        .map_err(|_| PyTypeError::new_err(format!("frames are whole numbers\n{whole}")))?;
    let (Ok(start), Ok(step)) = (usize::try_from(found.start), usize::try_from(found.step)) else {
        return Err(fault(
            "a motion is not played backwards by a slice\nuse `motion.replace(rotations=motion.rotations[::-1], ...)`",
        ));
    };
    if found.slicelength == 0 {
        return Err(fault(format!("the slice has no frames, the motion has {frames}")));
    }
    // The last frame is one of those that are selected.
    let part = motion.inner.part(start..start + (found.slicelength - 1) * step + 1);
    Ok(motion.with(if step == 1 { part } else { every(part, step) }))
}

/// The frames whose time is from `start` up to, not including, `end`, seconds; `None` for the first and the last.
pub fn seconds(motion: &Motion, start: Option<f64>, end: Option<f64>) -> PyResult<Motion> {
    let clip = &motion.inner.clip;
    let frames = 0..clip.frames();
    // Times are quotients of whole numbers: a frame that is at the limit but for rounding counts as there.
    let at_least = |limit: f64| frames.clone().find(|f| clip.time(*f) >= limit - NEAR / clip.sample_rate);
    let at =
        |limit: Option<f64>, none: usize| limit.map_or(none, |limit| at_least(limit).unwrap_or(frames.end));
    let found: Range<usize> = at(start, 0)..at(end, frames.end);
    if found.is_empty() {
        let last = frames.end.saturating_sub(1);
        return Err(fault(format!(
            "no frame is from {} to {} s: the motion lasts from {} to {} s",
            start.unwrap_or(f64::NEG_INFINITY),
            end.unwrap_or(f64::INFINITY),
            clip.time(0),
            clip.time(last)
        )));
    }
    Ok(motion.with(motion.inner.part(found)))
}

/// Share of a frame that rounding may move a time: far above the precision of numbers, far below what anybody means.
const NEAR: f64 = 1e-6;

/// Every `step`th frame, at a lower rate.
fn every(motion: model::Motion, step: usize) -> model::Motion {
    let old = &motion.clip;
    let picked = (0..old.frames()).step_by(step);
    let rotations = picked.clone().flat_map(|f| old.rotations(f).to_vec()).collect();
    let translations = picked.clone().flat_map(|f| old.translations(f).iter().copied()).collect();
    let (rate, translated) = (old.sample_rate / step as f64, old.translated().to_vec());
    let mut clip =
        model::Clip::new(old.name.clone(), rate, old.joints(), rotations, translated, translations);
    (clip.start, clip.tolerance) = (old.start, old.tolerance);
    clip.property_tracks = old.property_tracks.clone();
    for track in &mut clip.property_tracks {
        track.values = picked.clone().flat_map(|f| track.frame(f).to_vec()).collect();
    }
    let contacts = motion.contacts.as_ref().map(|c| c.changed(|f| f.div_ceil(step), |height| height));
    model::Motion { character: Arc::clone(&motion.character), clip, contacts }
}
