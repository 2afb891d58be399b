//! Reads and writes motions, as files and as bytes.

use crate::error::{must_exist, released};
use crate::motion::{Motion, words};
use crate::words::sets;
use posemill::export::{self, ExportOptions};
use posemill::import;
use posemill::model::{self, Asset};
use posemill::pipeline::{PipelineConfig, find_clip, provenance};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// One file as `[input]` of a pipeline reads it.
fn read(path: &Path, sets: &[String]) -> Result<Asset, String> {
    let config = PipelineConfig::parse("options", "", sets, &[]).map_err(|e| e.to_string())?;
    import::load(path, &config.input.options(Path::new("")))
        .map_err(|error| format!("`{}`: {error}", path.display()))
}

/// The motion of a file: the clip of this name or number, else the one that is meant. Further options are the keys of
/// `[input]`: `units="cm"`, `up="z"`, `calibration="rest"`.
#[pyfunction]
#[pyo3(signature = (path, *, clip=None, **options))]
pub fn load(
    py: Python<'_>,
    path: PathBuf,
    clip: Option<&Bound<'_, PyAny>>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Motion> {
    let (clip, sets) = (clip.map(|c| c.str().map(|s| s.to_string())).transpose()?, sets("input", options)?);
    must_exist(py, &path)?;
    released(py, || chosen(&read(&path, &sets)?, clip.as_deref(), &path.display().to_string()))
}

/// One motion of a file.
fn chosen(asset: &Asset, clip: Option<&str>, name: &str) -> Result<Motion, String> {
    let found = clip.map_or(Ok(asset.meant), |wanted| find_clip(asset, wanted))?;
    let motion = asset
        .motion(found)
        .ok_or_else(|| format!("`{name}` holds no motion\nlist its content with `posemill inspect`"))?;
    Ok(Motion::new(motion, &asset.warnings))
}

/// The motion of a file's bytes, as `load` reads it: `format` is the extension that the file would have, `name` its name without
/// it. A format of several files (`.gltf` with buffers beside it) is read from files only.
#[pyfunction]
#[pyo3(signature = (data, format, *, name="motion", clip=None, **options))]
pub fn from_bytes(
    py: Python<'_>,
    data: &[u8],
    format: &str,
    name: &str,
    clip: Option<&Bound<'_, PyAny>>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Motion> {
    let (clip, sets) = (clip.map(|c| c.str().map(|s| s.to_string())).transpose()?, sets("input", options)?);
    let format = format.trim_start_matches('.');
    released(py, || {
        let config = PipelineConfig::parse("options", "", &sets, &[]).map_err(|e| e.to_string())?;
        let options = config.input.options(Path::new(""));
        let asset = import::from_bytes(data, name, Some(format), None, &options)
            .map_err(|error| format!("`{name}.{format}`: {error}"))?;
        chosen(&asset, clip.as_deref(), name)
    })
}

/// The bytes of the only file of a motion in a format.
pub fn bytes(
    py: Python<'_>,
    motion: &Motion,
    format: &str,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Vec<u8>> {
    let sets = sets("output", options)?;
    let inner = Arc::clone(&motion.inner);
    let made_by = provenance(&motion.not_judged, &motion.take_changes);
    released(py, || {
        let Some(found) = export::Format::of(format.trim_start_matches('.')) else {
            let known: Vec<_> = export::FORMATS.iter().map(|f| format!("`{}`", f.name)).collect();
            return Err(format!(
                "the format `{format}` cannot be written\nwrite one of {}",
                known.join(", ")
            ));
        };
        let config = PipelineConfig::parse("options", "", &sets, &[]).map_err(|e| e.to_string())?;
        let options = ExportOptions { stem: "motion".to_owned(), made_by, ..config.output.options() };
        inner.check().map_err(|e| e.to_string())?;
        let (files, _) = export::save(&[(*inner).clone()], found, &options).map_err(|e| e.to_string())?;
        match <[_; 1]>::try_from(files) {
            Ok([file]) => Ok(file.bytes),
            Err(files) => Err(format!(
                "a motion in the format `{}` is {} files\nwrite `glb`, or use `posemill.save`",
                found.name,
                files.len()
            )),
        }
    })
}

/// Every clip of a file, which may be none.
#[pyfunction]
#[pyo3(signature = (path, **options))]
pub fn load_all(py: Python<'_>, path: PathBuf, options: Option<&Bound<'_, PyDict>>) -> PyResult<Vec<Motion>> {
    let sets = sets("input", options)?;
    must_exist(py, &path)?;
    released(py, || {
        let asset = read(&path, &sets)?;
        let motions = (0..asset.clips.len()).filter_map(|k| asset.motion(k));
        Ok::<_, String>(motions.map(|motion| Motion::new(motion, &asset.warnings)).collect())
    })
}

/// Writes a motion, or several of one character, in the format of the extension, and gives what could not be kept. Further
/// options are the keys of `[output]`: `replace_animations=True`, `npz={"up": "z"}`.
#[pyfunction]
#[pyo3(signature = (motions, path, **options))]
pub fn save(
    py: Python<'_>,
    motions: &Bound<'_, PyAny>,
    path: PathBuf,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Vec<String>> {
    let motions: Vec<Py<Motion>> = match motions.extract::<Py<Motion>>() {
        Ok(one) => vec![one],
        Err(_) => motions.extract()?,
    };
    let sets = sets("output", options)?;
    released(py, || {
        let config = PipelineConfig::parse("options", "", &sets, &[]).map_err(|e| e.to_string())?;
        // One record is of the whole file.
        let records = motions.iter().map(|m| provenance(&m.get().not_judged, &m.get().take_changes));
        let records: BTreeSet<String> = records.collect();
        let made_by = records.first().filter(|_| records.len() == 1).cloned().unwrap_or_default();
        let options = ExportOptions { made_by, ..config.output.options() };
        let motions: Vec<model::Motion> = motions.iter().map(|m| (*m.get().inner).clone()).collect();
        if let Some([first, ..]) = motions.get(..1)
            && motions.iter().any(|m| m.character.skeleton() != first.character.skeleton())
        {
            return Err("the motions belong to several characters\nwrite a file for each".to_owned());
        }
        let warnings = posemill::pipeline::save(&motions, path, &options).map_err(|e| e.to_string())?;
        Ok(words(&warnings))
    })
}
