//! Pipelines, and the one of `posemill retarget`.

use crate::error::{fault, released};
use crate::motion::{Motion, words};
use crate::words::{stage_sets, value};
use posemill::model;
use posemill::batch::{Batch, BatchOptions, Destination, JobOutcome, Jobs, Manifest, OutcomeSpool, PathOwnership, Shard, find_takes, run_all, write_reports};
use posemill::pipeline::{DEFAULT_PIPELINE, OutputFormat, PipelineConfig};
use posemill::stages::STAGES;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// A pipeline as written, with the characters that it names.
#[pyclass(frozen, module = "posemill")]
pub struct Pipeline {
    name: String,
    text: String,
    /// Relative paths start here.
    folder: PathBuf,
    sets: Vec<String>,
    /// A character that no file names.
    onto: Option<String>,
    /// One for each character.
    ready: Vec<posemill::pipeline::Pipeline>,
}

/// All that a pipeline is made from, to make it again in another process.
type Parts = (String, String, PathBuf, Vec<String>, Option<String>);

impl Pipeline {
    fn new(py: Python<'_>, parts: Parts) -> PyResult<Self> {
        let (name, text, folder, sets, onto) = parts;
        let ready = released(py, || {
            let config = PipelineConfig::parse(&name, &text, &sets, STAGES).map_err(|e| e.to_string())?;
            let characters: Vec<Option<&str>> = match (&onto, config.input.character.as_slice()) {
                (Some(onto), _) => vec![Some(onto)],
                (None, []) => vec![None],
                (None, named) => named.iter().map(|c| Some(c.as_str())).collect(),
            };
            let one = |character| {
                posemill::pipeline::Pipeline::new(&config, &folder, character).map_err(|e| e.to_string())
            };
            characters.into_iter().map(one).collect::<Result<Vec<_>, String>>()
        })?;
        Ok(Self { name, text, folder, sets, onto, ready })
    }

    /// The only character's.
    fn one(&self) -> PyResult<&posemill::pipeline::Pipeline> {
        match self.ready.as_slice() {
            [one] => Ok(one),
            several => Err(fault(format!(
                "the pipeline has {} characters, a motion is carried onto one\nwrite a pipeline for each",
                several.len()
            ))),
        }
    }
}

/// The pipeline of `posemill retarget` onto `character`, as parts.
fn standard_parts(
    character: PathBuf,
    map: Option<&Bound<'_, PyAny>>,
    stages: Option<&Bound<'_, PyDict>>,
) -> PyResult<Parts> {
    let mut sets = stage_sets(stages)?;
    if let Some(map) = map {
        sets.push(format!("stage.retarget.map={}", value(map)?));
    }
    let onto = Some(character.to_string_lossy().into_owned());
    Ok(("default pipeline".to_owned(), DEFAULT_PIPELINE.to_owned(), PathBuf::new(), sets, onto))
}

/// A pipeline that another process made.
#[pyfunction]
#[pyo3(name = "_restored")]
pub fn restored(
    py: Python<'_>,
    name: String,
    text: String,
    folder: PathBuf,
    sets: Vec<String>,
    onto: Option<String>,
) -> PyResult<Pipeline> {
    Pipeline::new(py, (name, text, folder, sets, onto))
}

/// The motion on `character`, a file, as `posemill retarget` carries it: `retarget(take, "hero.glb")`. Stages are told by
/// their names: `retarget={"scale": 1.0}`, `foot_lock=False`. For many takes make a `Pipeline.standard` once.
#[pyfunction]
#[pyo3(signature = (motion, character, *, map=None, **stages))]
pub fn retarget(
    py: Python<'_>,
    motion: &Bound<'_, Motion>,
    character: PathBuf,
    map: Option<&Bound<'_, PyAny>>,
    stages: Option<&Bound<'_, PyDict>>,
) -> PyResult<Motion> {
    Pipeline::new(py, standard_parts(character, map, stages)?)?.apply(py, motion)
}

#[pymethods]
impl Pipeline {
    /// The pipeline of a file, or of a dict with the same sections; relative paths start from the folder of the file, or from
    /// the current one. `sets` are as behind `--set`: `["stage.retarget.scale=1.0"]`.
    #[new]
    #[pyo3(signature = (pipeline, *, sets=Vec::new()))]
    fn made(py: Python<'_>, pipeline: &Bound<'_, PyAny>, sets: Vec<String>) -> PyResult<Self> {
        if pipeline.is_instance_of::<PyDict>() {
            let text = toml::to_string(&value(pipeline)?).map_err(fault)?;
            return Self::new(py, ("pipeline".to_owned(), text, PathBuf::new(), sets, None));
        }
        let path: PathBuf = pipeline.extract()?;
        let name = path.display().to_string();
        let text = std::fs::read_to_string(&path).map_err(|e| {
            fault(format!("the file `{name}` cannot be read: {}", posemill::report::io_reason(&e)))
        })?;
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        Self::new(py, (name, text, folder, sets, None))
    }

