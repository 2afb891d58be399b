//! Shows a motion to Python: its arrays, its names, its parts.

use crate::arrays::{Arrays, is_rotation, no_rotation};
use crate::error::{fault, released};
use crate::view::{lying, numbers, owned};
use crate::{files, packed, slices};
use posemill::math::{Quat, RawQuat, Vec3, same_hemisphere};
use posemill::model::{self, JointId};
use posemill::report::{Metric, NotJudged, TakeChange, Warnings};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};
use rayon::prelude::*;
use std::sync::{Arc, OnceLock};

/// A rotation is four numbers in a row, x, y, z, w: arrays look at them as they lie.
const _: () = assert!(size_of::<Quat>() == 4 * size_of::<f64>() && size_of::<Vec3>() == 3 * size_of::<f64>());

/// A character and a clip that plays on it. Metres, seconds, Y up, facing +Z; quaternions x, y, z, w.
#[pyclass(frozen, module = "posemill")]
pub struct Motion {
    /// What the library calls a motion.
    pub inner: Arc<model::Motion>,
    /// What had to be bent, in words.
    pub said: Vec<String>,
    /// What a pipeline measured: names and values.
    pub measured: Vec<(String, f64)>,
    /// What the stages that made it changed on purpose.
    pub not_judged: NotJudged,
    /// What they did to the frames of the take.
    pub take_changes: Vec<TakeChange>,
    positions: OnceLock<Arc<Vec<f64>>>,
    translations: OnceLock<Arc<Vec<f64>>>,
}

impl Motion {
    /// A motion, and what had to be bent to get it.
    pub fn new(inner: model::Motion, warnings: &Warnings) -> Self {
        Self { said: words(warnings), ..Self::of(Arc::new(inner)) }
    }

    /// A motion that nothing is to be said about.
    pub fn of(inner: Arc<model::Motion>) -> Self {
        let (positions, translations) = (OnceLock::new(), OnceLock::new());
        let (said, measured) = (Vec::new(), Vec::new());
        let (not_judged, take_changes) = (NotJudged::new(), Vec::new());
        Self { inner, said, measured, not_judged, take_changes, positions, translations }
    }

    /// A part of this motion: it came from the same file and the same stages. What was measured is of the whole.
    pub fn with(&self, part: model::Motion) -> Self {
        let (said, not_judged) = (self.said.clone(), self.not_judged.clone());
        let take_changes = self.take_changes.clone();
        Self { said, not_judged, take_changes, ..Self::of(Arc::new(part)) }
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
    /// A motion of arrays. Shapes: `names` and `parents` joints, the root first with the parent -1, parents before children;
    /// `rest_translations` joints, 3, relative to the parent; `rotations` frames, joints, 4 (x, y, z, w; `order="wxyz"` otherwise) or
    /// frames, joints, 3, 3, relative to the parent; `translations` frames, 3 of the root, or frames, joints, 3; `rest_rotations`
    /// joints, 4. Lengths are metres, or `units="cm"`; Y is up, or `up="z"`. Further options are the keys of `[input]`.
    #[new]
    #[pyo3(signature = (*, names, parents, rest_translations, rotations, rate, translations=None, rest_rotations=None, name="motion".to_owned(), units=None, order=None, **options))]
    #[expect(clippy::too_many_arguments, reason = "they are named in Python")]
    fn of_arrays(
        py: Python<'_>,
        names: Vec<String>,
        parents: Vec<i64>,
        rest_translations: &Bound<'_, PyAny>,
        rotations: &Bound<'_, PyAny>,
        rate: f64,
        translations: Option<&Bound<'_, PyAny>>,
        rest_rotations: Option<&Bound<'_, PyAny>>,
        name: String,
        units: Option<&Bound<'_, PyAny>>,
        order: Option<String>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let arrays = Arrays {
            names,
            parents,
            rest_translations,
            rotations,
            translations,
            rest_rotations,
            rate,
            name,
            units,
            order,
        };
        arrays.motion(py, options)
    }

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
        let Some(all) = clip.rotations_in_memory() else {
            // Those of a long take are in a file: the array is a copy.
            let copy = clip.all_rotations().iter().flat_map(|q| <[f64; 4]>::from(q.coords)).collect();
            return owned(py, Arc::new(copy), &shape);
        };
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
        metrics(py, self.measured.iter().map(|(name, value)| (name, *value)))
    }

    fn __len__(&self) -> usize {
        self.frames()
    }

    /// A part, by frames: `motion[10:50]`; `motion[::2]` is every second frame, at half the rate. Labels of contacts are kept.
    fn __getitem__(&self, frames: &Bound<'_, PyAny>) -> PyResult<Self> {
        slices::sliced(self, frames)
    }

    /// The frames from `start` up to, not including, `end`, seconds as in `times`; without one of them from the first, or to the
    /// last.
    #[pyo3(signature = (start=None, end=None))]
    fn seconds(&self, start: Option<f64>, end: Option<f64>) -> PyResult<Self> {
        slices::seconds(self, start, end)
    }

    /// The bytes of the file that `save` would write, in a format of one file: `motion.to_bytes("glb")`. Options as of `save`.
    #[pyo3(signature = (format, **options))]
    fn to_bytes<'py>(
        &self,
        py: Python<'py>,
        format: &str,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        files::bytes(py, self, format, options).map(|bytes| PyBytes::new(py, &bytes))
    }

    /// Pickled for processes of the same version: every number, with the character and its file.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let unpickled = py.import("posemill._posemill")?.getattr("_unpickled")?;
        let bytes = PyBytes::new(py, &packed::packed(py, self)?);
        Ok((unpickled, PyTuple::new(py, [bytes])?))
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
            None => old.all_rotations(),
            Some(array) => {
                let (values, _) = numbers("rotations", array, &[None, Some(n), Some(4)])?;
                let mut turned: Vec<Quat> = Vec::with_capacity(values.len() / 4);
                for (k, q) in values.chunks_exact(4).enumerate() {
                    let raw = RawQuat::new(q[3], q[0], q[1], q[2]);
                    let off = (raw.norm() - 1.0).abs();
                    if !is_rotation(q) {
                        let joint = &self.inner.character.skeleton().joints()[k % n].name;
                        return Err(no_rotation("rotations", Some(k / n), joint, q));
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
pub fn metrics<'py, 'a>(
    py: Python<'py>,
    metrics: impl Iterator<Item = (&'a String, f64)>,
) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    for (name, value) in metrics {
        found.set_item(name, value)?;
    }
    Ok(found)
}

/// Names and values of measures.
pub fn readings(metrics: Vec<Metric>) -> Vec<(String, f64)> {
    metrics.into_iter().map(|metric| (metric.name, metric.value)).collect()
}
