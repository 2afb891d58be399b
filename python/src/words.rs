//! Options as Python has them become what stands behind `--set`.

use crate::error::fault;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict};
use pythonize::depythonize;

/// `PREFIX.KEY=VALUE` for every option.
pub fn sets(prefix: &str, options: Option<&Bound<'_, PyDict>>) -> PyResult<Vec<String>> {
    let mut sets = Vec::new();
    for (key, given) in options.into_iter().flatten() {
        if !given.is_none() {
            sets.push(format!("{prefix}.{}={}", key.extract::<String>()?, value(&given)?));
        }
    }
    Ok(sets)
}

/// `stage.NAME.KEY=VALUE` for every key of every stage, which asks for the stage where it stands switched off; `NAME=False`
/// leaves a stage out.
pub fn stage_sets(stages: Option<&Bound<'_, PyDict>>) -> PyResult<Vec<String>> {
    let mut sets = Vec::new();
    for (name, given) in stages.into_iter().flatten() {
        let name: String = name.extract()?;
        if given.is_instance_of::<PyBool>() {
            sets.push(format!("stage.{name}.enabled={}", value(&given)?));
        } else if let Ok(keys) = given.cast::<PyDict>() {
            if !keys.contains("enabled")? {
                sets.push(format!("stage.{name}.enabled=true"));
            }
            sets.extend(self::sets(&format!("stage.{name}"), Some(keys))?);
        } else {
            return Err(fault(format!(
                "`{name}` is told as {}\nwrite its keys, `{name}={{\"KEY\": VALUE}}`, or `{name}=False`",
                given.repr()?
            )));
        }
    }
    Ok(sets)
}

/// A value as TOML.
pub fn value(given: &Bound<'_, PyAny>) -> PyResult<toml::Value> {
    if given.hasattr("__fspath__")? {
        return Ok(toml::Value::String(given.call_method0("__fspath__")?.extract()?));
    }
    depythonize(given).map_err(|e| fault(format!("{} is no value of an option: {e}", given)))
}