    /// The pipeline of `posemill retarget` onto `character`, a file; `map` is a joint map. Stages are told by their names:
    /// `retarget={"scale": 1.0}`, `foot_lock=False`.
    #[staticmethod]
    #[pyo3(signature = (character, *, map=None, **stages))]
    fn standard(
        py: Python<'_>,
        character: PathBuf,
        map: Option<&Bound<'_, PyAny>>,
        stages: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        Self::new(py, standard_parts(character, map, stages)?)
    }

    /// The motion after every stage; nothing is written.
    fn apply(&self, py: Python<'_>, motion: &Bound<'_, Motion>) -> PyResult<Motion> {
        let pipeline = self.one()?;
        let arriving: Arc<model::Motion> = Arc::clone(&motion.get().inner);
        released(py, || {
            let (made, report) = pipeline.apply((*arriving).clone())?;
            let mut made = Motion::new(made, &report.warnings);
            made.measured = report.metrics;
            Ok::<_, posemill::pipeline::RunError>(made)
        })
    }

    /// A take read as this pipeline reads its takes.
    fn load(&self, py: Python<'_>, path: PathBuf) -> PyResult<Motion> {
        let pipeline = self.one()?;
        released(py, || {
            let loaded = pipeline.load(&path).map_err(|e| format!("`{}`: {e}", path.display()));
            loaded.map(|(motion, warnings)| Motion::new(motion, &warnings))
        })
    }

    /// Runs over takes, files or globs seen from the current folder, else over those of `[input]`, and says what became of
    /// each: a dict with `inputs`, `status`, `outputs`, `warnings`, `metrics` and `error`. A take that fails leaves the others
    /// alone. `output` is a folder, or a file for one take; else that of `[output]`. What is up to date is skipped, and a file
    /// that posemill did not write is never replaced without `force`.
    #[pyo3(signature = (takes=None, output=None, *, jobs=0, shard=None, force=false, dry_run=false))]
    #[expect(clippy::too_many_arguments, reason = "they are named in Python")]
    fn run<'py>(
        &self,
        py: Python<'py>,
        takes: Option<Vec<PathBuf>>,
        output: Option<PathBuf>,
        jobs: usize,
        shard: Option<String>,
        force: bool,
        dry_run: bool,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let shard: Option<Shard> = shard.map(|text| text.parse().map_err(fault)).transpose()?;
        let options = BatchOptions { force, dry_run, ..BatchOptions::default() };
        let stop = AtomicBool::new(false);
        let outcomes = released(py, || {
            std::thread::scope(|scope| {
                let asked =
                    Asked { takes: takes.as_deref(), output: output.as_deref(), jobs, shard, options };
                let (stop, (beat, heard)) = (&stop, mpsc::channel::<()>());
                let work = scope.spawn(move || {
                    let _beat = beat;
                    self.run_all(&asked, stop)
                });
                // Control-C is heard while the work goes on elsewhere; jobs that were begun come to their end.
                while heard.recv_timeout(Duration::from_millis(100)) == Err(RecvTimeoutError::Timeout) {
                    if Python::attach(|py| py.check_signals()).is_err() {
                        stop.store(true, Ordering::Relaxed);
                    }
                }
                work.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            })
        })?;
        if stop.load(Ordering::Relaxed) {
            return Err(pyo3::exceptions::PyKeyboardInterrupt::new_err(()));
        }
        let dict = |outcome: &JobOutcome| pythonize::pythonize(py, outcome).map_err(fault);
        outcomes.iter().map(dict).collect()
    }

    /// The text of the pipeline.
    #[getter]
    fn text(&self) -> &str {
        &self.text
    }

    /// What had to be bent in the files of the characters, in words.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.ready.iter().flat_map(|p| words(&p.warnings)).collect()
    }

    fn __repr__(&self) -> String {
        format!("<Pipeline `{}`>", self.name)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let restored = py.import("posemill._posemill")?.getattr("_restored")?;
        let here = |path: &Path| std::path::absolute(Path::new("./").join(path)).map_err(fault);
        let onto = self.onto.as_ref().map(|c| here(&self.folder.join(c))).transpose()?;
        let onto = onto.map(|c| c.to_string_lossy().into_owned());
        let parts = (&self.name, &self.text, here(&self.folder)?, &self.sets, onto);
        Ok((restored, parts.into_pyobject(py)?))
    }
}

