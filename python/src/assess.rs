//! Measures of a motion, and the verdict on them.

use crate::error::{fault, released};
use crate::motion::{Motion, metrics};
use posemill::measure::{Assessment, MEASURES, MetricContext, Reading, Verdict};
use posemill::pipeline::{ReferenceMotion, assess_alone};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;

/// How good a motion is: `{measure: value}`. With the take that it was made from, that says what should rest when, and more
/// is measured; without it contacts are found on the motion itself, over a floor of the height `ground`.
#[pyfunction]
#[pyo3(signature = (motion, source=None, *, ground=0.0))]
pub fn measure<'py>(
    py: Python<'py>,
    motion: &Bound<'py, Motion>,
    source: Option<&Bound<'py, Motion>>,
    ground: f64,
) -> PyResult<Bound<'py, PyDict>> {
    let made = assessed(py, motion, source, ground)?;
    metrics(py, made.metrics.iter().map(|metric| (&metric.name, metric.value)))
}

/// The verdict on a motion, as `posemill measure` gives it: `{"word": "good", "as recorded", "over" or "not judged", ...}` with the
/// numbers of measures behind it. Arguments as of `measure`.
#[pyfunction]
#[pyo3(signature = (motion, source=None, *, ground=0.0))]
pub fn verdict<'py>(
    py: Python<'py>,
    motion: &Bound<'py, Motion>,
    source: Option<&Bound<'py, Motion>>,
    ground: f64,
) -> PyResult<Bound<'py, PyAny>> {
    let made = assessed(py, motion, source, ground)?;
    let readings: Vec<Reading> = made.metrics.iter().map(Reading::from).collect();
    pythonize::pythonize(py, &Verdict::of(&readings).json()).map_err(fault)
}

fn assessed(
    py: Python<'_>,
    motion: &Bound<'_, Motion>,
    source: Option<&Bound<'_, Motion>>,
    ground: f64,
) -> PyResult<Assessment> {
    let (result, not_judged) = (Arc::clone(&motion.get().inner), motion.get().not_judged.clone());
    let changes = motion.get().take_changes.clone();
    let source = source.map(|s| Arc::clone(&s.get().inner));
    released(py, || {
        let context = MetricContext::new(&result.character);
        Ok::<_, posemill::retarget::MapError>(match source {
            Some(source) => {
                let reference = match changes.is_empty() {
                    true => ReferenceMotion::of((*source).clone(), &result)?,
                    false => ReferenceMotion::changed((*source).clone(), &result, &changes)?,
                };
                reference.without(not_judged).assess(&context, &result)
            }
            None => assess_alone(&context, &result, ground),
        })
    })
}

/// What `measure` measures: `{measure: {"unit", "formula", "at_most"}}`.
#[pyfunction]
pub fn measures(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let found = PyDict::new(py);
    for measure in MEASURES {
        let about = PyDict::new(py);
        about.set_item("unit", measure.unit)?;
        about.set_item("formula", measure.formula)?;
        about.set_item("at_most", measure.at_most)?;
        found.set_item(measure.name, about)?;
    }
    Ok(found)
}
