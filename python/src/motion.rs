//! Files become motions, motions become arrays, numbers and files.

use crate::error::{fault, released};
use crate::view::{lying, numbers, owned};
use crate::words::sets;
use posemill::export;
use posemill::import;
use posemill::math::{Quat, RawQuat, Vec3, same_hemisphere};
use posemill::measure::{Assessment, MEASURES, MetricContext, Reading, Verdict};
use posemill::model::{self, Asset, JointId};
use posemill::pipeline::{PipelineConfig, ReferenceMotion, assess_alone, find_clip};
use posemill::report::{Metric, NotJudged, Warnings};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// A rotation is four numbers in a row, x, y, z, w: arrays look at them as they lie.
const _: () = assert!(size_of::<Quat>() == 4 * size_of::<f64>() && size_of::<Vec3>() == 3 * size_of::<f64>());

/// A quaternion whose length is off by more than this is no rotation that was rounded or blended, but something else.
const FAR_FROM_UNIT: f64 = 0.1;

/// A character and a clip that plays on it. Metres, seconds, Y up, facing +Z; quaternions x, y, z, w.
#[pyclass(frozen, module = "posemill")]
pub struct Motion {
    /// What the library calls a motion.
    pub inner: Arc<model::Motion>,
    /// What had to be bent, in words.
    pub said: Vec<String>,
    /// What a pipeline measured.
    pub measured: Vec<Metric>,
    /// What the stages that made it changed on purpose.
    pub not_judged: NotJudged,
    positions: OnceLock<Arc<Vec<f64>>>,
    translations: OnceLock<Arc<Vec<f64>>>,
}

impl Motion {
    /// A motion, and what had to be bent to get it.
    pub fn new(inner: model::Motion, warnings: &Warnings) -> Self {
        let (positions, translations) = (OnceLock::new(), OnceLock::new());
        let said = words(warnings);
        Self {
            inner: Arc::new(inner),
            said,
            measured: Vec::new(),
            not_judged: NotJudged::new(),
            positions,
            translations,
        }
    }

    fn frames(&self) -> usize {
        self.inner.clip.frames()
    }

    fn joints(&self) -> usize {
        self.inner.clip.joints()
    }
}

/// One sentence for each warning, with its place and how often it was met.
pub fn words(warnings: &Warnings) -> Vec<String> {
    let word = |w: &posemill::report::Warning| {
        let times = if w.count > 1 { format!(" ({} times)", w.count) } else { String::new() };
        let place = if w.first.is_empty() { String::new() } else { format!(", first at {}", w.first) };
        format!("{}{times}{place}", w.message)
    };
    warnings.iter().map(word).collect()
}

#[pymethods]
impl Motion {
    /// The name of the clip.
    #[getter]
    fn name(&self) -> &str {
        &self.inner.clip.name
    }

    /// The name of the character.
    #[getter]
    fn character(&self) -> &str {
        &self.inner.character.name
    }

    /// Frames a second.
    #[getter]
    fn rate(&self) -> f64 {
        self.inner.clip.sample_rate
    }