/// What a run was asked for.
struct Asked<'a> {
    takes: Option<&'a [PathBuf]>,
    output: Option<&'a Path>,
    jobs: usize,
    shard: Option<Shard>,
    options: BatchOptions,
}

impl Pipeline {
    fn run_all(&self, asked: &Asked<'_>, stop: &AtomicBool) -> Result<Vec<JobOutcome>, String> {
        fn told(error: impl std::fmt::Display) -> String {
            error.to_string()
        }
        let config = PipelineConfig::parse(&self.name, &self.text, &self.sets, STAGES).map_err(told)?;
        let output = asked.output.map_or_else(|| self.folder.join(&config.output.dir), Path::to_owned);
        let (base, patterns) = match asked.takes {
            Some(takes) => (Path::new(""), takes.iter().map(|t| t.to_string_lossy().into_owned()).collect()),
            None => (self.folder.as_path(), config.input.motion.clone()),
        };
        if patterns.is_empty() {
            return Err(format!(
                "{}: [input] names no motion\nwrite `motion = [\"takes/**/*.bvh\"]` or give takes to `run`",
                self.name
            ));
        }
        let found = find_takes(base, &patterns, Some(&output)).map_err(told)?;
        if let Some(unseen) = found.unseen.first() {
            return Err(unseen.clone());
        }
        let mut takes = found.takes;
        takes.retain(|take| asked.shard.is_none_or(|shard| shard.contains(take)));
        let extension = output.extension().unwrap_or_default().to_string_lossy().into_owned();
        let file = asked.output.is_some()
            && takes.len() == 1
            && self.ready.len() == 1
            && !output.is_dir()
            && OutputFormat::of_extension(&extension).is_some();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(asked.jobs).build().map_err(told)?;
        let mut works = Vec::with_capacity(self.ready.len());
        for pipeline in &self.ready {
            let character = pipeline.character_file.as_deref();
            let placement = match (file, self.ready.len()) {
                (true, _) => Destination::File(output.clone()),
                (false, 1) => Destination::Folder(output.clone()),
                (false, _) => {
                    let name = character.and_then(Path::file_stem).unwrap_or_default();
                    Destination::Folder(output.join(name))
                }
            };
            let inputs: Vec<PathBuf> = character.into_iter().map(Path::to_owned).collect();
            works.push((
                pipeline,
                Jobs::new(takes.clone(), &config.output.formats, &placement, &inputs).map_err(told)?,
                placement,
            ));
        }
        let claims = PathOwnership::of(works.iter().map(|work| &work.1));
        let mut outcomes = Vec::new();
        for (pipeline, jobs, placement) in &works {
            let manifest = match placement {
                Destination::File(_) => None,
                Destination::Folder(folder) if asked.options.dry_run => Some(Manifest::look(folder)),
                Destination::Folder(folder) => Some(Manifest::open(folder).map_err(told)?),
            };
            let ended: Mutex<Vec<Option<JobOutcome>>> = Mutex::new(vec![None; jobs.len()]);
            let batch = Batch {
                pipeline,
                jobs,
                manifest: manifest.as_ref(),
                owners: &owners,
                options: asked.options,
                stop,
            };
            let done = |job: usize, outcome: JobOutcome| {
                ended.lock().unwrap_or_else(PoisonError::into_inner)[job] = Some(outcome);
            };
            pool.install(|| run_all(&batch, &done));
            let ended: Vec<JobOutcome> =
                ended.into_inner().unwrap_or_else(PoisonError::into_inner).into_iter().flatten().collect();
            if let (Destination::Folder(folder), Some(manifest), false) =
                (placement, &manifest, asked.options.dry_run)
            {
                if pipeline.report && !stop.load(Ordering::Relaxed) {
                    let mut rows = OutcomeSpool::new(ended.len()).map_err(told)?;
                    for (k, outcome) in ended.iter().enumerate() {
                        rows.put(k, outcome).map_err(told)?;
                    }
                    write_reports(folder, &pipeline.name, &mut rows, manifest).map_err(told)?;
                }
                manifest.finish().map_err(told)?;
            }
            outcomes.extend(ended);
        }
        Ok(outcomes)
    }
}