    /// The time of every frame, seconds.
    #[getter]
    fn times<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let times: Vec<f64> = (0..self.frames()).map(|f| self.inner.clip.time(f)).collect();
        owned(py, Arc::new(times), &[self.frames()])
    }

    /// The names of the joints, parents first.
    #[getter]
    fn names(&self) -> Vec<&str> {
        self.inner.character.skeleton().joints().iter().map(|j| j.name.as_str()).collect()
    }

    /// The parent of every joint, -1 for the first.
    #[getter]
    fn parents<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let parent = |p: &Option<JointId>| p.map_or(-1, |p| i32::try_from(p.index()).unwrap_or(-1));
        let parents = self.inner.character.skeleton().parents().iter().map(parent).collect();
        owned(py, Arc::new(parents), &[self.joints()])
    }

    /// What joints are for, where that is known: `{"left_hand": "LeftHand"}`.
    #[getter]
    fn roles<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (rig, found) = (&self.inner.character.rig, PyDict::new(py));
        for (role, assigned) in rig.assignments() {
            found.set_item(role.to_string(), &rig.skeleton().joint(assigned.joint).name)?;
        }
        Ok(found)
    }

    /// Where joints are in model space: frames, joints, 3. Computed once.
    #[getter]
    fn positions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let found = py.detach(|| {
            let places = |f: usize| -> Vec<f64> {
                let pose = self.inner.model_pose(f);
                pose.joints()
                    .iter()
                    .flat_map(|t| [t.translation.x, t.translation.y, t.translation.z])
                    .collect()
            };
            let all = || Arc::new((0..self.frames()).into_par_iter().flat_map_iter(places).collect());
            Arc::clone(self.positions.get_or_init(all))
        });
        owned(py, found, &[self.frames(), self.joints(), 3])
    }

    /// How joints turn against their parents: frames, joints, 4.
    #[getter]
    fn rotations<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let clip = &self.inner.clip;
        let shape = [self.frames(), self.joints(), 4];
        let all = clip.all_rotations();
        assert_eq!(all.len() * 4, shape.iter().product::<usize>(), "whole frames");
        let owner: Arc<dyn std::any::Any + Send + Sync> = self.inner.clone();
        lying(py, owner, all.as_ptr().cast::<f64>(), &shape)
    }

    /// Where joints are against their parents: frames, joints, 3. Computed once.
    #[getter]
    fn translations<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let found = py.detach(|| {
            let (skeleton, clip) = (self.inner.character.skeleton(), &self.inner.clip);
            let places = |f: usize| -> Vec<f64> {
                let local = |id| clip.local(skeleton, f, id).translation;
                skeleton.ids().map(local).flat_map(|t| [t.x, t.y, t.z]).collect()
            };
            let all = || Arc::new((0..self.frames()).into_par_iter().flat_map_iter(places).collect());
            Arc::clone(self.translations.get_or_init(all))
        });
        owned(py, found, &[self.frames(), self.joints(), 3])
    }

    /// How joints rest against their parents: joints, 4.
    #[getter]
    fn rest_rotations<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let joints = self.inner.character.skeleton().joints().iter();
        let found = joints.flat_map(|j| j.rest.rotation.coords.as_slice().to_vec()).collect::<Vec<f64>>();
        owned(py, Arc::new(found), &[self.joints(), 4])
    }

    /// Where joints rest against their parents: joints, 3.
    #[getter]
    fn rest_translations<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let joints = self.inner.character.skeleton().joints().iter();
        let found = joints.flat_map(|j| j.rest.translation.as_slice().to_vec()).collect::<Vec<f64>>();
        owned(py, Arc::new(found), &[self.joints(), 3])
    }

    /// When which part rests, a truth value for each frame: `{"left_heel": array}`; `None` where that is not known.
    #[getter]
    fn contacts<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(contacts) = &self.inner.contacts else {
            return Ok(None);
        };
        let found = PyDict::new(py);
        for part in contacts.parts() {
            let mut rests = vec![false; self.frames()];
            for hold in contacts.holds(part) {
                rests[hold.frames.clone()].fill(true);
            }
            found.set_item(part.to_string(), owned(py, Arc::new(rests), &[self.frames()])?)?;
        }
        Ok(Some(found))
    }

    /// What had to be bent, in words.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.said.clone()
    }

    /// What the pipeline measured that made it (`report = true`).
    #[getter]
    fn metrics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        metrics(py, &self.measured)
    }

    fn __len__(&self) -> usize {
        self.frames()
    }

    fn __repr__(&self) -> String {
        let (clip, name) = (&self.inner.clip, &self.inner.character.name);
        format!(
            "<Motion `{}` of `{name}`: {} frames at {} Hz, {} joints>",
            clip.name,
            self.frames(),
            clip.sample_rate,
            self.joints()
        )
    }

    /// The same motion with other numbers: rotations as frames, joints, 4, translations as frames, joints, 3. Labels of
    /// contacts stay where the number of frames does.
    #[pyo3(signature = (*, rotations=None, translations=None, rate=None, name=None))]
    fn replace(
        &self,
        py: Python<'_>,
        rotations: Option<&Bound<'_, PyAny>>,
        translations: Option<&Bound<'_, PyAny>>,
        rate: Option<f64>,
        name: Option<String>,
    ) -> PyResult<Self> {
        let (n, old) = (self.joints(), &self.inner.clip);
        let turned: Vec<Quat> = match rotations {
            None => old.all_rotations().to_vec(),
            Some(array) => {
                let (values, _) = numbers("rotations", array, &[None, Some(n), Some(4)])?;
                let mut turned: Vec<Quat> = Vec::with_capacity(values.len() / 4);
                for (k, q) in values.chunks_exact(4).enumerate() {
                    let raw = RawQuat::new(q[3], q[0], q[1], q[2]);
                    let off = (raw.norm() - 1.0).abs();
                    if off.is_nan() || off > FAR_FROM_UNIT {
                        let (frame, joint) = (k / n, &self.inner.character.skeleton().joints()[k % n].name);
                        return Err(fault(format!(
                            "frame {frame}, joint `{joint}`: the rotation is not a unit quaternion"
                        )));
                    }
                    // What is of unit length already stays bit for bit.
                    let unit = if off < 1e-12 { Quat::new_unchecked(raw) } else { Quat::new_normalize(raw) };
                    let before = k.checked_sub(n).map(|k| turned[k]);
                    turned.push(before.map_or(unit, |before| same_hemisphere(unit, &before)));
                }
                turned
            }
        };
        let frames = turned.len() / n;
        let skeleton = self.inner.character.skeleton();
        let mut clip = match translations {
            None if frames == self.frames() => model::Clip::new(
                old.name.clone(),
                old.sample_rate,
                n,
                turned,
                old.translated().to_vec(),
                old.all_translations().to_vec(),
            ),
            None => {
                return Err(fault(format!(
                    "`rotations` have {frames} frames, the translations {}\ngive both",
                    self.frames()
                )));
            }
            Some(array) => {
                let (values, _) = numbers("translations", array, &[Some(frames), Some(n), Some(3)])?;
                let places = values.chunks_exact(3).map(Vec3::from_column_slice).collect();
                let all = skeleton.ids().collect();
                model::Clip::new(old.name.clone(), old.sample_rate, n, turned, all, places)
            }
        };
        (clip.start, clip.tolerance) = (old.start, old.tolerance);
        if frames == self.frames() {
            clip.property_tracks = old.property_tracks.clone();
        }
        clip.sample_rate = rate.unwrap_or(clip.sample_rate);
        clip.name = name.unwrap_or(clip.name);
        let mut motion = model::Motion::new(Arc::clone(&self.inner.character), clip);
        motion.contacts = self.inner.contacts.clone().filter(|_| frames == self.frames());
        released(py, || motion.check().map(|()| motion)).map(|motion| Self::new(motion, &Warnings::new()))
    }
}

/// `{name: value}`.
pub fn metrics<'py>(py: Python<'py>, metrics: &[Metric]) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    for metric in metrics {
        found.set_item(&metric.name, metric.value)?;
    }
    Ok(found)
}

/// One file as `[input]` of a pipeline reads it.
fn read(path: &Path, sets: &[String]) -> Result<Asset, String> {
    let config = PipelineConfig::parse("options", "", sets, &[]).map_err(|e| e.to_string())?;
    if !path.exists() {
        return Err(format!("the file `{}` does not exist", path.display()));
    }
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
    released(py, || {
        let asset = read(&path, &sets)?;
        let found = clip.map_or(Ok(asset.meant), |wanted| find_clip(&asset, &wanted))?;
        let motion = asset.motion(found).ok_or_else(|| {
            format!("`{}` holds no motion\nlist its content with `posemill inspect`", path.display())
        })?;
        Ok::<_, String>(Motion::new(motion, &asset.warnings))
    })
}

/// Every clip of a file, which may be none.
#[pyfunction]
#[pyo3(signature = (path, **options))]
pub fn load_all(py: Python<'_>, path: PathBuf, options: Option<&Bound<'_, PyDict>>) -> PyResult<Vec<Motion>> {
    let sets = sets("input", options)?;
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
        let options: export::ExportOptions = config.output.options();
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
    metrics(py, &made.metrics)
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
    let source = source.map(|s| Arc::clone(&s.get().inner));
    released(py, || {
        let context = MetricContext::new(&result.character);
        Ok::<_, posemill::retarget::MapError>(match source {
            Some(source) => {
                let reference = ReferenceMotion::of((*source).clone(), &result)?;
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
